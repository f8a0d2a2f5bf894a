/**
 * Sessions under the host's own policy: what would run a command is judged here, next to the device, whatever the hub
 * has decided. Where nothing is restricted, requests pass untouched. Rules RML-30..RML-34 in docs/spec/remote-hosts.md.
 */
import { homedir, userInfo } from "node:os";
import type { ShellDialect } from "../domain/policy/action.ts";
import { typedAction } from "../domain/policy/typed.ts";
import { AppError } from "../protocol/errors.ts";
import { StatusReply } from "../protocol/link-replies.ts";
import { deny, type HostPolicy } from "./host-policy.ts";
import type { HostedSession, OpenSession, Reply, SessionRequest } from "./hosted-session.ts";

export type PolicyNow = {
  /** As its file is now. */
  readonly current: () => HostPolicy;
  /** Paths. */
  readonly shells: readonly string[];
};

type Input = Extract<SessionRequest, { type: "SEND_INPUT" }>;
type Run = Extract<SessionRequest, { type: "RUN_BLOCK" | "RUN_COMMAND" }>;
type Status = ReturnType<typeof StatusReply.parse>;

const NOTHING = new Uint8Array(0);
/** Ctrl+C, Ctrl+D, Ctrl+\: they end things and begin nothing. */
const ENDINGS: ReadonlySet<string> = new Set(["\u0003", "\u0004", "\u001C"]);
const ENDING_KEYS: ReadonlySet<string> = new Set(["c-c", "ctrl-c", "ctrl+c", "c-d", "ctrl-d", "ctrl+d"]);

export function policed(open: OpenSession, policy: PolicyNow): OpenSession {
  return async (start, emit) => {
    const places = { user: userInfo().username, home: homedir(), shells: policy.shells };
    const instead = policy.current().start(start, places);
    return new PolicedSession(await open({ ...start, ...instead }, emit), policy);
  };
}

class PolicedSession implements HostedSession {
  readonly sessionId: string;
  readonly #session: HostedSession;
  readonly #policy: PolicyNow;
  /** What is judged goes in in the order in which it came. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(session: HostedSession, policy: PolicyNow) {
    this.sessionId = session.sessionId;
    this.#session = session;
    this.#policy = policy;
  }

  get processIds(): readonly number[] | undefined {
    return this.#session.processIds;
  }

  pause(): void {
    this.#session.pause();
  }

  resume(): void {
    this.#session.resume();
  }

  async handle(request: SessionRequest, body: Uint8Array): Promise<Reply> {
    if (request.type === "RUN_BLOCK" || request.type === "RUN_COMMAND")
      return this.#inTurn(() => this.#run(request, body), body);
    if (request.type !== "SEND_INPUT" || this.#policy.current().takesAnyTyping) {
      return this.#session.handle(request, body);
    }
    return this.#inTurn(() => this.#typed(request, body), body);
  }

  async #inTurn(judged: () => Promise<SessionRequest>, body: Uint8Array): Promise<Reply> {
    // Its answer is not waited for: the next one may be what this one needs.
    const begun = this.#last.then(async () => ({ reply: this.#session.handle(await judged(), body) }));
    this.#last = begun.catch(() => undefined);
    return (await begun).reply;
  }

  async #run(request: Run, body: Uint8Array): Promise<Run> {
    const policy = this.#policy.current();
    const status = await this.#status();
    const here = status.directory ?? status.cwd;
    const { cwd } = { cwd: undefined, ...request };
    policy.within(cwd === undefined ? here : from(here, cwd));
    this.#judge(Buffer.from(body).toString(), status, request);
    return request;
  }

  /** What a program is given is its own, if nothing of it can be left for the shell; a shell is given whole commands. */
  async #typed(request: Input, body: Uint8Array): Promise<Input> {
    const text = request.keys === undefined ? Buffer.from(body).toString() : undefined;
    if (isEnding(text, request.keys)) return request;
    this.#policy.current().refuseIfBroken();
    const status = await this.#status();
    const { foreground, mode } = status;
    const isIdle = mode === "idle";
    const reader = isIdle
      ? { programs: [status.shell], atEmptyPrompt: true }
      : { programs: foreground?.programs ?? [], atEmptyPrompt: false, waitsFor: foreground?.waits?.for };
    const action = typedAction({ text, keys: request.keys?.length }, reader);
    if (action.kind === "exec" && isIdle) {
      this.#policy.current().within(status.directory ?? status.cwd);
      this.#judge(action.text, status, request);
      return request;
    }
    if (action.kind !== "send" || foreground?.waits === undefined) {
      return deny("typing", "only whole lines are typed at a shell here, and only answers at a program that waits");
    }
    const { prompt_id: judged } = foreground.waits;
    const named = request.if_prompt ?? judged;
    // A later question is another program's, perhaps, which nobody has judged.
    if (named !== judged) throw new AppError("prompt_gone", { prompt_id: named });
    return { ...request, not_at_shell: true, if_prompt: judged };
  }

  #judge(text: string, status: Status, request: Input | Run): void {
    const { by } = request;
    const decided = by.kind === "person" || ("bound" in request && request.bound !== undefined);
    const place = { dialect: dialectOf(status.shell), cwd: status.directory ?? status.cwd, home: status.home };
    this.#policy.current().command(text, place, decided);
  }

  async #status(): Promise<Status> {
    const { fields } = await this.#session.handle({ type: "STATUS", id: 0, session_id: this.sessionId }, NOTHING);
    return StatusReply.parse(fields);
  }
}

function isEnding(text: string | undefined, keys: readonly string[] | undefined): boolean {
  if (keys !== undefined) return keys.every((key) => ENDING_KEYS.has(key.toLowerCase()));
  return text !== undefined && ENDINGS.has(text);
}

function dialectOf(shell: string): ShellDialect {
  const name = shell.slice(shell.lastIndexOf("/") + 1);
  if (name === "bash" || name === "zsh" || name === "dash" || name === "fish") return name;
  return name === "sh" ? "dash" : "other";
}

function from(here: string | undefined, wanted: string): string | undefined {
  if (wanted.startsWith("/")) return wanted;
  return here === undefined ? undefined : `${here}/${wanted}`;
}
