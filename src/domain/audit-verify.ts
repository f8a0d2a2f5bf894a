/**
 * Checks a chain: every record is what was linked, none is missing, added or moved, and the heads that are kept outside
 * lead into it. Finds the first place that is wrong. Rules AUD-3, AUD-10..AUD-13 in docs/spec/audit.md.
 */
import {
  chainAfter,
  type ChainHead,
  type Checkpoint,
  type Folded,
  foldRecord,
  type Link,
  readCheckpoint,
  type Sha256,
} from "./audit-chain.ts";

/** A decision as it is stored: what its link says, and what its content is. */
export type StoredDecision = Link & {
  readonly sequence: number;
  /** The line of its content, as if it stood at that sequence. */
  readonly bodyAt: (sequence: number) => string;
  /** Kept as long as its type is. */
  readonly isFiled: boolean;
};

export type StoredCheckpoint = {
  readonly id: number;
  readonly after: number;
  readonly body: string;
  readonly chain: string;
};

export type StoredChain = {
  readonly checkpoints: readonly StoredCheckpoint[];
  /** In the order of their removal. */
  readonly removed: readonly Folded[];
  /** In the order of their sequence; may be asked for again. */
  readonly decisions: () => Iterable<StoredDecision>;
  /** The first record with the type of a decision that is filed as something else, and so in no chain. */
  readonly unlinked: () => number | undefined;
};

export type Finding = {
  readonly kind: "changed" | "removed" | "added" | "swapped" | "truncated" | "replaced" | "line_differs";
  readonly sequence: number;
  readonly detail: string;
};

export type VerifiedChain = {
  readonly finding: Finding | undefined;
  readonly chainId: string | undefined;
  readonly records: number;
  readonly from: number;
  readonly to: number;
  readonly checkpoint: Checkpoint | undefined;
  /** By its hash, where each link is that was asked for. */
  readonly places: ReadonlyMap<string, Place>;
};

export type Place = { readonly order: number; readonly digest: string | undefined };

/** `isOld`: the manifest vouches for it, not the chain. */
type Step = Folded & { readonly what: string; readonly isOld: boolean };

/** `wanted` are the hashes whose places the caller wants to know. */
export function verifyChain(stored: StoredChain, wanted: ReadonlySet<string>, sha256: Sha256): VerifiedChain {
  const newest = stored.checkpoints.at(-1);
  const checkpoint = newest === undefined ? undefined : readCheckpoint(newest.body);
  const walk = new ChainWalk(stored, wanted, sha256);
  const finding =
    checkpoint === undefined
      ? found("removed", 0, "its checkpoints are gone or changed")
      : (removalFinding(stored, checkpoint, sha256) ?? walk.run(checkpoint));
  const { records, from, to, places } = walk;
  return { finding, chainId: checkpoint?.chainId, records, from, to, checkpoint, places };
}

/** What is missing must be what a checkpoint says was removed. */
function removalFinding({ removed }: StoredChain, checkpoint: Checkpoint, sha256: Sha256): Finding | undefined {
  const extra = removed[checkpoint.removed];
  if (extra !== undefined) return found("removed", extra.sequence, "no checkpoint says that it was removed");
  const fold = removed.reduce((sofar, record) => foldRecord(sofar, record, sha256), "");
  if (fold === checkpoint.removals) return undefined;
  return found("changed", checkpoint.base.sequence, "what is remembered of removed records is not what was written");
}

class ChainWalk {
  records = 0;
  from = 0;
  to = 0;
  readonly places = new Map<string, Place>();
  readonly #stored: StoredChain;
  readonly #wanted: ReadonlySet<string>;
  readonly #sha256: Sha256;
  readonly #removed: Folded[];
  readonly #checkpoints: StoredCheckpoint[];
  #order = 0;

  constructor(stored: StoredChain, wanted: ReadonlySet<string>, sha256: Sha256) {
    this.#stored = stored;
    this.#wanted = wanted;
    this.#sha256 = sha256;
    this.#removed = stored.removed.toSorted((a, b) => a.sequence - b.sequence);
    this.#checkpoints = [...stored.checkpoints];
  }

