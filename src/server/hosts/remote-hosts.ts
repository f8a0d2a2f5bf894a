/** Links to hosts elsewhere: each waits for the connections that its host makes. */
import type { Duplex } from "node:stream";
import type { RemoteHost, RemoteHostListener } from "../../hub/host-desk.ts";
import type { Logger } from "../../lib/logger.ts";
import type { Channel } from "../../protocol/link.ts";
import { HostDriver } from "./host-driver.ts";
import { HostLink } from "./host-link.ts";
import { WaitingWires } from "./waiting-wires.ts";

type Open = { readonly link: HostLink; readonly wires: WaitingWires };

export class RemoteHosts {
  readonly #logger: Logger;
  readonly #hosts = new Map<string, Open>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  open(hostId: string, { online, offline }: RemoteHostListener): RemoteHost {
    const logger = this.#logger;
    const wires = new WaitingWires();
    const link = new HostLink({ connect: wires.take, hostId, isRemote: true, logger });
    const driver = new HostDriver({ link, hostId, isRemote: true, logger });
    const open = { link, wires };
    this.#hosts.set(hostId, open);
    link.listen({ frame: () => undefined, online: ({ facts }) => online(facts), offline });
    link.open();
    const close = async (): Promise<void> => {
      if (this.#hosts.get(hostId) === open) this.#hosts.delete(hostId);
      link.close();
      wires.close();
      await driver.close();
    };
    return { driver, close };
  }

  /** Of a host that has shown its token. */
  offer(hostId: string, channel: Channel, stream: Duplex): void {
    const open = this.#hosts.get(hostId);
    if (open === undefined) {
      stream.destroy();
      return;
    }
    // It lost a connection before we noticed: what we have is dead, or soon will be.
    open.link.restart("the host has come anew");
    open.wires.offer(channel, stream);
  }
}
