/**
 * Brings together the store's chain, the audit file and the heads that are kept elsewhere. Inside, a chain proves only
 * that it fits itself; a head from outside proves that it is the one that was. Rules AUD-10..AUD-13.
 */
import type { Sha256 } from "./audit-chain.ts";
import type { LineEnd, LineWalk } from "./audit-lines.ts";
import { type Finding, type StoredChain, type VerifiedChain, verifyChain } from "./audit-verify.ts";

export type OutsideHead = {
  readonly place: string;
  /** Absent where a line is the head: its place says whose it is. */
  readonly chainId?: string | undefined;
  readonly sequence: number;
  readonly chain: string;
};

export type HeadState = "matches" | "too_old" | "differs";

export type AuditReport = {
  readonly ok: boolean;
  readonly finding: Finding | undefined;
  /** `anchored`: a head from outside leads into the chain. */
  readonly proof: "anchored" | "self-consistent only";
  /** The newest record that an outside head vouches for. */
  readonly anchoredTo: number | undefined;
  readonly chain: VerifiedChain;
  readonly lines: { readonly count: number; readonly from: number | undefined; readonly to: number | undefined };
  readonly heads: readonly (OutsideHead & { readonly state: HeadState })[];
};

export type Evidence = {
  readonly stored: StoredChain;
  readonly lines: LineWalk;
  readonly linesPlace: string;
  readonly kept: readonly OutsideHead[];
};

export function verifyAudit({ stored, lines, linesPlace, kept }: Evidence, sha256: Sha256): AuditReport {
  const { first, last } = lines;
  const outside = [...(last === undefined ? [] : [{ ...last, place: linesPlace }]), ...kept];
  const wanted = new Set([...outside.map(({ chain }) => chain), ...(first === undefined ? [] : [first.chain])]);
  const chain = verifyChain(stored, wanted, sha256);
  const heads = outside.map(({ place, chainId, sequence, chain: hash }) => {
    const head = { place, chainId, sequence, chain: hash };
    return { ...head, state: stateOf(head, chain) };
  });
  const matching = heads.filter(({ state }) => state === "matches").map(({ sequence }) => sequence);
  const finding =
    chain.finding ??
    lines.finding ??
    lineFinding(first, chain) ??
    headFinding(heads, chain, Math.max(-1, ...matching)) ??
    cutFinding({ last, kept, chain }) ??
    unlinkedFinding(stored);
  return {
    ok: finding === undefined,
    finding,
    proof: matching.length > 0 ? "anchored" : "self-consistent only",
    anchoredTo: matching.length > 0 ? Math.max(...matching) : undefined,
    chain,
    lines: { count: lines.count, from: first?.sequence, to: last?.sequence },
    heads,
  };
}

/** Whoever reads the log by type takes it for a decision. */
function unlinkedFinding({ unlinked }: StoredChain): Finding | undefined {
  const sequence = unlinked();
  if (sequence === undefined) return undefined;
  return { kind: "added", sequence, detail: "it has the type of a decision, but was never linked" };
}

function stateOf({ chainId, sequence, chain }: OutsideHead, verified: VerifiedChain): HeadState {
  if (chainId !== undefined && chainId !== verified.chainId) return "differs";
  if (verified.places.has(chain)) return "matches";
  return sequence < (verified.checkpoint?.base.sequence ?? 0) ? "too_old" : "differs";
}

/** The file by itself can't tell whether its first line is what was written. */
function lineFinding(first: LineEnd | undefined, { places }: VerifiedChain): Finding | undefined {
  const digest = first === undefined ? undefined : places.get(first.chain)?.digest;
  if (first === undefined || digest === undefined || digest === first.digest) return undefined;
  return { kind: "line_differs", sequence: first.sequence, detail: "line 1 of the audit file differs from the store" };
}

type StatedHead = OutsideHead & { readonly state: HeadState };

/** A head that is too old to be found is no proof of anything, unless a newer one leads into the chain. */
function headFinding(heads: readonly StatedHead[], chain: VerifiedChain, newest: number): Finding | undefined {
  const wrong = heads.find(({ state, sequence }) => state === "differs" || (state === "too_old" && sequence > newest));
  if (wrong === undefined) return undefined;
  const { place, sequence, chainId } = wrong;
  if (chainId !== undefined && chainId !== chain.chainId) {
    return { kind: "replaced", sequence, detail: `${place} is the head of another chain that this directory had` };
  }
  if (sequence > chain.to) {
    return { kind: "truncated", sequence: chain.to, detail: `${place} knows of records up to ${sequence}` };
  }
  const kind = chainId === undefined ? "line_differs" : "changed";
  return { kind, sequence, detail: `${place} is the head of other records than the store's` };
}

/** The keeper is told after the lines are written: lines that it knows of were there. */
function cutFinding(it: {
  readonly last: LineEnd | undefined;
  readonly kept: readonly OutsideHead[];
  readonly chain: VerifiedChain;
}): Finding | undefined {
  const { last, kept, chain } = it;
  const orderOf = (hash: string): number => chain.places.get(hash)?.order ?? 0;
  if (last === undefined) return undefined;
  const ahead = kept.find((head) => orderOf(head.chain) > orderOf(last.chain));
  if (ahead === undefined) return undefined;
  const detail = `the audit file ends here, but held lines up to ${ahead.sequence}`;
  return { kind: "line_differs", sequence: last.sequence, detail };
}
