import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import { ANN, closeServices, OpenedTerminal } from "../../../test/support/terminal.ts";

afterAll(closeServices);

const PASTE = `${"A".repeat(200_000)}END`;

/** A program that reads nothing before `reads` is called, and then shows every byte. */
async function deafProgram(): Promise<{ terminal: OpenedTerminal; from: number; reads: () => Promise<void> }> {
  const terminal = await OpenedTerminal.open();
  await terminal.run("mkfifo reads; stty raw -echo; echo deaf; cat reads; exec cat");
  const from = await terminal.text("deaf\n");
  return { terminal, from, reads: () => writeFile(join(terminal.home, "reads"), "") };
}

test("[CTL-14] of an agent's paste that nobody has read, nothing arrives after a person's key", async () => {
  const { terminal, from, reads } = await deafProgram();
  const { fields } = await terminal.send(PASTE);
  expect(fields["waiting"]).toBeGreaterThan(100_000);

  await terminal.send("k", { by: ANN });
  await reads();
  await terminal.send("l", { by: ANN });

  await terminal.text("kl", from);
  expect(terminal.bytes.subarray(from).toString()).toBe("kl");
});

test("[CTL-17, CTL-22] nor after the lease is over", async () => {
  const { terminal, from, reads } = await deafProgram();
  const by = { kind: "person", id: ANN.id } as const;
  const grant = { type: "grant", by, agentId: "bot", leaseSeconds: 600, attend: true } as const;
  await terminal.ask({ type: "CONTROL", command: grant });
  await terminal.send(PASTE);
  const renew = { type: "renew", by: { kind: "agent", id: "bot" }, leaseSeconds: 0.2 } as const;
  await terminal.ask({ type: "CONTROL", command: renew });

  await terminal.event("control_handoff", ({ reason }) => reason === "lease_expired");
  await reads();
  await terminal.send("k", { by: ANN });

  await terminal.text("k", from);
  expect(terminal.bytes.subarray(from).toString()).toBe("k");
});

test("[CTL-14] the record has the agent's input, the change of hands, and then the person's input", async () => {
  const { terminal } = await deafProgram();
  await terminal.send("a");
  await terminal.send("k", { by: ANN });

  const told = await eventually(() =>
    terminal.frames.flatMap((frame) =>
      frame.kind === "event" && (frame.type === "input" || frame.payload["change"] === "holder")
        ? [[frame.type, frame.by?.id, frame.payload["epoch"], frame.payload["reason"]]]
        : [],
    ),
  );
  expect(told).toEqual([
    ["control_handoff", "bot", 2, "granted"],
    ["input", "bot", 2, undefined],
    ["control_handoff", "ann", 3, "user_input_override"],
    ["input", "ann", 3, undefined],
  ]);
});
