/**
 * Runs real tools on a terminal up to their questions and writes what they showed, with what the kernel said, to
 * test/prompts/corpus. The tests read only the stored corpus; this is run by hand, as root, on a Debian machine that
 * may be changed: it leaves a user `bobby` and a crontab behind (it needs the tools, the user `alice` and the packages that `--npm` names a directory of).
 *
 *   node tools/capture-prompts.ts [--npm directory] [name …]
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type IPty, spawn } from "@lydell/node-pty";
import { descendants, type Look, Probe } from "../src/host/terminal/probe/probe.ts";
import { ROOT } from "./source-files.ts";
import { INSTALLERS } from "./capture/installers.ts";
import { MENUS } from "./capture/menus.ts";
import { QUIET } from "./capture/quiet.ts";
import type { Ask, Scenario } from "./capture/scenario.ts";
import { SECRETS } from "./capture/secrets.ts";
import { TOOLS } from "./capture/tools.ts";

type Waiting = Extract<Look, { waiting: true }>;

const CORPUS = join(ROOT, "test/prompts/corpus");
const WORK = "/tmp/prompts-demo";
const SIZE = { cols: 100, rows: 30 };
const QUIET_MS = 250;
const PATIENCE_MS = 25_000;
/** Enough for a whole screen; of longer output the end. */
const KEPT = 6_000;

const NOBODY_LOOKED = { kind: "none", confidence: "low", program: "", quietMs: 5_000 };

class Tool {
  readonly #pty: IPty;
  readonly #probe: Probe;
  #output = Buffer.alloc(0);
  #changedAt = performance.now();
  #exited = false;

  constructor(scenario: Scenario, probe: Probe, npm: string) {
    const lang = scenario.lang ?? "C.UTF-8";
    const env = { PATH: process.env["PATH"] ?? "", HOME: WORK, LANG: lang, LC_ALL: lang, TERM: "xterm-256color" };
    const language = lang.startsWith("C") ? {} : { LANGUAGE: lang.slice(0, 5) };
    this.#pty = spawn("/bin/bash", ["--norc", "-c", `${scenario.run}\n:`], {
      ...SIZE,
      cwd: WORK,
      encoding: null,
      env: { ...env, ...language, NODE_PATH: join(npm, "node_modules"), NPM: npm, ...scenario.env },
    });
    this.#probe = probe;
    this.#pty.onData((data) => {
      this.#output = Buffer.concat([this.#output, Buffer.from(data as unknown as Uint8Array)]);
      this.#changedAt = performance.now();
    });
    this.#pty.onExit(() => (this.#exited = true));
  }

  get output(): string {
    const text = this.#output.toString();
    if (text.length <= KEPT) return text;
    return text.slice(text.indexOf("\n", text.length - KEPT) + 1);
  }

  type(text: string): void {
    this.#pty.write(text);
  }

  /** The next question, or undefined when there is none. */
  async asks(before: string): Promise<{ readonly look: Waiting; readonly key: string } | undefined> {
    const until = performance.now() + PATIENCE_MS;
    while (performance.now() < until && !this.#exited) {
      await sleep(40);
      if (performance.now() - this.#changedAt < QUIET_MS) continue;
      const look = await this.#look();
      if (!look.waiting) continue;
      const key = `${look.pid} ${look.switches} ${this.#output.length}`;
      if (key !== before) return { look, key };
    }
    return undefined;
  }

  async ended(): Promise<void> {
    while (!this.#exited) await sleep(20);
  }

  async end(): Promise<void> {
    for (const pid of [...descendants(this.#pty.pid), this.#pty.pid]) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It ended by itself.
      }
    }
    await this.ended();
  }

  #look(): Promise<Look> {
    const text = this.#output.toString();
    const isOn = (mode: number): boolean => text.lastIndexOf(`\x1b[?${mode}h`) > text.lastIndexOf(`\x1b[?${mode}l`);
    const modes = { altScreen: isOn(1049), bracketedPaste: isOn(2004), mouse: isOn(1000) };
    return this.#probe.look({ fd: (this.#pty as IPty & { fd: number }).fd, shellPid: this.#pty.pid, modes });
  }
}

async function capture(scenario: Scenario, probe: Probe, npm: string): Promise<object[]> {
  rmSync(WORK, { recursive: true, force: true });
  mkdirSync(WORK, { recursive: true });
  const tool = new Tool(scenario, probe, npm);
  const samples: object[] = [];
  let before = "";
  try {
    if (scenario.ends === true) {
      await tool.ended();
      return [
        {
          id: scenario.id,
          source: "captured",
          evidence: NOBODY_LOOKED,
          expect: { class: "NONE" },
          output: tool.output,
        },
      ];
    }
    for (const [index, ask] of scenario.asks.entries()) {
      const found = await tool.asks(before);
      if (found === undefined) {
        console.log(`${scenario.id}: no question ${index + 1}: ${JSON.stringify(tool.output.slice(-200))}`);
        break;
      }
      before = found.key;
      samples.push(sampleOf({ scenario, ask, index, look: found.look, output: tool.output }));
      if (ask.answer !== undefined) tool.type(ask.answer);
    }
  } finally {
    await tool.end();
  }
  return samples.filter((it) => !("skipped" in it));
}

function sampleOf(it: {
  readonly scenario: Scenario;
  readonly ask: Ask;
  readonly index: number;
  readonly look: Waiting;
  readonly output: string;
}): object {
  const { scenario, ask, index, look, output } = it;
  if (ask.expect === undefined) return { skipped: true };
  const { echo, canonical } = look.evidence;
  return {
    id: `${scenario.id}-${index + 1}`,
    source: "captured",
    ...(scenario.lang !== undefined && { lang: scenario.lang.slice(0, 2) }),
    evidence: {
      kind: look.kind === "shell" ? "line_editor" : look.kind,
      confidence: look.confidence,
      program: look.program,
      ...(typeof echo === "boolean" && { echo }),
      ...(typeof canonical === "boolean" && { canonical }),
    },
    expect: ask.expect,
    output,
  };
}

const args = process.argv.slice(2);
const npm = args[0] === "--npm" ? (args.splice(0, 2)[1] ?? "") : "";
const probe = await Probe.open();
mkdirSync(CORPUS, { recursive: true });
for (const [name, scenarios] of Object.entries({ INSTALLERS, MENUS, SECRETS, TOOLS, QUIET })) {
  if (args.length > 0 && !args.includes(name.toLowerCase())) continue;
  const samples: object[] = [];
  for (const scenario of scenarios) {
    if (process.env["ONLY"] !== undefined && !scenario.id.startsWith(process.env["ONLY"])) continue;
    samples.push(...(await capture(scenario, probe, npm)));
  }
  const file = process.env["ONLY"] === undefined ? `${name.toLowerCase()}.json` : "only.json";
  writeFileSync(join(CORPUS, file), `${JSON.stringify(samples, undefined, 2)}\n`);
  console.log(`${file}: ${samples.length} samples`);
}
await probe.close();
process.exit(0);
