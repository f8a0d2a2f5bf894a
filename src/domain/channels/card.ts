/**
 * What is shown in a chat, in no platform's words: adapters turn it into theirs and add nothing. All text is plain; masked before
 * it comes here. Rules CHN-1..CHN-9 in docs/spec/channels.md.
 */
export type CardKind = "prompt" | "plan" | "approval" | "control" | "output" | "agent_message" | "notice";

export type Button = {
  readonly label: string;
  /** Comes back when it is pressed; at most 64 bytes, the least that a platform takes. */
  readonly action: string;
  readonly style?: "go" | "stop" | undefined;
};

export type Card = {
  readonly kind: CardKind;
  /** Of which session, in one line. */
  readonly title?: string | undefined;
  readonly text: string;
  /** Shown as it is, in equal widths: output, a command. */
  readonly code?: string | undefined;
  readonly facts?: readonly { readonly name: string; readonly value: string }[] | undefined;
  /** Row by row; none when there is nothing to decide any more. */
  readonly buttons: readonly (readonly Button[])[];
  /** Opens a page of ours; nothing comes back. */
  readonly link?: { readonly label: string; readonly url: string } | undefined;
};

export const ACTION_BYTES_MAX = 64;
