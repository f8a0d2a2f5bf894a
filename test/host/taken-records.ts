/** The file of taker.ts. */
export type TakenRecords = {
  /** Of the last whole record. */
  readonly order: number;
  readonly orders: readonly number[];
  readonly content: readonly Uint8Array[];
  /** Length of all whole records. */
  readonly bytes: number;
};

export function newRecord(order: number, content: Uint8Array): Uint8Array {
  const record = Buffer.alloc(8 + content.length);
  record.writeUInt32BE(order, 0);
  record.writeUInt32BE(content.length, 4);
  record.set(content, 8);
  return record;
}

export function wholeRecords(file: Buffer): TakenRecords {
  const orders: number[] = [];
  const content: Uint8Array[] = [];
  let at = 0;
  while (at + 8 <= file.length && at + 8 + file.readUInt32BE(at + 4) <= file.length) {
    const end = at + 8 + file.readUInt32BE(at + 4);
    orders.push(file.readUInt32BE(at));
    content.push(file.subarray(at + 8, end));
    at = end;
  }
  return { order: orders.at(-1) ?? 0, orders, content, bytes: at };
}
