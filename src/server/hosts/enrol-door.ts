/** Where a machine becomes a host: a one-time code for its own token. Rules RML-3..RML-6 in docs/spec/remote-hosts.md. */
import type { HostDesk } from "../../hub/host-desk.ts";
import { Enrolment } from "../../protocol/hosts.ts";
import { ENROL_PATH } from "../../protocol/link.ts";
import { parseWith } from "../../protocol/parse.ts";
import { readJson } from "../body.ts";
import type { PublicDoor } from "../http-door.ts";
import { sendJson } from "../responses.ts";
import { refusePlain } from "./encrypted.ts";

/** Nobody has shown a credential yet. */
const BODY_LIMIT = 64 * 1024;

export function createEnrolDoor(parts: {
  readonly hosts: HostDesk;
  readonly publicUrl: string | undefined;
}): PublicDoor {
  return async (request, response, url) => {
    if (request.method !== "POST" || url.pathname !== ENROL_PATH) return false;
    refusePlain(request, parts.publicUrl);
    const enrolment = parseWith(Enrolment, await readJson(request, BODY_LIMIT));
    sendJson(response, 201, await parts.hosts.enrol(enrolment));
    return true;
  };
}
