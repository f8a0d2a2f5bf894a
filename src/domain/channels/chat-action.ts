/**
 * What a button in a chat means, and how the platform hands it back: by the number of the message's row and of the button, short
 * enough for every platform, and never used again for something else (CHN-3).
 */
export type ChatAction =
  /** To a question, or to a plan under `__plan__`. */
  | { readonly do: "reply"; readonly promptId: string; readonly nonce: string; readonly choice: string }
  | { readonly do: "approval"; readonly requestId: string; readonly verdict: "approved" | "rejected" }
  | { readonly do: "control"; readonly sessionId: string; readonly agentId: string; readonly act: "grant" | "decline" };

export function buttonAction(rowId: number, index: string): string {
  return `${rowId.toString(36)}.${index}`;
}

/** Undefined for what no button of ours says. */
export function readButtonAction(action: string): { readonly rowId: number; readonly index: number } | undefined {
  const [, row, index] = /^([\da-z]{1,11})\.(\d{1,2})$/.exec(action) ?? [];
  return row === undefined || index === undefined ? undefined : { rowId: parseInt(row, 36), index: Number(index) };
}
