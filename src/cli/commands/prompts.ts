import { WANTED } from "../../domain/prompts/wanted.ts";
import type { AskedPrompt, SidestickClient } from "../../client/sidestick.ts";
import { PROMPT_STATUSES } from "../../domain/prompts/asked-prompt.ts";
import { AppError } from "../../protocol/errors.ts";
import { ageOf } from "../age.ts";
import { askLine } from "../ask-line.ts";
import { defineCommand } from "../command.ts";
import { CannotRun, EXIT, UsageError } from "../exit.ts";
import { isNamedBy, resolveId, shortener } from "../ids.ts";
import { oneOf } from "../options.ts";
import { printable } from "../printable.ts";
import { promptCard, whereOf } from "../prompt-card.ts";
import type { Terminal } from "../terminal.ts";

const WAIT = { wait: { type: "boolean", help: "wait until there is one" } } as const;
/** As long as an answer may need: two tries, and what lies between them. */
const OUTCOME_MS = 15_000;
const LOOK_MS = 45_000;
const LOCAL_LINK = "It opens on the hub's machine alone. For a phone start the hub with --public-url.";

export const prompts = defineCommand({
  name: "prompts",
  summary: "List what programs ask and wait for",
  options: {
    status: { type: "string", value: "STATUS", help: `these (default: pending): ${PROMPT_STATUSES.join(", ")}` },
    ...WAIT,
  },
  examples: ["sidestick prompts", "sidestick prompts --wait --json"],
  notes: ["They are answered with sidestick answer, with the id or the terminal's name."],
  run: async ({ client, values, terminal }) => {
    const status = values.status === undefined ? "pending" : oneOf(values.status, PROMPT_STATUSES, "--status");
    if (values.wait === true) await untilAsked(client);
    const found = await client.prompt.list({ status });
    if (values.json === true) terminal.printJson(found);
    else if (found.length === 0) terminal.note(status === "pending" ? "No program asks anything." : "None.");
    else terminal.printTable(columns(shortener(found.map((it) => it.prompt_id))), found);
    return EXIT.ok;
  },
});

export const answer = defineCommand({
  name: "answer",
  summary: "Answer what a program asks; it is shown first, with who really asks",
  takes: ["[id]", "[value]"],
  options: {
    ...WAIT,
    link: { type: "boolean", help: "print a one-time link to a page that takes the secret, for your phone, say" },
  },
  examples: [
    "sidestick answer",
    "sidestick answer build yes",
    "sidestick answer 3f2a9c01.12 2",
    "sidestick answer --wait build",
    "sidestick answer --link",
  ],
  notes: [
    "[id] is a question's id, or the name of the terminal that asks; without it: the only question there is.\n" +
      "[value] is yes, no, an option's number or name, text, or enter for Enter alone. Without it you are asked.\n" +
      "A secret is asked for at the terminal and never taken from the command line.\n" +
      "A link works once and answers as you, as long as the question is offered: give it to nobody else.\n" +
      "Control stays where it is. Exit code 1: the program did not respond, or nothing was answered.",
  ],
  run: async ({ client, values, given: [id, value], terminal }) => {
    if (values.wait === true) await untilAsked(client, id);
    const prompt = await chosen(client, id);
    if (values.link === true) return printLink(client, prompt, { terminal, value, json: values.json });
    const isSecret = prompt.class === "PASSWORD_INPUT";
    if (isSecret && value !== undefined) {
      throw new UsageError("A secret is not given on the command line, where others can read it.", {
        remedy: "Run it without the value; you are asked.",
      });
    }
    if (values.json !== true || value === undefined) terminal.note(`${promptCard(prompt)}\n`);
    const said = value ?? (await askedFor(prompt, terminal));
    if (said === undefined) {
      terminal.note("Nothing was answered.");
      return EXIT.failure;
    }
    const { prompt_id, nonce } = prompt;
    const answered = await client.prompt.reply({ prompt_id, nonce, value: said, wait_ms: OUTCOME_MS });
    return told(answered, terminal, values.json);
  },
});

/** Undefined: they left without an answer. */
function askedFor(prompt: AskedPrompt, terminal: Terminal): Promise<string | undefined> {
  const secret = prompt.class === "PASSWORD_INPUT";
  if (terminal.input?.isTTY === true && terminal.isTTY) {
    return askLine(terminal, secret ? "Secret (not shown): " : "Answer: ", { secret });
  }
  const remedy = secret ? "Have a page ask for it: sidestick answer --link" : "Give it: sidestick answer ID VALUE";
  throw new CannotRun("Nothing was answered: there is no terminal here to ask at.", remedy);
}

