import { expect, test } from "vitest";
import { containmentCheck } from "./containment.ts";

const ann = { uid: 1000, username: "ann" };
const service = { uid: 998, username: "sidestick" };
const whole = { available: true, missing: [] };
const landlock = { layer: "landlock", reason: "abstract sockets can be reached", remedy: "a newer kernel" };
const seccomp = { layer: "seccomp", reason: "unknown here" };
const none = { available: false, missing: [{ layer: "guard", reason: "unshare: no", remedy: "allow namespaces" }] };

test.each([
  { account: ann, says: "A guard: agents' sessions and what `sidestick guard` starts can't reach" },
  { account: { uid: 0, username: "root" }, says: "A guard: " },
  { account: service, says: "A hub under its own user (sidestick), which nobody else's programs can reach" },
])("[GRD-26] a whole guard for $account.username is ready", ({ account, says }) => {
  expect(containmentCheck({ guard: whole, account })).toEqual({
    name: "containment",
    needed: false,
    state: "ready",
    detail: expect.stringContaining(says),
  });
});

test("[GRD-21, GRD-26] missing layers are named with reason and remedy", () => {
  expect(containmentCheck({ guard: { available: true, missing: [landlock, seccomp] }, account: ann })).toMatchObject({
    state: "degraded",
    detail: expect.stringMatching(
      / Missing: landlock \(abstract sockets can be reached\); seccomp \(unknown here\)\.$/,
    ),
    remedy: "landlock: a newer kernel",
  });
});

test.each([
  { guard: none, account: ann, says: /^A promise, for want of a guard \(unshare: no\): /, remedy: "allow namespaces" },
  { guard: none, account: service, says: /^A hub under its own user \(sidestick\), without a guard \(unshare: no\): / },
  { guard: undefined, account: ann, says: /^A promise, .*its host doesn't tell/, remedy: /^Restart the host/ },
])("[GRD-26] without a guard it says what that means: $says", ({ guard, account, says, remedy = /./ }) => {
  expect(containmentCheck({ guard, account })).toEqual({
    name: "containment",
    needed: false,
    state: "degraded",
    detail: expect.stringMatching(says),
    remedy: expect.stringMatching(remedy),
  });
});
