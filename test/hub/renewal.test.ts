import { expect, onTestFinished, test, vi } from "vitest";
import { eventually } from "../support/eventually.ts";
import { ask, verdict } from "../support/http.ts";
import { operatorClient, startTestHub } from "../support/hub.ts";
import { TestViewer } from "../support/viewer.ts";

/** A hub whose clock stands still until time is passed. */
async function hubInTime() {
  const hub = await startTestHub();
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  return { hub, pass: (ms: number) => void vi.advanceTimersByTime(ms) };
}

test("[SEC-18] a renewed token ends later, and what is open stays open; a revoked one stays revoked", async () => {
  const { hub, pass } = await hubInTime();
  const operator = operatorClient(hub.dataDir);
  const { tokenId, token } = await operator.token.create({ role: "viewer", name: "short", expiresInSeconds: 6 });
  const over = await operator.token.create({ role: "viewer", name: "over", expiresInSeconds: 6 });
  const viewer = await TestViewer.open(hub.url, { token });
  const { expiresAt = "" } = await operator.token.renew({ tokenId, expiresInSeconds: 60 });
  const who = (it: string) => ask(hub.url, { path: "/whoami", token: it }).then(verdict);

  pass(5_000);
  expect([await who(over.token), await who(token)]).toEqual(["200", "200"]);
  pass(2_000);
  expect([await who(over.token), await who(token)]).toEqual(["401 unauthenticated", "200"]);
  expect(viewer.closeCode).toBe(0);
  expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now() + 50_000);
  await operator.token.renew({ tokenId: over.tokenId, expiresInSeconds: 60 });
  expect(await who(over.token)).toBe("200");
  await operator.token.revoke({ tokenId });
  await expect(operator.token.renew({ tokenId, expiresInSeconds: 60 })).rejects.toMatchObject({
    code: "invalid_transition",
  });
  expect(await who(token)).toBe("401 unauthenticated");
});

test("[SEC-6] an expired token's streams close and its calls are refused", async () => {
  const { hub, pass } = await hubInTime();
  const operator = operatorClient(hub.dataDir);
  const { token, tokenId } = await operator.token.create({ role: "viewer", name: "short", expiresInSeconds: 600 });
  const viewer = await TestViewer.open(hub.url, { token });
  const { expiresAt = "" } = await operator.token.renew({ tokenId, expiresInSeconds: 1 });
  const before = viewer.closeCode;

  pass(1_000);

  await eventually(() => expect(viewer.closeCode).toBe(4401));
  expect([before, Date.parse(expiresAt) <= Date.now()]).toEqual([0, true]);
  expect(await ask(hub.url, { path: "/whoami", token }).then(verdict)).toBe("401 unauthenticated");
});
