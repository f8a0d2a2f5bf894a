/** What every session driver promises. */
import { expect, test, vi } from "vitest";
import type { Session, SessionKind } from "../../src/domain/session.ts";
import type { SessionDriver } from "../../src/hub/ports.ts";
import { eventually } from "./eventually.ts";

/** `echo` is input that makes the session put out `answer`; `end` is input that ends it. */
export type DriverUnderTest = {
  readonly driver: SessionDriver;
  readonly echo: string;
  readonly answer: string;
  readonly end: string;
};

function sessionOf(kind: SessionKind, sessionId: string): Session {
  const at = new Date(0).toISOString();
  return {
    sessionId,
    kind,
    workspaceId: "default",
    hostId: "local",
    interactive: false,
    containment: "open",
    title: "t",
    status: "created",
    controllerId: null,
    createdAt: at,
    updatedAt: at,
  };
}

export function sessionDriverContract(open: () => Promise<DriverUnderTest>): void {
  const by = { kind: "person", id: "ann" } as const;

  async function started() {
    const { driver, ...words } = await open();
    const output: Buffer[] = [];
    const ended = vi.fn();
    const sink = { output: async (bytes: Uint8Array) => void output.push(Buffer.from(bytes)), ended };
    const session = sessionOf(driver.kind, crypto.randomUUID());
    await driver.start(session, sink);
    return { driver, ...words, session, output: () => Buffer.concat(output).toString(), ended };
  }

  test("[SES-17] input comes back as output, in order", async () => {
    const { driver, echo, answer, session, output } = await started();

    await driver.input(session.sessionId, Buffer.from(echo), by);

    await eventually(() => expect(output()).toContain(answer));
    await driver.stop(session.sessionId);
  });

  test("[SES-17] a session that ends by itself says so once", async () => {
    const { driver, end, session, ended } = await started();

    await driver.input(session.sessionId, Buffer.from(end), by);

    await eventually(() => expect(ended).toHaveBeenCalledTimes(1));
  });

  test("[SES-17] the size is what it was set to", async () => {
    const { driver, session } = await started();

    await driver.resize(session.sessionId, 132, 43);

    expect(driver.size(session.sessionId)).toEqual({ cols: 132, rows: 43 });
    await driver.stop(session.sessionId);
  });

  test("[SES-17] two sessions don't meet, and stopping one leaves the other", async () => {
    const first = await started();
    const other = sessionOf(first.driver.kind, crypto.randomUUID());
    const seen: string[] = [];
    await first.driver.start(other, {
      output: async (bytes) => void seen.push(Buffer.from(bytes).toString()),
      ended: () => undefined,
    });

    await first.driver.stop(first.session.sessionId);
    await first.driver.input(other.sessionId, Buffer.from(first.echo), by);

    await eventually(() => expect(seen.join("")).toContain(first.answer));
    expect(first.output()).not.toContain(first.answer);
    await first.driver.stop(other.sessionId);
  });
}
