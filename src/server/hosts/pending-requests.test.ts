import { expect, test } from "vitest";
import { PendingRequests } from "./pending-requests.ts";

test("[RML-22] an answer in endless parts is refused when it ends, also if there is nothing in them", async () => {
  const requests = new PendingRequests();
  let id = 0;
  const answer = requests.add((it) => (id = it));

  for (let part = 0; part < 200_000; part += 1) {
    requests.answer({ type: "REPLY", id, ok: true, more: true }, new Uint8Array(0));
  }
  requests.answer({ type: "REPLY", id, ok: true, fields: {} }, new Uint8Array(0));

  await expect(answer).rejects.toMatchObject({ code: "too_large" });
});
