/** The hub ends or is killed while a program asks: the question is not lost, and not answered twice. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { OUTCOME_WAIT_MAX_MS } from "../../src/protocol/prompts.ts";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import type { SidestickClient } from "../../src/client/sidestick.ts";
import { codeOf } from "../support/control-hub.ts";
import { type HubProcess, spawnHub } from "../support/hub.ts";
import { clientOf, endHost, openTerminalHub } from "../support/terminal-hub.ts";
import { asking, mortal, pendingIn, prints } from "./asking-hub.ts";
import { eventually } from "../support/eventually.ts";

type People = { readonly agent: SidestickClient; readonly person: SidestickClient };

let dataDir: string;
let hub: HubProcess;
let people: People;

async function start(): Promise<People> {
  hub = await spawnHub(dataDir, [], "terminal-hub");
  const agent = await clientOf(hub.url, dataDir, "agent");
  people = { agent, person: await clientOf(hub.url, dataDir, "operator") };
  return people;
}

async function restart(signal: NodeJS.Signals, meanwhile: () => void = () => undefined): Promise<People> {
  await hub.kill(signal);
  meanwhile();
  return start();
}

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "sidestick-"));
  await start();
  return async () => {
    await hub.kill();
    await endHost(dataDir);
    await rm(dataDir, { recursive: true, force: true, maxRetries: 10 });
  };
});

test.each(["SIGTERM", "SIGKILL"] as const)(
  "[PMT-105] No lost prompts: what still waits after %s is offered again, under a new nonce",
  async (signal) => {
    const it = await asking(people, "read -p 'Continue? [Y/n] ' x; echo GOT $x.");
    const { prompt_id, nonce } = it.prompt;

    const { agent, person } = await restart(signal);

    const again = await pendingIn(person, it.sessionId);
    expect(again).toMatchObject({ prompt_id, question: "Continue? [Y/n]", asked_at: it.prompt.asked_at });
    const old = await person.prompt.reply({ prompt_id, nonce, value: "y" }).catch((error: unknown) => error);
    expect(old).toMatchObject({ code: "prompt_gone", details: { reason: "stale_nonce" } });
    await person.prompt.reply({ prompt_id, nonce: again.nonce, value: "n" });
    await prints(agent, it, "GOT n.");
  },
);

test("[PMT-105, PMT-70] Enter follows the text also into a question that is older than the hub", async () => {
  const it = await asking(people, "read -e -p 'Name of the host: ' x; echo GOT $x.");

  const { agent, person } = await restart("SIGTERM");
  const { prompt_id, nonce } = await pendingIn(person, it.sessionId);
  const answered = await person.prompt.reply({ prompt_id, nonce, value: "web7", wait_ms: OUTCOME_WAIT_MAX_MS });

  await prints(agent, it, "GOT web7.");
  expect(answered).toMatchObject({ outcome: "advanced" });
});

test("[PMT-105] what was answered before the end is not answered twice, and what no longer waits is gone", async () => {
  const answered = await asking(people, "read -p 'Continue? [Y/n] ' x; echo GOT $x.; sleep 60");
  const program = await mortal("Proceed? [Y/n] ");
  const killed = await asking(people, `${program.command}; echo OV''ER; sleep 60`);
  const { prompt_id, nonce } = answered.prompt;
  await people.person.prompt.reply({ prompt_id, nonce, value: "y" });

  const { agent, person } = await restart("SIGKILL", program.kill);
  await prints(agent, killed, "OVER");

  await eventually(async () => {
    const waiting = await person.prompt.list({ status: "pending" });
    const own = new Set([answered.sessionId, killed.sessionId]);
    expect(waiting.filter((prompt) => own.has(prompt.session_id))).toEqual([]);
  });
  expect(await codeOf(person.prompt.reply({ prompt_id, nonce, value: "n" }))).toBe("prompt_gone");
  const inputs = await person.event.list({ sessionId: answered.sessionId, types: ["input"] });
  expect(inputs).toHaveLength(1);
});

/** Moments of an answer's way: it was sent off, it is recorded, it is in the terminal. */
const MOMENTS = ["at once", "prompt_decision", "input"] as const;

test.each(MOMENTS)(
  "[PMT-105, PMT-114] the hub is killed while an answer goes in (%s): it goes in once or can be given again",
  async (moment) => {
    const it = await asking(people, "read -p 'One? [Y/n] ' x; read -p 'Two? [y/N] ' y; echo GOT $x $y.; sleep 60");
    const { prompt_id, nonce } = it.prompt;
    const { eventCursor: after } = await people.person.snapshot.get();
    const told =
      moment === "at once"
        ? Promise.resolve()
        : people.person.event.list({ sessionId: it.sessionId, after, types: [moment], waitMs: WAIT_BUDGET_MS });
    const replied = codeOf(people.person.prompt.reply({ prompt_id, nonce, value: "n" }));
    await told;

    const { agent, person } = await restart("SIGKILL");
    await replied;
    const next = await pendingIn(person, it.sessionId);
    if (next.question === "One? [Y/n]") {
      await person.prompt.reply({
        prompt_id: next.prompt_id,
        nonce: next.nonce,
        value: "n",
        wait_ms: OUTCOME_WAIT_MAX_MS,
      });
    }
    const second = await eventually(async () => {
      const asked = await pendingIn(person, it.sessionId);
      expect(asked.question).toBe("Two? [y/N]");
      return asked;
    });
    await person.prompt.reply({ prompt_id: second.prompt_id, nonce: second.nonce, value: "y" });

    await prints(agent, it, "GOT n y.");
    const inputs = await person.event.list({ sessionId: it.sessionId, types: ["input"] });
    expect(inputs.map(({ payload }) => payload["text"])).toEqual(["n\r", "y\r"]);
    expect(await codeOf(person.prompt.reply({ prompt_id, nonce, value: "n" }))).toBe("prompt_gone");
  },
);

test("[PMT-106] No expired injection: an offer that nobody took is over, and the question offered anew", async () => {
  const { stop, ...brief } = await openTerminalHub({ promptTtlMs: 400 });
  await using _stopped = { [Symbol.asyncDispose]: stop };
  const it = await asking(brief, "read -p 'Continue? [Y/n] ' x; echo GOT $x.");
  const { prompt_id } = it.prompt;
  const renewed = await eventually(async () => {
    const now = await brief.person.prompt.get({ prompt_id });
    expect(now.nonce).not.toBe(it.prompt.nonce);
    return now;
  });

  const old = brief.person.prompt.reply({ prompt_id, nonce: it.prompt.nonce, value: "y" });

  await expect(old).rejects.toMatchObject({ code: "prompt_gone", details: { reason: "stale_nonce" } });
  expect(renewed).toMatchObject({ status: "pending", asked_at: it.prompt.asked_at });
});
