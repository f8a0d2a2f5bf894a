/** The host's own policy file as it stands: read at the start, and again when it changes. */
import { join } from "node:path";
import { HostPolicy } from "../host/host-policy.ts";
import { problemLine } from "../hub/policy-desk.ts";
import type { PolicyProblem } from "../hub/ports.ts";
import type { Logger } from "../lib/logger.ts";
import { HostPolicyFile } from "../protocol/host-policy.ts";
import { issueText } from "../protocol/issue-text.ts";
import { PolicyDirectory } from "../store/policy/policy-directory.ts";

const NAME = "host-policy.yaml";

/**
 * One that can't be read while the host runs lets nothing pass, and nothing start: a session is judged when it starts, and
 * would still be there when the file is mended.
 */
const NOTHING = HostPolicyFile.parse({ default: "deny", users: [] });

/** Rejects, with all that is wrong, where there is a file that can't be used. */
export async function openHostPolicy(dataDir: string, logger: Logger): Promise<() => HostPolicy> {
  const { parse } = await import("unbash");
  const files = new PolicyDirectory({
    file: join(dataDir, NAME),
    isNamed: false,
    directory: join(dataDir, `${NAME}.d`),
  });
  const read = async () => {
    const [document] = await files.read();
    if (document === undefined) return { ok: true, file: HostPolicyFile.parse({}) } as const;
    if (document.problems.length > 0) return { ok: false, problems: document.problems } as const;
    const { data, error } = HostPolicyFile.safeParse(document.value ?? {});
    if (data !== undefined) return { ok: true, file: data } as const;
    const problems = error.issues.map((issue): PolicyProblem => {
      const message = `${String(issue.path.at(-1) ?? "the file")} ${issueText(issue)}`;
      return { file: document.path, ...document.locate(issue.path), message, remedy: "Mend it." };
    });
    return { ok: false, problems } as const;
  };
  const first = await read();
  if (!first.ok) throw new Error(first.problems.map(problemLine).join("\n"));
  let policy = new HostPolicy(first.file, parse);
  const readAgain = async (): Promise<void> => {
    const now = await read();
    const problems = now.ok ? [] : now.problems.map(problemLine);
    policy = now.ok ? new HostPolicy(now.file, parse) : new HostPolicy(NOTHING, parse, problems[0]);
    if (!now.ok) logger.error("the host's policy can't be used: nothing is run", { problems });
  };
  files.watch(() => void readAgain());
  return () => policy;
}
