/** An hour of busy output in real terminals, faster than it came: what of it is taken for a question. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import type { OpenDesks } from "../../src/main/desks.ts";
import { startSshServer } from "../../test/fixtures/programs/ssh-server.ts";
import type { Measure } from "../measure.ts";
import { runIn } from "./run-in.ts";
import { type Chunk, unpacked } from "./recording.ts";

const DATA = join(import.meta.dirname, "../data");
/** Of a lane, beside each other: so much less is waited. */
const PARTS = 4;
const SILENCE_MS = 1_000;
/** Without this a detector that is blind would pass. */
const QUESTION: readonly Chunk[] = [
  { waitMs: 0, bytes: Buffer.from("Continue? [y/N] ") },
  { waitMs: 5_000, bytes: Buffer.from("\r\n") },
];

/** How a command that prints is brought to a terminal. */
type Way = { readonly where: string; readonly command: (printing: string) => string };

export async function* falsePrompts(desks: OpenDesks, directory: string): AsyncIterable<Measure> {
  const parts = readdirSync(DATA)
    .filter((file) => file.startsWith("busy-"))
    .flatMap((file) => split(unpacked(readFileSync(join(DATA, file)))));
  const minutes = parts.flat().reduce((sum, { waitMs }) => sum + waitMs, 0) / 60_000;
  yield { name: "busy output recorded", value: minutes, unit: "min", atLeast: 60 };
  const keys = join(directory, "login");
  execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", keys]);
  const server = await startSshServer(directory, `${keys}.pub`);
  try {
    const working: Way = { where: "in a program that works", command: (printing) => printing };
    const ssh: Way = { where: "behind ssh", command: (printing) => `${login(server.port, keys)} '${printing}'` };
    for (const way of [working, ssh]) {
      const counts = await replayed(desks, parts, { directory, way });
      yield { name: `silences of a second and more ${way.where}`, value: counts.silences, unit: "", atLeast: 500 };
      yield { name: `false prompts in an hour ${way.where}`, value: counts.asked, unit: "", atMost: 0 };
    }
    const { asked } = await replayed(desks, [QUESTION], { directory, way: ssh });
    yield { name: "a question behind ssh that was one", value: asked, unit: "", atLeast: 1 };
  } finally {
    await server.stop();
  }
}

/** With a terminal on the other side too. */
function login(port: number, keys: string): string {
  const options = ["UserKnownHostsFile=/dev/null", "StrictHostKeyChecking=no", "LogLevel=ERROR"].map(
    (it) => `-o ${it}`,
  );
  return `ssh -F none -tt ${options.join(" ")} -i ${keys} -p ${port} ${userInfo().username}@127.0.0.1`;
}

type Place = { readonly directory: string; readonly way: Way };

/** Shells are started one after the other, then all go on at once. */
async function replayed(desks: OpenDesks, parts: readonly (readonly Chunk[])[], { directory, way }: Place) {
  const sessions: string[] = [];
  for (const [index, part] of parts.entries()) {
    const file = `${directory}/${way.where.replaceAll(" ", "-")}-${parts.length}-${index}`;
    sessions.push(await begun(desks, part, { file, way }));
  }
  await Promise.all(sessions.map((sessionId) => ended(desks, sessionId)));
  const counts = await Promise.all(sessions.map((sessionId) => countsOf(desks, sessionId)));
  const sum = (of: "silences" | "asked"): number => counts.reduce((all, it) => all + it[of], 0);
  return { silences: sum("silences"), asked: sum("asked") };
}

/** Into parts with about as many silences each: these are what takes time. */
function split(chunks: readonly Chunk[]): Chunk[][] {
  const silences = chunks.map(({ waitMs }) => (waitMs >= SILENCE_MS ? 1 : 0));
  const each = Math.ceil(silences.reduce<number>((sum, it) => sum + it, 1) / PARTS);
  let before = 0;
  const parts = Map.groupBy(chunks, (_chunk, index) => Math.floor((before += silences[index] ?? 0) / each));
  return [...parts.values()];
}

async function begun(
  desks: OpenDesks,
  part: readonly Chunk[],
  { file, way }: { readonly file: string; readonly way: Way },
) {
  writeFileSync(file, Buffer.concat(part.flatMap(({ waitMs, bytes }) => [head(waitMs, bytes.length), bytes])));
  return runIn(desks, file, way.command(`python3 ${import.meta.dirname}/replay.py ${file}`));
}

/** Whether or not it has already. */
async function ended({ log }: OpenDesks, sessionId: string): Promise<void> {
  const types = ["agent_block_end"] as const;
  const done = Promise.withResolvers<void>();
  using _watch = log.observe((events) => {
    if (events.some((it) => it.sessionId === sessionId && it.type === "agent_block_end")) done.resolve();
  });
  if ((await log.read({ sessionId, types, limit: 1 })).length === 0) await done.promise;
}

async function countsOf({ log }: OpenDesks, sessionId: string) {
  const quiet = await log.read({ sessionId, types: ["quiet"], limit: 100_000 });
  const asked = await log.read({ sessionId, types: ["prompt_request"], limit: 1_000 });
  return { silences: quiet.filter(({ payload }) => payload["ms"] === SILENCE_MS).length, asked: asked.length };
}

function head(waitMs: number, length: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32LE(waitMs, 0);
  bytes.writeUInt32LE(length, 4);
  return bytes;
}
