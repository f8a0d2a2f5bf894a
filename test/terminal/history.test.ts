/** Looking back at real terminals: screens of the past, and exports. */
import { randomUUID } from "node:crypto";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import headless from "@xterm/headless";
import { beforeAll, expect, test } from "vitest";
import type { SidestickClient } from "../../src/client/sidestick.ts";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { ask, verdict } from "../support/http.ts";
import { tokenOf } from "../support/hub.ts";
import { eventually } from "../support/eventually.ts";
import { runCliHere } from "../support/run-cli.ts";
import { clientOf, openTerminalHub, type TerminalHub } from "../support/terminal-hub.ts";

let hub: TerminalHub;
let viewer: SidestickClient;
beforeAll(async () => {
  const opened = await openTerminalHub();
  hub = opened;
  viewer = await clientOf(hub.url, hub.dataDir, "viewer");
  return opened.stop;
});

async function bytesOf(sessionId: string, from: number, to: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let at = from; at < to;) {
    const { data, cursor } = await viewer.session.output({ sessionId, from_cursor: at, max_bytes: to - at });
    parts.push(Buffer.from(data, "base64"));
    at = cursor;
  }
  return Buffer.concat(parts);
}

/** The screen of a cursor, from what anybody who looks may read. */
async function screenAt(sessionId: string, at_cursor: number): Promise<string[]> {
  const { data = "", cursor, cols, rows, resizes } = await viewer.session.keyframe({ sessionId, at_cursor });
  const terminal = new headless.Terminal({ cols, rows, allowProposedApi: true });
  const write = (part: string | Uint8Array) => new Promise<void>((resolve) => terminal.write(part, resolve));
  await write(data);
  let from = cursor;
  for (const [at, toCols, toRows] of [...resizes, [at_cursor, 0, 0] as const]) {
    await write(await bytesOf(sessionId, from, at));
    from = at;
    if (toCols > 0) terminal.resize(toCols, toRows);
  }
  const { active } = terminal.buffer;
  return Array.from(
    { length: terminal.rows },
    (_, row) =>
      active
        .getLine(active.baseY + row)
        ?.translateToString(true)
        .trimEnd() ?? "",
  );
}

test("[WEB-61, WEB-60] the screen of any past cursor is what it was then, also after keyframes, sizes and the end", async () => {
  const conversation_id = "looking-back";
  const say = (command: string) => hub.person.pty.exec_block({ conversation_id, command, wait_ms: WAIT_BUDGET_MS });
  const look = async () => {
    const { lines, cursor } = await hub.person.pty.read_screen({ conversation_id });
    return { cursor, lines: lines.map((it) => it.trimEnd()) };
  };
  const { workspace_session_id: sessionId } = await say("echo first");
  const seen = [await look()];
  await say("seq 250000 > /dev/null; seq 200000");
  seen.push(await look());
  // The screen of a cursor is the one after all that happened there.
  await say("true");
  await hub.person.pty.resize({ conversation_id, cols: 70, rows: 18 });
  await say("printf '\\033[2J\\033[5;10Hhere'");
  seen.push(await look());
  await say("seq 100000");
  seen.push(await look());
  await eventually(async () => expect(await viewer.event.list({ sessionId, types: ["keyframe"] })).not.toEqual([]));
  await hub.person.session.close({ sessionId });

  for (const { cursor, lines } of seen) expect(await screenAt(sessionId, cursor)).toEqual(lines);
});

type CastEvent = [interval: number, code: string, data: string];

test("[WEB-65, WEB-66] a session's export tells its output, sizes, commands, who drove and the exit", async () => {
  const conversation_id = "exported";
  const run = (command: string) => hub.agent.pty.exec_block({ conversation_id, command, wait_ms: WAIT_BUDGET_MS });
  const { workspace_session_id: sessionId } = await run("echo 'grüße €'");
  await hub.agent.pty.resize({ conversation_id, cols: 99, rows: 33 });
  await hub.person.session.input({ sessionId, data: "echo by hand\r" });
  await hub.person.pty.wait_for({ conversation_id, match: "hand\r\n", view: "raw", match_type: "substring" });
  await hub.person.session.input({ sessionId, data: "exit 3\r" });
  await eventually(async () => expect((await viewer.session.get({ sessionId })).status).toBe("closed"));
  const [token, events] = await Promise.all([
    tokenOf(hub.dataDir, "viewer", "looker"),
    viewer.event.list({ sessionId, limit: 5000 }),
  ]);

  const cast = await ask(hub.url, { path: `/sessions/${sessionId}/export?format=asciicast`, token });
  const jsonl = await ask(hub.url, { path: `/sessions/${sessionId}/export?format=jsonl`, token });

  const [header, ...lines] = cast.text
    .trimEnd()
    .split("\n")
    .map((it) => JSON.parse(it) as CastEvent);
  const of = (code: string) => lines.filter((it) => it[1] === code).map((it) => it[2]);
  const { end_cursor } = await viewer.session.output({ sessionId });
  expect(cast.headers["content-disposition"]).toBe(`attachment; filename="${sessionId}.cast"`);
  expect(header).toMatchObject({ version: 3, term: { cols: 120, rows: 40 }, timestamp: expect.any(Number) });
  expect(of("o").join("")).toBe((await bytesOf(sessionId, 0, end_cursor)).toString());
  expect([of("r"), of("x")]).toEqual([["99x33"], ["3"]]);
  expect(of("m")).toEqual(
    expect.arrayContaining(["$ echo 'grüße €'", "exit 0", "control: operator (user_input_override)"]),
  );
  const took = Date.parse(events.at(-1)!.timestamp) - Date.parse(events[0]!.timestamp);
  expect(lines.reduce((sum, [interval]) => sum + interval, 0) * 1000).toBeCloseTo(took, -2);
  expect(
    jsonl.text
      .trimEnd()
      .split("\n")
      .map((it) => JSON.parse(it)),
  ).toEqual(events);
});

test("[WEB-67] an export of what isn't there, or in no known format, is a refusal and no file", async () => {
  const token = await tokenOf(hub.dataDir, "operator", "reader");
  const at = (path: string) => ask(hub.url, { path, token }).then(verdict);

  expect(await at(`/sessions/${randomUUID()}/export?format=asciicast`)).toBe("404 not_found");
  expect(await at(`/sessions/${randomUUID()}/export?format=gif`)).toBe("400 invalid_request");
});

test("[WEB-68] the command line writes an export to a file for its owner, whole, and never over another", async () => {
  const conversation_id = "cli-export";
  await hub.person.pty.exec_block({ conversation_id, command: "echo for the file", wait_ms: WAIT_BUDGET_MS });
  const cli = (...args: string[]) => runCliHere(["export", conversation_id, ...args, "--data-dir", hub.dataDir]);
  const file = join(hub.dataDir, "it.cast");

  const written = await cli("--format", "asciicast", "--output", file);
  const printed = await cli("--format", "jsonl");
  const again = await cli("--format", "asciicast", "--output", file);
  await writeFile(file, "other");
  const forced = await cli("--format", "asciicast", "--output", file, "--force");
  const wrong = await Promise.all([cli("--format", "gif"), cli("--output", file)]);

  expect([written.code, written.stdout]).toEqual([0, `${file}\n`]);
  expect(JSON.parse(printed.stdout.split("\n")[0]!)).toMatchObject({ type: "status" });
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("is there already")]);
  expect(forced.code).toBe(0);
  expect((await readFile(file, "utf8")).split("\n")[0]).toContain('"version":3');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(wrong.map((it) => it.code)).toEqual([2, 2]);
});
