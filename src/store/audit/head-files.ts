/** Keeps the newest head of each chain in a file of its own, in a directory that is not the store's. Rule AUD-9. */
import { mkdir, open, readdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { type ChainHead, parseObject } from "../../domain/audit-chain.ts";
import type { HeadKeeper, KeptHead } from "../../hub/ports.ts";

type Owner = { readonly chainId: string; readonly dataDir: string };

export class HeadFiles implements HeadKeeper {
  readonly #directory: string;
  readonly #owner: Owner;

  constructor(directory: string, owner: Owner) {
    this.#directory = directory;
    this.#owner = owner;
  }

  async keep({ sequence, checkpoint, chain }: ChainHead): Promise<void> {
    const { chainId, dataDir } = this.#owner;
    const content = { chain_id: chainId, data_dir: dataDir, sequence, checkpoint, chain };
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    const path = join(this.#directory, chainId);
    await setAsideIfAhead(path, sequence);
    const handle = await open(`${path}.new`, "w", 0o600);
    try {
      await handle.writeFile(`${JSON.stringify(content)}\n`);
      await handle.datasync();
    } finally {
      await handle.close();
    }
    await rename(`${path}.new`, path);
  }

  async heads(): Promise<readonly KeptHead[]> {
    return headsOf(this.#owner, await readHeads(this.#directory));
  }
}

/** A head of another chain that the directory had says that its store was replaced. */
export function headsOf({ chainId, dataDir }: Owner, heads: readonly KeptHead[]): readonly KeptHead[] {
  return heads.filter((head) => head.chainId === chainId || head.dataDir === dataDir);
}

/** A store that has less than was kept of it lost something: what proves it must not be written over. */
async function setAsideIfAhead(path: string, sequence: number): Promise<void> {
  const [kept] = await readHead(path).catch(() => []);
  if (kept !== undefined && kept.sequence > sequence) await rename(path, `${path}.lost-${kept.sequence}`);
}

export async function readHeads(directory: string): Promise<readonly KeptHead[]> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return [];
    throw error;
  });
  const found = names.filter((name) => !name.endsWith(".new"));
  return (await Promise.all(found.map((name) => readHead(join(directory, name))))).flat();
}

async function readHead(place: string): Promise<readonly KeptHead[]> {
  const it = parseObject(await readFile(place, "utf8"));
  if (typeof it.chain !== "string" || typeof it.sequence !== "number") return [];
  const { chain_id: chainId, data_dir: dataDir } = it;
  if (typeof chainId !== "string" || typeof dataDir !== "string") return [];
  return [{ chainId, dataDir, sequence: it.sequence, checkpoint: Number(it.checkpoint), chain: it.chain, place }];
}
