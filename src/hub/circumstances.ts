/** Where an agent's action would be done, as far as the hub knows without asking the host each time. Rule POL-5. */
import type { Circumstances } from "../domain/policy/action.ts";
import { atHome } from "../domain/policy/paths.ts";
import { mayBeProject } from "../domain/policy/project-place.ts";
import type { Session } from "../domain/session.ts";
import type { BlockDesk } from "./block-desk.ts";
import type { TerminalDriver } from "./terminal-driver.ts";
import type { WorkspaceDesk } from "./workspace-desk.ts";

/** What doesn't change while a session lives. */
type Account = Pick<Circumstances, "dialect" | "home">;

export type CircumstancesParts = {
  readonly workspaces: WorkspaceDesk;
  readonly blocks: BlockDesk;
  /** The host whose files can be looked at from here. */
  readonly localHostId: string;
  /** There: the directories in which an agent that stands in one may write. */
  readonly projectAround: (cwd: string, home: string) => Promise<readonly string[]>;
};

/** So many sessions' accounts stay at hand; others are asked for again. */
const ACCOUNTS = 500;

export class CircumstancesOf {
  readonly #parts: CircumstancesParts;
  readonly #accounts = new Map<string, Account>();

  constructor(parts: CircumstancesParts) {
    this.#parts = parts;
  }

  /** Without asking anybody: what is judged `auto` by these is so by the whole, too. */
  offhand({ sessionId, workspaceId, containment, containmentMissing }: Session): Circumstances {
    const account = this.#accounts.get(sessionId) ?? { dialect: "other", home: undefined };
    const isGuardMissing = containmentMissing !== undefined && containmentMissing.length > 0;
    return { workspaceId, containment, isGuardMissing, ...account, roots: [], ours: [] };
  }

  async of(session: Session, driver: TerminalDriver, wanted?: string): Promise<Circumstances> {
    const { sessionId, workspaceId, containment, containmentMissing } = session;
    const last = this.#parts.blocks.last(sessionId);
    const known = this.#accounts.get(sessionId);
    const isAtPrompt = last?.end?.cwd !== undefined;
    // Between a command's begin and its end only the kernel knows where the shell is.
    const status = known !== undefined && isAtPrompt ? undefined : await driver.status(sessionId);
    const account = known ?? { dialect: dialectOf(status?.shell ?? ""), home: status?.home };
    if (this.#accounts.size >= ACCOUNTS) this.#accounts.clear();
    this.#accounts.set(sessionId, account);
    const here = last?.end?.cwd ?? status?.directory ?? status?.cwd;
    const cwd = wanted === undefined ? here : from(here, wanted);
    return {
      workspaceId,
      containment,
      isGuardMissing: containmentMissing !== undefined && containmentMissing.length > 0,
      ...account,
      cwd,
      roots: await this.#roots(session, cwd, account.home),
      ours: [],
    };
  }

  async #roots(
    { workspaceId, hostId }: Session,
    cwd: string | undefined,
    home: string | undefined,
  ): Promise<readonly string[]> {
    const { roots } = this.#parts.workspaces.get(workspaceId).settings;
    if (roots.length > 0) return roots.map((it) => atHome(it, home));
    if (cwd === undefined || home === undefined) return [];
    return hostId === this.#parts.localHostId ? this.#parts.projectAround(cwd, home) : elsewhere(cwd, home);
  }
}

function dialectOf(shell: string): Circumstances["dialect"] {
  const name = shell.slice(shell.lastIndexOf("/") + 1);
  if (name === "bash" || name === "zsh" || name === "dash" || name === "fish") return name;
  return name === "sh" ? "dash" : "other";
}

function from(here: string | undefined, wanted: string): string | undefined {
  if (wanted.startsWith("/")) return wanted;
  return here === undefined ? undefined : `${here}/${wanted}`;
}

/** Where its files can't be looked at. */
function elsewhere(cwd: string, home: string): readonly string[] {
  return mayBeProject(cwd, home) ? [cwd] : [];
}
