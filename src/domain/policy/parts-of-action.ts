/** The parts of an action of any kind; never none. */
import type { Action, Circumstances } from "./action.ts";
import { deceptiveWord } from "./deceptive.ts";
import { Findings } from "./findings.ts";
import { barePart, type Part } from "./part.ts";
import { inDirectory } from "./paths.ts";
import { argvParts, shellParts } from "./shell-parts.ts";
import type { ParseShell } from "./shell-tree.ts";
import { literalWord } from "./words.ts";

const TEXT_MAX = 64 * 1024;
const SHOWN_MAX = 2000;

export function partsOf(action: Action, circumstances: Circumstances, parse: ParseShell): readonly [Part, ...Part[]] {
  const text = textOf(action);
  if (text.length > TEXT_MAX) return [barePart(`${text.slice(0, SHOWN_MAX)}…`, ["unclear"])];
  const deceptive = deceptiveWord(text, { mayHaveControls: action.kind === "opaque_send" || action.kind === "send" });
  const flags = deceptive === undefined ? [] : [barePart(deceptive, ["deceptive"])];
  const [first = barePart(text, []), ...others] = [...flags, ...knownParts(action, circumstances, parse)];
  return [first, ...others];
}

function textOf(action: Action): string {
  return "argv" in action ? action.argv.join(" ") : action.text;
}

/** A parser that fails is a text that nobody understands. */
function knownParts(action: Action, circumstances: Circumstances, parse: ParseShell): readonly Part[] {
  try {
    return partsOfKind(action, circumstances, parse);
  } catch {
    return [barePart(textOf(action).slice(0, SHOWN_MAX), ["unclear"])];
  }
}

function partsOfKind(action: Action, circumstances: Circumstances, parse: ParseShell): readonly Part[] {
  switch (action.kind) {
    case "exec":
      return shellParts(action.text, circumstances, parse);
    case "remote_command":
      return "argv" in action
        ? argvParts(action.argv, circumstances, parse)
        : shellParts(action.text, circumstances, parse);
    case "file_write": {
      const findings = new Findings({ circumstances, directories: inDirectory(circumstances.cwd) });
      findings.touch(literalWord(action.text), "write");
      return [findings.part(action.text, "")];
    }
    case "navigate":
      return [barePart(action.text, /^https?:\/\//i.test(action.text) ? ["fetch"] : ["unclear"])];
    case "send":
    case "opaque_send":
    case "desktop_input":
    case "tool":
    case "plan":
    case "escalation":
      return [barePart(action.text, [])];
  }
}
