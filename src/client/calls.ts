/**
 * The operation table as methods: `client.session.create(input)` is `client.call("session.create", input)`.
 * Nothing here names an operation, so a new row of the table is a new method.
 */
import { operation, operationNames } from "../protocol/operations.ts";
import type { CallName, Input, Output } from "../protocol/operations.ts";

export type CallOptions = {
  readonly signal?: AbortSignal | undefined;
  /** The same key gives the same answer and never a second effect. */
  readonly idempotencyKey?: string | undefined;
};

const NOTHING = {};

/** An operation that takes nothing, or nothing it can't do without, is called without an input. */
type Arguments<N extends CallName> =
  typeof NOTHING extends Input<N>
    ? [input?: Input<N>, options?: CallOptions]
    : [input: Input<N>, options?: CallOptions];

export type Call = <N extends CallName>(name: N, ...given: Arguments<N>) => Promise<Output<N>>;

/** `client.stream()` opens the WebSocket, so `stream.…` operations are reached by `call` alone. */
type Reserved = "stream";

type GroupIn<Name> = Name extends `${infer Group}.${string}` ? Exclude<Group, Reserved> : never;
type VerbIn<Name, Group extends string> = Name extends `${Group}.${infer Verb}` ? Verb : never;
type Method<Name> = Name extends CallName ? (...given: Arguments<Name>) => Promise<Output<Name>> : never;

export type Methods = {
  readonly [Group in GroupIn<CallName>]: {
    readonly [Verb in VerbIn<CallName, Group>]: Method<`${Group}.${Verb}`>;
  };
};

class CallsByName {
  readonly call: Call;

  constructor(call: Call) {
    this.call = call;
    Object.assign(this, methodsOver(call as LooseCall));
  }
}

export const Calls = CallsByName as new (call: Call) => CallsByName & Methods;

type LooseCall = (name: string, input?: object, options?: CallOptions) => Promise<unknown>;

function methodsOver(call: LooseCall): Record<string, Record<string, unknown>> {
  const methods: Record<string, Record<string, unknown>> = {};
  for (const name of operationNames) {
    const [group = "", verb = ""] = name.split(".");
    if (group === ("stream" satisfies Reserved) || operation(name).kind !== "call") continue;
    methods[group] ??= {};
    methods[group][verb] = (input: object = NOTHING, options?: CallOptions) => call(name, input, options);
  }
  return methods;
}
