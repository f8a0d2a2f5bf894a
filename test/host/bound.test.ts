import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { ANN, dial, newSession, openHost, SIZE, Taken, TERMINAL_HOST } from "./host-process.ts";

const BOT = { kind: "agent", id: "bot" } as const;

let host: Awaited<ReturnType<typeof openHost>>;
beforeAll(async () => {
  host = await openHost({ program: TERMINAL_HOST });
  return host.stop;
});

async function opened() {
  const work = await temporaryDirectory();
  const { driver } = await dial(host.dataDir);
  const session = newSession();
  const taken = new Taken();
  await driver.start(session, SIZE, taken.intake);
  return { driver, sessionId: session.sessionId, taken, work };
}

test("[APR-11, APR-12] over the link: prepared, run as prepared, and refused with what changed", async () => {
  const { driver, sessionId, taken, work } = await opened();
  writeFileSync(join(work, "a.sh"), "echo ran\n");
  const wanted = { programs: ["sh"], scripts: ["a.sh"], cwd: work };
  const block = { command: "sh a.sh", cwd: work, by: BOT };

  const { epoch, digest, ...prepared } = await driver.prepare(sessionId, { ...wanted, by: BOT });
  const bound = { programs: wanted.programs, scripts: wanted.scripts, digest };
  await driver.run(sessionId, { ...block, blockId: crypto.randomUUID(), bound, epoch });
  await eventually(async () => {
    expect(taken.text).toContain("ran\r\n");
    expect((await driver.status(sessionId)).mode).toBe("idle");
  });
  // It gets its turn once it is known that the block ran what was approved.
  await driver.prepare(sessionId, { ...wanted, by: BOT });
  writeFileSync(join(work, "a.sh"), "echo evil\n");
  const late = driver.run(sessionId, { ...block, blockId: crypto.randomUUID(), bound, epoch });

  expect(prepared).toMatchObject({ cwd: work, resolved: { "script:a.sh": join(work, "a.sh") }, unbound: [] });
  expect(Object.keys(prepared.parts)).toEqual(expect.arrayContaining(["cwd", "environment", "program:sh"]));
  await expect(late).rejects.toMatchObject({ code: "approval_stale", details: { changed: ["script:a.sh"] } });
});

test("[APR-12] under another epoch than it was approved in, nothing runs", async () => {
  const { driver, sessionId, taken } = await opened();
  const nothing = { programs: [], scripts: [] };
  const { epoch, digest } = await driver.prepare(sessionId, { ...nothing, by: BOT });
  await driver.control(sessionId, { type: "take", by: ANN });
  await driver.control(sessionId, { type: "release", by: ANN });

  const late = driver.run(sessionId, {
    blockId: crypto.randomUUID(),
    command: "echo ev''il",
    by: BOT,
    epoch,
    bound: { ...nothing, digest },
  });

  await expect(late).rejects.toMatchObject({ code: "stale_epoch" });
  expect(taken.text).not.toContain("evil");
});

test("[APR-30] the status names who would get what is typed, and whether it waits for a line", async () => {
  const { driver, sessionId } = await opened();
  const before = await driver.status(sessionId);
  const runId = crypto.randomUUID();

  await driver.run(sessionId, { blockId: crypto.randomUUID(), runId, command: "cat", by: BOT });
  await eventually(async () =>
    expect((await driver.status(sessionId)).foreground).toEqual({
      programs: ["cat"],
      atEmptyPrompt: true,
      hidesLines: false,
      waits: { promptId: expect.any(String) as string, for: "line" },
    }),
  );
  await driver.input(sessionId, { bytes: Buffer.from("half"), by: BOT, class: "drive" });

  expect(before.foreground).toBeUndefined();
  expect((await driver.status(sessionId)).foreground).toEqual({
    programs: ["cat"],
    atEmptyPrompt: false,
    hidesLines: false,
  });
});
