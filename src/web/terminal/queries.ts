/** A terminal in a page draws; it never answers. One that did would type into the session as the person who looks. */
import type { IDisposable, Terminal } from "@xterm/xterm";

/** What xterm.js would answer: device attributes, status and mode reports, version, keyboard flags, settings, colours. */
export function silenceQueries({ parser }: Terminal): readonly IDisposable[] {
  const quiet = (): boolean => true;
  return [
    parser.registerCsiHandler({ final: "c" }, quiet),
    parser.registerCsiHandler({ prefix: ">", final: "c" }, quiet),
    parser.registerCsiHandler({ prefix: "=", final: "c" }, quiet),
    parser.registerCsiHandler({ final: "n" }, quiet),
    parser.registerCsiHandler({ prefix: "?", final: "n" }, quiet),
    parser.registerCsiHandler({ intermediates: "$", final: "p" }, quiet),
    parser.registerCsiHandler({ prefix: "?", intermediates: "$", final: "p" }, quiet),
    parser.registerCsiHandler({ prefix: ">", final: "q" }, quiet),
    parser.registerCsiHandler({ prefix: "?", final: "u" }, quiet),
    parser.registerCsiHandler({ final: "t" }, quiet),
    parser.registerDcsHandler({ intermediates: "$", final: "q" }, quiet),
    parser.registerDcsHandler({ intermediates: "+", final: "q" }, quiet),
    ...[4, 10, 11, 12].map((code) => parser.registerOscHandler(code, (data) => data.split(";").includes("?"))),
    // The clipboard is the person's.
    parser.registerOscHandler(52, quiet),
  ];
}
