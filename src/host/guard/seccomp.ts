/**
 * A filter of system calls: nobody types into a terminal by ioctl, and the keys that the kernel keeps for the user stay
 * closed. Calls of a 32-bit program count too. Rule GRD-7 in docs/spec/guard.md.
 */

type Calls = { readonly ioctl: number; readonly keys: readonly number[] };
type Architecture = { readonly native: number; readonly own: Calls; readonly compat: number; readonly other: Calls };

const ARCHITECTURES: Readonly<Record<string, Architecture>> = {
  x64: {
    native: 0xc000_003e,
    own: { ioctl: 16, keys: [248, 249, 250] },
    compat: 0x4000_0003,
    other: { ioctl: 54, keys: [286, 287, 288] },
  },
  arm64: {
    native: 0xc000_00b7,
    own: { ioctl: 29, keys: [217, 218, 219] },
    compat: 0x4000_0028,
    other: { ioctl: 54, keys: [309, 310, 311] },
  },
};

const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
/** Numbers of x32, by which every call has a second name. */
const SECOND_NAMES = 0x4000_0000;

const LOAD = 0x20;
const EQUALS = 0x15;
const AT_LEAST = 0x35;
const RETURN = 0x06;
const ALLOW = 0x7fff_0000;
const refuse = (errno: number): number => 0x0005_0000 | errno;
const EPERM = 1;
const ENOSYS = 38;

/** Offsets in what a filter sees of a call. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const SECOND_ARGUMENT = 24;

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

/** Hex; undefined for an architecture that we don't know. */
export function seccompFilter(arch: string = process.arch): string | undefined {
  const known = ARCHITECTURES[arch];
  if (known === undefined) return undefined;
  const own = callRules(known.own);
  const instructions: readonly Instruction[] = [
    [LOAD, 0, 0, ARCHITECTURE],
    [EQUALS, 0, own.length + 3, known.native],
    [LOAD, 0, 0, NUMBER],
    [AT_LEAST, 0, 1, SECOND_NAMES],
    [RETURN, 0, 0, refuse(ENOSYS)],
    ...own,
    [EQUALS, 1, 0, known.compat],
    [RETURN, 0, 0, refuse(ENOSYS)],
    [LOAD, 0, 0, NUMBER],
    ...callRules(known.other),
  ];
  return Buffer.concat(instructions.map(encoded)).toString("hex");
}

/** Of a number that is loaded. Each way ends in a return. */
function callRules({ ioctl, keys }: Calls): readonly Instruction[] {
  return [
    ...keys.map((key, index): Instruction => [EQUALS, keys.length - index + 5, 0, key]),
    [EQUALS, 1, 0, ioctl],
    [RETURN, 0, 0, ALLOW],
    [LOAD, 0, 0, SECOND_ARGUMENT],
    [EQUALS, 2, 0, TIOCSTI],
    [EQUALS, 1, 0, TIOCLINUX],
    [RETURN, 0, 0, ALLOW],
    [RETURN, 0, 0, refuse(EPERM)],
  ];
}

function encoded([code, ifTrue, ifFalse, value]: Instruction): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes[2] = ifTrue;
  bytes[3] = ifFalse;
  bytes.writeUInt32LE(value, 4);
  return bytes;
}
