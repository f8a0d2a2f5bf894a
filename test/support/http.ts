/** Plain HTTP with nothing hidden: the test says every header that goes out. */
import { request } from "node:http";

export type Exchange = {
  readonly method?: string;
  readonly path: string;
  readonly token?: string | undefined;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** An object is sent as JSON; a string or bytes as they are. */
  readonly body?: unknown;
};

export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of every shape
  readonly body: any;
};

export function ask(url: string, { method = "GET", path, token, headers = {}, body }: Exchange): Promise<Answer> {
  const raw =
    typeof body === "string" || body instanceof Uint8Array
      ? body
      : body === undefined
        ? undefined
        : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const outgoing = request(`${url}${path}`, {
      method,
      headers: {
        ...(raw === undefined ? {} : { "content-type": "application/json" }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
    });
    outgoing.once("error", reject);
    outgoing.once("response", (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.once("error", reject);
      incoming.once("end", () => {
        const text = Buffer.concat(chunks).toString();
        const json = /[/+]json\b/.test(incoming.headers["content-type"] ?? "");
        resolve({
          status: incoming.statusCode ?? 0,
          headers: incoming.headers,
          text,
          body: json ? JSON.parse(text) : undefined,
        });
      });
    });
    outgoing.end(raw);
  });
}

/** Status and code of an answer: what a refusal is told apart by. */
export function verdict({ status, body }: Answer): string {
  return body?.code === undefined ? String(status) : `${status} ${body.code}`;
}
