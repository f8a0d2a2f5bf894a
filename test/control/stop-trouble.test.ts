/** STOP_NOW when the hub can store nothing: it waits for no disk and no log. */
import { expect, test } from "vitest";
import { SidestickClient } from "../../src/client/sidestick.ts";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { codeOf } from "../support/control-hub.ts";
import { eventually } from "../support/eventually.ts";
import { livingChildrenOf } from "../support/living-children.ts";
import { canMount, spawnOnSmallDisk } from "../support/small-disk.ts";

test.skipIf(!canMount())(
  "[CTL-31, CTL-33] with a full disk the gate is shut and the processes die at once, the agent's calls end; the receipt comes with room (needs root and mount namespaces)",
  async () => {
    const disk = await spawnOnSmallDisk("terminal-hub");
    const { operator, url, agentToken } = disk;
    const agent = new SidestickClient({ url, token: agentToken });
    const conversation_id = "full";
    const begun = { conversation_id, command: "setsid -f sleep 1000; sleep 1000", wait_ms: 0 };
    const { workspace_session_id: sessionId } = await agent.pty.exec_block(begun);
    const { pid = 0 } = await operator.pty.status({ conversation_id });
    await eventually(() => expect(livingChildrenOf(pid)).toHaveLength(2));
    const waiting = agent.pty.wait_for({ conversation_id, match: "never", timeout_ms: WAIT_BUDGET_MS });
    await disk.fill();

    // As long as the disk is full: one that waited for room would wait for ever.
    const stopped = await operator.control.user_intent({ sessionId, intent: "STOP_NOW" });

    expect(stopped).toMatchObject({ control_mode: "USER", user_intent: "STOP_NOW" });
    expect(await waiting).toMatchObject({ reason: "revoked", control_reason: "stop_now" });
    await eventually(() => expect(livingChildrenOf(pid)).toEqual([]));
    expect(await codeOf(agent.pty.exec_block({ conversation_id, command: "true" }))).toBe("stopped");
    await disk.free();
    await eventually(async () =>
      expect((await operator.event.list({ sessionId, types: ["receipt"] })).at(-1)?.payload).toMatchObject({
        killed_count: 2,
        survivors: [],
      }),
    );
  },
);
