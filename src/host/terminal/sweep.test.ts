/** What a sweep sees of processes that change their parents while it looks. */
import { afterAll, expect, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import { closeServices, LiveTerminal } from "../../../test/support/live-terminal.ts";
import { Sweep } from "./sweep.ts";

afterAll(closeServices);

test("[STP-5] what a program leaves to the shell by ending is seen, however the look meets that end", async () => {
  const live = await LiveTerminal.open();
  const { pid, keepers } = live.terminal.shell;
  for (let round = 0; round < 30; round += 1) {
    const sweep = new Sweep({ shell: pid, keepers, chooses: () => true, complete: true });
    live.type("setsid -f sleep 1000\r");
    await eventually(() => expect(sweep.newcomers()).not.toEqual([]));

    // In one turn, so that looks follow each other closely: one of them meets the end of setsid.
    const looks = Array.from({ length: 300 }, () => sweep.newcomers().length);

    expect(looks.filter((it) => it === 0)).toEqual([]);
    await live.running("sleep");
    await live.atPrompt();
    sweep.strike(100);
    await eventually(() => expect(sweep.living).toEqual([]));
  }
});