type LinkWanted = {
  readonly terminal: Terminal;
  readonly value: string | undefined;
  readonly json: boolean | undefined;
};

/** On stdout alone, so that it can be piped to something that shows it. */
async function printLink(client: SidestickClient, prompt: AskedPrompt, wanted: LinkWanted): Promise<number> {
  const { terminal, value, json } = wanted;
  if (value !== undefined) throw new UsageError("A link takes no value: the page asks for it.");
  if (prompt.class !== "PASSWORD_INPUT") {
    throw new CannotRun("It asks for no secret, and a link takes nothing else.", "Answer it: sidestick answer");
  }
  const { prompt_id, nonce } = prompt;
  const link = await client.prompt.secret_link({ prompt_id, nonce });
  if (json === true) {
    terminal.printJson(link);
    return EXIT.ok;
  }
  terminal.note(`${promptCard(prompt)}\n`);
  terminal.print(link.url);
  if (isLoopback(link.url)) terminal.note(LOCAL_LINK);
  return EXIT.ok;
}

function told(answered: AskedPrompt, terminal: Terminal, json = false): number {
  if (json) terminal.printJson(answered);
  else for (const line of answered.feedback) terminal.note(printable(line));
  return answered.outcome === "escalated" || answered.outcome === "unknown" ? EXIT.failure : EXIT.ok;
}

async function chosen(client: SidestickClient, id: string | undefined): Promise<AskedPrompt> {
  const pending = await client.prompt.list({ status: "pending" });
  const [only] = pending;
  if (id === undefined && pending.length === 1 && only !== undefined) return only;
  if (id === undefined) {
    if (only === undefined) {
      throw new AppError("not_found", { what: "question", detail: "No program asks anything." });
    }
    throw new UsageError(`${pending.length} programs ask something: name one.`, { remedy: "See sidestick prompts." });
  }
  const named = pending.find((it) => it.conversation_id === id || it.session_id === id.toLowerCase());
  if (named !== undefined) return named;
  if (!pending.some((it) => isMeant(it, id))) {
    const detail = `No terminal "${id}" asks anything, and no open question has an id that begins so.`;
    throw new AppError("not_found", { what: "question", detail });
  }
  const prompt_id = await resolveId(id, "question", async () => pending.map((it) => it.prompt_id));
  return client.prompt.get({ prompt_id });
}

function isMeant({ conversation_id, prompt_id }: AskedPrompt, id: string): boolean {
  return conversation_id === id || isNamedBy(prompt_id, id);
}

async function untilAsked(client: SidestickClient, id?: string): Promise<void> {
  let { eventCursor: after } = await client.snapshot.get();
  const isAsked = async (): Promise<boolean> => {
    const pending = await client.prompt.list({ status: "pending" });
    return pending.some((it) => id === undefined || isMeant(it, id));
  };
  while (!(await isAsked())) {
    const events = await client.event.list({ after, types: ["prompt_request"], waitMs: LOOK_MS });
    after = events.at(-1)?.sequence ?? after;
  }
}

function isLoopback(url: string): boolean {
  return /^(?:localhost|127\.[\d.]+|\[::1\])$/u.test(new URL(url).hostname);
}

function columns(short: (id: string) => string) {
  return [
    { title: "ID", value: (it: AskedPrompt) => short(it.prompt_id) },
    { title: "STATE", value: stateOf, shrinks: true },
    { title: "TERMINAL", value: whereOf, shrinks: true },
    {
      title: "PROGRAM",
      value: (it: AskedPrompt) => it.program + (it.warning === undefined ? "" : " (!)"),
      shrinks: true,
    },
    { title: "AGE", value: (it: AskedPrompt) => ageOf(it.asked_at) },
    { title: "WANTS", value: (it: AskedPrompt) => WANTED[it.class], shrinks: true },
    { title: "QUESTION", value: (it: AskedPrompt) => it.question, shrinks: true },
  ];
}

function stateOf({ status, answered_by, outcome }: AskedPrompt): string {
  if (status !== "answered") return status;
  return `answered by ${answered_by}${outcome === undefined ? "" : `, ${outcome}`}`;
}
