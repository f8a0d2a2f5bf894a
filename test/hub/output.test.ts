import { beforeAll, expect, test } from "vitest";
import type { WorkspaceEvent } from "../../src/protocol/events.ts";
import { openTestHub, spawnTestHub, type TestHub, tokenOf } from "../support/hub.ts";
import { ask } from "../support/http.ts";
import { create, events, post, status } from "../support/sessions.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { eventually } from "../support/eventually.ts";
import { TestViewer } from "../support/viewer.ts";

/** For all that leave others alone. */
let hub: TestHub;
beforeAll(async () => {
  hub = await openTestHub();
  return hub.stop;
});

test("[SES-15] output events say where the bytes are and carry short text; a flood is coalesced", async () => {
  const { sessionId } = await create(hub);
  const startedAt = performance.now();
  await post(hub, `/sessions/${sessionId}/input`, hub.operatorToken, { data: "héllo" });
  await eventually(async () => expect((await events(hub, sessionId)).map((it) => it.type)).toContain("stdout"));
  for (let i = 0; i < 30; i += 1)
    await post(hub, `/sessions/${sessionId}/input`, hub.operatorToken, { data: "x".repeat(3000) });
  await post(hub, `/sessions/${sessionId}/close`, hub.operatorToken);

  const output = (await events(hub, sessionId)).filter((it) => it.type === "stdout");
  const elapsed = performance.now() - startedAt;
  expect(output[0]?.payload).toMatchObject({ cursor: 0, text: expect.stringContaining("héllo") });
  let cursor = 0;
  for (const { payload } of output) {
    expect(payload.cursor).toBe(cursor);
    cursor += Number(payload.length);
    expect("text" in payload).toBe(Number(payload.length) <= 4096);
  }
  expect(cursor).toBe(6 + 90_000);
  expect(output.length).toBeLessThanOrEqual(elapsed / 100 + 3);
});

test("[SES-3] closed is the last that is said of a session, after all its output", async () => {
  const asked = await create(hub);
  const ended = await create(hub);
  for (const data of ["one", "two"]) await post(hub, `/sessions/${asked.sessionId}/input`, hub.operatorToken, { data });
  await post(hub, `/sessions/${asked.sessionId}/close`, hub.operatorToken);
  for (const data of ["one", "exit\r"])
    await post(hub, `/sessions/${ended.sessionId}/input`, hub.operatorToken, { data });
  await eventually(async () => expect(await status(hub, ended.sessionId)).toBe("closed"));

  for (const [sessionId, text] of [
    [asked.sessionId, "onetwo"],
    [ended.sessionId, "oneexit\r"],
  ] as const) {
    const log = (await events(hub, sessionId)).filter((it) => it.type !== "input");
    const output = log.filter((it) => it.type === "stdout").map((it) => it.payload.text as string);
    expect(log.at(-1)).toMatchObject({ type: "status", payload: { status: "closed" } });
    expect(output.join("")).toBe(text);
  }
});

test("[SES-15] output events leave no hole over kill -9", async () => {
  const dataDir = await temporaryDirectory();
  const first = await spawnTestHub(dataDir);
  const token = await tokenOf(dataDir, "operator", "olga");
  const at = (url: string, path: string, body?: object) =>
    ask(url, { method: "POST", path, token, ...(body === undefined ? {} : { body }) });
  const { sessionId } = (await at(first.url, "/sessions", { kind: "terminal" })).body;
  for (const data of ["one", "two", "three"]) await at(first.url, `/sessions/${sessionId}/input`, { data });
  await first.kill("SIGKILL");

  const second = await spawnTestHub(dataDir);
  await at(second.url, `/sessions/${sessionId}/input`, { data: "four" });
  await at(second.url, `/sessions/${sessionId}/close`);

  const { body } = await ask(second.url, { path: `/events?sessionId=${sessionId}&types=stdout`, token });
  expect(body.map((it: WorkspaceEvent) => it.payload.text).join("")).toBe("onetwothreefour");
  let cursor = 0;
  for (const { payload } of body as WorkspaceEvent[]) {
    expect(payload.cursor).toBe(cursor);
    cursor += Number(payload.length);
  }
});

test("[SES-15] text is not cut inside a character", async () => {
  const { sessionId } = await create(hub);
  const bytes = Buffer.from("ä€😀");
  for (const byte of bytes) {
    await post(hub, `/sessions/${sessionId}/input`, hub.operatorToken, {
      data_b64: Buffer.of(byte).toString("base64"),
    });
  }
  await post(hub, `/sessions/${sessionId}/close`, hub.operatorToken);

  const output = (await events(hub, sessionId)).flatMap((it) =>
    it.type === "stdout" ? [it.payload.text as string] : [],
  );

  expect(output.join("")).toBe("ä€😀");
});

test("[STR-6] whoever attaches while a session is only being made gets its first bytes too", async () => {
  const viewer = await TestViewer.open(hub.url, { token: hub.operatorToken });
  for (let round = 0; round < 20; round += 1) {
    const { body } = await post(hub, "/sessions", hub.operatorToken, { kind: "terminal" });
    const { sessionId } = body as { readonly sessionId: string };
    viewer.send({ type: "attach", sessionId, from: 0, input: false });
    await post(hub, `/sessions/${sessionId}/input`, hub.operatorToken, { data: `round ${round};` });
    await eventually(() => expect(viewer.bytes().toString()).toContain(`round ${round};`));
  }
});

test("[STR-6] who only looks under the name of who drives resizes nothing", async () => {
  const { sessionId } = await create(hub);
  const taken = await post(hub, `/sessions/${sessionId}/control/take`, hub.operatorToken);
  const { holder } = taken.body as { readonly holder: { readonly id: string } };
  const viewer = await TestViewer.open(hub.url, { token: await tokenOf(hub.dataDir, "viewer", holder.id) });

  viewer.send({ type: "attach", sessionId, from: "screen", input: false });
  viewer.send({ type: "resize", sessionId, cols: 10, rows: 10 });
  viewer.send({ type: "attach", sessionId, from: "screen", input: false });

  await eventually(() => expect(viewer.frames).toHaveLength(3));
  expect(viewer.frames).toMatchObject([
    { type: "attached", cols: 80, rows: 24 },
    { type: "error", code: "forbidden" },
    { type: "attached", cols: 80, rows: 24 },
  ]);
});
