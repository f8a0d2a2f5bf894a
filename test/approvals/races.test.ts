/** Many people decide at once, from several places: one decision, and what follows from it once. */
import { readFileSync, existsSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import type { ApprovalRequest, SidestickClient } from "../../src/client/sidestick.ts";
import type { AppError } from "../../src/protocol/errors.ts";
import { SEED, seeded } from "../crash/seeded.ts";
import { operatorClient } from "../support/hub.ts";
import { clientOf } from "../support/terminal-hub.ts";
import { JudgedHub } from "./judged-hub.ts";
import { soakCount } from "../support/soak.ts";

const RACES = soakCount(500);

let hub: JudgedHub;
beforeAll(async () => {
  hub = await JudgedHub.open();
  return hub.stop;
});

test(`[APR-2, APR-13] ${RACES} races of decisions (seed ${SEED})`, async () => {
  const random = seeded(SEED);
  const people: readonly SidestickClient[] = [hub.person, hub.otherPerson, operatorClient(hub.dataDir)];
  // More than one may ask in a minute.
  const agents = await Promise.all(
    Array.from({ length: 10 }, async (_, at) => ({
      agent: await clientOf(hub.url, hub.dataDir, "agent", `racer-${at}`),
      conversation_id: hub.conversation(),
    })),
  );

  for (let race = 0; race < RACES; race += 1) {
    const [asked, edited] = [hub.path(`race-${race}`), hub.path(`race-${race}-edited`)];
    const command = (path: string) => `touch ${path}.at; echo once >> ${path}`;
    const { approval, call } = await hub.asked(command(asked), agents[race % agents.length]);
    const { requestId } = approval;
    const decide = (who: SidestickClient): Promise<ApprovalRequest> => {
      const kind = random(3);
      if (kind === 0) return who.approval.resolve({ requestId, status: "rejected" });
      const edit = kind === 1 ? undefined : { command: command(edited) };
      return who.approval.resolve({ requestId, status: "approved", edit });
    };

    const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => decide(people[random(people.length)]!)));

    const won = outcomes.filter((it) => it.status === "fulfilled");
    const lost = outcomes.filter((it) => it.status === "rejected").map((it) => (it.reason as AppError).code);
    expect(won, `race ${race}: ${lost.join()}`).toHaveLength(1);
    expect(new Set(lost), `race ${race}`).toEqual(new Set(["approval_decided"]));
    const { status, edit } = await hub.person.approval.get({ requestId });
    await call.catch(() => undefined);
    const expected = status === "rejected" ? [0, 0] : edit === undefined ? [1, 0] : [0, 1];
    expect([runsOf(asked), runsOf(edited)], `race ${race}`).toEqual(expected);
  }
});

function runsOf(path: string): number {
  return existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean).length : 0;
}
