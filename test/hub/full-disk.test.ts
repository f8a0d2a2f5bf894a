import { expect, test } from "vitest";
import { SidestickClient } from "../../src/client/sidestick.ts";
import { canMount, spawnOnSmallDisk } from "../support/small-disk.ts";
import { eventually } from "../support/eventually.ts";

test.skipIf(!canMount())(
  "[SES-7, HUB-4] on a full disk the hub lives, says so, holds agents off when a person pauses, and goes on with room (needs root and mount namespaces)",
  async () => {
    const disk = await spawnOnSmallDisk();
    const { operator, url, agentToken } = disk;
    const agent = new SidestickClient({ url, token: agentToken });
    const { sessionId } = await agent.session.create({ kind: "terminal" });
    await agent.session.input({ sessionId, data: "before" });
    const doomed = await operator.token.create({ role: "agent", name: "doomed" });

    await disk.fill();
    const failing = { code: "storage_unavailable" };
    await eventually(() => expect(agent.session.create({ kind: "terminal" })).rejects.toMatchObject(failing));
    // Something smaller may still fit into the last page.
    const fillsUp = async (): Promise<never> => {
      for (;;) await agent.session.input({ sessionId, data: "x" });
    };
    await expect(fillsUp()).rejects.toMatchObject(failing);
    await expect(operator.session.pause({ sessionId })).rejects.toMatchObject(failing);
    await expect(agent.session.input({ sessionId, data: "x" })).rejects.toMatchObject({ code: "session_paused" });
    await expect(operator.token.revoke({ tokenId: doomed.tokenId })).rejects.toMatchObject(failing);
    await expect(new SidestickClient({ url, token: doomed.token }).hub.whoami({})).rejects.toMatchObject({
      code: "unauthenticated",
    });
    expect((await fetch(`${url}/readyz`)).status).toBe(503);
    expect((await operator.hub.doctor({})).ok).toBe(false);

    await disk.free();
    await eventually(async () => expect((await operator.session.pause({ sessionId })).status).toBe("paused"));
    expect((await operator.token.revoke({ tokenId: doomed.tokenId })).revokedAt).toBeDefined();
    expect((await operator.session.resume({ sessionId })).status).toBe("active");
    await agent.session.input({ sessionId, data: "after" });
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
  },
);
