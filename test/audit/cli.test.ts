import { once } from "node:events";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { operatorClient, spawnTestHub, startTestHub } from "../support/hub.ts";
import { runCli, runCliHere, startCli } from "../support/run-cli.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { auditedDirectory, decisionsIn, headsIn, runSql } from "./audited-hub.ts";

/** Each is a process, while another one writes as fast as it can. */
const ROUNDS = 2;

const verifyArgs = (dataDir: string) => ["audit", "verify", "--data-dir", dataDir, "--audit-heads", headsIn(dataDir)];

test("[AUD-14] verify says what was verified and ends with 0, or names the first finding and ends with 1", async () => {
  const audited = await auditedDirectory(await temporaryDirectory());
  const { dataDir } = audited;
  const decisions = decisionsIn(audited);
  const [first, last] = [decisions[0], decisions.at(-1)];

  const fine = await runCliHere(verifyArgs(dataDir));
  const json = await runCliHere([...verifyArgs(dataDir), "--json"]);
  runSql(audited, `UPDATE events SET payload = '{}' WHERE sequence = ${decisions[2]}`);
  const violated = await runCliHere(verifyArgs(dataDir));
  const violatedJson = await runCliHere([...verifyArgs(dataDir), "--json"]);

  expect([fine.code, json.code, violated.code, violatedJson.code]).toEqual([0, 0, 1, 1]);
  expect(fine.stdout).toContain(`records     ${decisions.length}, from sequence ${first} to ${last}\n`);
  expect(fine.stdout).toContain(`ok          anchored up to sequence ${last}\n`);
  expect(JSON.parse(json.stdout)).toMatchObject({
    ok: true,
    finding: null,
    proof: "anchored",
    anchored_to: last,
    verified: { from: first, to: last, records: decisions.length },
    checkpoint: { id: 1, sequence: 0, removed: 0 },
    heads: [
      { place: join(dataDir, "audit.jsonl"), sequence: last, state: "matches" },
      { sequence: last, state: "matches" },
    ],
  });
  expect(violated.stdout).toMatch(/^VIOLATED {4}changed at sequence \d+: its content is not what was written$/m);
  expect(JSON.parse(violatedJson.stdout)).toMatchObject({
    ok: false,
    finding: { kind: "changed", sequence: decisions[2] },
  });
});

test("[AUD-13, AUD-14] without a head it says so; without a chain there is nothing to verify", async () => {
  const { dataDir } = await auditedDirectory(await temporaryDirectory());
  await rm(join(dataDir, "audit.jsonl"));
  const alone = await runCliHere(["audit", "verify", "--data-dir", dataDir, "--audit-heads", "/dev/null/none"]);
  const nothing = await runCliHere(verifyArgs(await temporaryDirectory()));

  expect([alone.code, alone.stdout.split("\n").at(-2)]).toEqual([0, "ok          self-consistent only"]);
  expect([nothing.code, nothing.stderr]).toEqual([2, expect.stringContaining("There is no audit chain in ")]);
});

test("[AUD-11] a store that a hub is writing is verified again and again, and nothing in it changes", async () => {
  const dataDir = await temporaryDirectory();
  const hub = await spawnTestHub(dataDir);
  const operator = operatorClient(dataDir);
  const stop = new AbortController();
  const writing = (async () => {
    while (!stop.signal.aborted) {
      const { sessionId } = await operator.session.create({ kind: "terminal" });
      await operator.session.input({ sessionId, data: "x".repeat(5_000) });
      await operator.session.close({ sessionId });
    }
  })();
  const results = [];
  for (let round = 0; round < ROUNDS; round += 1) results.push(await runCli([...verifyArgs(dataDir), "--json"]));
  stop.abort();
  await writing;
  await hub.kill();
  const dead = await files(dataDir);
  const afterwards = await runCliHere(verifyArgs(dataDir));

  const ends = results.map(({ code, stdout }) => [code, (JSON.parse(stdout) as { proof: string }).proof]);
  expect(ends).toEqual(Array.from({ length: ROUNDS }, () => [0, "anchored"]));
  expect(afterwards.code).toBe(0);
  expect(await files(dataDir)).toEqual(dead);
});

/** Everything in the directory, with sizes and times. */
async function files(dataDir: string): Promise<unknown[]> {
  const names = (await readdir(dataDir)).toSorted();
  return Promise.all(
    names.map(async (name) => {
      const { size, mtimeMs } = await stat(join(dataDir, name));
      return name === "sidestick" ? name : { name, size, mtimeMs };
    }),
  );
}

