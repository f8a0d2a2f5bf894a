/** When a one-time link is over, where it leads, and that nobody guesses or keeps one. */
import { randomBytes } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { storedFiles } from "../support/stored-files.ts";
import { ask } from "../support/http.ts";
import { operatorClient, spawnTestHub } from "../support/hub.ts";
import { runCliHere } from "../support/run-cli.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import {
  clientOf,
  endHostAfterTest,
  openTerminalHub,
  startTerminalHub,
  type TerminalHub,
} from "../support/terminal-hub.ts";
import { asking, prints } from "./asking-hub.ts";
import { headingOf, linkTo, opened, posted } from "./secret-page.ts";

const GETPASS = `python3 -c "import getpass; print('GOT', len(getpass.getpass()))"`;
const OVER = "404 This link was used or is over.";
/** Of links that don't exist. */
const WRONG_PER_MINUTE = 30;

let hub: TerminalHub;

beforeAll(async () => {
  const { stop, ...opened } = await openTerminalHub();
  hub = opened;
  return stop;
});

test("[PMT-137] guessing is held back after thirty wrong links a minute; who has a right one is served", async () => {
  const hub = await startTerminalHub();
  const it = await asking(hub, GETPASS);
  const link = await linkTo(hub.person, it.prompt);
  const guess = () => ask(hub.url, { path: `/secret/${randomBytes(32).toString("base64url")}` });

  const odd = [await ask(hub.url, { path: "/secret" }), await ask(hub.url, { path: "/secret/%00/x" })];
  const guesses = await Promise.all(Array.from({ length: WRONG_PER_MINUTE }, guess));
  const right = await posted(link, "right");

  const statuses = [...odd, ...guesses].map(({ status }) => status).toSorted((a, b) => a - b);
  expect(statuses).toEqual([...Array.from({ length: WRONG_PER_MINUTE }, () => 404), 429, 429]);
  expect(headingOf(right)).toBe("200 Supplied. You can close this page.");
  await prints(hub.agent, it, "GOT 5");
});

test("[PMT-140] neither the link nor what came through it is in a log, an event, a file or the screen", async () => {
  const secret = `canary-${randomBytes(9).toString("hex")}`;
  const it = await asking(hub, `python3 -c "import getpass; print('OVER', getpass.getpass())"`);
  const { prompt_id, nonce } = it.prompt;
  const link = (await hub.person.prompt.secret_link({ prompt_id, nonce }, { idempotencyKey: "one" })).url;
  const token = link.split("/").at(-1) ?? "";
  await opened(link);
  await posted(link, `${secret}\u0007`);

  await posted(link, secret);
  await prints(hub.agent, it, "OVER");
  await posted(link, secret);

  const { conversation_id } = it;
  const told = {
    events: JSON.stringify(await hub.person.event.list({ limit: 5000 })),
    prompts: JSON.stringify(await hub.agent.prompt.list()),
    output: JSON.stringify(await hub.agent.pty.read_output({ conversation_id, from_cursor: 0, view: "raw" })),
    screen: JSON.stringify(await hub.agent.pty.read_screen({ conversation_id })),
  };
  const files = await storedFiles(hub.dataDir);
  const hits = [secret, token].flatMap((it) =>
    Object.entries({ ...told, ...files }).flatMap(([name, text]) => (text.includes(it) ? [name] : [])),
  );
  expect(hits).toEqual([]);
  expect(Object.keys(files).some((path) => path.endsWith("hub.log"))).toBe(true);
});

test("[PMT-141] a link leads to the hub's public address", async () => {
  const dataDir = await temporaryDirectory();
  endHostAfterTest(dataDir);
  await spawnTestHub(dataDir, ["--public-url", "https://hub.example"], "terminal-hub");
  const { url: local } = await operatorClient(dataDir).hub.places();
  const person = await clientOf(local, dataDir, "operator");
  const it = await asking({ agent: await clientOf(local, dataDir, "agent"), person }, GETPASS);

  const link = await linkTo(person, it.prompt);
  const proxied = { host: "hub.example", origin: "https://hub.example" };
  const page = await ask(local, { path: new URL(link).pathname, headers: proxied });

  expect(new URL(link).origin).toBe("https://hub.example");
  expect(headingOf(page)).toBe("200 python3 asks for a secret");
});

test("[PMT-142] a link is over with the token that made it", async () => {
  const it = await asking(hub, GETPASS);
  const ann = await clientOf(hub.url, hub.dataDir, "operator", "ann");
  const link = await linkTo(ann, it.prompt);
  const before = await opened(link);
  const { tokenId = "" } = (await hub.person.token.list()).find(({ name }) => name === "ann") ?? {};

  await hub.person.token.revoke({ tokenId });

  expect([before.status, headingOf(await posted(link, "late"))]).toEqual([200, OVER]);
  expect((await hub.person.prompt.get({ prompt_id: it.prompt.prompt_id })).status).toBe("pending");
});

test("[PMT-143] a link is over with its offer", async () => {
  const { stop, ...brief } = await openTerminalHub({ promptTtlMs: 500 });
  await using _stopped = { [Symbol.asyncDispose]: stop };
  const { person } = brief;
  const { prompt_id } = (await asking(brief, GETPASS)).prompt;
  // An offer may be over before its link is made, on a slow machine: then there is a next one.
  const link = await eventually(async () => linkTo(person, await person.prompt.get({ prompt_id })));

  await eventually(async () => expect(headingOf(await opened(link))).toBe(OVER));

  expect(headingOf(await posted(link, "late"))).toBe(OVER);
  expect((await person.prompt.get({ prompt_id })).status).toBe("pending");
});

test("[PMT-144] answer --link prints the link alone, for a secret only", async () => {
  const cli = (...args: string[]) => runCliHere([...args, "--data-dir", hub.dataDir]);
  const plain = await asking(hub, "read -p 'Continue? [Y/n] ' x");
  const it = await asking(hub, GETPASS);

  const printed = await cli("answer", it.sessionId, "--link");
  const valued = await cli("answer", it.sessionId, "hunter2", "--link");
  const refused = await cli("answer", plain.sessionId, "--link");

  expect(printed).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^http:\S+\/secret\/[\w-]{43}\n$/) as string,
  });
  expect(printed.stderr).toContain("python3 asks in");
  expect([valued.code, refused.code]).toEqual([2, 1]);
  expect(printed.stderr).toContain("It opens on the hub's machine alone. For a phone start the hub with --public-url.");
  expect(refused.stderr).toBe(
    "sidestick: It asks for no secret, and a link takes nothing else. Answer it: sidestick answer\n",
  );
  expect(headingOf(await posted(printed.stdout.trim(), "hunter2"))).toMatch(/^200/);
  await prints(hub.agent, it, "GOT 7");
});
