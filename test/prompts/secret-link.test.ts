/** A secret goes into a program through a page behind a one-time link. */
import { beforeAll, expect, test } from "vitest";
import { codeOf } from "../support/control-hub.ts";
import { eventually } from "../support/eventually.ts";
import { verdict } from "../support/http.ts";
import { operatorClient } from "../support/hub.ts";
import { clientOf, openTerminalHub, type TerminalHub } from "../support/terminal-hub.ts";
import { type Asking, asking, feedback, pendingIn, prints } from "./asking-hub.ts";
import { headingOf, linkTo, opened, posted } from "./secret-page.ts";

const GETPASS = `python3 -c "import getpass; print('GOT', len(getpass.getpass('Key of <b>ann</b>: ')))"`;
const OVER = "404 This link was used or is over.";
const SUPPLIED = "200 Supplied. You can close this page.";

let hub: TerminalHub;

beforeAll(async () => {
  const opened = await openTerminalHub();
  hub = opened;
  return opened.stop;
});

async function linked(command = GETPASS): Promise<Asking & { readonly link: string }> {
  const it = await asking(hub, command);
  return { ...it, link: await linkTo(hub.person, it.prompt) };
}

test("[PMT-130] only persons get a link, for one offer of a question that wants a secret", async () => {
  const it = await asking(hub, GETPASS);
  const plain = await asking(hub, "read -p 'Continue? [Y/n] ' x");
  const { prompt_id, nonce } = it.prompt;
  const roles = await Promise.all((["viewer", "host"] as const).map((role) => clientOf(hub.url, hub.dataDir, role)));

  const link = await hub.person.prompt.secret_link({ prompt_id, nonce });
  const refused = [
    ...(await Promise.all([hub.agent, ...roles].map((by) => codeOf(by.prompt.secret_link({ prompt_id, nonce }))))),
    await codeOf(hub.person.prompt.secret_link({ prompt_id, nonce: plain.prompt.nonce })),
    await codeOf(hub.person.prompt.secret_link({ prompt_id: plain.prompt.prompt_id, nonce: plain.prompt.nonce })),
    await codeOf(hub.person.prompt.secret_link({ prompt_id: `${it.sessionId}.999`, nonce })),
  ];

  expect(link).toEqual({
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/secret\/[\w-]{43}$/) as string,
    expires_at: it.prompt.expires_at,
  });
  expect(refused).toEqual(["forbidden", "forbidden", "forbidden", "prompt_gone", "invalid_request", "not_found"]);
});

test("[PMT-130] who has made a hundred links for one question still gets one for another", async () => {
  const own = await clientOf(hub.url, hub.dataDir, "operator", "many");
  const [one, two] = [await asking(hub, GETPASS), await asking(hub, GETPASS)];
  for (let made = 0; made < 100; made += 1) await linkTo(own, one.prompt);

  expect(await codeOf(linkTo(own, one.prompt))).toBe("limit_reached");
  expect((await opened(await linkTo(own, two.prompt))).status).toBe(200);
});

test("[PMT-131] the page says who asks, in whose words, as text, and has one field and no script", async () => {
  const { link, conversation_id, sessionId } = await linked(
    `python3 -c "import getpass; getpass.getpass('[sudo] password for <b>ann</b>: ')"`,
  );
  const { title } = await hub.person.session.get({ sessionId });

  const { status, text } = await opened(link);

  expect(status).toBe(200);
  expect(text).toContain("<h1>python3 asks for a secret</h1>");
  expect(text).toContain("[sudo] password for &lt;b&gt;ann&lt;/b&gt;:</pre>");
  expect(text).toContain("The question looks like one of sudo, but python3 would read the answer.");
  expect([conversation_id, title]).toContain(/<th scope="row">Session<\/th><td>([^<]*)/.exec(text)?.[1]);
  expect(text).toContain('<th scope="row">You are</th><td>operator</td>');
  expect([text.match(/<input/g), text.match(/<script/g)]).toEqual([["<input"], null]);
});

test("[PMT-131] what turns or hides writing is shown as a sign", async () => {
  const { link } = await linked(`read -s -p $'Pass\\u202eword\\u200b: ' x`);

  const { text } = await opened(link);

  expect(text).toContain("Pass\\u{202e}word");
  expect(text).not.toMatch(/[\u202E\u200B]/);
});

