import { AppError } from "../../protocol/errors.ts";
import type { StopOrder, StopReceipt } from "./stop-order.ts";
import type { Terminal } from "./terminal.ts";

/** Replaced by the merge of the stop branch. */
export async function stopNow(_terminal: Terminal, _order: StopOrder): Promise<StopReceipt> {
  throw new AppError("internal");
}
