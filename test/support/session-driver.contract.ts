/** What every session driver promises. */
import { expect, test } from "vitest";
import type { Session, SessionKind } from "../../src/domain/session.ts";
import type { SessionFrame } from "../../src/domain/session-frame.ts";
import type { SessionDriver } from "../../src/hub/ports.ts";
import { eventually } from "./eventually.ts";

/** `echo` is input that makes the session put out `answer`; `end` is input that ends it. */
export type DriverUnderTest = {
  readonly driver: SessionDriver;
  readonly echo: string;
  readonly answer: string;
  readonly end: string;
};

const SIZE = { cols: 80, rows: 24 };
const ANN = { kind: "person", id: "ann" } as const;

export function sessionOf(kind: SessionKind, sessionId: string): Session {
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

/** A session that runs, and the frames that came out of it. */
class Started {
  readonly driver: SessionDriver;
  readonly session: Session;
  readonly frames: SessionFrame[] = [];

  constructor(driver: SessionDriver) {
    this.driver = driver;
    this.session = sessionOf(driver.kind, crypto.randomUUID());
  }

  async start(): Promise<this> {
    await this.driver.start(this.session, SIZE, async (frames) => void this.frames.push(...frames));
    return this;
  }

  async type(text: string): Promise<void> {
    await this.driver.input(this.session.sessionId, { bytes: Buffer.from(text), by: ANN, class: "drive" });
  }

  stop(): Promise<void> {
    return this.driver.stop(this.session.sessionId);
  }

  output(): string {
    return Buffer.concat(this.frames.flatMap((it) => (it.kind === "bytes" ? [it.bytes] : []))).toString();
  }

  exits(): number {
    return this.frames.filter((it) => it.kind === "exit").length;
  }
}

export function sessionDriverContract(open: () => Promise<DriverUnderTest>): void {
  test("[SES-17] input comes back as output, in order", async () => {
    const { driver, echo, answer } = await open();
    const it = await new Started(driver).start();

    await it.type(echo);

    await eventually(() => expect(it.output()).toContain(answer));
    await it.stop();
  });

  test("[SES-17] a session that ends by itself says so once, as the last thing", async () => {
    const { driver, end } = await open();
    const it = await new Started(driver).start();

    await it.type(end);

    await eventually(() => expect(it.exits()).toBe(1));
    expect(it.frames.at(-1)?.kind).toBe("exit");
  });

  test("[SES-17] frames are numbered without a hole, and bytes follow one another", async () => {
    const { driver, echo, answer } = await open();
    const it = await new Started(driver).start();
    await it.type(echo);
    await eventually(() => expect(it.output()).toContain(answer));
    await it.stop();
    await eventually(() => expect(it.exits()).toBe(1));

    expect(it.frames.map((frame) => frame.order)).toEqual(it.frames.map((_, index) => index + 1));
    let cursor = 0;
    for (const frame of it.frames) {
      expect(frame.cursor).toBe(cursor);
      if (frame.kind === "bytes") cursor += frame.bytes.length;
    }
  });

  test("[SES-17] a change of size is told with its place and by whom", async () => {
    const { driver } = await open();
    const it = await new Started(driver).start();

    await driver.resize(it.session.sessionId, { cols: 132, rows: 43 }, ANN);

    await eventually(() =>
      expect(it.frames).toContainEqual(
        expect.objectContaining({ type: "resize", payload: { cols: 132, rows: 43 }, by: ANN }),
      ),
    );
    await it.stop();
  });

  test("[SES-17] two sessions don't meet, and stopping one leaves the other", async () => {
    const { driver, echo, answer } = await open();
    const first = await new Started(driver).start();
    const other = await new Started(driver).start();

    await first.stop();
    await other.type(echo);

    await eventually(() => expect(other.output()).toContain(answer));
    expect(first.output()).not.toContain(answer);
    await other.stop();
  });
}
