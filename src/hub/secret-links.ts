/**
 * One-time links to a page on which a person gives a program the secret that it asks for. A link belongs to one offer of one question and to
 * the person it was made for; looking at it doesn't use it up, supplying does. Rules PMT-130..PMT-145 in docs/spec/prompts.md.
 */
import type { Actor } from "../domain/actor.ts";
import { type AskedPrompt, isSecretPrompt } from "../domain/prompts/asked-prompt.ts";
import { PROMPT_TTL_MS } from "../domain/prompts/pending-prompt.ts";
import { AppError, type ErrorCode } from "../protocol/errors.ts";
import { Passes } from "./passes.ts";
import type { Clock } from "./ports.ts";
import type { PromptDesk } from "./prompt-desk.ts";
import type { PromptReplies } from "./prompt-replies.ts";
import type { SessionDesk } from "./session-desk.ts";

export type SecretLinksParts = {
  readonly prompts: PromptDesk;
  readonly replies: PromptReplies;
  readonly sessions: SessionDesk;
  readonly clock: Clock;
  readonly newSecret: () => string;
  /** Where people reach the hub. */
  readonly url: () => string;
};

/** What a link's page shows: who asks, and who answers. */
export type SecretAsked = {
  readonly asked: AskedPrompt;
  readonly title: string;
  readonly by: Actor;
};

export type Looked =
  | ({ readonly state: "asked" } & SecretAsked)
  | { readonly state: "unknown" | "gone" }
  | { readonly state: "answered"; readonly answeredBy: string };

export type Supplied =
  | { readonly state: "supplied" }
  | Exclude<Looked, { readonly state: "asked" }>
  /** Nothing was typed and the link still works. */
  | ({ readonly state: "unfit"; readonly why: string } & SecretAsked)
  /** Nothing was typed, or nobody knows; the link is over. */
  | { readonly state: "failed"; readonly code: ErrorCode; readonly why: string };

type Link = {
  readonly promptId: string;
  readonly nonce: string;
  readonly by: Actor;
  /** The maker's credential is over. */
  readonly ended: AbortSignal | undefined;
};

export class SecretLinks {
  readonly #parts: SecretLinksParts;
  readonly #links: Passes<Link>;

  constructor(parts: SecretLinksParts) {
    this.#parts = parts;
    this.#links = new Passes<Link>(parts.clock, PROMPT_TTL_MS, parts.newSecret);
  }

  /** For whoever may answer; throws for a question that asks for no secret, and for one that is over. */
  linkFor(asked: AskedPrompt, by: Actor, ended?: AbortSignal): string {
    const { promptId, nonce, expiresAt } = asked;
    if (by.kind !== "person") throw new AppError("secret_for_person", { prompt_id: promptId });
    if (!isSecretPrompt(asked)) throw noSecret(promptId);
    this.#parts.replies.refuseLate(promptId, nonce);
    const link: Link = { promptId, nonce, by, ended };
    // For each question: chats have one maker for them all, and many sessions may ask at once.
    const { secret } = this.#links.issue(`${by.kind}:${by.id}:${promptId}`, link, Date.parse(expiresAt));
    return `${this.#parts.url()}/secret/${secret}`;
  }

  /** A preview of the link in a chat looks too: nothing is used up. */
  look(secret: string): Looked {
    const link = this.#open(this.#links.find(secret));
    return link === undefined ? { state: "unknown" } : this.#standing(link);
  }

  /** Types it once, as the person the link was made for. */
  async supply(secret: string, value: string): Promise<Supplied> {
    const link = this.#open(this.#links.find(secret));
    if (link === undefined) return { state: "unknown" };
    const standing = this.#standing(link);
    if (standing.state !== "asked") return standing;
    const { promptId, nonce, by } = link;
    const unfit =
      value === "" ? "Nothing was given." : this.#parts.replies.unfit(promptId, { by: "text", text: value });
    if (unfit !== undefined) return { ...standing, state: "unfit", why: unfit };
    // Before anything is awaited: of two that come at once the second finds nothing.
    this.#links.redeem(secret);
    try {
      await this.#parts.replies.reply({ promptId, nonce, reply: { by: "text", text: value } }, by);
      return { state: "supplied" };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const now = this.#standing(link);
      if (error.code === "prompt_gone" && now.state !== "asked") return now;
      return { state: "failed", code: error.code, why: error.message };
    }
  }

  #open(link: Link | undefined): Link | undefined {
    return link?.ended?.aborted === true ? undefined : link;
  }

  #standing({ promptId, nonce, by }: Link): Looked {
    const { prompts, sessions } = this.#parts;
    const asked = prompts.find(promptId);
    if (asked === undefined || asked.status === "gone") return { state: "gone" };
    if (asked.status === "answered") return { state: "answered", answeredBy: asked.answeredBy ?? "" };
    if (asked.nonce !== nonce) return { state: "unknown" };
    return { state: "asked", asked, title: sessions.find(asked.sessionId)?.title ?? "", by };
  }
}

function noSecret(promptId: string): AppError {
  const detail = "It asks for no secret: answer it with prompt.reply";
  return new AppError("invalid_request", { prompt_id: promptId, detail });
}
