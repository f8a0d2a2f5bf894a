import { expect, test } from "vitest";
import { type ContainmentTerms, decideContainment, grantWarning, type MissingLayer } from "./containment.ts";

const bot = { kind: "agent", id: "bot" } as const;
const ann = { kind: "person", id: "ann" } as const;
const landlock: MissingLayer = { layer: "landlock", reason: "an old kernel", remedy: "a newer one" };
const noPerl: MissingLayer = { layer: "guard", reason: "perl is missing", remedy: "install perl" };
const able = { available: true, missing: [] };
const unable = { available: false, missing: [noPerl] };

const decide = (terms: Partial<ContainmentTerms>) =>
  decideContainment({ by: bot, given: "guard", openForAgents: "allow", ability: able, ...terms });

test.each<[string, Partial<ContainmentTerms>, string, readonly MissingLayer[]]>([
  ["an agent's", {}, "guard", []],
  ["an agent's that names it", { asked: "guard" }, "guard", []],
  ["an agent's where a layer is missing", { ability: { available: true, missing: [landlock] } }, "guard", [landlock]],
  ["an agent's where there is no guard", { ability: unable }, "open", [noPerl]],
  ["an agent's in a workspace that gives open", { given: "open" }, "open", []],
  ["an agent's that wants more than that", { given: "open", asked: "guard" }, "guard", []],
  ["a person's", { by: ann }, "open", []],
  ["a person's where nothing can be guarded", { by: ann, ability: unable, openForAgents: "forbid" }, "open", []],
  ["a person's that names guard", { by: ann, asked: "guard" }, "guard", []],
  ["a person's that names user", { by: ann, asked: "user" }, "user", []],
])("[GRD-1] %s", (_title, terms, containment, missing) => {
  expect(decide(terms)).toEqual({ ok: true, containment, missing });
});

test("[GRD-1, GRD-3] a host that says nothing has no guard, and that is said", () => {
  const missing = [{ layer: "guard", reason: "this host knows no guard" }];

  expect(decide({ ability: undefined })).toEqual({ ok: true, containment: "open", missing });
});

test.each(["open", "user"] as const)("[GRD-2] an agent can't name %s, whatever its workspace gives", (asked) => {
  const reason = "only a person may choose a session without the guard";
  const refused = { ok: false, refusal: "needs_open", reason, missing: [] };

  expect([decide({ asked }), decide({ asked, given: "open" }), decide({ asked, ability: unable })]).toEqual([
    refused,
    refused,
    refused,
  ]);
});

test.each([bot, ann])("[GRD-2] a guard by name is never less: refused to the $kind where there is none", (by) => {
  const reason = "there is no guard here: guard: perl is missing";

  expect(decide({ by, asked: "guard", ability: unable })).toEqual({
    ok: false,
    refusal: "kind_unavailable",
    reason,
    missing: [noPerl],
  });
});

test.each<[Partial<ContainmentTerms>, string]>([
  [{ ability: unable }, ", and there is no guard here: guard: perl is missing"],
  [{ given: "open" }, ""],
])("[GRD-4] where agents may not drive open sessions none is made for them %#", (terms, why) => {
  expect(decide({ ...terms, openForAgents: "forbid" })).toMatchObject({
    ok: false,
    refusal: "policy_denied",
    reason: `the workspace lets no agent drive an open session${why}`,
  });
});

test("[GRD-4] what a grant means is one sentence, and nothing in a guard", () => {
  expect(grantWarning("guard")).toBeUndefined();
  expect(grantWarning("user", "ci")).toBe(
    "This session has no guard: the agent's programs run as ci and can do all that this account can.",
  );
  expect(grantWarning("open")).toBe(
    "This session is open: the agent's programs run as you, can read Sidestick's data and act as you, so that the agent keeps to your control is a promise.",
  );
});
