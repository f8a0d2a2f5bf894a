/**
 * Terminals carry out some sequences in a loop, as often as a program says: `CSI 2147483647 b` would hold up whoever draws it for
 * good. Counts are taken down in the parser itself, where no way of writing a sequence (C1, zeros before the number, controls in
 * its middle) gets around it. Rules SCR-29 and WEB-92.
 */

/** What is needed of xterm.js: its inner parser hands out the very numbers that the next handler reads. */
export type CountedTerminal = {
  readonly cols: number;
  readonly rows: number;
  readonly _core: {
    registerCsiHandler(
      id: { readonly final: string },
      handler: (params: { readonly length: number; readonly params: Int32Array }) => boolean,
    ): unknown;
  };
};

/** ICH, CHT, IL, DL, DCH, SU, SD, ECH, CBT: as often as the screen has columns or rows is as good as without end. */
const REPEATING = ["@", "I", "L", "M", "P", "S", "T", "X", "Z"];
/** REP prints, so that each time counts. */
const REP = "b";
const PRINTED_MOST = 1_000;

export function limitCounts(terminal: CountedTerminal): void {
  const limit = (final: string, most: () => number): void => {
    terminal._core.registerCsiHandler({ final }, ({ length, params }) => {
      for (let at = 0; at < length; at += 1) params[at] = Math.min(params[at] ?? 0, most());
      return false;
    });
  };
  for (const final of REPEATING) limit(final, () => Math.max(terminal.cols, terminal.rows));
  limit(REP, () => PRINTED_MOST);
}
