/** Output with its times, compressed: for each piece how long it was waited for, its length, and its bytes. */
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";

export type Chunk = { readonly waitMs: number; bytes: Buffer };

export function packed(chunks: readonly Chunk[]): Buffer {
  const heads = new Uint32Array(chunks.flatMap(({ waitMs, bytes }) => [waitMs, bytes.length]));
  const count = Buffer.alloc(4);
  count.writeUInt32LE(chunks.length);
  const whole = Buffer.concat([count, Buffer.from(heads.buffer), ...chunks.map(({ bytes }) => bytes)]);
  return brotliCompressSync(whole, {
    params: { [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_SIZE_HINT]: whole.length },
  });
}

export function unpacked(compressed: Uint8Array): Chunk[] {
  const whole = brotliDecompressSync(compressed);
  const count = whole.readUInt32LE(0);
  let at = 4 + count * 8;
  return Array.from({ length: count }, (_, index) => {
    const waitMs = whole.readUInt32LE(4 + index * 8);
    const length = whole.readUInt32LE(8 + index * 8);
    at += length;
    return { waitMs, bytes: whole.subarray(at - length, at) };
  });
}
