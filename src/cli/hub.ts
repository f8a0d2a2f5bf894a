/**
 * Which hub, and as whom. Without `--url` or its variable it is the hub of the data directory, through the operator's socket; a token
 * that is given is used there too, so that nobody acts as operator by accident (CLI-8 in docs/spec/cli.md).
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { SidestickClient } from "../client/sidestick.ts";
import { UsageError } from "./exit.ts";
import { socketFetch } from "./socket-fetch.ts";

export type HubChoice = {
  readonly "data-dir"?: string | undefined;
  readonly url?: string | undefined;
  readonly "token-file"?: string | undefined;
};

export type Hub = {
  readonly client: SidestickClient;
  /** Its socket or address, for messages. */
  readonly place: string;
  /** Undefined for a hub elsewhere. */
  readonly dataDir: string | undefined;
  /** What starts it. */
  readonly startCommand: string;
  /** Without one the operator's socket makes us the operator. */
  readonly hasToken: boolean;
  /** The same hub for `stream()`, whose WebSocket package is loaded only by those who need it. */
  readonly streaming: () => Promise<SidestickClient>;
};

export async function chooseHub(choice: HubChoice): Promise<Hub> {
  const token = readToken(choice["token-file"]);
  const hasToken = token !== undefined;
  const address = choice.url ?? (choice["data-dir"] === undefined ? process.env.SIDESTICK_URL || undefined : undefined);
  if (address !== undefined) {
    const url = readUrl(address, choice.url === undefined ? "$SIDESTICK_URL" : "--url");
    const client = new SidestickClient({ url, token });
    const streaming = async () => client;
    return { client, place: url, dataDir: undefined, startCommand: "npm start", hasToken, streaming };
  }
  const { dataDir, isDefault } = await readDataDir(choice["data-dir"]);
  const place = join(dataDir, "hub.sock");
  const options = { url: "http://localhost", token, fetch: socketFetch(place) };
  const client = new SidestickClient(options);
  const streaming = async (): Promise<SidestickClient> => {
    const { webSocketThrough } = await import("./unix-web-socket.ts");
    return new SidestickClient({ ...options, WebSocket: webSocketThrough(place) });
  };
  const startCommand = isDefault ? "npm start" : `npm start -- --data-dir ${shellWord(dataDir)}`;
  return { client, place, dataDir, startCommand, hasToken, streaming };
}

/** The hub reads the same settings, so both mean the same directory. */
async function readDataDir(given: string | undefined): Promise<{ dataDir: string; isDefault: boolean }> {
  if (given === "") throw new UsageError("--data-dir is empty, but should be a directory.");
  const { defaultDataDir, readSettings, SettingsError } = await import("../main/settings.ts");
  try {
    const dataDir = given === undefined ? readSettings([], process.env).dataDir : resolve(given);
    return { dataDir, isDefault: dataDir === defaultDataDir(process.env) };
  } catch (error) {
    throw error instanceof SettingsError ? new UsageError(error.message, { cause: error }) : error;
  }
}

/** As a shell reads one word. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function readUrl(given: string, from: string): string {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined || !["http:", "https:"].includes(url.protocol)) {
    throw new UsageError(`${from} is "${given}", but should be an address such as http://127.0.0.1:4180.`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new UsageError(
      `${from} holds a password, which every process can see; use $SIDESTICK_TOKEN or --token-file.`,
    );
  }
  return given;
}

function readToken(file: string | undefined): string | undefined {
  const from = file === undefined ? "$SIDESTICK_TOKEN" : file;
  const text = file === undefined ? process.env.SIDESTICK_TOKEN : readTokenFile(file);
  const token = text?.trim();
  if (token === undefined || (token === "" && file === undefined)) return undefined;
  if (!/^[\x21-\x7e]+$/.test(token)) throw new UsageError(`${from} does not hold a token.`);
  return token;
}

function readTokenFile(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const { code = "unknown" } = error as NodeJS.ErrnoException;
    throw new UsageError(`The token file ${file} can't be read (${code}).`, { cause: error });
  }
}
