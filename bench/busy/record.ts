/**
 * Records an hour of output that asks nothing, byte by byte with its times: real tools in terminals, one lane beside the other. Run by hand
 * on a machine with Node, Python, Rust, Java, a C compiler and package mirrors: `node bench/busy/record.ts DIRECTORY [LANE …]`.
 */
import { mkdir, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { spawn } from "@lydell/node-pty";
import { LANE_SECONDS, LANES } from "./programs.ts";
import { type Chunk, packed } from "./recording.ts";

const SIZE = { cols: 120, rows: 40 };
/** What a terminal gets within this is one piece. */
const TOGETHER_MS = 4;

const PROJECT = join(import.meta.dirname, "../..");
const DATA = join(import.meta.dirname, "../data");

const [directory = "/srv/build", ...wanted] = process.argv.slice(2);

class Lane {
  readonly chunks: Chunk[] = [];
  readonly #name: string;
  #last = performance.now();

  constructor(name: string) {
    this.#name = name;
  }

  async record(commands: readonly string[]): Promise<void> {
    const until = performance.now() + LANE_SECONDS * 1000;
    for (let round = 1; performance.now() < until; round += 1) {
      const cwd = join(directory, `${this.#name}-${round}`);
      await mkdir(cwd, { recursive: true });
      for (const command of commands) if (performance.now() < until) await this.#run(command, cwd, until);
    }
  }

  #run(command: string, cwd: string, until: number): Promise<void> {
    const env = { ...process.env, PROJECT, LANG: "C.UTF-8", TERM: "xterm-256color", PAGER: "cat" };
    const program = spawn("/bin/bash", ["--norc", "-c", command], { ...SIZE, cwd, encoding: null, env });
    const cut = setTimeout(() => program.kill("SIGHUP"), until - performance.now());
    program.onData((data) => this.#keep(Buffer.from(data as unknown as Uint8Array)));
    return new Promise((resolve) => {
      program.onExit(({ exitCode }) => {
        clearTimeout(cut);
        console.log(`${this.#name}: ${exitCode} ${command.slice(0, 80)}`);
        resolve();
      });
    });
  }

  #keep(bytes: Buffer): void {
    const now = performance.now();
    const waitMs = Math.round(now - this.#last);
    const last = this.chunks.at(-1);
    if (waitMs < TOGETHER_MS && last !== undefined) last.bytes = Buffer.concat([last.bytes, bytes]);
    else this.chunks.push({ waitMs, bytes });
    this.#last = now;
  }
}

await mkdir(directory, { recursive: true });
await mkdir(DATA, { recursive: true });
const lanes = Object.entries(LANES).filter(([name]) => wanted.length === 0 || wanted.includes(name));
await Promise.all(
  lanes.map(async ([name, commands]) => {
    const lane = new Lane(name);
    await lane.record(commands);
    const chunks = lane.chunks.map(({ waitMs, bytes }) => ({ waitMs, bytes: withoutNames(bytes) }));
    await writeFile(join(DATA, `busy-${name}.br`), packed(chunks));
  }),
);

/** Where it was recorded is nobody's business. */
function withoutNames(bytes: Buffer): Buffer {
  const text = bytes.toString("latin1").replaceAll(hostname(), "build").replaceAll(PROJECT, "/home/u/project");
  const places = text.replaceAll(/\/(?:root|work)\b/g, "/home").replaceAll(/\/opt\b/g, "/srv");
  return Buffer.from(places.replaceAll(/<[\w.+-]+@[\w.-]+>/g, "<ann@example.org>"), "latin1");
}
