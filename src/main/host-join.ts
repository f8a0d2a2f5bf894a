/**
 * `sidestick host join`: this machine runs sessions for a hub elsewhere. The first time with a one-time code, later with
 * the token that it got for it. Rules RML-3..RML-11 in docs/spec/remote-hosts.md.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { argumentProblem } from "../cli/argument-problem.ts";
import { guardAbility } from "../host/guard/guard.ts";
import type { Host } from "../host/host.ts";
import { type BackOff, dialHub } from "../host/link/hub-dialler.ts";
import { policed } from "../host/policed-session.ts";
import type { Logger } from "../lib/logger.ts";
import { HostName } from "../protocol/hosts.ts";
import { plainRefusal } from "../protocol/loopback.ts";
import { hostFacts } from "./host-facts.ts";
import { openHostPolicy } from "./host-policy-file.ts";
import { defaultHostDir, enrol, type Membership, readMembership, writeMembership } from "./membership.ts";
import { makePrivateDirectory } from "./private-directory.ts";
import { endSoon, type HostComposition, hostLogger, PRODUCT, serveHost } from "./serve-host.ts";

export type JoinComposition = HostComposition & { readonly backOff?: BackOff | undefined };

export type JoinState = {
  readonly pid: number;
  readonly online: boolean;
  readonly since: string;
  readonly detail?: string;
};

/** Also for a service that is not to be started again. */
export const EXIT_REMOVED = 3;
export const STATE_FILE = "state.json";

const HELP = `Usage: sidestick host join [URL] [--code CODE] [--name NAME] [--data-dir DIR] [--ca FILE]

Runs sessions on this machine for the hub at URL, which it dials. The code comes from \`sidestick host invite\` there and
is needed once; later starts need neither URL nor code.

  --code CODE      from \`sidestick host invite\`, good for ten minutes
  --name NAME      what the hub calls this machine (default: its host name)
  --data-dir DIR   where its token, its policy and what it has to tell are kept (default ~/.local/share/sidestick-host)
  --ca FILE        certificates (PEM) to believe instead of the system's`;

const NOT_JOINED =
  "This machine has joined no hub: sidestick host join URL --code CODE. The hub tells both: sidestick host invite";

class JoinRefused extends Error {}

/** Resolves with the exit code when the host has ended. */
export async function runHostJoin(argv: readonly string[], composition: JoinComposition = PRODUCT): Promise<number> {
  if (argv.includes("--help") || argv.includes("-h")) {
    console.log(HELP);
    return 0;
  }
  if (process.platform !== "linux") {
    console.error(
      `sidestick: Hosts run on Linux; this is ${process.platform}. A hub and the command line work here too.`,
    );
    return 1;
  }
  process.umask(0o077);
  for (const signal of ["SIGHUP", "SIGPIPE"] as const) process.on(signal, () => undefined);
  try {
    const wanted = readOptions(argv);
    await makePrivateDirectory(wanted.dataDir);
    const logger = hostLogger(wanted.dataDir);
    const policy = await openHostPolicy(wanted.dataDir, logger);
    const membership = await joinHub(wanted);
    return await serve({ ...wanted, membership, policy, logger }, composition);
  } catch (error) {
    console.error(`sidestick: ${whyNot(error as Error)}`);
    return error instanceof JoinRefused ? 2 : 1;
  }
}

type Wanted = {
  readonly url?: string | undefined;
  readonly code?: string | undefined;
  readonly name?: string | undefined;
  readonly ca?: string | undefined;
  readonly dataDir: string;
};

function readOptions(argv: readonly string[]): Wanted {
  const text = { type: "string" } as const;
  const options = { code: text, name: text, ca: text, "data-dir": text } as const;
  const { values, positionals } = parsed(argv, options);
  const [url, extra] = positionals;
  if (extra !== undefined) throw new JoinRefused(`"host join" does not take "${extra}".`);
  const { code, name, ca } = values;
  if (name !== undefined && !HostName.safeParse(name).success) {
    throw new JoinRefused(`--name is "${name}", but should be lower-case letters, digits, dot, dash, underscore.`);
  }
  const dataDir = resolve(values["data-dir"] ?? defaultHostDir(process.env));
  return { url: url === undefined ? undefined : originOf(url), code, name, ca, dataDir };
}

function parsed<const O extends Record<string, { type: "string" }>>(argv: readonly string[], options: O) {
  try {
    return parseArgs({ args: [...argv], options, strict: true, allowPositionals: true });
  } catch (error) {
    throw new JoinRefused(`${argumentProblem(error)}. See --help.`, { cause: error });
  }
}

function originOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol) || url.username !== "" || url.password !== "") {
    throw new JoinRefused(`"${text}" should be the hub's address, such as https://sidestick.example.com.`);
  }
  const refusal = plainRefusal(url);
  if (refusal !== undefined) throw new JoinRefused(`${refusal}.`);
  return url.origin;
}

async function joinHub({ url, code, name, ca, dataDir }: Wanted): Promise<Membership> {
  const before = await readMembership(dataDir);
  if (code === undefined) {
    if (before === undefined) throw new JoinRefused(NOT_JOINED);
    if (url !== undefined && url !== before.url) {
      throw new JoinRefused(`This machine has joined ${before.url}. To join ${url} as well, use another --data-dir.`);
    }
    return before;
  }
  if (url === undefined) throw new JoinRefused("The hub's address is needed: sidestick host join URL --code CODE");
  const certificates = ca === undefined ? undefined : readFileSync(ca, "utf8");
  const called = name === undefined ? ownName() : { name };
  const membership = await enrol(url, { code, ...called, ...hostFacts(), guard: guardAbility() }, certificates);
  await writeMembership(dataDir, membership);
  console.log(`Joined ${url} as ${membership.name}.`);
  return membership;
}

/** The invitation may name it otherwise. */
function ownName(): { readonly hostname?: string } {
  const { data } = HostName.safeParse(hostname().toLowerCase());
  return data === undefined ? {} : { hostname: data };
}

type Joined = Wanted & {
  readonly membership: Membership;
  readonly policy: Awaited<ReturnType<typeof openHostPolicy>>;
  readonly logger: Logger;
};

async function serve(joined: Joined, composition: JoinComposition): Promise<number> {
  const { dataDir, membership, policy: current, logger } = joined;
  let host: Host | undefined;
  let isRemoved = false;
  const onRemoved = (): void => {
    if (isRemoved) return;
    isRemoved = true;
    console.error("sidestick: The hub has removed this host. What ran here for it is ended.");
    host?.shutdown("now");
  };
  const facts = hostFacts();
  const { backOff } = composition;
  const way = async () => dialHub({ hub: membership, logger, onRemoved, backOff, onState: stateWriter(dataDir) });
  const started = (it: Host): void => {
    host = it;
    endOnInterrupt(it);
  };
  const within = (open: Parameters<typeof policed>[0]) => policed(open, { current, shells: facts.shells });
  const { hostId } = membership;
  const serving = { dataDir, hostId, ours: [dataDir], way, within, idleMs: Infinity, facts, logger, started };
  if (await serveHost(serving, composition)) return isRemoved ? EXIT_REMOVED : 0;
  console.log(`A host already runs there (pid ${readFileSync(join(dataDir, "host", "lock"), "utf8").trim()}).`);
  endSoon();
  return 0;
}

/** For `sidestick host status`. */
function stateWriter(dataDir: string): (trouble: string | undefined) => void {
  const file = join(dataDir, STATE_FILE);
  return (trouble) => {
    const state = { pid: process.pid, online: trouble === undefined, since: new Date().toISOString() };
    const told: JoinState = trouble === undefined ? state : { ...state, detail: trouble };
    try {
      writeFileSync(file, `${JSON.stringify(told)}\n`, { mode: 0o600 });
    } catch {
      // A full disk costs the status, not the sessions.
    }
    if (process.stdout.isTTY) console.log(trouble === undefined ? "Connected." : `Not connected: ${trouble}`);
  };
}

/** Whoever presses Ctrl+C once may not think of what runs. */
function endOnInterrupt(host: Host): void {
  let asked = false;
  process.on("SIGINT", () => {
    const sessions = host.shutdown(asked ? "now" : "idle");
    if (!asked && sessions > 0) {
      console.log(`\n${sessions} ${sessions === 1 ? "session runs" : "sessions run"} here; Ctrl+C again ends them.`);
    }
    asked = true;
  });
}

function whyNot(error: Error): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (
    code === "SELF_SIGNED_CERT_IN_CHAIN" ||
    code === "DEPTH_ZERO_SELF_SIGNED_CERT" ||
    code === "UNABLE_TO_VERIFY_LEAF_SIGNATURE"
  ) {
    return `The hub's certificate is not one that this machine believes (${code}). Give its authority's: --ca FILE`;
  }
  return code === "ECONNREFUSED" || code === "ENOTFOUND" ? `The hub can't be reached (${code}): ${message}` : message;
}
