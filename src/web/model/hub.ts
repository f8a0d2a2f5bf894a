/**
 * The page's end of the hub: loads the world, follows the log, carries out what a person does. It decides nothing; what
 * was done shows when its event comes. Rules WEB-10..WEB-15 in docs/spec/web.md.
 */
import type { WorkspaceEvent } from "../../protocol/events.ts";
import { AppError } from "../../protocol/errors.ts";
import type { Overview } from "../../protocol/overview.ts";
import { isSettled } from "../../domain/approval.ts";
import { SidestickClient } from "../../client/client.ts";
import { isTransient, pause } from "../../client/retry.ts";
import type { Lag, Stream, StreamState } from "../../client/stream.ts";
import {
  applyEvent,
  EMPTY_WORLD,
  FOLLOWED,
  type LinkState,
  withApproval,
  withHosts,
  withoutReceipt,
  withPrompt,
  type World,
  worldFrom,
} from "./world.ts";

export type Notice = { readonly id: number; readonly tone: "info" | "bad"; readonly text: string };

/** What React reads: the world and what the person was told, replaced as a whole with each change. */
export type Seen = { readonly world: World; readonly notices: readonly Notice[] };

const PROMPT_EVENTS = ["prompt_request", "prompt_decision"] as const;
const HOST_EVENTS = ["host", "host_link"] as const;
/** As long as reading it takes. */
const NOTICE_MS = 8_000;
const NOTICE_MS_PER_SIGN = 100;

/** How long until what got no answer is asked for again. */
export type Again = { readonly overviewMs: number; readonly oneMs: number };
const AGAIN: Again = { overviewMs: 2_000, oneMs: 1_000 };

export class Hub {
  readonly client: SidestickClient;
  readonly #stream: Stream;
  readonly #views = new Set<() => void>();
  readonly #listeners = new Set<(event: WorkspaceEvent) => void>();
  readonly #lagListeners = new Set<(lag: Lag) => void>();
  #seen: Seen = { world: EMPTY_WORLD, notices: [] };
  /** What is being asked for, and whether to ask again: the answer under way may be older than what is wanted. */
  readonly #asking = new Map<string, "once" | "again">();
  /** While the overview is asked for; what comes then waits, for the overview may reflect it or not. */
  #loading: AbortController | undefined;
  #held: WorkspaceEvent[] = [];
  #isFollowing = false;
  #noticeId = 0;
  #drawing = false;
  readonly #again: Again;

