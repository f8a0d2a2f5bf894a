/**
 * Control under load: how soon a stop shuts the gate, how soon the agent's processes are dead, how soon the agent is
 * told. A bare socket echo in the same run says what the machine itself takes just now. `--quick` is a smoke run.
 */
import type { Measure } from "./measure.ts";
import { echoes } from "./control/echo.ts";
import { figures } from "./control/figures.ts";
import { Scene } from "./control/scene.ts";

export async function* run(): AsyncIterable<Measure> {
  const quick = process.argv.includes("--quick");
  await using scene = await Scene.open();
  await scene.addLoad();
  const stops = [];
  const bare: number[] = [];
  for (let round = 0; round < (quick ? 10 : 300); round += 1) {
    stops.push(await scene.stop(round));
    bare.push(...(await echoes(3)));
  }
  yield* figures(stops, bare);
}
