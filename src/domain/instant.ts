/** Instants as people read them. Only their form: what time it is, the domain is told. */

export function instantText(epochMs: number): string {
  // oxlint-disable-next-line no-restricted-globals
  return new Date(epochMs).toISOString();
}

/** NaN for what is no instant. */
export function instantOf(text: string): number {
  // oxlint-disable-next-line no-restricted-globals
  return Date.parse(text);
}
