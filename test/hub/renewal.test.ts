import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { ask, verdict } from "../support/http.ts";
import { operatorClient, startTestHub } from "../support/hub.ts";
import { TestViewer } from "../support/viewer.ts";

test("[SEC-18] a renewed token ends later, and what is open stays open; a revoked one stays revoked", async () => {
  const hub = await startTestHub();
  const operator = operatorClient(hub.dataDir);
  const { tokenId, token } = await operator.token.create({ role: "viewer", name: "short", expiresInSeconds: 6 });
  const over = await operator.token.create({ role: "viewer", name: "over", expiresInSeconds: 6 });
  const viewer = await TestViewer.open(hub.url, { token });
  const { expiresAt = "" } = await operator.token.renew({ tokenId, expiresInSeconds: 60 });
  const who = (it: string) => ask(hub.url, { path: "/whoami", token: it }).then(verdict);

  await eventually(async () => expect(await who(over.token)).toBe("401 unauthenticated"));
  expect(await who(token)).toBe("200");
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
  const hub = await startTestHub();
  const operator = operatorClient(hub.dataDir);
  const { token, tokenId } = await operator.token.create({ role: "viewer", name: "short", expiresInSeconds: 600 });
  const viewer = await TestViewer.open(hub.url, { token });
  const { expiresAt = "" } = await operator.token.renew({ tokenId, expiresInSeconds: 1 });

  await eventually(() => expect(viewer.closeCode).toBe(4401));
  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expiresAt));
  expect(await ask(hub.url, { path: "/whoami", token }).then(verdict)).toBe("401 unauthenticated");
});
