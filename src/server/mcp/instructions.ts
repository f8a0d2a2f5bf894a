/** What a model is told about Sidestick when it connects. A part is said only if one of its tools is there to use. */
import type { McpTools } from "./tools.ts";

type Part = { readonly tools: readonly string[]; readonly text: string };

const INTRODUCTION =
  "Sidestick runs live sessions (terminals, browsers, files, desktops) that you share with a person. The person sees " +
  "what you do and can take over, pause or stop you at any moment; that is not an error. When you are refused, do what " +
  "the failure says, and do not try another way around it.";

const PARTS: readonly Part[] = [
  {
    tools: ["session_create", "session_list"],
    text:
      "Sessions: look at session_list before you start one with session_create; it is `created` first and can be used " +
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
