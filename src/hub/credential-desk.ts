/**
 * Secrets that say who somebody is. They are random, stored only as hashes, and useless the moment they are revoked:
 * revocation acts in memory first and on disk after, because taking power must not wait. Rules SEC-4..SEC-9 in
 * docs/spec/security.md.
 */
import type { Actor, Role } from "../domain/actor.ts";
import { HUB_STREAM } from "../domain/event.ts";
import { startTimer } from "../lib/long-timer.ts";
import type { Token } from "../protocol/credentials.ts";
import { AppError } from "../protocol/errors.ts";
import type { Journal } from "./journal.ts";
import type { Clock, Credential, CredentialStore } from "./ports.ts";

export type CredentialDeskParts = {
  readonly store: CredentialStore;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly newId: () => string;
  /** 256 random bits, base64url. */
  readonly newSecret: () => string;
  /** SHA-256 of a text, hex. */
  readonly digest: (text: string) => string;
};

export type Wanted = {
  readonly kind: Credential["kind"];
  readonly role: Role;
  readonly name: string;
  readonly lifetimeMs?: number | undefined;
};

/** A live credential and the signal that ends whatever was opened with it. */
export type Recognised = { readonly credential: Credential; readonly ended: AbortSignal };

const MAX_LIVE = 10_000;
/** Revoked and expired ones stay listed for a while, so that a person can see what was there. */
const KEEP_ENDED_MS = 30 * 86_400_000;

export class CredentialDesk {
  readonly #parts: CredentialDeskParts;
  readonly #byHash = new Map<string, Credential>();
  /** Revoked, but not yet in the log. */
  readonly #unrecorded = new Set<string>();
  readonly #ends = new Map<string, { readonly controller: AbortController; readonly timer?: Disposable }>();

  constructor(parts: CredentialDeskParts) {
    this.#parts = parts;
  }

