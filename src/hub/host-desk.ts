/**
 * Hosts: which machines may run sessions, and which of them are there. Who was let in is the fold of `host` events; who
 * is online is what their links say. Rules in docs/spec/remote-hosts.md.
 */
import type { Actor } from "../domain/actor.ts";
import { type JsonObject, type StoredEvent, WORKSPACE_STREAM } from "../domain/event.ts";
import type { Logger } from "../lib/logger.ts";
import { AppError } from "../protocol/errors.ts";
import type { Enrolled, Enrolment, Host } from "../protocol/hosts.ts";
import type { GuardAbility, HostFacts } from "../protocol/link.ts";
import type { CredentialDesk } from "./credential-desk.ts";
import type { DriverTable } from "./driver-table.ts";
import { HostStates } from "./host-states.ts";
import { follow, type Journal } from "./journal.ts";
import { Passes } from "./passes.ts";
import type { Clock, SessionDriver } from "./ports.ts";
import type { WorkspaceDesk } from "./workspace-desk.ts";

/** A way to one host, which waits until it comes. */
export type RemoteHost = { readonly driver: SessionDriver; readonly close: () => Promise<void> };

export type RemoteHostListener = {
  readonly online: (facts: HostFacts | undefined) => void;
  readonly offline: () => void;
};

export type HostDeskParts = {
  readonly journal: Journal;
  readonly credentials: CredentialDesk;
  readonly workspaces: WorkspaceDesk;
  readonly drivers: DriverTable;
  readonly openRemote: (hostId: string, listener: RemoteHostListener) => RemoteHost;
  /** How many sessions of a host are open. */
  readonly openSessions: (hostId: string) => number;
  /** This machine. */
  readonly local: { readonly hostId: string; readonly facts: HostFacts };
  readonly hubId: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly newId: () => string;
  readonly newSecret: () => string;
};

type Invite = { readonly name?: string | undefined; readonly workspaceId?: string | undefined; readonly by: Actor };

type Known = HostFacts & {
  readonly hostId: string;
  readonly name: string;
  readonly tokenId: string;
  readonly guard?: GuardAbility;
  readonly enrolledAt: string;
};

const INVITE_MS = 10 * 60_000;
const HOSTS_MAX = 1_000;

export class HostDesk {
  readonly #parts: HostDeskParts;
  readonly #hosts = new Map<string, Known>();
  readonly #remotes = new Map<string, RemoteHost>();
  readonly #codes: Passes<Invite>;
  readonly #states: HostStates;

  constructor(parts: HostDeskParts) {
    this.#parts = parts;
    this.#codes = new Passes(parts.clock, INVITE_MS, parts.newSecret);
    this.#states = new HostStates(parts);
  }

