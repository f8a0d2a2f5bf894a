/** The calls of `client.pty` for one terminal: `conversation_id` is filled in, and a signal ends them. */
import type { CallOptions, Methods } from "./calls.ts";
import type { SidestickClient } from "./client.ts";

type Pty = Methods["pty"];
type Rest<T> = T extends unknown ? Omit<T, "conversation_id"> : never;
type Bound<F> = F extends (input: infer I, options?: CallOptions) => infer R
  ? (input?: Rest<NonNullable<I>>, options?: CallOptions) => R
  : never;

export type TerminalCalls = { readonly [Verb in keyof Pty]: Bound<Pty[Verb]> };

type LooseMethods = Readonly<Record<string, (input: object, options: CallOptions) => Promise<unknown>>>;

export function terminalCalls(
  client: SidestickClient,
  conversation_id: string | undefined,
  signal: AbortSignal,
): TerminalCalls {
  const bound = Object.entries(client.pty as unknown as LooseMethods).map(([verb, method]) => [
    verb,
    (input: object = {}, options: CallOptions = {}) => {
      if (conversation_id === undefined) throw new Error("The session belongs to no conversation: it has no terminal");
      const signals = options.signal === undefined ? [signal] : [signal, options.signal];
      return method({ ...input, conversation_id }, { ...options, signal: AbortSignal.any(signals) });
    },
  ]);
  return Object.fromEntries(bound) as TerminalCalls;
}
