/** Node's fast byte work for the domain's filters, which know no Buffer. */
export const byteTools = {
  indexOf(bytes: Uint8Array, needle: Uint8Array | number, from: number): number {
    return bufferOf(bytes).indexOf(needle, from);
  },
  latin1(bytes: Uint8Array): string {
    return bufferOf(bytes).toString("latin1");
  },
};

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
