/** Text as compilers, package managers and test runners print it: colours, paths, numbers, some of it not ASCII. */
const ESC = "\u001B";
const WORDS =
  "compiling checking resolved fetched warning unused variable in function returns module loaded from cache done after retry".split(
    " ",
  );
const SEED = 20_240_607;
const PIECE_LINES = 20_000;

/** Always the same. */
export function terminalText(bytes: number): Buffer {
  const random = generator(SEED);
  const piece = Buffer.from(Array.from({ length: PIECE_LINES }, () => line(random)).join(""));
  const whole = Buffer.alloc(bytes);
  for (let at = 0; at < bytes; at += piece.length) piece.copy(whole, at, 0, Math.min(piece.length, bytes - at));
  whole[bytes - 1] = 10;
  return whole;
}

function line(random: () => number): string {
  const pick = (): string => WORDS[Math.floor(random() * WORDS.length)] ?? "";
  const words = Array.from({ length: 3 + Math.floor(random() * 9) }, pick).join(" ");
  const place = `src/${pick()}/${pick()}.ts:${Math.floor(random() * 900)}`;
  const chance = random();
  if (chance < 0.25) return `${ESC}[32m✓${ESC}[0m ${words} ${ESC}[2m${Math.floor(random() * 999)} ms${ESC}[22m\n`;
  if (chance < 0.35) return `${ESC}[1;33mwarning${ESC}[0m: ${words} ${ESC}[36m${place}${ESC}[39m — größer als nötig\n`;
  return `[${Math.floor(random() * 100_000)}] ${place} ${words}\n`;
}

/** mulberry32 */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
