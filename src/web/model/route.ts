/** Where the page is, in the address's fragment: it reaches no server, and can be shared. */
import { useSyncExternalStore } from "react";

export type Route = {
  readonly page: string;
  readonly id: string;
  readonly sub: string;
  readonly query: URLSearchParams;
};

/** `#/session/ID/replay?at=5` */
export function routeOf(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [page = "", id = "", sub = ""] = path.split("/").map(decoded);
  return { page, id, sub, query: new URLSearchParams(query) };
}

/** An address may be cut or typed by hand. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function linkTo(page: string, id = "", sub = ""): string {
  return `#/${[page, id, sub].filter(Boolean).map(encodeURIComponent).join("/")}`;
}

export function useRoute(): Route {
  return routeOf(useSyncExternalStore(onHash, () => location.hash));
}

function onHash(changed: () => void): () => void {
  addEventListener("hashchange", changed);
  return () => removeEventListener("hashchange", changed);
}
