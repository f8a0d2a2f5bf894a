/** The channels of a hub, in a file for its owner alone: it holds their tokens. */
import { chmod, open, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { CHANNEL_KINDS, type ChannelConfig, type ChannelSettings, type StoredChannels } from "../../hub/ports.ts";

const Text = z.string().min(1);

const Stored = z.strictObject({
  channels: z.array(
    z.strictObject({
      name: Text,
      kind: z.enum(CHANNEL_KINDS),
      token: Text,
      appToken: Text.optional(),
      apiRoot: Text.optional(),
      people: z.array(z.strictObject({ id: Text, name: z.string(), role: z.literal("operator") })),
      home: Text.optional(),
      homeOf: Text.optional(),
    }),
  ),
});

export class ChannelsFile implements ChannelSettings {
  readonly place: string;

  constructor(place: string) {
    this.place = place;
  }

  async read(): Promise<StoredChannels> {
    try {
      const parsed = Stored.safeParse(JSON.parse(await readFile(this.place, "utf8")));
      if (parsed.success) await this.#close();
      if (parsed.success) return { ok: true, channels: parsed.data.channels };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT") return { ok: true, channels: [] };
      if (code !== undefined) return { ok: false, problem: `${this.place} can't be read (${code}).` };
    }
    // Without what the parser says: it quotes, and what it quotes may be a token.
    return { ok: false, problem: `${this.place} isn't what this version writes.` };
  }

  /** Copied from a backup, others may be able to read it. */
  async #close(): Promise<void> {
    const { mode } = await stat(this.place);
    if ((mode & 0o077) !== 0) await chmod(this.place, 0o600);
  }

  async write(channels: readonly ChannelConfig[]): Promise<void> {
    const next = `${this.place}.new`;
    await rm(next, { force: true });
    // Never through what somebody else put there.
    const file = await open(next, "wx", 0o600);
    try {
      await file.writeFile(`${JSON.stringify({ channels }, null, 2)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(next, this.place);
    const directory = await open(dirname(this.place), "r");
    try {
      await directory.sync();
    } finally {
      await directory.close();
    }
  }
}
