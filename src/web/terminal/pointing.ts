/**
 * What a terminal sends for its program although nobody typed: where the mouse is, that the page has the keyboard. Programs ask for
 * it, so that it must not take control, nor type in the name of somebody who only looks. Rule WEB-95.
 */
// oxlint-disable-next-line no-control-regex -- it is what is looked for
const REPORTS = /^(?:\u001B\[<\d+;\d+;\d+[Mm]|\u001B\[[IO])+$/u;

export function isPointing(data: string): boolean {
  return REPORTS.test(data);
}
