/** What a model is told about Sidestick when it connects. A part is said only if one of its tools is there to use. */
import type { McpTools } from "./tools.ts";

type Part = { readonly tools: readonly string[]; readonly text: string };

const INTRODUCTION =
  "Sidestick runs live sessions (terminals, here and on other machines) that you share with a person. The person sees " +
  "what you do and can take over, pause or stop you at any moment; that is not an error. When you are refused, do what " +
  "the failure says, and do not try another way around it.";

const PARTS: readonly Part[] = [
  {
    tools: ["pty_exec_block"],
    text:
      "Terminals: choose a conversation_id and keep it; it owns one shell, which keeps its directory and variables. " +
      "pty_exec_block runs a command that ends by itself and answers with exit_code and output. If it answers `waiting`, " +
      "the program asks for input: its question is at the end of `output`; answer with pty_send and go on with pty_wait_for. If it answers `pending`, it still " +
      "runs: pty_wait_for PROMPT. Never sleep and never poll.",
  },
  {
    tools: ["pty_exec_interactive"],
    text:
      "pty_exec_interactive starts what you will talk to (REPL, debugger, installer, ssh, TUI). Then repeat: " +
      "pty_wait_for what it asks (its prompt's text, or INPUT: it waits for input), pty_send the answer. It is over at " +
      "PROMPT; pty_end_session ends it. While it runs pty_exec_block is refused.",
  },
  {
    tools: ["start_interactive_command"],
    text:
      "Commands of a project (a workspace, on its own host; `default` exists) have no shell that stays. execute_command: what asks nothing; it answers " +
      "stdout, stderr and exit_code, its input is empty. start_interactive_command: what will ask (sudo, apt without -y, ssh, passwd, wizards); it answers " +
      "when the program waits for input. Then repeat send_command_input (raw: end an answer with \\n; control characters work) until `final`. `output` is " +
      "only what is new. `final: false` without `waiting`: wait_for_command. One runs at a time: end it, or terminate_command, before the next. " +
      "A `password` question is for a person: tell them, then wait_for_command, which goes on when they have typed it. After `approval_pending`: approval_wait, then " +
      "wait_for_command with its `session_id`. For several commands that share a directory and variables use pty_exec_block.",
  },
  {
    tools: ["pty_exec_block"],
    text:
      "Your terminals are guarded: some files, sockets and programs of the person aren't there. `needs_open` (sudo) means that a " +
      "person is asked whether you may continue in an open session: wait for the `approval_decision` of its `approvalId`; if " +
      "it is `approved`, run the command again in the same conversation. Never look for another way to more rights.",
  },
  {
    tools: ["approval_wait"],
    text:
      "Policy: what you run or type is judged first. `policy_denied` is final: say so, do not try another wording. " +
      "`approval_pending` means that a person is asked about exactly this command: nothing runs yet. Call approval_wait with its `requestId` (again, " +
      "if it still says `pending`); when it says `approved`, `result` tells that it runs, as which block: go on with pty_wait_for. Do not " +
      "send the command a second time, unless the failure has `behind`: then another command of this terminal is asked about and yours has not " +
      "been taken; send it when that one is over. Say in `reason` why you want it: the person reads that. If the answer has `edited`, " +
      "that is what ran. policy_explain tells beforehand how a command would be judged.",
  },
  {
    tools: ["pty_wait_for"],
    text:
      "pty_wait_for takes text, a regex, or PROMPT (shell ready), EOF (run over), INPUT (waits for input), IDLE; several " +
      "in `conditions`, where an error message may stand beside what you hope for. Pass the answer's `cursor` and " +
      "`position` on as from_cursor and from_position, or you match again what you have seen. `pending` only means that " +
      "the call's time was over: call again with them.",
  },
  {
    tools: ["pty_send"],
    text:
      "pty_send types exactly what you give it: Enter is \\r, so an answer is `yes\\r`; keys have names (C-c, Up, F5). " +
      "With `if_prompt` it is typed only if that prompt still waits. A `password` prompt is for a person: they have been asked " +
      "already; tell them, then pty_wait_for PROMPT or INPUT, which goes on by itself when they have typed it. Never ask for the secret and never type one.",
  },
  {
    tools: ["prompt_reply"],
    text:
      "Questions: prompt_list with status `pending` tells what programs ask, with the choices they take; prompt_reply with its `prompt_id` and " +
      "`nonce` answers in plain words (`yes`, an option) and types what the program wants, once. A person may answer first: `prompt_gone` is not an " +
      "error. `secret_for_person`: leave it to them. Read `warning` before you answer.",
  },
  {
    tools: ["pty_send"],
    text:
      "Editors, pagers, menus and other full-screen programs: look with pty_read_screen, act with `keys` in pty_send, wait " +
      "with match_type `screen`. Masked ranges of output (`redacted`) are not what the program printed: never write them " +
      "into files.",
  },
  {
    tools: ["control_request"],
    text:
      "Control: one of you drives a session at a time, and a person always wins. `control_refused` and `lease_expired`: ask " +
      "with control_request, giving your reason, then control_wait; do not retry the input. `revoked`: a person took over " +
      "while you acted. `stopped`: they stopped you and all you started; do nothing there until control_wait says that you " +
      "have control. `paused`: wait with control_wait. When control is yours again, read `changed` and `handback_note` " +
      "before you act: the directory, files and programs may differ. In a long task call control_renew before " +
      "`lease_expiry` and control_safe_point between steps, and obey its answer; control_release when you are done. Never " +
      "work around a refusal, by another session or in any other way.",
  },
  {
    tools: ["session_create", "session_list"],
    text:
      "Sessions: a terminal of yours is one; you need session_create only for what has no tools of its own. It is `created` first and can be used " +
      "when it is `active`. Close with session_close what you started and no longer need.",
  },
  {
    tools: ["session_input"],
    text: "session_input types exactly what you give it: to press Enter, end `data` with a carriage return (\\r).",
  },
  {
    tools: ["event_list"],
    text:
      "Events: everything that happens is in one log, ordered by `sequence`. Read snapshot_get once for the present " +
      "state and its `eventCursor`, then call event_list with `after` set to the last sequence you have seen and " +
      "`waitMs` (up to 45000) to wait for the next event instead of polling. Sequences have gaps; never compute the next.",
  },
  {
    tools: ["approval_request"],
    text:
      "Approvals: ask with approval_request before anything a person should decide, then wait for its " +
      "`approval_decision` event or read approval_get. `approved` means yes and `rejected` means no. `expired` is neither: " +
      "nobody decided, and you may do nothing on it; ask again if it is still needed.",
  },
];

export function instructionsFor(tools: McpTools): string {
  const said = PARTS.filter((part) => part.tools.some((name) => tools.has(name)));
  return [INTRODUCTION, ...said.map((part) => part.text)].join("\n\n");
}
