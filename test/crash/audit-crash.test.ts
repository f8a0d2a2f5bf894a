import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { headsIn, verify } from "../audit/audited-hub.ts";
import { openAudited } from "../audit/audited-store.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { KILLS as ALL_KILLS, SEED, seeded } from "./seeded.ts";
import { killAfter, start } from "./victim.ts";

const random = seeded(SEED);
const KILLS = ALL_KILLS / 2;

test(`[AUD-4, AUD-5, AUD-6] no kill leaves a chain, a file or a head that does not verify (${KILLS} kills, seed ${SEED})`, async () => {
  const dataDir = await temporaryDirectory();
  const audited = { dataDir, heads: headsIn(dataDir) };
  for (let life = 0; life < KILLS; life += 1) {
    await killAfter(start("audit-victim.ts", dataDir, String(SEED + life)), {
      delayMs: random(300),
      printed: life % 2 === 0 ? /removed\n/ : /\n/,
    });
    const killed = await verify(audited);
    expect(killed).toMatchObject({ finding: undefined, proof: "anchored" });
  }

  const again = await openAudited(dataDir);
  const { written } = again.writer;
  await again.close();
  const chains = (await readFile(join(dataDir, "audit.jsonl"), "utf8")).match(/(?<="chain":")\w{64}(?="\}\n)/g) ?? [];

  const { finding, anchoredTo, chain } = await verify(audited);
  expect({ finding, anchoredTo }).toEqual({ finding: undefined, anchoredTo: written.sequence });
  expect(chain.checkpoint?.id).toBeGreaterThan(KILLS / 2); // else nothing was removed
  expect(chains.at(-1)).toBe(written.chain);
  expect(new Set(chains).size).toBe(chains.length);
});