test("[PMT-132, PMT-133] looking uses nothing up; a post types it once, as that person, and the link is over", async () => {
  const it = await linked();
  const { holder, epoch } = await hub.person.control.get({ sessionId: it.sessionId });
  const looks = [await opened(it.link), await opened(it.link, { method: "HEAD" }), await opened(it.link)];

  const first = await posted(it.link, " two words ");
  await prints(hub.agent, it, "GOT 11");
  const again = [await posted(it.link, "another"), await opened(it.link)];

  expect(looks.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect([first, ...again].map(headingOf)).toEqual([SUPPLIED, OVER, OVER]);
  expect(await hub.person.prompt.get({ prompt_id: it.prompt.prompt_id })).toMatchObject({
    status: "answered",
    answered_by: "operator",
  });
  await eventually(async () =>
    expect(await feedback(hub.person, it.sessionId)).toEqual(["Sent: [REDACTED] + Enter", "CLI advanced"]),
  );
  expect(await hub.person.control.get({ sessionId: it.sessionId })).toMatchObject({ holder, epoch });
});

test("[PMT-134] of many posts one goes in, through one link or two", async () => {
  const it = await linked(
    `python3 -c "import getpass; getpass.getpass(); print('GOT', len(getpass.getpass('Next: ')))"`,
  );
  const other = await linkTo(operatorClient(hub.dataDir), it.prompt);

  const answers = await Promise.all([it.link, it.link, it.link].map((link) => posted(link, "first")));
  const late = [await opened(other), await posted(other, "second")];

  expect(answers.map(headingOf).toSorted()).toEqual([SUPPLIED, OVER, OVER]);
  expect(late.map(headingOf)).toEqual(["409 Somebody answered first.", "409 Somebody answered first."]);
  expect(late[1]?.text).toContain("It was operator. Nothing was typed.");
  expect(await pendingIn(hub.person, it.sessionId, it.prompt)).toMatchObject({ question: "Next:" });
  expect(await hub.person.event.list({ sessionId: it.sessionId, types: ["input"] })).toHaveLength(1);
});

test("[PMT-135] a question that is gone takes nothing, and its page says so", async () => {
  const it = await linked();
  await hub.agent.pty.ctrl_c({ conversation_id: it.conversation_id });
  await eventually(async () =>
    expect((await hub.person.prompt.get({ prompt_id: it.prompt.prompt_id })).status).toBe("gone"),
  );

  const answers = [await opened(it.link), await posted(it.link, "late")];

  expect(answers.map(headingOf)).toEqual(["410 No longer asked.", "410 No longer asked."]);
});

test("[PMT-136] what can't be typed shows the form again and leaves the link open, ten times a minute", async () => {
  const it = await linked();
  const unfit = [
    await posted(it.link, ""),
    await posted(it.link, "two\nlines"),
    await posted(it.link, "x".repeat(4_001)),
  ];
  const still = await opened(it.link);

  const supplied = await posted(it.link, "now");

  expect(unfit.map(({ status }) => status)).toEqual([422, 422, 422]);
  expect(unfit.map(({ text }) => /id="problem"[^>]*>([^<]*)/.exec(text)?.[1])).toEqual([
    "Nothing was given.",
    "Please send one line, without control characters.",
    "That is too long for one line of a terminal.",
  ]);
  expect([still.status, headingOf(supplied)]).toEqual([200, SUPPLIED]);
  await prints(hub.agent, it, "GOT 3");
});

test("[PMT-136] whoever posts without end is held back", async () => {
  const own = await clientOf(hub.url, hub.dataDir, "operator", "hasty");
  const { prompt } = await asking(hub, GETPASS);
  const link = await linkTo(own, prompt);

  const statuses = await Promise.all(Array.from({ length: 12 }, async () => (await posted(link, "")).status));

  expect(statuses.toSorted((a, b) => a - b)).toEqual([...Array.from({ length: 10 }, () => 422), 429, 429]);
});

test("[PMT-138] bodies that are too large or no form are refused unread, and nothing is typed", async () => {
  const it = await linked();
  const large = await posted(it.link, "x".repeat(20_000));
  const json = await opened(it.link, { method: "POST", body: { secret: "typed" } });
  const text = await opened(it.link, {
    method: "POST",
    headers: { "content-type": "text/plain" },
    body: "secret=typed",
  });

  expect([large, json, text].map(verdict)).toEqual(["413 too_large", "400 invalid_request", "400 invalid_request"]);
  expect(await hub.person.event.list({ sessionId: it.sessionId, types: ["input"] })).toEqual([]);
  expect((await opened(it.link)).status).toBe(200);
});

test("[PMT-139] nothing of the page is cached, framed, scripted or told to other sites, and only its own form posts", async () => {
  const it = await linked();
  const { headers } = await opened(it.link);

  expect(headers).toMatchObject({
    "cache-control": "no-store",
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "x-robots-tag": "noindex, nofollow, noarchive",
    "content-security-policy":
      "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  });
  const foreign = [
    await posted(it.link, "typed", { origin: "http://evil.example" }),
    await posted(it.link, "typed", { origin: "null" }),
    await posted(it.link, "typed", { host: "evil.example" }),
  ];
  expect(foreign.map(verdict)).toEqual(Array.from({ length: 3 }, () => "403 origin_refused"));
  expect(await hub.person.event.list({ sessionId: it.sessionId, types: ["input"] })).toEqual([]);
});
