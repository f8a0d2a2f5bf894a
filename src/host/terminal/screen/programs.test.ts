import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { spawn } from "@lydell/node-pty";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { throwawayHome } from "../../../../test/support/empty-home.ts";
import { eventually } from "../../../../test/support/eventually.ts";
import { temporaryDirectory } from "../../../../test/support/temporary.ts";
import { ModeScanner } from "../../../domain/modes.ts";
import { byteTools } from "../byte-tools.ts";
import { Emulator } from "./emulator.ts";
import { LazyScreen } from "./lazy-screen.ts";
import { Screens } from "./screens.ts";

const SIZE = { cols: 90, rows: 30 };
let screens: Screens;

beforeAll(async () => {
  screens = await Screens.open();
});
afterAll(() => screens.close());

/** A program on a real PTY whose screen is put away after every look. */
class Program {
  readonly ended: Promise<void>;
  keyframes = 0;
  readonly #pty: ReturnType<typeof spawn>;
  readonly #chunks: Buffer[] = [];
  readonly #scanner = new ModeScanner(byteTools);
  readonly #screen: LazyScreen;
  #cursor = 0;

  constructor(file: string, args: string[]) {
    const home = throwawayHome();
    const env = { PATH: process.env["PATH"] ?? "", TERM: "xterm-256color", LANG: "C.UTF-8", HOME: home.path };
    this.#pty = spawn(file, args, { ...SIZE, encoding: null, env });
    this.#screen = new LazyScreen({
      screens: async () => screens,
      size: SIZE,
      modes: () => this.#scanner.modes,
      onReply: (bytes) => this.#pty.write(Buffer.from(bytes).toString("latin1")),
      onKeyframe: () => (this.keyframes += 1),
      limits: { idleMs: 1 },
    });
    this.#pty.onData((data) => this.#take(data as unknown as Buffer));
    this.ended = new Promise((resolve) => this.#pty.onExit(() => resolve()));
    onTestFinished(async () => {
      this.#pty.kill("SIGKILL");
      this.#screen.close();
      await this.ended;
      home[Symbol.dispose]();
    });
  }

  press(keys: string): void {
    this.#pty.write(keys);
  }

  /** Waits until `text` is on the screen; then that screen is what one emulator shows that got all output at once. */
  async shows(text: string): Promise<void> {
    const content = await eventually(async () => {
      const now = await this.#screen.read();
      expect(now.lines.join("\n")).toContain(text);
      return now;
    });
    const whole = new Emulator({ ...SIZE, onReply: () => undefined });
    whole.feed(Buffer.concat(this.#chunks).subarray(0, content.cursor), { answer: false });
    expect(content).toMatchObject(whole.read());
    await eventually(() => expect(this.keyframes).toBeGreaterThan(0));
  }

  #take(data: Buffer): void {
    const { queries } = this.#scanner.push(data);
    this.#chunks.push(data);
    this.#screen.feed(data, this.#cursor, queries);
    this.#cursor += data.length;
  }
}

async function hundredLines(): Promise<string> {
  const file = join(await temporaryDirectory(), "lines.txt");
  await writeFile(file, Array.from({ length: 100 }, (_, line) => `line ${line + 1}: 漢字 — déjà vu\n`).join(""));
  return file;
}

test("[SCR-24] vim looks the same after keyframes as without, and gets its answers (needs vim)", async () => {
  const vim = new Program("vim", ["-u", "NONE", "-N", "-c", "set number hlsearch", await hundredLines()]);

  await vim.shows("line 1:");
  vim.press("G");
  await vim.shows("line 100:");
  vim.press(":split\r/line 5\r");
  await vim.shows("line 5:");
  vim.press("ihello\u001B");
  await vim.shows("hello");
  vim.press(":qa!\r");
  await vim.ended;
});

test("[SCR-24] less looks the same after keyframes as without (needs less)", async () => {
  const less = new Program("less", ["-N", await hundredLines()]);

  await less.shows("line 1:");
  less.press(" ");
  await less.shows("line 40:");
  less.press("/line 77\r");
  await less.shows("line 77:");
  less.press("kkk");
  await less.shows("line 74:");
  less.press("q");
  await less.ended;
});

test("[SCR-24] a curses program with colours and boxes looks the same after keyframes as without (needs python3)", async () => {
  const file = join(await temporaryDirectory(), "meters.py");
  await writeFile(file, METERS);
  const meters = new Program("/usr/bin/env", ["python3", file]);

  await meters.shows("turn 0");
  for (let turn = 1; turn <= 5; turn += 1) {
    meters.press(" ");
    await meters.shows(`turn ${turn}`);
  }
  meters.press("q");
  await meters.ended;
});

test("[SCR-24] whiptail looks the same after keyframes as without (needs whiptail)", async () => {
  const dialog = new Program("whiptail", ["--title", "Question", "--yesno", "Shall we proceed?", "10", "50"]);

  await dialog.shows("Shall we proceed?");
  dialog.press("\t");
  await dialog.shows("Question");
  dialog.press("\r");
  await dialog.ended;
});

const METERS = `
import curses

def main(screen):
    curses.start_color()
    curses.use_default_colors()
    for pair in range(1, 8):
        curses.init_pair(pair, pair, -1 if pair % 2 else curses.COLOR_BLUE)
    turn = 0
    while True:
        screen.erase()
        screen.box()
        screen.addstr(1, 2, "turn %d" % turn, curses.A_BOLD)
        for row in range(2, 20):
            bar = (row * 7 + turn * 13) % 60
            screen.addstr(row, 2, "|" * bar, curses.color_pair(row % 7 + 1))
            screen.addstr(row, 65, "%3d%%" % bar, curses.A_REVERSE)
        window = curses.newwin(6, 30, 20, 20)
        window.bkgd(" ", curses.color_pair(2))
        window.border()
        window.addstr(2, 2, "process list")
        screen.refresh()
        window.refresh()
        if screen.getch() == ord("q"):
            return
        turn += 1

curses.wrapper(main)
`;
