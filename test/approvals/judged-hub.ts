/** A real hub with a policy of its own, an agent that is judged by it, and people who decide. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import type { ApprovalRequest, SidestickClient } from "../../src/client/sidestick.ts";
import type { Input } from "../../src/protocol/operations.ts";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { eventually } from "../support/eventually.ts";
import { clientOf, openTerminalHub, type TerminalHub } from "../support/terminal-hub.ts";

/** `touch` asks, `rm` is denied, all else is free: what asks must leave something behind that can be looked for. */
export const POLICY = `
extends: none
default: auto
unclear: auto
rules:
  - id: no-rm
    command: rm
    decision: deny
    risk: critical
    reason: nothing is removed here
  - id: hurried
    command: touch
    options: [--no-create, -c]
    decision: ask
    reason: has little time
    timeout: 1
  - id: pausing
    command: mkdir
    decision: ask
    reason: pauses when nobody answers
    timeout: 1
    on_expiry: pause
  - id: escalating
    command: mkfifo
    decision: ask
    reason: is asked again when nobody answers
    timeout: 1
    on_expiry: escalate
  - id: asks
    command: [touch, sh, cp]
    decision: ask
    risk: high
    reason: leaves something behind
  - id: typed
    actions: [opaque_send]
    decision: ask
    reason: goes into a shell
`;

export class JudgedHub {
  readonly dataDir: string;
  readonly url: string;
  readonly agent: SidestickClient;
  readonly person: SidestickClient;
  readonly otherPerson: SidestickClient;
  /** What commands leave behind. */
  readonly place: string;
  readonly where: TerminalHub["where"];
  readonly stop: () => Promise<void>;
  #conversations = 0;

  private constructor(
    parts: Pick<JudgedHub, "dataDir" | "url" | "agent" | "person" | "otherPerson" | "place" | "where" | "stop">,
  ) {
    ({
      dataDir: this.dataDir,
      url: this.url,
      agent: this.agent,
      person: this.person,
      otherPerson: this.otherPerson,
      place: this.place,
      where: this.where,
      stop: this.stop,
    } = parts);
  }

  /** For a whole file: what `beforeAll` returns must be `stop`. */
  static async open(policy = POLICY): Promise<JudgedHub> {
    const place = await mkdtemp(join(tmpdir(), "sidestick-judged-"));
    const hub = await openTerminalHub({}, { yaml: policy });
    const otherPerson = await clientOf(hub.url, hub.dataDir, "operator", "olga");
    const stop = async (): Promise<void> => {
      await hub.stop();
      await rm(place, { recursive: true, force: true });
    };
    const { url, dataDir, agent, person, where } = hub;
    return new JudgedHub({ url, dataDir, agent, person, otherPerson, place, where, stop });
  }

  conversation(): string {
    this.#conversations += 1;
    return `judged-${this.#conversations}`;
  }

  path(name: string): string {
    return join(this.place, name);
  }

  async write(name: string, text: string): Promise<string> {
    await writeFile(this.path(name), text);
    return this.path(name);
  }

  /** The agent asks to run it; `call` is what its call comes to. */
  async asked(
    command: string,
    { agent = this.agent, ...options }: Partial<Input<"pty.exec_block">> & { readonly agent?: SidestickClient } = {},
  ): Promise<{
    readonly approval: ApprovalRequest;
    readonly call: Promise<unknown>;
    readonly conversation_id: string;
  }> {
    const conversation_id = options.conversation_id ?? this.conversation();
    const known = new Set((await this.person.approval.list()).map((it) => it.requestId));
    const call = agent.pty.exec_block({ wait_ms: WAIT_BUDGET_MS, ...options, conversation_id, command });
    call.catch(() => undefined);
    const approval = await this.#newOne(known);
    return { approval, call, conversation_id };
  }

  async #newOne(known: ReadonlySet<string>): Promise<ApprovalRequest> {
    return eventually(async () => {
      // Whatever came of it meanwhile: one with little time may be over, and asked anew.
      const fresh = (await this.person.approval.list()).filter((it) => !known.has(it.requestId));
      const asked = fresh.filter((it) => it.kind !== "escalation");
      expect(asked).toHaveLength(1);
      return asked[0]!;
    });
  }

  approve(approval: Pick<ApprovalRequest, "requestId">): Promise<ApprovalRequest> {
    return this.person.approval.resolve({ requestId: approval.requestId, status: "approved" });
  }
}
