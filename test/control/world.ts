/** The real hub and the real host in this process, a proxy between them, and a clock that moves only when told to. */
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { AppError, SidestickClient } from "../../src/client/sidestick.ts";
import { Host } from "../../src/host/host.ts";
import { listenForHubs } from "../../src/host/link/link-server.ts";
import { createLogger } from "../../src/lib/logger.ts";
import { type RunningHub, startHub } from "../../src/main/hub.ts";
import { readSettings } from "../../src/main/settings.ts";
import { HostDriver } from "../../src/server/hosts/host-driver.ts";
import { HostLink } from "../../src/server/hosts/host-link.ts";
import { socketAt } from "../../src/server/hosts/wire.ts";
import { openPeerReader } from "../../src/server/peer.ts";
import { eventually } from "../support/eventually.ts";
import { tokenOf } from "../support/hub.ts";
import { letAgentsBe } from "../support/policy.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { TestViewer } from "../support/viewer.ts";
import { type GatedSession, gatedSessions, type GatedSessions } from "./gated-session.ts";
import { LinkProxy } from "./link-proxy.ts";

export const ACTORS = ["ann", "ben", "bot", "cat"] as const;
export type ActorName = (typeof ACTORS)[number];
/** A viewer that is gone is counted that much longer. */
const GRACE_MS = 15;

export class World {
  nowMs = 1_000;
  readonly pending = new Set<Promise<unknown>>();
  readonly failures: unknown[] = [];
  proxy!: LinkProxy;
  readonly #graceMs: number;
  #dataDir!: string;
  #hub!: RunningHub;
  #link!: HostLink;
  #gated!: GatedSessions;
  #tokens!: Readonly<Record<ActorName, string>>;
  #clients = new Map<ActorName, SidestickClient>();

  static async open(graceMs = GRACE_MS): Promise<World> {
    const world = new World(graceMs);
    const dataDir = (world.#dataDir = await temporaryDirectory());
    await letAgentsBe(dataDir);
    const logger = createLogger("error", () => undefined);
    world.#gated = gatedSessions(() => world.nowMs);
    const host = await Host.start({
      directory: join(dataDir, "host"),
      hostId: "local",
      openSession: world.#gated.open,
      way: listenForHubs({ path: join(dataDir, "host", "link.sock"), peerOf: await openPeerReader(), logger }),
      logger,
      idleMs: 600_000,
    });
    world.proxy = await LinkProxy.open(join(dataDir, "proxy.sock"), join(dataDir, "host", "link.sock"));
    await world.#start();
    onTestFinished(async () => {
      await world.#hub.close();
      await world.proxy.close();
      host?.shutdown("now");
      await host?.ended;
    });
    const made = ACTORS.map(async (name, index) => [
      name,
      await tokenOf(dataDir, index < 2 ? "operator" : "agent", name),
    ]);
    world.#tokens = Object.fromEntries(await Promise.all(made)) as Record<ActorName, string>;
    return world;
  }

  private constructor(graceMs: number) {
    this.#graceMs = graceMs;
  }

  client(name: ActorName): SidestickClient {
    const known = this.#clients.get(name);
    const client = known ?? new SidestickClient({ url: this.#hub.url, token: this.#tokens[name] });
    this.#clients.set(name, client);
    return client;
  }

  session(sessionId: string): GatedSession {
    const session = this.#gated.sessions.get(sessionId);
    if (session === undefined) throw new Error("The host has no such session");
    return session;
  }

  /** A session that runs. */
  async begin(interactive: boolean): Promise<string> {
    const { sessionId } = await this.client("ann").session.create({ kind: "terminal", title: "model", interactive });
    await eventually(async () => {
      const { status } = await this.client("ann").session.get({ sessionId });
      if (status !== "active") throw new Error(status);
    });
    return sessionId;
  }

  /** Somebody at the session, who can type or only watches. */
  async attach(sessionId: string, input: boolean): Promise<TestViewer> {
    const viewer = await TestViewer.open(this.#hub.url, { token: this.#tokens.ann });
    viewer.send({ type: "attach", sessionId, from: 0, input });
    await eventually(() => {
      if (!viewer.frames.some((it) => it.type === "attached")) throw new Error("not attached");
    });
    return viewer;
  }

  async online(): Promise<void> {
    await eventually(() => {
      if (!this.#link.online) throw new Error("The host is away");
    });
  }

  /** What was on its way is lost with the hub. */
  async restart(): Promise<void> {
    this.proxy.cut();
    this.proxy.keeps = false;
    await this.#hub.close();
    await this.#start();
  }

  /** The host comes to a hub whose doors are open, as one from elsewhere does, and is asked to be taken up. */
  async restartBeforeHost(): Promise<void> {
    this.proxy.isClosed = true;
    await this.restart();
    this.proxy.types = new Set(["ADOPT"]);
    this.proxy.keeps = true;
    this.proxy.isClosed = false;
    await eventually(() => {
      if (this.proxy.kept === 0) throw new Error("The host is away");
    });
  }

  /** What `restartBeforeHost` holds up. */
  takeUp(): void {
    this.proxy.keeps = false;
    this.proxy.pass(0, false);
  }

  /** Waits for the answer, unless messages are kept: then it comes some time. */
  async ask(call: Promise<unknown>): Promise<void> {
    const answered = call.catch((error: unknown) => this.#refused(error)).finally(() => this.pending.delete(answered));
    this.pending.add(answered);
    if (!this.proxy.keeps) await answered;
    else for (let turn = 0; turn < 5; turn += 1) await setImmediate();
  }

  /** Until everything that was asked is answered; `pick` says which message is next. */
  async calm(pick: (count: number) => number = () => 0): Promise<void> {
    this.proxy.keeps = false;
    while (this.pending.size > 0 || this.proxy.kept > 0) {
      if (this.proxy.kept > 0) this.proxy.pass(pick(this.proxy.kept), false);
      else await Promise.race([...this.pending, setImmediate()]);
    }
  }

  #refused(error: unknown): void {
    if (!(error instanceof AppError) || !REFUSALS.has(error.code)) this.failures.push(error);
  }

  async #start(): Promise<void> {
    const settings = readSettings(["--port", "0", "--data-dir", this.#dataDir], {
      XDG_CONFIG_HOME: this.#dataDir,
      XDG_STATE_HOME: this.#dataDir,
    });
    this.#clients.clear();
    this.#hub = await startHub(
      settings,
      async ({ logger }) => {
        const link = new HostLink({ connect: socketAt(this.proxy.path), logger });
        const driver = new HostDriver({ link, hostId: "local", logger });
        this.#link = link;
        link.open();
        if (!this.proxy.isClosed) await this.online();
        const close = async (): Promise<void> => {
          link.close();
          await driver.close();
        };
        return { drivers: [driver], close };
      },
      { graceMs: this.#graceMs },
    );
  }
}

/** What a person or an agent may well be answered; anything else is a fault. */
const REFUSALS: ReadonlySet<string> = new Set([
  "control_refused",
  "stale_epoch",
  "lease_expired",
  "stopped",
  "paused",
  "invalid_transition",
  "host_offline",
  "unknown_outcome",
]);
