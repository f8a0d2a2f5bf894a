/** What the command line says beyond the answer, so that whoever reads it knows what to do next. */
import { expect, test } from "vitest";
import { answering, refusing, serveAtSocket } from "../../test/support/answering-hub.ts";
import { runCliHere } from "../../test/support/run-cli.ts";
import { WorkspaceSettings } from "../protocol/workspaces.ts";

const requestId = "0199a1b2-0000-4000-8000-000000000001";

test("[CLI-4, GRD-22] what needs an open session names the approval and the command that decides it", async () => {
  const dataDir = await serveAtSocket(
    refusing("needs_open", { approvalId: requestId, detail: "sudo can't gain rights" }),
  );

  const { stderr } = await runCliHere(["status", "build", "--data-dir", dataDir]);

  expect(stderr).toBe(
    "sidestick: sudo can't gain rights. A person decides, by approve or deny: sidestick approve 0199a1b2\n",
  );
});

test.each([
  { code: "busy", told: "sidestick wait 'my build' --prompt, or end it: sidestick end 'my build'" },
  { code: "session_paused", told: "sidestick sessions resume 'my build'" },
  { code: "stale_epoch", told: "sidestick control 'my build'" },
] as const)("[CLI-4] advice after $code names what the command line named", async ({ code, told }) => {
  const dataDir = await serveAtSocket(refusing(code));

  const { stderr } = await runCliHere(["status", "my build", "--data-dir", dataDir]);

  expect(stderr.trimEnd().endsWith(told)).toBe(true);
});

test.each([
  { details: { what: "host", id: "b" }, told: 'There is no host "b". See: sidestick hosts' },
  { details: { what: "block", id: "7" }, told: 'There is no block "7". See: sidestick blocks SESSION' },
  { details: { what: "channel", id: "telegram" }, told: 'There is no channel "telegram". See: sidestick channels' },
  {
    details: { what: "person", id: "7" },
    told: 'There is no person "7". See who may speak there: sidestick channels list --json',
  },
])("[CLI-4] what isn't there is named, with where to look: $details.what", async ({ details, told }) => {
  const dataDir = await serveAtSocket(refusing("not_found", details));

  const { stderr } = await runCliHere(["channels", "test", "telegram", "--data-dir", dataDir]);

  expect(stderr).toBe(`sidestick: ${told}\n`);
});

test("[RML-30] what a host's own policy denies names the host's file, not the hub's policy", async () => {
  const details = { rule: "host:cwd_roots", reason: "commands don't begin in /root" };
  const dataDir = await serveAtSocket(refusing("policy_denied", details));

  const { stderr } = await runCliHere(["status", "build", "--data-dir", dataDir]);

  expect(stderr).toBe(
    "sidestick: The host's own policy denies it: commands don't begin in /root (rule host:cwd_roots). Do it another way; that machine's owner can change it there, in host-policy.yaml of the host's data directory (default ~/.local/share/sidestick-host).\n",
  );
});

test("[CLI-4] what stands in the way of a channel is looked for among channels", async () => {
  const detail = "Nobody is on its list yet. Invite somebody first.";
  const dataDir = await serveAtSocket(refusing("invalid_transition", { what: "channel", id: "telegram", detail }));

  const { stderr } = await runCliHere(["channels", "test", "telegram", "--data-dir", dataDir]);

  expect(stderr).toBe(`sidestick: ${detail} See: sidestick channels\n`);
});

test("[CLI-17] approving names the session in which it goes on", async () => {
  const sessionId = "3f2a9c01-0000-4000-8000-000000000001";
  const decided = { requestId, status: "approved", action: "Continue", payload: {}, requestedBy: "bot" };
  const dataDir = await serveAtSocket(answering({ ...decided, result: { sessionId } }));

  const { stderr } = await runCliHere(["approve", requestId, "--data-dir", dataDir]);

  expect(stderr.split("\n").slice(1)).toEqual([
    `It goes on in the new session ${sessionId}: sidestick attach 3f2a9c01`,
    "",
  ]);
});

test("[CLI-21] workspaces shows the settings that aren't the default, and as JSON all", async () => {
  const limits = { maxSessions: 200, maxPendingApprovals: 20 };
  const changed = { agents_may_acquire: false, guard_hidden: ["~/a", "/b"] };
  const found = [{}, changed].map((it, at) => ({
    workspaceId: `w${at}`,
    hostId: "local",
    limits,
    settings: WorkspaceSettings.parse(it),
  }));
  const hosts = [{ hostId: "local", name: "local" }];
  const dataDir = await serveAtSocket((request, response) =>
    answering(request.url === "/hosts" ? hosts : found)(request, response),
  );

  const { stdout } = await runCliHere(["workspaces", "--data-dir", dataDir]);
  const json = await runCliHere(["workspaces", "--json", "--data-dir", dataDir]);

  expect(stdout).toMatch(/^w0 .* -$/m);
  expect(stdout).toMatch(/^w1 .* {2}agents_may_acquire=false guard_hidden=~\/a,\/b$/m);
  expect(JSON.parse(json.stdout)).toEqual(found);
});

/** A log of so many events. */
function log(count: number) {
  const event = (sequence: number) => ({
    sequence,
    timestamp: "2026-01-01T00:00:00.000Z",
    sessionId: "s",
    type: "workspace",
    payload: {},
    source: { kind: "system", id: "hub" },
  });
  const all = Array.from({ length: count }, (_, at) => event(at + 1));
  return serveAtSocket((request, response) => {
    const asked = new URL(request.url ?? "", "http://hub").searchParams;
    const after = Number(asked.get("after") ?? 0);
    answering(all.slice(after, after + Number(asked.get("limit"))))(request, response);
  });
}

test("[CLI-12] a list that ends before the log does says how to go on", async () => {
  const dataDir = await log(501);
  const events = (...args: string[]) => runCliHere(["events", ...args, "--data-dir", dataDir]);

  const first = await events("--types", "workspace,token");
  const json = await events("--json");
  const rest = await events("--after", "500");
  const asked = await events("--limit", "500");

  expect([first, json, rest, asked].map(({ stdout }) => stdout.trimEnd().split("\n").length)).toEqual([
    500, 500, 1, 500,
  ]);
  expect([first, json, rest, asked].map(({ stderr }) => stderr)).toEqual([
    "There are more. Go on: sidestick events --after 500 --types workspace,token; or as many as you like: --limit N\n",
    '{"type":"more","after":500}\n',
    "",
    "",
  ]);
});

test("[CLI-12] one that ends with the log says nothing", async () => {
  const dataDir = await log(500);

  expect((await runCliHere(["events", "--data-dir", dataDir])).stderr).toBe("");
});
