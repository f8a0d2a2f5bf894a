/** What hosts are called: people know a machine by its name, the hub keeps its id. */
import type { SidestickClient } from "../client/sidestick.ts";

export async function hostNames(client: SidestickClient): Promise<(hostId: string) => string> {
  const names = new Map((await client.host.list()).map((it) => [it.hostId, it.name]));
  return (hostId) => names.get(hostId) ?? `${hostId} (removed)`;
}
