/** What a host keeps of the hub that it joined: where it is, and its own token. For its owner alone. */
import { randomUUID } from "node:crypto";
import { open, readFile, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { errorFromProblem } from "../protocol/errors.ts";
import { Enrolled, type Enrolment } from "../protocol/hosts.ts";
import { ENROL_PATH } from "../protocol/link.ts";
import { plainRefusal } from "../protocol/loopback.ts";
import type { Environment } from "./settings.ts";

export const Membership = z.object({
  url: z.string(),
  hostId: z.string(),
  name: z.string(),
  token: z.string(),
  hubId: z.string(),
  ca: z.string().optional(),
});
export type Membership = z.infer<typeof Membership>;

const ENROL_WITHIN_MS = 20_000;

/** Not the hub's directory: both may be on one machine. */
export function defaultHostDir(env: Environment): string {
  return join(env.XDG_DATA_HOME || join(homedir(), ".local", "share"), "sidestick-host");
}

export async function readMembership(dataDir: string): Promise<Membership | undefined> {
  try {
    return Membership.parse(JSON.parse(await readFile(fileIn(dataDir), "utf8")));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new Error(`${fileIn(dataDir)} can't be read. Remove it and join again.`, { cause: error });
  }
}

export async function writeMembership(dataDir: string, membership: Membership): Promise<void> {
  const temporary = `${fileIn(dataDir)}.${randomUUID()}`;
  try {
    await using handle = await open(temporary, "wx", 0o600);
    await handle.writeFile(`${JSON.stringify(membership, null, 2)}\n`);
    await handle.sync();
    await rename(temporary, fileIn(dataDir));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Rejects with the hub's own words when it refuses. */
export async function enrol(url: string, enrolment: Enrolment, ca?: string): Promise<Membership> {
  const refusal = plainRefusal(new URL(url));
  if (refusal !== undefined) throw new Error(refusal);
  const { status, text } = await post(new URL(ENROL_PATH, url), JSON.stringify(enrolment), ca);
  if (status !== 201) throw errorFromProblem(jsonOf(text), status);
  const { host_id: hostId, name, token, hub_id: hubId } = Enrolled.parse(jsonOf(text));
  return { url, hostId, name, token, hubId, ...(ca === undefined ? {} : { ca }) };
}

async function post(url: URL, body: string, ca: string | undefined): Promise<{ status: number; text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
  // An import would load the client behind the module's WebSocket, at each start of a host.
  const { request } = process.getBuiltinModule(url.protocol === "https:" ? "node:https" : "node:http");
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  const signal = AbortSignal.timeout(ENROL_WITHIN_MS);
  const sent = request(url, { method: "POST", headers, signal, ...(ca === undefined ? {} : { ca }) }, (response) => {
    let text = "";
    response.setEncoding("utf8");
    response.on("data", (chunk: string) => (text = (text + chunk).slice(0, 65_536)));
    response.once("end", () => resolve({ status: response.statusCode ?? 0, text }));
    response.once("error", reject);
  });
  sent.once("error", reject);
  sent.end(body);
  return promise;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function fileIn(dataDir: string): string {
  return join(dataDir, "membership.json");
}
