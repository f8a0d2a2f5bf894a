/** What an agent should do about a failure: a code tells a program what happened, a model needs the next step too. */
import type { ErrorCode } from "../../protocol/errors.ts";

export const ADVICE = {
  invalid_request: "Correct the arguments that `errors` names and call again.",
  pattern_refused: "Use a simpler pattern: RE2 syntax, no look-around, no back-references.",
  unauthenticated: "The credential is missing, expired or revoked. Stop and ask a person for a new one.",
  forbidden: "This credential's role may not do this. Do not retry; ask a person to do it.",
  origin_refused: "The address is not trusted. Use the hub's own address, or ask a person to set its public URL.",
  policy_denied: "Policy forbids it. Do not look for a way around; choose another way or ask a person.",
  approval_rejected: "A person said no. Do not retry it in another form; read `reason` and ask what they want instead.",
  approval_expired: "Nobody answered in time. Ask again only if it is still needed.",
  secret_for_person: "Wait until a person has typed the secret; do not ask for it and do not guess.",
  not_found: "Check the id by listing; it may be closed, or not for this credential to see.",
  invalid_transition: "Read the present state first, then choose an action that can follow from it.",
  busy: "Wait until the running command ends, then call again.",
  interactive_active:
    "Finish or end the interactive run first; `session_id`, if there is one, names the command that is active.",
  shell_idle: "Nothing is reading input. Run a command instead.",
  control_refused:
    "You do not have control of this session. Ask with control_request, then control_wait; do not retry in a loop.",
  lease_expired: "Your time with this session is over. Ask again with control_request if you need it.",
  stale_epoch: "Control changed hands. Read `changed` of control_get, then decide anew.",
  stopped: "A person stopped you. Do nothing more in this session until control_wait says that you have control again.",
  paused: "Wait with control_wait until a person lets you go on, then read `changed` and `handback_note`.",
  session_paused: "Wait until a person resumes the session.",
  revoked: "A person took over while you acted. Ask with control_request, and read `changed` before anything else.",
  approval_stale: "The situation changed since it was approved. Ask again with what would happen now.",
  approval_decided: "It is decided already; read the approval for the outcome.",
  needs_open:
    "It can't work inside the guard. With an `approvalId` a person has been asked: wait for its decision (event_list, approval_get) and, if it is `approved`, run the command again in the same conversation. Without one, choose another way.",
  prompt_gone: "The program no longer asks this. Read the session's output before answering anything.",
  cursor_expired: "Continue from the oldest place that is still kept, which this failure names.",
  too_large: "Send less at once.",
  limit_reached: "Close what is no longer needed, or wait before calling again.",
  approval_pending:
    "Do not send it again, unless it says `behind`: then another command is asked about, and yours was not taken; send it when that is over.",
  unknown_outcome: "It may or may not have happened. Look at the present state before trying again.",
  channel_failed: "Tell a person: the chat platform's answer is in the detail.",
  kind_unavailable: "This hub can't run that kind of session. Choose another kind or ask a person.",
  host_offline: "The machine is away. Wait for it to come back, or use another workspace.",
  storage_unavailable: "Nothing was done. Try again later; tell a person if it lasts.",
  internal: "This is a fault of the hub. Tell a person, with the id.",
} as const satisfies Record<ErrorCode, string>;
