/** Onto the person's clipboard, because they asked for it. Rejects where the browser refuses. */
export async function copyText(text: string): Promise<true> {
  if (navigator.clipboard === undefined)
    throw new Error("This browser lets only pages over https or at 127.0.0.1 copy");
  await navigator.clipboard.writeText(text);
  return true;
}
