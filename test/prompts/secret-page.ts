/** A browser without scripts at the page of a one-time link. */
import type { SidestickClient } from "../../src/client/sidestick.ts";
import type { AskedPrompt } from "../../src/protocol/prompts.ts";
import { type Answer, ask, type Exchange } from "../support/http.ts";

export async function linkTo(person: SidestickClient, { prompt_id, nonce }: AskedPrompt): Promise<string> {
  return (await person.prompt.secret_link({ prompt_id, nonce })).url;
}

export function opened(link: string, exchange: Partial<Exchange> = {}): Promise<Answer> {
  const { origin, pathname } = new URL(link);
  return ask(origin, { path: pathname, ...exchange });
}

export function posted(link: string, secret: string, headers: Exchange["headers"] = {}): Promise<Answer> {
  const { origin } = new URL(link);
  const form = { "content-type": "application/x-www-form-urlencoded", origin, ...headers };
  return opened(link, { method: "POST", headers: form, body: new URLSearchParams({ secret }).toString() });
}

/** What the page says first. */
export function headingOf({ status, text }: Answer): string {
  return `${status} ${/<h1[^>]*>([^<]*)</.exec(text)?.[1]}`;
}
