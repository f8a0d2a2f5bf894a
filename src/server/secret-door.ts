/**
 * The page behind a one-time link: a person gives a program the secret that it asks for. The link is the only credential; it is in
 * no log, in no Referer and in no cache. Works without scripts. Rules PMT-131..PMT-142 in docs/spec/prompts.md.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Looked, SecretLinks, Supplied } from "../hub/secret-links.ts";
import { RateLimit } from "../lib/rate-limit.ts";
import { readForm } from "./body.ts";
import type { PublicDoor } from "./http-door.ts";
import { send } from "./responses.ts";
import { outcomePage, secretForm } from "./secret-page.ts";

const PLACE = /^\/secret\/([\w-]{1,200})$/;
/** Holds what a terminal's line takes, each byte of it escaped. */
const FORM_LIMIT = 16 * 1024;
/** Of links that don't exist, from everybody together: they all come through the same proxy. */
const WRONG_PER_MINUTE = 30;
/** Of one person: what isn't typed, an empty field or a line that is too long, leaves the link open. */
const TRIES_PER_MINUTE = 10;

const HEADERS = {
  "content-security-policy":
    "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  // With `no-referrer` a browser sends a form with `Origin: null`, which is refused. No other site gets a Referer by this one either.
  "referrer-policy": "same-origin",
  "x-robots-tag": "noindex, nofollow, noarchive",
} as const;

export function createSecretDoor(links: SecretLinks, now: () => number): PublicDoor {
  const wrong = new RateLimit(WRONG_PER_MINUTE, now);
  const tries = new RateLimit(TRIES_PER_MINUTE, now);
  return async (request, response, url) => {
    const isPage = url.pathname === "/secret" || url.pathname.startsWith("/secret/");
    if (!isPage || !["GET", "HEAD", "POST"].includes(request.method ?? "")) return false;
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    const secret = PLACE.exec(url.pathname)?.[1] ?? "";
    const looked = links.look(secret);
    if (looked.state === "unknown" && !wrong.admits("")) show(response, { state: "hasty" });
    else if (looked.state !== "asked" || request.method !== "POST") show(response, looked);
    else if (tries.admits(looked.by.id)) show(response, await supplied(links, secret, request));
    else show(response, { state: "hasty" });
    return true;
  };
}

async function supplied(links: SecretLinks, secret: string, request: IncomingMessage): Promise<Supplied> {
  const form = await readForm(request, FORM_LIMIT);
  return links.supply(secret, form.get("secret") ?? "");
}

type Shown = Looked | Supplied | { readonly state: "hasty" };

function show(response: ServerResponse, shown: Shown): void {
  const [status, page] = pageOf(shown);
  if (status === 429) response.setHeader("retry-after", "60");
  // A body that nobody read must not be taken for the next request.
  if (status >= 400) response.setHeader("connection", "close");
  send(response, status, page, "text/html; charset=utf-8");
}

function pageOf(shown: Shown): readonly [number, string] {
  switch (shown.state) {
    case "asked":
      return [200, secretForm(shown)];
    case "unfit":
      return [422, secretForm(shown, shown.why)];
    case "supplied":
      return [200, outcomePage("good", "Supplied. You can close this page.")];
    case "answered":
      return [409, outcomePage("soft", "Somebody answered first.", `It was ${shown.answeredBy}. Nothing was typed.`)];
    case "gone":
      return [410, outcomePage("soft", "No longer asked.", "The program goes on without it. Nothing was typed.")];
    case "failed":
      return [502, outcomePage("bad", "It did not go in.", `${shown.why}. Make a new link if it is still asked.`)];
    case "hasty":
      return [429, outcomePage("bad", "Too many tries.", "Wait a minute, then open the link again.")];
    case "unknown":
      return [404, outcomePage("bad", "This link was used or is over.", "Make a new one if it is still asked.")];
  }
}
