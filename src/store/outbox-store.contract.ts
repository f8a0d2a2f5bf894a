/** What every `OutboxStore` promises. Rules CHN-10 and CHN-11 in docs/spec/channels.md. */
import { expect, onTestFinished, test } from "vitest";
import type { Card } from "../domain/channels/card.ts";
import type { NewRow, OutboxStore } from "../hub/chat/outbox-port.ts";
import { temporaryDirectory } from "../../test/support/temporary.ts";

type Opened = { readonly outbox: OutboxStore; readonly close: () => Promise<void> };
export type OpenOutbox = (directory: string) => Promise<Opened>;

const CARD: Card = { kind: "notice", title: "build 😀", text: "Hello", buttons: [[{ label: "Yes", action: "0" }]] };
const PLACE = { channel: "chat", threadId: "1" };
const ROW: NewRow = {
  ...PLACE,
  about: "prompt:p1",
  sessionId: "s1",
  card: CARD,
  actions: [{ do: "reply", promptId: "p1", nonce: "n1", choice: "yes" }],
};

export function outboxStoreContract(open: OpenOutbox): void {
  rowsContract(open);
  deliveriesContract(open);
}

function rowsContract(open: OpenOutbox): void {
  test("[CHN-10] rows are kept as they were put, in order, also after reopening", async () => {
    const directory = await temporaryDirectory();
    const first = await open(directory);
    const [one, two] = await first.outbox.change({ add: [ROW, { ...PLACE, card: CARD, actions: [] }] });
    const sent = { ...one!, state: "sent", ref: "m1" } as const;
    await first.outbox.change({ put: [sent] });
    await first.close();

    const second = await opened(open, directory);
    expect(one).toEqual({ ...ROW, id: one!.id, state: "queued" });
    expect(two!.id).toBeGreaterThan(one!.id);
    expect(await second.outbox.rows()).toEqual([sent, two]);
  });

  test("[CHN-10] an id is never given twice, not even when nothing is left", async () => {
    const directory = await temporaryDirectory();
    const first = await open(directory);
    const [one] = await first.outbox.change({ add: [ROW] });
    await first.outbox.change({ drop: [one!.id, 999] });
    await first.close();

    const { outbox } = await opened(open, directory);
    const [two] = await outbox.change({ add: [ROW] });
    expect(two!.id).toBeGreaterThan(one!.id);
    expect(await outbox.rows()).toEqual([two]);
  });

  test("[CHN-10] how far it was announced and forwarded changes with the rows that it caused", async () => {
    const directory = await temporaryDirectory();
    const first = await open(directory);
    const lane = { ...PLACE, sessionId: "s1" };
    expect([await first.outbox.consumed(), await first.outbox.forwarded()]).toEqual([undefined, []]);
    await first.outbox.change({ add: [ROW], consumed: 7, forwarded: [{ ...lane, cursor: 10 }] });
    const other = { ...lane, threadId: "2", cursor: 3 };
    await first.outbox.change({ consumed: 9, forwarded: [{ ...lane, cursor: 12 }, other] });
    await first.close();

    const { outbox } = await opened(open, directory);
    expect(await outbox.consumed()).toBe(9);
    expect(await outbox.forwarded()).toEqual([{ ...lane, cursor: 12 }, other]);
    await outbox.change({ forget: [lane] });
    expect(await outbox.forwarded()).toEqual([other]);
  });
}

function deliveriesContract(open: OpenOutbox): void {
  test("[CHN-11] a delivery is known again with what was answered, each channel for itself", async () => {
    const directory = await temporaryDirectory();
    const first = await open(directory);
    const delivery = { channel: "chat", id: "d1" };
    expect(await first.outbox.seen(delivery)).toBeUndefined();
    await first.outbox.saw(delivery, { notice: "Sent: y + Enter" });
    await first.outbox.saw({ channel: "chat", id: "d2" }, {});
    await first.close();

    const { outbox } = await opened(open, directory);
    expect(await outbox.seen(delivery)).toEqual({ notice: "Sent: y + Enter" });
    expect(await outbox.seen({ channel: "chat", id: "d2" })).toEqual({});
    expect(await outbox.seen({ channel: "other", id: "d1" })).toBeUndefined();
  });

  test("[CHN-11] the newest 5,000 deliveries of a channel are known", async () => {
    const { outbox } = await opened(open, await temporaryDirectory());
    const ids = Array.from({ length: 5_001 }, (_, index) => `d${index}`);
    await outbox.saw({ channel: "other", id: "d0" }, {});
    await Promise.all(ids.map((id) => outbox.saw({ channel: "chat", id }, {})));

    const known = await Promise.all(["d0", "d1", "d5000"].map((id) => outbox.seen({ channel: "chat", id })));
    expect(known).toEqual([undefined, {}, {}]);
    expect(await outbox.seen({ channel: "other", id: "d0" })).toEqual({});
  });
}

async function opened(open: OpenOutbox, directory: string): Promise<Opened> {
  const store = await open(directory);
  onTestFinished(() => store.close());
  return store;
}
