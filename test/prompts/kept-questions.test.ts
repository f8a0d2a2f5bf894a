/** How many questions a hub keeps at hand, over its own desks. */
import { expect, test } from "vitest";
import { ASKED, offerOf } from "../chat/asked.ts";
import { chattingHub } from "../chat/chatting-hub.ts";
import { eventually } from "../support/eventually.ts";

test("[PMT-108] of questions that went away unanswered no more than 500 are kept", async () => {
  const hub = await chattingHub();
  const sessionId = await hub.terminal(null);
  const asked = Array.from({ length: 600 }, (_, index) => ({ ...ASKED, promptId: `p${index}` }));
  const offers = asked.map((it) => ({ type: "prompt_request", payload: offerOf(it), source: SOURCE }) as const);
  await hub.journal.note(sessionId, "process", offers);

  // Nothing of it stands: whatever happens next ends them.
  await hub.print(sessionId, "something\n");

  await eventually(() => expect(hub.prompts.list()).toHaveLength(500));
  expect(hub.prompts.find("p599")).toMatchObject({ status: "gone" });
});

const SOURCE = { kind: "system", id: "hub" } as const;
