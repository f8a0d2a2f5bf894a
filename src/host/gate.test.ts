import { afterAll, expect, test } from "vitest";
import { eventually } from "../../test/support/eventually.ts";
import { HubMessage } from "../protocol/link.ts";
import { ANN, BOT, closeServices, OpenedTerminal } from "../../test/support/terminal.ts";

afterAll(closeServices);

test("[PTY-15] a number goes in once: a repeat gets the first answer and types nothing", async () => {
  const terminal = await OpenedTerminal.open();
  await terminal.run("cat");
  const input = { type: "SEND_INPUT", by: BOT, class: "drive" } as const;
  const number = terminal.nextNumber;

  const first = await terminal.ask(input, "once\r", number);
  const again = await terminal.ask(input, "once\r", number);
  const next = await terminal.text("once\r\nonce\r\n");
  await terminal.send("twice\r");
  await terminal.text("twice\r\ntwice\r\n", next);

  expect(again).toEqual(first);
  expect(terminal.bytes.toString().split("once")).toHaveLength(3);
});

test("[PTY-15] a refusal is repeated too", async () => {
  const terminal = await OpenedTerminal.open();
  const input = { type: "SEND_INPUT", by: BOT, class: "drive", not_at_shell: true } as const;
  const number = terminal.nextNumber;

  await expect(terminal.ask(input, "x", number)).rejects.toMatchObject({ code: "shell_idle" });
  await terminal.run("cat");

  await expect(terminal.ask(input, "x", number)).rejects.toMatchObject({ code: "shell_idle" });
});

test("[CTL-14, PTY-15] a person's input that an idle shell doesn't get takes control from nobody", async () => {
  const terminal = await OpenedTerminal.open();
  await terminal.block("true");
  const { epoch } = terminal;
  const input = { type: "SEND_INPUT", by: ANN, class: "drive", not_at_shell: true } as const;
  const number = terminal.nextNumber;

  await expect(terminal.ask(input, "ls\r", number)).rejects.toMatchObject({ code: "shell_idle" });
  await terminal.run("cat");
  await expect(terminal.ask(input, "ls\r", number)).rejects.toMatchObject({ code: "shell_idle" });
  expect(terminal.epoch).toBe(epoch);
  await terminal.ask(input, "in\r");

  expect(terminal.epoch).toBe(epoch + 1);
});

test("[PTY-15] a number that was overtaken is taken; one that may have been forgotten is not", async () => {
  const terminal = await OpenedTerminal.open();
  await terminal.run("cat");
  const nothing = { type: "SEND_INPUT", by: ANN, class: "drive" } as const;
  await terminal.ask(nothing, "", 50);
  await terminal.ask(nothing, "", 49);
  for (let number = 51; number < 1051; number += 1) await terminal.ask(nothing, "", number);

  await expect(terminal.ask(nothing, "", 48)).rejects.toMatchObject({ code: "unknown_outcome" });
});

test("[PTY-16] input of another epoch is refused", async () => {
  const terminal = await OpenedTerminal.open();
  const input = { type: "SEND_INPUT", by: BOT, class: "drive" } as const;

  await terminal.ask({ ...input, epoch: 1 }, "x");

  expect(terminal.epoch).toBe(2);
  await expect(terminal.ask({ ...input, epoch: 3 }, "y")).rejects.toMatchObject({ code: "stale_epoch" });
  await expect(terminal.ask({ ...input, epoch: undefined }, "y")).rejects.toMatchObject({ code: "stale_epoch" });
});

test("[PTY-16] a grant is installed only over the epoch that is expected", async () => {
  const terminal = await OpenedTerminal.open();
  const grant = { type: "grant", by: ANN as { kind: "person"; id: string }, agentId: "bot", leaseSeconds: 60 } as const;
  const ask = (expectedEpoch: number) =>
    terminal.ask({ type: "CONTROL", command: { ...grant, attend: true, expectedEpoch } });

  expect((await ask(1)).fields).toMatchObject({ epoch: 2, control_mode: "AGENT" });
  await expect(ask(1)).rejects.toMatchObject({ code: "stale_epoch" });
});

test("[RML-11, CTL-1] until when a lease lasts is told by the clock of whoever granted it", async () => {
  const terminal = await OpenedTerminal.open();
  const at = Date.parse("2031-01-01T00:00:00.000Z");
  const grant = { type: "grant", by: ANN as { kind: "person"; id: string }, agentId: "bot", leaseSeconds: 60 } as const;

  const { fields } = await terminal.ask({ type: "CONTROL", command: { ...grant, attend: true }, at });

  expect(fields["lease_expiry"]).toBe("2031-01-01T00:01:00.000Z");
  const renewed = await terminal.ask({ type: "CONTROL", command: { type: "renew", by: BOT }, at: at + 5_000 });
  expect(renewed.fields["lease_expiry"]).toBe("2031-01-01T00:01:05.000Z");
});

test("[PTY-17] an input is recorded with who, how much and, where the terminal shows it, what", async () => {
  const terminal = await OpenedTerminal.open();
  await terminal.run("cat");
  await eventually(async () => expect((await terminal.ask({ type: "STATUS" })).fields["mode"]).toBe("block_running"));
  await terminal.event("prompt", (payload) => payload["kind"] === "line");

  const { fields } = await terminal.send("hello\r");

  const [input] = terminal.events("input");
  expect(input).toMatchObject({
    order: fields["position"],
    by: BOT,
    payload: { bytes: 6, epoch: 2, class: "drive", text: "hello\r" },
  });
});

test.each([
  { name: "a secret", command: "cat", kind: "line", secret: true },
  { name: "what is typed while nothing is shown", command: "read -s x", kind: "password", secret: false },
])("[PTY-17] $name is recorded without its text", async ({ command, kind, secret }) => {
  const terminal = await OpenedTerminal.open();
  await terminal.run(command);
  await terminal.event("prompt", (payload) => payload["kind"] === kind);

  await terminal.send("correct horse\r", { by: ANN, secret });

  expect(terminal.events("input")[0]?.payload).not.toHaveProperty("text");
});

test("[PTY-18] nobody on the link can call what they type a reply, which nobody would judge or record", () => {
  const input = { type: "SEND_INPUT", id: 1, session_id: crypto.randomUUID(), by: ANN, number: 1 } as const;
  const parsed = (called: string) => HubMessage.safeParse({ ...input, class: called }).success;

  expect([parsed("drive"), parsed("assist"), parsed("reply")]).toEqual([true, true, false]);
});

test("[PTY-18] a program's question to the terminal is answered once", async () => {
  const terminal = await OpenedTerminal.open();

  const { output } = await terminal.block(String.raw`printf '\033[6n'; read -s -d R -t 5 reply; printf '%q' "$reply"`);

  expect(output).toMatch(/\\E\[\d+;\d+/);
  expect(terminal.events("input")).toEqual([]);
});

test("[PTY-19] a program that does not read is not fed without end", async () => {
  const terminal = await OpenedTerminal.open();
  await terminal.run("stty raw -echo; sleep 1000");
  const megabyte = "x".repeat(1024 * 1024);

  const admitted = await Promise.allSettled(Array.from({ length: 18 }, () => terminal.send(megabyte)));

  expect(admitted[0]?.status).toBe("fulfilled");
  expect(admitted.at(-1)).toMatchObject({ status: "rejected", reason: { code: "limit_reached" } });
});
