/** Logging in as a browser does. */
import { ask } from "./http.ts";
import type { TestHub } from "./hub.ts";

export const whoami = (hub: TestHub, headers: Record<string, string>) => ask(hub.url, { path: "/whoami", headers });

export async function login(
  hub: TestHub,
  link = hub.loginLink(),
  headers: Record<string, string> = { origin: hub.url },
) {
  const code = new URL(link).hash.replace("#code=", "");
  return ask(hub.url, { method: "POST", path: "/login", body: { code }, headers });
}

export const cookieOf = (answer: { headers: Readonly<Record<string, string | string[] | undefined>> }): string =>
  String(answer.headers["set-cookie"]).split(";")[0] ?? "";

/** What the hub's own page sends once it is logged in. */
export const loginOf = (answer: Awaited<ReturnType<typeof login>>) => ({
  cookie: cookieOf(answer),
  "sidestick-csrf": String(answer.body.key),
});