  run({ base, kept, manifest }: Checkpoint): Finding | undefined {
    let fold = "";
    let folded = 0;
    let isPast = false;
    let previous = base.chain;
    for (const { current, next } of lookAhead(this.#steps(base))) {
      if ("kind" in current) return current;
      if (current.isOld) {
        fold = foldRecord(fold, current, this.#sha256);
        folded += 1;
        continue;
      }
      if (!isPast) {
        const wrong = manifestFinding(base, { kept, manifest }, { kept: folded, manifest: fold });
        if (wrong !== undefined) return wrong;
        this.#see(base.chain);
        isPast = true;
      }
      const chain = chainAfter(previous, current.digest, this.#sha256);
      if (chain !== current.chain) return this.#broken(current, chain, next);
      previous = chain;
      this.#see(chain, current.digest);
    }
    return isPast ? undefined : manifestFinding(base, { kept, manifest }, { kept: folded, manifest: fold });
  }

  /** Decisions, what is remembered of removed ones, and checkpoints, in the order of the chain. Ends with a finding. */
  *#steps(base: ChainHead): Generator<Finding | Step> {
    for (const decision of this.#stored.decisions()) {
      const { sequence, digest, chain } = decision;
      yield* this.#removedBefore(sequence, base);
      if (sequence > base.sequence) yield* this.#checkpointsBefore(sequence, base);
      this.#count(sequence);
      const wrong = this.#contentFinding(decision);
      if (wrong !== undefined) yield wrong;
      yield { sequence, digest, chain, what: "a record", isOld: sequence <= base.sequence };
    }
    yield* this.#removedBefore(Infinity, base);
    yield* this.#checkpointsBefore(Infinity, base);
  }

  *#removedBefore(sequence: number, base: ChainHead): Generator<Finding | Step> {
    for (let next = this.#removed[0]; next !== undefined && next.sequence <= sequence; next = this.#removed[0]) {
      this.#removed.shift();
      if (next.sequence === sequence) yield found("added", sequence, "it was removed before");
      if (next.sequence > base.sequence) yield* this.#checkpointsBefore(next.sequence, base);
      yield { ...next, what: "a removed record", isOld: next.sequence <= base.sequence };
    }
  }

  *#checkpointsBefore(sequence: number, base: ChainHead): Generator<Finding | Step> {
    for (let next = this.#checkpoints[0]; next !== undefined && next.after < sequence; next = this.#checkpoints[0]) {
      this.#checkpoints.shift();
      const { id, after, body, chain } = next;
      const said = readCheckpoint(body);
      if (said?.id !== id || said.after !== after || id <= base.checkpoint)
        yield found("changed", after, `checkpoint ${id} is not what was written`);
      yield { sequence: after, digest: this.#sha256(body), chain, what: `checkpoint ${id}`, isOld: false };
    }
  }

  #contentFinding({ sequence, digest, bodyAt, isFiled }: StoredDecision): Finding | undefined {
    if (this.#sha256(bodyAt(sequence)) !== digest) {
      const other = this.#originOf(digest, bodyAt, sequence);
      if (other !== undefined) return found("swapped", sequence, `it is the record of sequence ${other}`);
      return found("changed", sequence, "its content is not what was written");
    }
    return isFiled ? undefined : found("changed", sequence, "it is not kept as its type is");
  }

  /** The sequence at which the content is what its link says. */
  #originOf(digest: string, bodyAt: StoredDecision["bodyAt"], from: number): number | undefined {
    for (const { sequence } of this.#stored.decisions())
      if (sequence !== from && this.#sha256(bodyAt(sequence)) === digest) return sequence;
    return undefined;
  }

  /** If what follows fits what this one should be, only this one was touched. */
  #broken(step: Step, expected: string, next: Finding | Step | undefined): Finding {
    const isAlone =
      next !== undefined && !("kind" in next) && chainAfter(expected, next.digest, this.#sha256) === next.chain;
    if (isAlone || this.#wanted.has(expected)) return found("changed", step.sequence, `${step.what} has a wrong link`);
    return found(
      "removed",
      step.sequence,
      `${step.what} does not follow the one before it: one between them is missing`,
    );
  }

  #count(sequence: number): void {
    if (this.records === 0) this.from = sequence;
    this.records += 1;
    this.to = sequence;
  }

  #see(chain: string, digest?: string): void {
    this.#order += 1;
    if (this.#wanted.has(chain)) this.places.set(chain, { order: this.#order, digest });
  }
}

type Manifest = Pick<Checkpoint, "kept" | "manifest">;

function manifestFinding(base: ChainHead, said: Manifest, is: Manifest): Finding | undefined {
  if (said.manifest === is.manifest && said.kept === is.kept) return undefined;
  const kind = is.kept < said.kept ? "removed" : is.kept > said.kept ? "added" : "changed";
  return found(kind, base.sequence, `of ${said.kept} records up to here, ${is.kept} are there`);
}

function found(kind: Finding["kind"], sequence: number, detail: string): Finding {
  return { kind, sequence, detail };
}

function* lookAhead<T>(items: Iterable<T>): Generator<{ current: T; next: T | undefined }> {
  let held: { readonly value: T } | undefined;
  for (const value of items) {
    if (held !== undefined) yield { current: held.value, next: value };
    held = { value };
  }
  if (held !== undefined) yield { current: held.value, next: undefined };
}
