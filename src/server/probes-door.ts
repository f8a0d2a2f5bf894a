/** What machines ask the hub: is it alive, is it ready, how busy is it, what can it do. Holds no names and no text. */
import type { PublicDoor } from "./http-door.ts";
import type { Metrics } from "./metrics.ts";
import { openApi } from "./openapi.ts";
import { send, sendJson } from "./responses.ts";

export type Readiness = { readonly ready: boolean; readonly reasons: readonly string[] };

export function createProbesDoor(version: string, readiness: () => Readiness, metrics: Metrics): PublicDoor {
  return async (request, response, url) => {
    if (request.method !== "GET" && request.method !== "HEAD") return false;
    switch (url.pathname) {
      case "/healthz":
        sendJson(response, 200, { ok: true, version });
        return true;
      case "/readyz": {
        const { ready, reasons } = readiness();
        sendJson(response, ready ? 200 : 503, { ready, reasons });
        return true;
      }
      case "/metrics":
        send(response, 200, await metrics.text(), metrics.contentType);
        return true;
      case "/openapi.json":
        sendJson(response, 200, openApi(version));
        return true;
      default:
        return false;
    }
  };
}
