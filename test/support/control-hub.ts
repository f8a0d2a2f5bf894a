/** People, agents and viewers who share the sessions of a real hub. */
import { expect } from "vitest";
import type { SidestickClient } from "../../src/client/sidestick.ts";
import type { EventType } from "../../src/domain/event.ts";
import type { Patience } from "../../src/main/hub.ts";
import { AppError } from "../../src/protocol/errors.ts";
import type { WorkspaceEvent } from "../../src/protocol/events.ts";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { eventually } from "./eventually.ts";
import { tokenOf } from "./hub.ts";
import { clientOf, openTerminalHub, type TerminalHub } from "./terminal-hub.ts";
import { TestViewer } from "./viewer.ts";

/** A terminal that an agent has begun to use, at its prompt. */
export type Driven = { readonly conversation_id: string; readonly sessionId: string };

export class ControlHub {
  readonly hub: TerminalHub;
  readonly stop: () => Promise<void>;
  /** `agent` and `operator` by name. */
  readonly agent: SidestickClient;
  readonly person: SidestickClient;
  readonly otherAgent: SidestickClient;
  readonly otherPerson: SidestickClient;
  readonly #token: string;
  static #conversations = 0;

  private constructor(
    opened: Awaited<ReturnType<typeof openTerminalHub>>,
    others: { readonly agent: SidestickClient; readonly person: SidestickClient; readonly token: string },
  ) {
    this.hub = opened;
    this.stop = opened.stop;
    this.agent = opened.agent;
    this.person = opened.person;
    this.otherAgent = others.agent;
    this.otherPerson = others.person;
    this.#token = others.token;
  }

  /** For a whole file: what `beforeAll` returns must be `stop`. */
  static async open(patience: Patience = {}): Promise<ControlHub> {
    const opened = await openTerminalHub(patience);
    const { url, dataDir } = opened;
    const agent = await clientOf(url, dataDir, "agent", "bob");
    const person = await clientOf(url, dataDir, "operator", "olga");
    return new ControlHub(opened, { agent, person, token: await tokenOf(dataDir, "operator", "viewer") });
  }

  /** Where its sessions run. */
  async hostId(): Promise<string> {
    return (await this.person.workspace.get({ workspaceId: "default" })).hostId;
  }

  conversation(): string {
    ControlHub.#conversations += 1;
    return `c${ControlHub.#conversations}`;
  }

  /** The agent has control, which it acquired by itself. */
  async driven(options: { readonly workspaceId?: string } = {}): Promise<Driven> {
    const conversation_id = this.conversation();
    if (options.workspaceId !== undefined) {
      await this.agent.session.create({ kind: "terminal", conversationId: conversation_id, ...options });
    }
    const command = { conversation_id, command: "true", wait_ms: WAIT_BUDGET_MS };
    const { workspace_session_id: sessionId } = await this.agent.pty.exec_block(command);
    return { conversation_id, sessionId };
  }

  /** The agent has control, because a person granted it. */
  async granted(lease_seconds = 600): Promise<Driven> {
    const driven = await this.driven();
    await this.person.control.take({ sessionId: driven.sessionId });
    await this.person.control.grant({ sessionId: driven.sessionId, lease_seconds });
    return driven;
  }

  /** A terminal of a person's, flagged as interactive. */
  async flagged(): Promise<Driven> {
    const conversation_id = this.conversation();
    const session = { kind: "terminal", conversationId: conversation_id, interactive: true } as const;
    const { sessionId } = await this.person.session.create(session);
    await eventually(async () => expect((await this.person.session.get({ sessionId })).status).toBe("active"));
    return { conversation_id, sessionId };
  }

  async viewer(sessionId: string, { input }: { readonly input: boolean }): Promise<TestViewer> {
    const viewer = await TestViewer.open(this.hub.url, { token: this.#token });
    viewer.send({ type: "attach", sessionId, from: 0, input });
    await eventually(() => expect(viewer.frames.map((it) => it.type)).toContain("attached"));
    return viewer;
  }

  control(sessionId: string) {
    return this.person.control.get({ sessionId });
  }

  events(sessionId: string, types: EventType[]): Promise<WorkspaceEvent[]> {
    return this.person.event.list({ sessionId, types, limit: 5000 });
  }

  /** Why the holder changed, oldest first. */
  async reasons(sessionId: string): Promise<unknown[]> {
    const handoffs = await this.events(sessionId, ["control_handoff"]);
    return handoffs.filter((it) => it.payload["change"] === "holder").map((it) => it.payload["reason"]);
  }

  receipt(sessionId: string): Promise<WorkspaceEvent> {
    return eventually(async () => {
      const receipt = (await this.events(sessionId, ["receipt"])).at(-1);
      if (receipt === undefined) throw new Error("there is no receipt yet");
      return receipt;
    });
  }
}

/** The code of the refusal, or `ok`. */
export function codeOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => "ok",
    (error: unknown) => (error instanceof AppError ? error.code : String(error)),
  );
}
