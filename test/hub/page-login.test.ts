/** What a page's cookie is worth to somebody else. */
import { expect, test } from "vitest";
import { ask, verdict } from "../support/http.ts";
import { operatorClient, startTestHub } from "../support/hub.ts";
import { login, loginOf, whoami } from "../support/login.ts";
import { TestViewer } from "../support/viewer.ts";

test("[WEB-90] a cookie does nothing without the key of its own login, for no call and no stream", async () => {
  const hub = await startTestHub();
  const [mine, other] = [loginOf(await login(hub)), loginOf(await login(hub))];
  const wrong: readonly Record<string, string>[] = [
    {},
    { "sidestick-csrf": "1" },
    { "sidestick-csrf": other["sidestick-csrf"] },
  ];
  const asked = wrong.map((headers) => ({ cookie: mine.cookie, origin: hub.url, ...headers }));

  const reads = await Promise.all(asked.map((headers) => whoami(hub, headers).then(verdict)));
  const opened = await Promise.all(asked.map((headers) => TestViewer.knock(hub.url, { headers })));
  const exported = await ask(hub.url, { path: "/sessions/any/export?format=jsonl", headers: asked[1]! });

  expect(reads).toEqual(wrong.map(() => "401 unauthenticated"));
  expect(opened).toEqual([401, 401, 401]);
  expect(verdict(exported)).toBe("401 unauthenticated");
  expect(await whoami(hub, mine).then(verdict)).toBe("200");
});

test("[WEB-90] a login outlives the hub", async () => {
  const hub = await startTestHub();
  const headers = loginOf(await login(hub));
  const { dataDir } = hub;
  await hub.stop();

  const again = await startTestHub({ dataDir });
  const cookie = headers.cookie.replace(String(hub.port), String(again.port));

  expect(await whoami(again, { ...headers, cookie }).then(verdict)).toBe("200");
});

test("[WEB-91] a link for somebody else doesn't take over a browser that is logged in, unless its person says so", async () => {
  const hub = await startTestHub();
  const mine = { ...loginOf(await login(hub)), origin: hub.url };
  const { url } = await operatorClient(hub.dataDir).login.link({ role: "viewer", name: "guest" });
  const code = new URL(url).hash.slice("#code=".length);
  const logIn = (body: object) => ask(hub.url, { method: "POST", path: "/login", body, headers: mine });

  const refused = await logIn({ code });
  const same = await login(hub, hub.loginLink(), mine);
  const switched = await logIn({ code, instead: true });

  expect(verdict(refused)).toBe("409 invalid_transition");
  expect(refused.headers["set-cookie"]).toBeUndefined();
  expect(verdict(same)).toBe("200");
  expect((await whoami(hub, loginOf(switched))).body).toMatchObject({ role: "viewer", id: "guest" });
});