  constructor(client: SidestickClient = new SidestickClient({ url: location.origin, pageKey }), again: Again = AGAIN) {
    this.client = client;
    this.#again = again;
    this.#stream = client.stream({
      onState: (state) => this.#linked(state),
      onLagged: (lag) => this.#lagListeners.forEach((listener) => listener(lag)),
      onRefusal: (error) => this.#tell("bad", wordsOf(error)),
    });
    this.#stream.closed.catch((error: unknown) => this.#cutOff(error));
  }

  get stream(): Stream {
    return this.#stream;
  }

  /** For `useSyncExternalStore`. */
  readonly subscribe = (view: () => void): (() => void) => {
    this.#views.add(view);
    return () => this.#views.delete(view);
  };
  readonly seen = (): Seen => this.#seen;

  /** Every event that is followed, once, after the world has it. */
  onEvent(listener: (event: WorkspaceEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The page is behind with a session's output or with the log; told again and again while it is. */
  onLagged(listener: (lag: Lag) => void): () => void {
    this.#lagListeners.add(listener);
    return () => this.#lagListeners.delete(listener);
  }

  /** Does it; what goes wrong is told, with what to do about it. Undefined: it went wrong. */
  async act<T>(doing: (client: SidestickClient) => Promise<T>): Promise<T | undefined> {
    try {
      return await doing(this.client);
    } catch (error) {
      this.#tell("bad", wordsOf(error));
      return undefined;
    }
  }

  tell(text: string): void {
    this.#tell("info", text);
  }

  closeReceipt(sessionId: string): void {
    this.#setWorld(withoutReceipt(this.#seen.world, sessionId));
  }

  dismiss(id: number): void {
    this.#set({ ...this.#seen, notices: this.#seen.notices.filter((it) => it.id !== id) });
  }

  /** Whoever goes to another page has done with what this one told. */
  dismissAll(): void {
    if (this.#seen.notices.length > 0) this.#set({ ...this.#seen, notices: [] });
  }

  /** Whoever the hub refuses is not logged in, or not any more; all else is a fault of the page. */
  #cutOff(error: unknown): void {
    const isRefused = error instanceof AppError && [401, 403].includes(error.status);
    if (!isRefused) this.#tell("bad", `The page failed: ${String(error)}. Load it again.`);
    this.#setLink(isRefused ? "guest" : "broken");
  }

  #linked(state: StreamState): void {
    if (state === "open") void this.#load();
    else this.#loading?.abort();
    if (state === "connecting") this.#setLink(this.#seen.world.me === undefined ? "connecting" : "offline");
  }

  /** After each connection: what happened meanwhile is in the overview, and the log goes on behind it. */
  async #load(): Promise<void> {
    this.#loading?.abort();
    const { signal } = (this.#loading = new AbortController());
    if (this.#seen.world.me !== undefined) this.#setLink("catching_up");
    while (!signal.aborted) {
      const overview = await this.client.hub.overview({}, { signal }).catch((error: unknown) => {
        if (!signal.aborted) this.#tell("bad", wordsOf(error));
      });
      if (signal.aborted) return;
      if (overview !== undefined) return this.#begin(overview);
      await pause(this.#again.overviewMs, signal);
    }
  }

  #begin(overview: Overview): void {
    this.#loading = undefined;
    const before = this.#seen.world;
    this.#setWorld(worldFrom(overview, before, Date.now()));
    for (const what of this.#asking.keys()) this.#asking.set(what, "again");
    this.#askWhatCameOf(before);
    for (const event of this.#held.splice(0)) this.#event(event);
    // Once: the stream goes on where it was after each lost connection.
    if (!this.#isFollowing) this.#follow(overview);
  }

  #follow({ eventCursor: after, me }: Overview): void {
    this.#isFollowing = true;
    // Whoever asks for `host` and is no operator is refused all of it.
    const hostTypes = me.role === "operator" ? HOST_EVENTS : (["host_link"] as const);
    const types = [...FOLLOWED, ...PROMPT_EVENTS, ...hostTypes];
    const onEvent = (event: WorkspaceEvent): void => {
      if (this.#loading === undefined) this.#event(event);
      else this.#held.push(event);
    };
    this.#stream.subscribe({ after, types, onEvent, onResync: () => void this.#load() });
  }

  #event(event: WorkspaceEvent): void {
    this.#setWorld(applyEvent(this.#seen.world, event));
    // What the overview reflects isn't asked for: after a night STOP NOW would wait behind a thousand questions.
    if (event.sequence > this.#seen.world.asOf) this.#askWhatChanged(event);
    for (const listener of this.#listeners) listener(event);
  }

  /** The event says what changed; how it stands now is asked for. */
  #askWhatChanged({ type, payload }: WorkspaceEvent): void {
    const { promptId } = payload;
    if (isOneOf(PROMPT_EVENTS, type) && typeof promptId === "string") void this.#askPrompt(promptId);
    if (isOneOf(HOST_EVENTS, type)) void this.#askHosts();
  }

  /** What was decided while the page was away still shows who did it. */
  #askWhatCameOf(before: World): void {
    const { approvals, prompts } = this.#seen.world;
    for (const [requestId, it] of before.approvals) {
      if (!isSettled(it) && approvals.get(requestId)?.status !== "pending") void this.#askApproval(requestId);
    }
    for (const [promptId, { status, outcome }] of before.prompts) {
      const isOpen = status === "pending" || (status === "answered" && outcome === undefined);
      if (isOpen && prompts.get(promptId)?.status !== "pending") void this.#askPrompt(promptId);
    }
  }

  #askPrompt(prompt_id: string): Promise<void> {
    return this.#ask(prompt_id, () => this.client.prompt.get({ prompt_id }), withPrompt);
  }

  #askApproval(requestId: string): Promise<void> {
    return this.#ask(requestId, () => this.client.approval.get({ requestId }), withApproval);
  }

  #askHosts(): Promise<void> {
    return this.#ask("hosts", () => this.client.host.list(), withHosts);
  }

  /** One at a time of each thing. Nothing where it was refused; what was asked again meanwhile is answered once more. */
  async #ask<T>(what: string, ask: () => Promise<T>, fold: (world: World, answer: T) => World): Promise<void> {
    if (this.#asking.has(what)) return void this.#asking.set(what, "again");
    let answer: T | undefined;
    do {
      this.#asking.set(what, "once");
      answer = await ask().catch((error: unknown) => this.#failedToAsk(what, error));
    } while (this.#asking.get(what) === "again");
    this.#asking.delete(what);
    if (answer !== undefined) this.#setWorld(fold(this.#seen.world, answer));
  }

  /** What no answer came to may wait for a person, and no other event need follow. After a lost connection the overview tells it. */
  async #failedToAsk(what: string, error: unknown): Promise<undefined> {
    if (!isTransient(error)) return;
    await new Promise((resolve) => setTimeout(resolve, this.#again.oneMs));
    if (this.#seen.world.link === "live") this.#asking.set(what, "again");
  }

  #setLink(link: LinkState): void {
    this.#setWorld({ ...this.#seen.world, link });
  }

  #setWorld(world: World): void {
    if (world !== this.#seen.world) this.#set({ ...this.#seen, world });
  }

  #tell(tone: Notice["tone"], text: string): void {
    this.#noticeId += 1;
    const notice = { id: this.#noticeId, tone, text };
    this.#set({ ...this.#seen, notices: [...this.#seen.notices.filter((it) => it.text !== text), notice] });
    setTimeout(() => this.dismiss(notice.id), Math.max(NOTICE_MS, text.length * NOTICE_MS_PER_SIGN));
  }

  /** A burst of events is drawn once. */
  #set(seen: Seen): void {
    this.#seen = seen;
    if (this.#drawing) return;
    this.#drawing = true;
    queueMicrotask(() => {
      this.#drawing = false;
      for (const view of this.#views) view();
    });
  }
}

/** What went wrong, and what to do: the hub's own words where it has some. */
function wordsOf(error: unknown): string {
  if (error instanceof AppError) {
    const { detail, remedy, what, id } = error.details as Readonly<Record<string, string | undefined>>;
    const lacks = error.code === "not_found" && what !== undefined ? `There is no ${what} “${id ?? ""}”` : undefined;
    return [detail ?? lacks ?? error.message, remedy].filter(Boolean).join(" ");
  }
  return error instanceof Error ? `${error.message}. Try again when the page is live.` : String(error);
}

/** As the login page left it; another tab may have logged in anew. */
function pageKey(): string | undefined {
  return localStorage.getItem("sidestick-page-key") ?? undefined;
}

function isOneOf<T extends string>(types: readonly T[], type: string): type is T {
  return (types as readonly string[]).includes(type);
}
