/** Control (seed 000): input → one call of the control desk → the state after it. */
import type { Actor } from "../../domain/actor.ts";
import { grantWarning } from "../../domain/containment.ts";
import { describeControl } from "../../domain/control-record.ts";
import type { ControlState } from "../../domain/control-state.ts";
import type { ControlChanges } from "../../hub/control-changes.ts";
import type { ControlDesk } from "../../hub/control-desk.ts";
import type { FreshShells } from "../../hub/fresh-shells.ts";
import type { ControlAnswer } from "../../hub/ports.ts";
import { Control } from "../../protocol/control.ts";
import type { Handlers } from "../dispatcher.ts";

export type ControlDesks = {
  readonly control: ControlDesk;
  readonly changes: ControlChanges;
  readonly shells: FreshShells;
};

/** From the gate's answer to the log's record of it. */
const RECORDED_MS = 2_000;

/** As everybody is told. */
export function toldControl(control: ControlDesk, sessionId: string, state = control.state(sessionId)): Control {
  const { containment } = control.place(sessionId);
  const agents_may_acquire = control.mayAcquire(sessionId);
  return Control.parse({ session_id: sessionId, ...describeControl(state), agents_may_acquire, containment });
}

export function controlHandlers({ control, changes, shells }: ControlDesks) {
  const controlOf = (sessionId: string, state: ControlState): Control => toldControl(control, sessionId, state);
  const granted = (state: Control): Control => {
    const { containment, user } = control.place(state.session_id);
    const warning = grantWarning(containment, user);
    return warning === undefined ? state : { ...state, warning };
  };
  const told = async (sessionId: string, change: Promise<ControlAnswer>): Promise<Control> =>
    controlOf(sessionId, (await change).state);
  /** Whoever looks at the session after the answer sees it there too. It has its effect even if it can't be stored. */
  const recorded = async (sessionId: string, change: Promise<ControlAnswer>): Promise<Control> => {
    const { state } = await change;
    await control.recorded(sessionId, AbortSignal.timeout(RECORDED_MS));
    return controlOf(sessionId, state);
  };
  return {
    "control.get": async ({ sessionId }, { caller }) => ({
      ...controlOf(sessionId, control.state(sessionId)),
      ...given(await changes.since(sessionId, caller.actor)),
    }),
    "control.user_intent": ({ sessionId, intent, scope }, { caller }) =>
      told(sessionId, control.intent(sessionId, { intent, scope }, caller.actor)),
    "control.grant": async ({ sessionId, agent_id: agentId, lease_seconds: leaseSeconds, note, attend }, { caller }) =>
      granted(
        await recorded(sessionId, control.grant(sessionId, { agentId, leaseSeconds, note, attend }, caller.actor)),
      ),
    "control.renew": ({ sessionId, epoch, lease_seconds: leaseSeconds }, { caller }) =>
      told(sessionId, control.change(sessionId, { type: "renew", by: agent(caller.actor), epoch, leaseSeconds })),
    "control.take": async ({ sessionId, fresh }, { caller }) => {
      if (fresh) shells.check(sessionId);
      const taken = await recorded(sessionId, control.change(sessionId, { type: "take", by: person(caller.actor) }));
      if (!fresh) return taken;
      return { ...taken, freshSessionId: (await shells.openBeside(sessionId, caller.actor)).sessionId };
    },
    "control.changes": ({ sessionId }) => shells.changes(sessionId),
    "control.release": async ({ sessionId, note, lease_seconds: leaseSeconds, agent_id: agentId }, { caller }) => {
      // Whoever lets go lets agents in, where they may take control by themselves.
      return granted(
        await recorded(sessionId, control.release(sessionId, { note, leaseSeconds, agentId }, caller.actor)),
      );
    },
    "control.request": ({ sessionId, reason }, { caller }) =>
      told(sessionId, control.change(sessionId, { type: "request", by: agent(caller.actor), reason })),
    "control.decline": ({ sessionId, agent_id: agentId }, { caller }) =>
      told(sessionId, control.change(sessionId, { type: "decline", by: person(caller.actor), agentId })),
    "control.wait": async ({ sessionId, timeout_ms: timeoutMs }, { caller, signal }) => {
      const until = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      await control.awaitControl(sessionId, caller.actor.id, until);
      await control.recorded(sessionId, AbortSignal.any([signal, AbortSignal.timeout(RECORDED_MS)]));
      const state = controlOf(sessionId, control.state(sessionId));
      return { ...state, ...given(await changes.since(sessionId, caller.actor)) };
    },
    "control.safe_point": async ({ sessionId, step, sequence }, { caller }) => {
      const point = { type: "safe_point", by: agent(caller.actor), step, sequence } as const;
      const { action = "STOP", state } = await control.change(sessionId, point);
      return { action, step, sequence, control: controlOf(sessionId, state) };
    },
  } satisfies Partial<Handlers>;
}

function given(changed: Control["changed"]): { readonly changed?: NonNullable<Control["changed"]> } {
  return changed === undefined ? {} : { changed };
}

const agent = ({ id }: Actor) => ({ kind: "agent", id }) as const;
const person = ({ id }: Actor) => ({ kind: "person", id }) as const;
