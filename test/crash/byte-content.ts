/** What the streams of the byte crash test hold: each byte follows from its stream and its offset. */
export const SEGMENT_BYTES = 256 * 1024;

export const STREAMS = [1, 2, 3, 4].map((index) => `00000000-0000-4000-8000-00000000000${index}`);

export function contentAt(stream: number, offset: number, length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, index) => {
    const at = offset + index;
    return (at * 31 + (at >>> 8) * 7 + (at >>> 16) * 13 + stream * 101) & 0xff;
  });
}