test("[AUD-7] doctor names an audit file that can't be written", async () => {
  const { dataDir } = await startTestHub();
  const operator = operatorClient(dataDir);
  const state = async () => (await operator.hub.doctor()).checks.find(({ name }) => name === "audit file")?.state;
  const before = await state();
  await rm(join(dataDir, "audit.jsonl"));
  await mkdir(join(dataDir, "audit.jsonl"));
  await operator.token.create({ role: "agent", name: "bot" });
  await eventually(async () => expect(await state()).toBe("degraded"));

  expect(before).toBe("ready");
  expect((await operator.hub.doctor()).ok).toBe(true);
});

test("[AUD-15] tail shows the newest lines, of one session if asked, and as JSON", async () => {
  const { dataDir } = await auditedDirectory(await temporaryDirectory());
  const lines = (await readFile(join(dataDir, "audit.jsonl"), "utf8")).split("\n").slice(0, -1);
  const last = JSON.parse(lines.at(-1)!) as { session_id: string; sequence: number; timestamp: string };
  const ofSession = lines.filter((line) => line.includes(`"session_id":"${last.session_id}","timestamp"`));
  const tail = (...args: string[]) => runCliHere(["audit", "tail", "--data-dir", dataDir, ...args]);

  const all = await tail();
  const two = await tail("--json", "--limit", "2");
  const one = await tail("--session", last.session_id.slice(0, 8));

  expect(all.stdout.split("\n").slice(0, -1)).toHaveLength(lines.length);
  expect(all.stdout).toContain(`${last.sequence}  ${last.timestamp}  ${last.session_id.slice(0, 8)}  status  `);
  expect(two.stdout).toBe(`${lines.slice(-2).join("\n")}\n`);
  expect(one.stdout.split("\n").slice(0, -1)).toHaveLength(ofSession.length);
});

test("[AUD-15] for people a line leaves out what says nothing, what repeats the state, and what is for programs", async () => {
  const dataDir = await temporaryDirectory();
  const sessionId = "413c0000-0000-4000-8000-000000000001";
  const shared = { session_id: sessionId, timestamp: "2026-01-01T00:00:00.000Z", by: { kind: "person", id: "ann" } };
  const holder = { kind: "agent", id: "bot" };
  const state = { epoch: 4, interactive: true, held: true, attended: false, agent_status: "IDLE", lease_expiry: null };
  const defaults = { grant_open: "allow", guard_hidden: [] };
  const lines = [
    { ...shared, sequence: 7, type: "control_handoff", change: "holder", reason: "granted", holder, ...state },
    { ...shared, sequence: 8, type: "status", status: "created", session: { session_id: sessionId, title: "build" } },
    { ...shared, sequence: 9, type: "workspace", settings: { ...defaults, guard_network: false } },
  ].map((it) => JSON.stringify({ ...it, payload_sha256: "1cf0", chain: "0".repeat(64) }));
  await writeFile(join(dataDir, "audit.jsonl"), `${lines.join("\n")}\n`);

  const { stdout } = await runCliHere(["audit", "tail", "--data-dir", dataDir]);
  const json = await runCliHere(["audit", "tail", "--json", "--data-dir", dataDir]);

  const head = "2026-01-01T00:00:00.000Z  413c0000";
  expect(stdout.split("\n")).toEqual([
    `7  ${head}  control_handoff  person:ann  change=holder  reason=granted  holder=agent:bot`,
    `8  ${head}  status  person:ann  status=created  title=build`,
    `9  ${head}  workspace  person:ann  guard_network=false`,
    "",
  ]);
  expect(json.stdout).toBe(`${lines.join("\n")}\n`);
});

test("[AUD-15] with --follow it goes on, also in the file that takes the place of one that was moved", async () => {
  const { dataDir } = await startTestHub();
  const operator = operatorClient(dataDir);
  const follower = startCli(["audit", "tail", "--follow", "--limit", "1", "--data-dir", dataDir]);
  onTestFinished(() => void follower.kill("SIGKILL"));
  let seen = "";
  follower.stdout!.on("data", (chunk: Buffer) => (seen += chunk.toString()));
  await eventually(() => expect(seen).toContain("name=bot"));
  await operator.token.create({ role: "agent", name: "before" });
  await eventually(() => expect(seen).toContain("name=before"));
  await rename(join(dataDir, "audit.jsonl"), join(dataDir, "audit.jsonl.1"));
  await operator.token.create({ role: "agent", name: "after" });
  await eventually(() => expect(seen).toContain("name=after"));
  const ended = once(follower, "exit");
  follower.kill("SIGINT");

  expect(await ended).toEqual([130, null]);
  expect(seen.match(/name=\w+/g)).toEqual(["name=bot", "name=before", "name=after"]);
});
