import { expect, test } from "vitest";
import { noticeCard } from "../../domain/channels/cards.ts";
import type { OutboxRow } from "./outbox-port.ts";
import { OutboxRows } from "./outbox-rows.ts";

const HERE = { channel: "chat", threadId: "1" };
const row = (id: number, more: Partial<OutboxRow> = {}): OutboxRow => ({
  ...HERE,
  ...noticeCard("build", `${id}`),
  id,
  state: "queued",
  ...more,
});

test("[CHN-12] a thread's rows are found in their order, also after one is changed; another thread's are not", () => {
  const rows = new OutboxRows();
  rows.apply({}, [row(1), row(2), row(3, { threadId: "2" })]);
  rows.apply({ put: [row(1, { state: "edit" })], drop: [3] }, [row(4)]);

  expect([...rows.in(HERE)].map(({ id, state }) => [id, state])).toEqual([
    [1, "edit"],
    [2, "queued"],
    [4, "queued"],
  ]);
  expect([...rows.in({ channel: "chat", threadId: "2" })]).toEqual([]);
});

test("[CHN-14] what is about the same is found until it is let go or dropped", () => {
  const rows = new OutboxRows();
  rows.apply({}, [row(1, { about: "plan:a" }), row(2, { about: "plan:a" }), row(3, { about: "plan:a" })]);
  rows.apply({ put: [row(1)], drop: [2] }, []);

  expect(rows.about("plan:a").map(({ id }) => id)).toEqual([3]);
  expect(rows.all().map(({ id }) => id)).toEqual([1, 3]);
});

test("[CHN-24] where output ended is found by session, the newest of each thread", () => {
  const rows = new OutboxRows();
  const [first, other] = [
    { ...HERE, sessionId: "s1", cursor: 5 },
    { ...HERE, sessionId: "s2", cursor: 1 },
  ];
  rows.apply({ forwarded: [first, other] }, []);
  rows.apply({ forwarded: [{ ...first, cursor: 9 }], forget: [other] }, []);

  expect(rows.forwardedOf("s1")).toEqual([{ ...first, cursor: 9 }]);
  expect(rows.forwarded()).toEqual([{ ...first, cursor: 9 }]);
});
