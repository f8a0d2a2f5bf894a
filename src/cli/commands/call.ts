import { text } from "node:stream/consumers";
import { operation, type OperationName, operationNames } from "../../protocol/operations.ts";
import type { CallName } from "../../client/sidestick.ts";
import { defineCommand } from "../command.ts";
import { EXIT, UsageError } from "../exit.ts";
import { suggest } from "../suggest.ts";
import type { Terminal } from "../terminal.ts";

export const call = defineCommand({
  name: "call",
  summary: "Call any operation of the hub with JSON",
  takes: ["[operation]", "[json]"],
  options: {
    list: { type: "boolean", help: "list the operations" },
    "idempotency-key": { type: "string", value: "KEY", help: "the same key never has a second effect" },
  },
  examples: [
    "sidestick call --list",
    'sidestick call session.create \'{"kind":"terminal"}\'',
    "echo '{\"limit\":5}' | sidestick call event.list -",
  ],
  run: async ({ client, values, given: [name, json], terminal }) => {
    if (values.list === true) return list(terminal, values.json === true);
    if (name === undefined) throw new UsageError('"call" needs an operation, or --list.');
    const input = readInput(json === "-" ? await text(process.stdin) : (json ?? "{}"));
    const send = client.call as (name: CallName, input: object, options: object) => Promise<unknown>;
    terminal.printJson(await send(callNamed(name), input, { idempotencyKey: values["idempotency-key"] }));
    return EXIT.ok;
  },
});

function list(terminal: Terminal, isJson: boolean): number {
  const rows = operationNames.map((name) => {
    const { kind, method, path, effect, summary, roles } = operation(name);
    return { name, kind, method, path, effect, roles, summary };
  });
  if (isJson) terminal.printJson(rows);
  else terminal.printTable(COLUMNS, rows);
  return EXIT.ok;
}

type Row = { readonly name: string; readonly effect: string; readonly summary: string };

const COLUMNS = [
  { title: "OPERATION", value: (it: Row) => it.name },
  { title: "EFFECT", value: (it: Row) => it.effect },
  { title: "SUMMARY", value: (it: Row) => it.summary, shrinks: true },
];

function callNamed(name: string): CallName {
  const found: OperationName | undefined = operationNames.find((it) => it === name);
  if (found === undefined) {
    const near = suggest(name, operationNames);
    throw new UsageError(
      `There is no operation "${name}".${near === undefined ? " See: sidestick call --list" : ` Did you mean ${near}?`}`,
    );
  }
  if (found === "event.stream")
    throw new UsageError("event.stream goes on without end; use: sidestick events --follow");
  if (found === "session.export")
    throw new UsageError("session.export is a file; use: sidestick export <id> --format asciicast|jsonl");
  return found;
}

function readInput(json: string): object {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {
    // The same answer as for JSON that is no object. The text itself may hold a secret and isn't repeated.
  }
  throw new UsageError("The input should be a JSON object, such as '{\"limit\":5}'.");
}