  async start(): Promise<void> {
    const oldest = new Date(this.#parts.clock.now() - KEEP_ENDED_MS).toISOString();
    const all = await this.#parts.store.all();
    const gone = all.filter((it) => (it.revokedAt ?? it.expiresAt ?? "9") < oldest);
    await this.#parts.store.remove(gone.map((it) => it.tokenId));
    for (const credential of all) if (!gone.includes(credential)) this.#byHash.set(credential.hash, credential);
  }

  /** The secret is in the answer and nowhere else. */
  async create(wanted: Wanted, by: Actor): Promise<{ readonly token: Token; readonly secret: string }> {
    if (this.list().filter((it) => it.revokedAt === undefined).length >= MAX_LIVE) {
      throw new AppError("limit_reached", { limit: "tokens", max: MAX_LIVE });
    }
    const { clock, digest, newId, newSecret, store } = this.#parts;
    const secret = `sidestick_${wanted.role}_${newSecret()}`;
    const now = clock.now();
    const credential: Credential = {
      tokenId: newId(),
      kind: wanted.kind,
      role: wanted.role,
      name: wanted.name,
      hash: digest(secret),
      createdAt: new Date(now).toISOString(),
      ...(wanted.lifetimeMs === undefined ? {} : { expiresAt: new Date(now + wanted.lifetimeMs).toISOString() }),
    };
    await this.#note("created", credential, by);
    await store.put(credential);
    this.#byHash.set(credential.hash, credential);
    return { token: publicPart(credential), secret };
  }

  list(): readonly Token[] {
    return [...this.#byHash.values()].map(publicPart);
  }

  /** Undefined for a secret that is unknown, revoked or over. */
  recognise(secret: string): Recognised | undefined {
    // Looked up by hash: how long a wrong guess takes says nothing about the secret.
    const credential = this.#byHash.get(this.#parts.digest(secret));
    return credential === undefined ? undefined : this.#live(credential);
  }

  recogniseById(tokenId: string): Recognised | undefined {
    const credential = this.#find(tokenId);
    return credential === undefined ? undefined : this.#live(credential);
  }

  async revoke(tokenId: string, by: Actor): Promise<Token> {
    const credential = this.#find(tokenId);
    if (credential === undefined) throw new AppError("not_found", { what: "token", id: tokenId });
    const revoked = {
      ...credential,
      revokedAt: credential.revokedAt ?? new Date(this.#parts.clock.now()).toISOString(),
    };
    this.#byHash.set(credential.hash, revoked);
    this.#end(tokenId);
    if (credential.revokedAt === undefined) this.#unrecorded.add(tokenId);
    try {
      // Also the second time: the first may have failed to reach the disk, and a restart would bring the token back.
      await this.#parts.store.put(revoked);
      if (this.#unrecorded.delete(tokenId)) await this.#note("revoked", revoked, by);
    } catch (error) {
      this.#unrecorded.add(tokenId);
      const detail =
        "The token is refused from now on, but that could not be stored: revoke it again when there is room";
      throw new AppError("storage_unavailable", { detail }, { cause: error });
    }
    return publicPart(revoked);
  }

  /** From now on; whatever is open goes on. One that is over lives again, one that is revoked never. */
  async renew(tokenId: string, lifetimeMs: number, by: Actor): Promise<Token> {
    const credential = this.#find(tokenId);
    if (credential === undefined) throw new AppError("not_found", { what: "token", id: tokenId });
    if (credential.revokedAt !== undefined) throw new AppError("invalid_transition", { detail: "It is revoked" });
    const renewed = { ...credential, expiresAt: new Date(this.#parts.clock.now() + lifetimeMs).toISOString() };
    await this.#note("renewed", renewed, by);
    await this.#parts.store.put(renewed);
    const now = this.#find(tokenId);
    // Revoked meanwhile: that stands, on disk too.
    if (now?.revokedAt !== undefined) return this.revoke(tokenId, by);
    this.#byHash.set(credential.hash, renewed);
    this.#prolong(tokenId, lifetimeMs);
    return publicPart(renewed);
  }

  stop(): void {
    for (const tokenId of this.#ends.keys()) this.#end(tokenId);
  }

  #find(tokenId: string): Credential | undefined {
    return [...this.#byHash.values()].find((it) => it.tokenId === tokenId);
  }

  #live(credential: Credential): Recognised | undefined {
    const left =
      credential.expiresAt === undefined ? undefined : Date.parse(credential.expiresAt) - this.#parts.clock.now();
    if (credential.revokedAt !== undefined || (left !== undefined && left <= 0)) return undefined;
    return { credential, ended: this.#endOf(credential.tokenId, left) };
  }

  #endOf(tokenId: string, leftMs: number | undefined): AbortSignal {
    const known = this.#ends.get(tokenId);
    if (known !== undefined) return known.controller.signal;
    const controller = new AbortController();
    const timer = leftMs === undefined ? undefined : startTimer(leftMs, () => this.#end(tokenId));
    this.#ends.set(tokenId, { controller, ...(timer === undefined ? {} : { timer }) });
    return controller.signal;
  }

  #prolong(tokenId: string, leftMs: number): void {
    const end = this.#ends.get(tokenId);
    if (end === undefined) return;
    end.timer?.[Symbol.dispose]();
    this.#ends.set(tokenId, { ...end, timer: startTimer(leftMs, () => this.#end(tokenId)) });
  }

  #end(tokenId: string): void {
    const end = this.#ends.get(tokenId);
    this.#ends.delete(tokenId);
    end?.timer?.[Symbol.dispose]();
    end?.controller.abort();
  }

  async #note(change: "created" | "renewed" | "revoked", credential: Credential, by: Actor): Promise<void> {
    const { tokenId, kind, role, name } = credential;
    const payload = { change, tokenId, kind, role, name };
    await this.#parts.journal.note(HUB_STREAM, "power", [{ type: "token", payload, source: by }]);
  }
}

function publicPart({ hash: _hash, ...token }: Credential): Token {
  return token;
}
