/**
 * Server-sent events from bytes, as the WHATWG standard reads them: any chunking gives the same messages.
 * An unfinished message at the end of the stream is dropped, and its id with it.
 */
export type SseMessage = { readonly event: string; readonly data: string };

export class SseParser {
  readonly #decoder = new TextDecoder();
  #line = "";
  #afterCr = false;
  #event = "";
  #data: string[] = [];
  #id = "";
  #lastId = "";

  /** Id of the last finished message, also of one that carried nothing else. */
  get lastId(): string {
    return this.#lastId;
  }

  push(chunk: Uint8Array): SseMessage[] {
    const text = this.#decoder.decode(chunk, { stream: true });
    const messages: SseMessage[] = [];
    if (text === "") return messages;
    // A CRLF may be cut in two by the chunks.
    let from = this.#afterCr && text.startsWith("\n") ? 1 : 0;
    this.#afterCr = text.endsWith("\r");
    for (const end of text.matchAll(/\r\n|\r|\n/g)) {
      if (end.index < from) continue;
      const message = this.#endLine(this.#line + text.slice(from, end.index));
      if (message !== undefined) messages.push(message);
      this.#line = "";
      from = end.index + end[0].length;
    }
    this.#line += text.slice(from);
    return messages;
  }

  #endLine(line: string): SseMessage | undefined {
    if (line === "") return this.#endMessage();
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.#event = value;
    else if (field === "data") this.#data.push(value);
    else if (field === "id" && !value.includes("\0")) this.#id = value;
    return undefined;
  }

  #endMessage(): SseMessage | undefined {
    const data = this.#data;
    const event = this.#event || "message";
    this.#lastId = this.#id;
    this.#data = [];
    this.#event = "";
    return data.length === 0 ? undefined : { event, data: data.join("\n") };
  }
}
