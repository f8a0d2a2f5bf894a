/**
 * Which of three deployments this is, in a sentence that says what it is worth: a promise, a guard, a hub under its own
 * user. Rules GRD-21, GRD-26 in docs/spec/guard.md.
 */
import type { Check } from "../protocol/hub.ts";
import type { GuardAbility } from "../protocol/link.ts";

export type Situation = {
  /** Undefined: its host never told. */
  readonly guard: GuardAbility | undefined;
  readonly account: { readonly uid: number; readonly username: string };
};

/** Accounts below are the system's: nobody logs in as one. */
const FIRST_PERSON = 1000;

export function containmentCheck({ guard, account }: Situation): Check {
  const isOwnUser = account.uid > 0 && account.uid < FIRST_PERSON;
  const base = { name: "containment", needed: false };
  if (guard?.available !== true) return { ...base, ...withoutGuard(isOwnUser, account.username, guard?.missing ?? []) };
  const detail = isOwnUser
    ? `A hub under its own user (${account.username}), which nobody else's programs can reach but by a token; agents' sessions are guarded.`
    : "A guard: agents' sessions and what `sidestick guard` starts can't reach Sidestick; other programs of yours can.";
  if (guard.missing.length === 0) return { ...base, state: "ready", detail };
  const layers = guard.missing.map(({ layer, reason }) => `${layer} (${reason})`);
  const remedies = guard.missing.flatMap(({ layer, remedy }) => (remedy === undefined ? [] : [`${layer}: ${remedy}`]));
  return {
    ...base,
    state: "degraded",
    detail: `${detail} Missing: ${layers.join("; ")}.`,
    ...(remedies.length === 0 ? {} : { remedy: remedies.join("; ") }),
  };
}

function withoutGuard(
  isOwnUser: boolean,
  username: string,
  [missing]: GuardAbility["missing"],
): Pick<Check, "state" | "detail" | "remedy"> {
  const why = missing?.reason ?? "its host doesn't tell of one";
  const remedy = missing?.remedy ?? "Restart the host: sidestick down, then start the hub";
  const detail = isOwnUser
    ? `A hub under its own user (${username}), without a guard (${why}): what agents run in its sessions could still use its files and sockets.`
    : `A promise, for want of a guard (${why}): an agent's programs run as you and could use your files and sockets to give themselves control.`;
  return { state: "degraded", detail, remedy };
}