  /** Before sessions are taken up: each needs the driver of its host. */
  async start(): Promise<void> {
    await this.#states.start();
    await follow(this.#parts.journal.log, ["host"], (event) => this.#fold(event));
  }

  /** Nothing more is taken from any of them. */
  async stop(): Promise<void> {
    this.#states.stop();
    await Promise.all([...this.#remotes.values()].map((it) => it.close()));
    this.#remotes.clear();
  }

  list(): readonly Host[] {
    const remote = [...this.#hosts.values()].map((it) => this.#describe(it));
    return [this.#local(), ...remote.toSorted((a, b) => (a.name < b.name ? -1 : 1))];
  }

  /** By id or by name. */
  get(wanted: string): Host {
    const found = this.list().find((it) => it.hostId === wanted || it.name === wanted);
    if (found === undefined) throw new AppError("not_found", { what: "host", id: wanted });
    return found;
  }

  /** Whose token it is. */
  hostOf(tokenId: string | undefined): string | undefined {
    return [...this.#hosts.values()].find((it) => it.tokenId === tokenId)?.hostId;
  }

  invite(wanted: Omit<Invite, "by">, by: Actor): { readonly code: string; readonly expiresAt: string } {
    if (wanted.name !== undefined) this.#refuseTaken(wanted.name);
    const { secret, expiresAt } = this.#codes.issue(`${by.kind}:${by.id}`, { ...wanted, by });
    return { code: secret, expiresAt };
  }

  /** The token is in the answer and nowhere else. A code that was refused for another reason than itself stays good. */
  async enrol({ code, name: called, hostname, ...facts }: Enrolment): Promise<Enrolled> {
    const invite = this.#codes.find(code);
    if (invite === undefined) {
      const detail = "This code was used or is over. Make a new one at the hub: sidestick host invite";
      throw new AppError("unauthenticated", { detail });
    }
    const name = nameOf(invite, called, hostname);
    this.#refuseTaken(name);
    this.#codes.redeem(code);
    const { credentials, newId, workspaces, hubId } = this.#parts;
    const hostId = newId();
    const { token, secret } = await credentials.create({ kind: "token", role: "host", name: hostId }, invite.by);
    const payload = { change: "enrolled", hostId, name, tokenId: token.tokenId, ...facts };
    try {
      await this.#record(invite.by, () => {
        this.#refuseTaken(name);
        return payload;
      });
    } catch (error) {
      await credentials.revoke(token.tokenId, invite.by);
      throw error;
    }
    if (invite.workspaceId !== undefined) {
      await workspaces.put({ workspaceId: invite.workspaceId, hostId }, invite.by);
    }
    return { host_id: hostId, name, token: secret, hub_id: hubId };
  }

  /** Its token first: from then on it can do nothing more. */
  async remove(wanted: string, by: Actor): Promise<Host> {
    const host = this.get(wanted);
    const { hostId, tokenId } = host;
    if (tokenId === undefined) {
      throw new AppError("invalid_transition", { detail: "The hub's own machine can't be removed" });
    }
    await this.#parts.credentials.revoke(tokenId, by);
    await this.#record(by, () => {
      if (!this.#hosts.has(hostId)) throw new AppError("not_found", { what: "host", id: wanted });
      return { change: "removed", hostId, name: host.name };
    });
    return { ...host, online: false };
  }

  #fold({ payload, timestamp }: StoredEvent): void {
    const { change, ...host } = payload as unknown as Known & { readonly change: string };
    if (change === "removed") return this.#forget(host.hostId);
    this.#hosts.set(host.hostId, { ...host, enrolledAt: timestamp });
    const remote = this.#parts.openRemote(host.hostId, {
      online: (facts) => this.#states.online(host.hostId, facts),
      offline: () => this.#states.offline(host.hostId),
    });
    this.#remotes.set(host.hostId, remote);
    this.#parts.drivers.add(remote.driver);
  }

  #forget(hostId: string): void {
    const remote = this.#remotes.get(hostId);
    this.#hosts.delete(hostId);
    this.#remotes.delete(hostId);
    this.#states.forget(hostId);
    if (remote === undefined) return;
    this.#parts.drivers.remove(remote.driver);
    remote.close().catch((error: unknown) => this.#parts.logger.error("a link was not closed", { hostId, error }));
  }

  #record(by: Actor, decide: () => JsonObject): Promise<StoredEvent> {
    return this.#parts.journal.record(WORKSPACE_STREAM, "power", () => ({
      type: "host",
      payload: decide(),
      source: by,
    }));
  }

  #refuseTaken(name: string): void {
    if (this.#hosts.size >= HOSTS_MAX) throw new AppError("limit_reached", { limit: "hosts", max: HOSTS_MAX });
    if (name !== this.#parts.local.hostId && ![...this.#hosts.values()].some((it) => it.name === name)) return;
    const detail = `There is already a host named ${name}. Choose another name, or remove it: sidestick host remove ${name}`;
    throw new AppError("invalid_transition", { name, detail });
  }

  #local(): Host {
    const { local, drivers, openSessions } = this.#parts;
    const own = drivers.all.filter((it) => it.hostId === local.hostId);
    const guard = own.find((it) => it.guard !== undefined)?.guard;
    const { hostId, facts } = local;
    const online = own.some((it) => it.online);
    return { hostId, name: hostId, online, ...facts, ...(guard && { guard }), sessions: openSessions(hostId) };
  }

  #describe(known: Known): Host {
    const { hostId } = known;
    const { online, since, facts } = this.#states.of(hostId);
    const guard = this.#remotes.get(hostId)?.driver.guard ?? known.guard;
    const sessions = this.#parts.openSessions(hostId);
    return { ...known, ...facts, online, ...(since && { since }), ...(guard && { guard }), sessions };
  }
}

function nameOf(invite: Invite, called: string | undefined, otherwise: string | undefined): string {
  if (invite.name !== undefined && called !== undefined && called !== invite.name) {
    throw new AppError("invalid_request", { detail: `This code is for a host named ${invite.name}` });
  }
  const name = invite.name ?? called ?? otherwise;
  if (name === undefined) throw new AppError("invalid_request", { detail: "Say what the host is called: --name NAME" });
  return name;
}
