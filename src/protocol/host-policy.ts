/** What a host's own policy file may say: what no hub can make it do. Rules RML-30..RML-34 in docs/spec/remote-hosts.md. */
import { z } from "zod";
import { CONTAINMENTS } from "../domain/containment.ts";
import { RuleInFile } from "./policy-file.ts";

const WORDS = ["allow", "ask", "deny"] as const;

const commands = z
  .array(z.string().min(1).max(1000))
  .max(1000)
  .meta({ description: "Commands by their first words, as `command` of a policy's rule: `git push`, `docker * rm`" });

export const HostPolicyFile = z.strictObject({
  default: z.enum(WORDS).default("allow").meta({ description: "Where nothing below matches" }),
  unclear: z
    .enum(WORDS)
    .optional()
    .meta({ description: "What can't be read is at least this; absent: `deny` where anything is asked or denied" }),
  deny: commands.default([]),
  rules: z.array(RuleInFile).max(1000).default([]).meta({ description: "As in a policy file; after `deny`" }),
  ask: commands.default([]).meta({ description: "Only if the hub says that a person decided it" }),
  allow: commands.default([]),
  typing: z
    .enum(["lines", "allow"])
    .default("lines")
    .meta({ description: "`lines`: at a shell only whole lines are taken, and judged; `allow`: also what can't be" }),
  users: z.array(z.string().min(1).max(64)).max(100).optional().meta({
    description: "Accounts that sessions may run as; the host's own is one of them only if it is named",
  }),
  cwd_roots: z
    .array(z.string().regex(/^\/[^\0]*$/, "must begin with /"))
    .min(1)
    .max(100)
    .optional()
    .meta({ description: "Commands begin in these directories or below" }),
  containment: z.array(z.enum(CONTAINMENTS)).min(1).optional().meta({ description: "Levels that sessions may have" }),
  guard_terms: z.enum(["narrow", "any"]).optional().meta({
    description:
      "`narrow`: a hub may hide more in a guard, but show or open nothing; absent: `narrow` where `containment` leaves out `open`",
  }),
});
export type HostPolicyFile = z.infer<typeof HostPolicyFile>;
