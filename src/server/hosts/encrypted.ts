/** Hosts are served over TLS, or where nothing leaves the machine (RML-2). */
import type { IncomingMessage } from "node:http";
import { AppError } from "../../protocol/errors.ts";
import { plainRefusal } from "../../protocol/loopback.ts";

/** We listen on loopback alone; what came from elsewhere came through a proxy, which the public address tells about. */
export function refusePlain({ headers: { host = "" } }: IncomingMessage, publicUrl: string | undefined): void {
  const called = URL.canParse(`http://${host}`) ? new URL(`http://${host}`) : undefined;
  const isPublic = publicUrl !== undefined && new URL(publicUrl).host === host;
  const url = isPublic ? new URL(publicUrl) : called;
  const detail = url === undefined ? "It came without an address" : plainRefusal(url);
  if (detail !== undefined) throw new AppError("origin_refused", { detail });
}
