/** Messages that wait, taken while their threads leave. */
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { ANN, chattingHub, THREAD } from "./chatting-hub.ts";

const OTHER = { channel: "web", threadId: "2" } as const;

test("[CNV-22, CNV-23] a message whose thread leaves at the moment of its delivery is told as not sent, and the next one is sent", async () => {
  const hub = await chattingHub();
  const sessionId = await hub.terminal();
  await hub.bind(OTHER, sessionId);
  await hub.print(sessionId, "busy\n");
  await hub.threads.say({ ...THREAD, text: "first" }, ANN);
  await hub.threads.say({ ...OTHER, text: "second" }, ANN);
  hub.threads.onSettled(() => void hub.threads.leave(THREAD, ANN));

  for (const ms of [2_000, 5_000]) await hub.note(sessionId, "quiet", { ms });

  await eventually(async () => {
    const told: unknown[] = [];
    for await (const batch of hub.log.scan(["conversation"])) told.push(...batch.map(({ payload }) => payload));
    expect(told).toContainEqual(expect.objectContaining({ type: "conversation.unbound", dropped: 1 }));
    expect(told).toContainEqual(expect.objectContaining({ type: "conversation.chatted", threadId: OTHER.threadId }));
    expect(told).not.toContainEqual(
      expect.objectContaining({ type: "conversation.chatted", threadId: THREAD.threadId }),
    );
  });
});
