/** The product as people run it, a person and an agent who share one terminal, and others who keep the machine busy. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { socketFetch } from "../../src/cli/socket-fetch.ts";
import { SidestickClient } from "../../src/client/sidestick.ts";
import { endEcho } from "./echo.ts";
import { sharedNow } from "./shared-clock.ts";

export type StopTimes = {
  readonly gateMs: number;
  readonly shutMs: number;
  readonly answeredMs: number;
  readonly deadMs: number;
  readonly toldMs: number;
  readonly survivors: number;
  readonly linesRun: number;
};

const CLI = join(import.meta.dirname, "..", "..", "bin", "main.mjs");
const WAITS = 20;
const LINES = 5;
const conversation_id = "stopped";

export class Scene implements AsyncDisposable {
  readonly #directory = mkdtempSync(join(tmpdir(), "ssb-"));
  readonly #children: ChildProcess[] = [];
  #agent!: SidestickClient;
  #person!: SidestickClient;
  #sessionId = "";

  static async open(): Promise<Scene> {
    const scene = new Scene();
    try {
      await scene.#start();
    } catch (error) {
      await scene[Symbol.asyncDispose]();
      throw error;
    }
    return scene;
  }

  /** A flood of output, a busy core, and a regex that never matches. */
  async addLoad(): Promise<void> {
    await this.#agent.pty.exec_block({ conversation_id: "flood", command: "yes 0123456789abcdefghijklmnopqrst" });
    await this.#agent.pty.exec_block({ conversation_id: "core", command: "while :; do :; done" });
    const heavy = { match: "(([a-z]{1,50}){1,20}[0-9]){1,20}ZZ", match_type: "regex" } as const;
    void this.#agent.pty.wait_for({ conversation_id: "flood", ...heavy, timeout_ms: 50_000 }).catch(() => undefined);
  }

  async stop(round: number): Promise<StopTimes> {
    const sessionId = this.#sessionId;
    const evil = join(this.#directory, `evil-${round}`);
    await this.#person.control.grant({ sessionId, lease_seconds: 3600, attend: true });
    const command = `setsid -f sleep 1000; sleep 1000; touch ${evil}`;
    await this.#agent.pty.exec_block({ conversation_id, command });
    const pids = await this.#running();
    const told = this.#waits();
    for (let line = 0; line < LINES; line += 1) {
      await this.#agent.pty.send({ conversation_id, data: `touch ${evil}-${line}\r` });
    }
    const { epoch } = await this.#person.control.get({ sessionId });
    const began = sharedNow();
    const answered = this.#person.control.user_intent({ sessionId, intent: "STOP_NOW" }).then(() => since(began));
    const dead = allDead(pids).then(() => since(began));
    const [answeredMs, deadMs, ends] = await Promise.all([answered, dead, told]);
    const receipt = await this.#receipt(epoch);
    const { arrived, shut } = this.#lastGateTimes();
    return {
      answeredMs,
      deadMs,
      toldMs: Math.max(...ends) - began,
      gateMs: shut - arrived,
      shutMs: shut - began,
      survivors: (receipt["survivors"] as unknown[]).length,
      linesRun: readdirSync(this.#directory).filter((it) => it.startsWith("evil")).length,
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    endEcho();
    for (const child of this.#children.toReversed()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      await exited;
    }
    rmSync(this.#directory, { recursive: true, force: true, maxRetries: 5 });
  }

  async #start(): Promise<void> {
    const dataDir = join(this.#directory, "data");
    const place = ["--data-dir", dataDir];
    mkdirSync(dataDir, { mode: 0o700 });
    writeFileSync(join(dataDir, "policy.yaml"), "extends: none\ndefault: auto\nunclear: auto\n", { mode: 0o600 });
    await this.#spawn([join(import.meta.dirname, "host.ts"), ...place], /The host is ready/);
    const [, url = ""] = await this.#spawn([CLI, "up", "--port", "0", ...place], /Address +(\S+)/);
    const owner = new SidestickClient({ url: "http://hub", fetch: socketFetch(join(dataDir, "hub.sock")) });
    const client = async (role: "agent" | "operator") =>
      new SidestickClient({ url, token: (await owner.token.create({ role, name: role })).token });
    this.#agent = await client("agent");
    this.#person = await client("operator");
    const first = await this.#agent.pty.exec_block({ conversation_id, command: "true", wait_ms: 20_000 });
    this.#sessionId = first.workspace_session_id;
  }

  #spawn(args: readonly string[], ready: RegExp): Promise<RegExpExecArray> {
    const { PATH = "" } = process.env;
    const env = { PATH, HOME: this.#directory, BENCH_GATE_TIMES: this.#timesFile };
    const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", ...args], {
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#children.push(child);
    return new Promise((resolve, reject) => {
      child.once("exit", (code) => reject(new Error(`${args[0]} ended with ${code}`)));
      createInterface({ input: child.stdout }).on("line", (line) => {
        const found = ready.exec(line);
        if (found !== null) resolve(found);
      });
    });
  }

  get #timesFile(): string {
    return join(this.#directory, "gate-times");
  }

  #lastGateTimes(): { readonly arrived: number; readonly shut: number } {
    const last = readFileSync(this.#timesFile, "utf8").trim().split("\n").at(-1) ?? "";
    const [arrived = Number.NaN, shut = Number.NaN] = last.split(" ").map(Number);
    return { arrived, shut };
  }

  /** The shell's children, once both are there. */
  async #running(): Promise<string[]> {
    const { pid = 0 } = await this.#agent.pty.status({ conversation_id });
    for (;;) {
      const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
      if (children.length === 2 && children.every((it) => programOf(it) === "sleep")) return children;
      await delay(5);
    }
  }

  /** When each of them was answered. */
  #waits(): Promise<number[]> {
    const wait = () => this.#agent.pty.wait_for({ conversation_id, match: "never", timeout_ms: 50_000 });
    return Promise.all(Array.from({ length: WAITS }, () => wait().then(() => sharedNow())));
  }

  async #receipt(epoch: number): Promise<Readonly<Record<string, unknown>>> {
    for (;;) {
      const told = await this.#person.event.list({ sessionId: this.#sessionId, types: ["receipt"], limit: 5000 });
      const last = told.at(-1)?.payload;
      if (last !== undefined && Number(last["epoch"]) > epoch) return last;
      await delay(10);
    }
  }
}

function since(began: number): number {
  return sharedNow() - began;
}

async function allDead(pids: readonly string[]): Promise<void> {
  while (pids.some((pid) => programOf(pid) !== undefined)) await delay(1);
}

/** Undefined for what is gone or has only its status left. */
function programOf(pid: string): string | undefined {
  try {
    const [, program, state] = /\((.*)\) (.)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
    return state === "Z" || state === "X" ? undefined : program;
  } catch {
    return undefined;
  }
}
