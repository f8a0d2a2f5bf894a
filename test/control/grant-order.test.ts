import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Actor } from "../../src/domain/actor.ts";
import { Host } from "../../src/host/host.ts";
import { listenForHubs } from "../../src/host/link/link-server.ts";
import { createLogger } from "../../src/lib/logger.ts";
import { openDesks } from "../../src/main/desks.ts";
import { HostDriver } from "../../src/server/hosts/host-driver.ts";
import { HostLink } from "../../src/server/hosts/host-link.ts";
import { socketAt } from "../../src/server/hosts/wire.ts";
import { openPeerReader } from "../../src/server/peer.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { gatedSessions } from "./gated-session.ts";

const ANN: Actor = { kind: "person", id: "ann" };
const ENDLESS = Number.MAX_SAFE_INTEGER;
const LIMITS = {
  activityMaxAgeMs: ENDLESS,
  activityMaxBytes: ENDLESS,
  auditMaxAgeMs: ENDLESS,
  auditMaxBytes: ENDLESS,
  outputMaxBytes: ENDLESS,
};

/** Desks over a real host; `happened` has what the log stored and what reached the gate, in that order. */
async function desksOverHost(happened: string[]) {
  const dataDir = await temporaryDirectory();
  const logger = createLogger("error", () => undefined);
  const { open } = gatedSessions(() => performance.now());
  const directory = join(dataDir, "host");
  const host = await Host.start({
    directory,
    hostId: "local",
    way: listenForHubs({ path: join(directory, "link.sock"), peerOf: await openPeerReader(), logger }),
    logger,
    openSession: async (start, emit) => {
      const session = await open(start, emit);
      const handle = session.handle.bind(session);
      session.handle = (request, body) => {
        if (request.type === "CONTROL") happened.push(`installed ${request.command.type}`);
        return handle(request, body);
      };
      return session;
    },
  });
  const link = new HostLink({ connect: socketAt(join(directory, "link.sock")), logger });
  const driver = new HostDriver({ link, hostId: "local", logger });
  link.open();
  await eventually(() => expect(link.online).toBe(true));
  const clock = { now: () => Date.now() };
  const desks = await openDesks({ dataDir, openDrivers: async () => [driver], logger, clock, limits: LIMITS });
  desks.log.observe((events) => {
    for (const { payload } of events) {
      if (typeof payload["change"] === "string") happened.push(`stored ${payload["change"]}`);
    }
  });
  onTestFinished(async () => {
    link.close();
    await driver.close();
    await desks.close();
    host?.shutdown("now");
    await host?.ended;
  });
  return desks;
}

test("[CTL-13] a grant is stored before it is installed; a take is installed first", async () => {
  const happened: string[] = [];
  const { sessions, control } = await desksOverHost(happened);
  const config = { kind: "terminal", title: "t", workspaceId: "default", interactive: true } as const;
  const { sessionId } = await sessions.create(config, ANN);

  await control.grant(sessionId, { agentId: "bot", leaseSeconds: 60, attend: false }, ANN);
  await control.change(sessionId, { type: "take", by: { kind: "person", id: "ann" } });

  await eventually(() => expect(happened).toHaveLength(5));
  expect(happened.slice(0, 2)).toEqual(["stored decided", "installed grant"]);
  expect(happened.indexOf("installed take")).toBeLessThan(happened.lastIndexOf("stored holder"));
});

test("[CTL-13] what can't be stored is not granted, and still a person takes control", async () => {
  const happened: string[] = [];
  const { sessions, control, store } = await desksOverHost(happened);
  const config = { kind: "terminal", title: "t", workspaceId: "default", interactive: true } as const;
  const { sessionId } = await sessions.create(config, ANN);
  await eventually(() => expect(sessions.get(sessionId).status).toBe("active"));
  await store.close();

  await expect(control.grant(sessionId, { agentId: "bot", leaseSeconds: 60, attend: false }, ANN)).rejects.toThrow();
  await control.change(sessionId, { type: "take", by: { kind: "person", id: "ann" } });

  expect(happened).toEqual(["installed take"]);
});
