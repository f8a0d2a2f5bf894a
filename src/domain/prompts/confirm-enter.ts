/** Programs that only want a key before they go on. */
import type { TextFinding } from "./prompt.ts";

const ENTER = String.raw`(?:[[<(]?\s*(?:enter|return|ret|eingabetaste|eingabe|entrée|intro|回车|エンター)\s*[\])>]?)`;
const PRESS =
  /\b(?:press|hit|type|push|tap|drücken|weiter mit|appuyez|pulse|presione|oprima|premere|pressione)\b[^.!?+]{0,24}/iu;
const CONFIRMS = new RegExp(
  String.raw`(?:${PRESS.source}${ENTER})|${ENTER}[^.!?]{0,30}\b(?:to (?:continue|proceed|confirm|accept|start|begin|exit|finish|quit|return|open)|drücken|pour continuer|para continuar)|\(press enter\)|(?:enter|return|回车)\s*(?:キー|键|鍵)|按[^\s]{0,4}(?:回车|enter)|weiter mit der eingabetaste`,
  "iu",
);
const ANY_KEY =
  /\[confirm\]\s*$|\bany key\b|beliebige taste|une touche|cualquier tecla|任意键|任意鍵|何かキー|いずれかのキー|任意のキー/iu;
const MORE =
  /-{2,}\s*(?:more|mehr|suite|más|次)\s*-{2,}|-- ?Type <RET>|^\s*\(END\)\s*$|^\s*:\s*$|\(q to quit\)|lines \d+-\d+/iu;

export function confirmEnter(question: string): TextFinding | undefined {
  const text = question.trim();
  if (/[[(]\s*[yj]\s*\/\s*n/iu.test(text)) return undefined;
  if (ANY_KEY.test(text)) return confirm("key");
  if (CONFIRMS.test(text) && !/:\s*\S+$/u.test(text)) return confirm();
  return MORE.test(text) ? pager(text) : undefined;
}

/** Enter shows more, `q` leaves; at the end only leaving is left. */
export function pager(lastLine: string): TextFinding {
  const atEnd = /\(END\)/.test(lastLine);
  return {
    class: "CONFIRM_ENTER",
    choices: [
      { key: "enter", label: "More", types: "" },
      { key: "q", label: "Quit", types: "q" },
    ],
    accepts: ["", "q"],
    default: atEnd ? "q" : "enter",
    explicit: true,
  };
}

function confirm(entry?: "key"): TextFinding {
  return {
    class: "CONFIRM_ENTER",
    choices: [{ key: "enter", label: "Enter", types: "" }],
    accepts: [""],
    explicit: true,
    ...(entry && { entry }),
  };
}
