/** What every `CredentialStore` and `AnswerStore` promises. Rules LOG-20 and LOG-21 in docs/spec/log.md. */
import { expect, onTestFinished, test } from "vitest";
import type { AnswerStore, Credential, CredentialStore } from "../hub/ports.ts";
import { temporaryDirectory } from "../../test/support/temporary.ts";

type Stores = { credentials: CredentialStore; answers: AnswerStore; close: () => Promise<void> };

export type OpenStores = (directory: string, now: () => number) => Promise<Stores>;

const CI: Credential = {
  tokenId: "t1",
  kind: "token",
  role: "agent",
  name: "ci 😀",
  hash: "ab".repeat(32),
  createdAt: "2030-01-01T00:00:00.000Z",
};
const WEB: Credential = {
  ...CI,
  tokenId: "t2",
  kind: "cookie",
  role: "operator",
  expiresAt: "2030-01-02T00:00:00.000Z",
};

export function credentialStoreContract(open: OpenStores): void {
  test("[LOG-20] credentials are kept in the order they were made, also after reopening", async () => {
    const directory = await temporaryDirectory();
    const first = await open(directory, Date.now);
    await first.credentials.put(WEB);
    await first.credentials.put(CI);
    expect(await first.credentials.all()).toEqual([WEB, CI]);
    await first.close();

    const second = await opened(open, directory);
    expect(await second.credentials.all()).toEqual([WEB, CI]);
  });

  test("[LOG-20] a credential is replaced and removed by its id", async () => {
    const { credentials } = await opened(open, await temporaryDirectory());
    const revoked = { ...CI, revokedAt: "2030-01-03T00:00:00.000Z" };
    await credentials.put(CI);
    await credentials.put(WEB);

    await credentials.put(revoked);
    expect(await credentials.all()).toEqual([revoked, WEB]);
    await credentials.remove([CI.tokenId, "unknown"]);
    expect(await credentials.all()).toEqual([WEB]);
    await credentials.remove([]);
    expect(await credentials.all()).toEqual([WEB]);
  });
}

export function answerStoreContract(open: OpenStores): void {
  test("[LOG-21] an answer is remembered per scope and key, and replaced", async () => {
    const directory = await temporaryDirectory();
    const first = await open(directory, Date.now);
    const done = { state: "done", inputHash: "h1", answer: { sessionId: "s", list: [1, null] } } as const;
    await first.answers.put("ann", "key", { state: "started", inputHash: "h1" });
    await first.answers.put("bob", "key", { state: "started", inputHash: "h2" });
    await first.answers.put("ann", "key", done);
    await first.close();

    const { answers } = await opened(open, directory);
    expect(await answers.get("ann", "key")).toEqual(done);
    expect(await answers.get("bob", "key")).toEqual({ state: "started", inputHash: "h2" });
    expect(await answers.get("ann", "other")).toBeUndefined();
  });

  test("[LOG-21] an answer is forgotten on demand and by age", async () => {
    let now = 1_000_000;
    const { answers } = await opened(open, await temporaryDirectory(), () => now);
    const started = { state: "started", inputHash: "h" } as const;
    await answers.put("ann", "failed", started);
    await answers.put("ann", "old", started);
    now += 1_000;
    await answers.put("ann", "new", started);
    now += 1_000;

    await answers.forget("ann", "failed");
    await answers.forget("ann", "unknown");
    await answers.prune(1_500);

    expect(await answers.get("ann", "failed")).toBeUndefined();
    expect(await answers.get("ann", "old")).toBeUndefined();
    expect(await answers.get("ann", "new")).toEqual(started);
  });
}

async function opened(open: OpenStores, directory: string, now: () => number = Date.now): Promise<Stores> {
  const stores = await open(directory, now);
  onTestFinished(() => stores.close());
  return stores;
}
