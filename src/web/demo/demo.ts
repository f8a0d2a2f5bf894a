/** The demo of this page: one at a time, its agent's token is revoked when it is over. */
import { SidestickClient } from "../../client/client.ts";
import type { Hub } from "../model/hub.ts";
import { type DemoStep, runDemo } from "./demo-agent.ts";

/** `lost`: the page was loaded anew, and the agent lived in it. */
export type DemoState = { readonly sessionId: string; readonly step: DemoStep | "lost" };

const TOKEN_SECONDS = 900;
/** Of this tab: the session of a demo that isn't over. */
const LEFT = "sidestick.demo";

export class Demo {
  readonly #hub: Hub;
  readonly #views = new Set<() => void>();
  #state: DemoState | undefined;
  #end: AbortController | undefined;

  constructor(hub: Hub) {
    this.#hub = hub;
    const left = sessionStorage.getItem(LEFT);
    if (left !== null) this.#state = { sessionId: left, step: "lost" };
  }

  readonly subscribe = (view: () => void): (() => void) => {
    this.#views.add(view);
    return () => this.#views.delete(view);
  };
  readonly state = (): DemoState | undefined => this.#state;

  /** Answers the session in which it runs. */
  async start(): Promise<string | undefined> {
    this.#end?.abort(new Error("another demo"));
    const end = new AbortController();
    this.#end = end;
    const lost = this.#state?.step === "lost" ? this.#state.sessionId : undefined;
    return this.#hub.act(async (client) => {
      if (lost !== undefined) await client.session.close({ sessionId: lost }).catch(() => undefined);
      const name = `demo-${crypto.randomUUID().slice(0, 4)}`;
      const { token, tokenId } = await client.token.create({ role: "agent", name, expiresInSeconds: TOKEN_SECONDS });
      const [here] = await client.host.list();
      const { sessionId } = await client.session.create({
        kind: "terminal",
        title: "Demo",
        interactive: true,
        conversationId: name,
        ownerAgentId: name,
        ...(here?.guard?.available === true && { containment: "guard" }),
      });
      const agent = new SidestickClient({ url: location.origin, token });
      const tell = (step: DemoStep): void => this.#tell({ sessionId, step });
      void runDemo(agent, { sessionId, conversation_id: name }, tell, end.signal)
        .catch(() => undefined)
        .finally(() => {
          if (this.#end === end) tell("over");
          void client.token.revoke({ tokenId }).catch(() => undefined);
        });
      return sessionId;
    });
  }

  close(): void {
    this.#end?.abort(new Error("closed"));
    this.#tell(undefined);
  }

  #tell(state: DemoState | undefined): void {
    this.#state = state;
    if (state === undefined || state.step === "over") sessionStorage.removeItem(LEFT);
    else sessionStorage.setItem(LEFT, state.sessionId);
    for (const view of this.#views) view();
  }
}
