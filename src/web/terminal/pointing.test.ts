import { expect, test } from "vitest";
import { isPointing } from "./pointing.ts";

test("[WEB-95] reports of the mouse and of the keyboard's focus aren't typing, and keys are no reports", () => {
  const reports = ["\u001b[<35;7;4M", "\u001b[<0;10;5m", "\u001b[<35;7;4M\u001b[<35;8;4M", "\u001b[I", "\u001b[O"];
  const keys = ["x", "\u001b", "\u001b[A", "\u001bOA", "\u001b[15~", "\u001b[I\r", "[<35;7;4M", "\u001b[<35;7;4Mx"];

  expect([reports.map(isPointing), keys.map(isPointing)]).toEqual([reports.map(() => true), keys.map(() => false)]);
});
