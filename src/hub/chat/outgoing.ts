/** All that leaves for chats: the outbox, the threads, forwarded output and announced events, set over each other. */
import { Announcements, type AnnouncementsParts } from "./announcements.ts";
import { Announcer, type AnnouncerParts } from "./announcer.ts";
import { KeptLinks, type MakeLink } from "./kept-links.ts";
import { Forwarder, type ForwarderParts } from "./forwarder.ts";
import { Multi, type Reach } from "./multi.ts";
import { Outbox, type OutboxParts } from "./outbox.ts";

type Own = "outbox" | "multi";

export type OutgoingParts = Omit<OutboxParts, "urlOf"> &
  Reach &
  Omit<ForwarderParts, Own> &
  Omit<AnnouncementsParts, Own | "secretLink"> &
  Pick<AnnouncerParts, "reachable"> & { readonly secretLink: MakeLink };

export function outgoing(parts: OutgoingParts) {
  const links = new KeptLinks(parts.secretLink);
  const outbox = new Outbox({ ...parts, urlOf: links.urlOf.bind(links) });
  const multi = new Multi(parts);
  const forwarder = new Forwarder({ ...parts, outbox, multi });
  const secretLink = links.keep.bind(links);
  const announcements = new Announcements({ ...parts, outbox, multi, secretLink });
  const announcer = new Announcer({ ...parts, outbox, multi, forwarder, announcements });
  const start = async (): Promise<void> => {
    await outbox.start();
    forwarder.start();
    await announcer.start();
    outbox.wake();
  };
  const stop = async (): Promise<void> => {
    await announcer.stop();
    await forwarder.stop();
    await outbox.stop();
  };
  return { outbox, links, multi, forwarder, announcer, start, stop };
}
