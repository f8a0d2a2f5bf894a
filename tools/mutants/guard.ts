/** Faults in the guard, and in approvals and what they bind. */
import type { Mutant } from "./mutant.ts";

const LEFT_RUNNING = ["test/control/left-running.test.ts"];
const GUARD = "src/host/guard/guard.pl";
const APPROVALS = ["test/approvals/actions.test.ts"];
const HOSTILE = ["test/guard/hostile.test.ts"];

export const GUARD_MUTANTS: readonly Mutant[] = [
  {
    name: "the guard forgets the filter of system calls",
    file: GUARD,
    text: "if ($settings->{filter}) {",
    becomes: "if (0) {",
    tests: HOSTILE,
  },
  {
    name: "the guard leaves abstract sockets open",
    file: GUARD,
    text: "if ($settings->{landlock}) {",
    becomes: "if (0) {",
    tests: HOSTILE,
  },
  {
    name: "root keeps its rights in the guard",
    file: GUARD,
    text: "return if $IS_USER;\n  my %kept",
    becomes: "return;\n  my %kept",
    tests: HOSTILE,
  },
  {
    name: "what leads to a closed path can be renamed",
    file: "src/host/guard/guard-plan.ts",
    text: '...byDepth(pinned).flatMap((path) => onItself(path, "as_it_is")),',
    becomes: "",
    tests: ["src/host/guard/guard.test.ts", ...HOSTILE],
  },
  {
    name: "the guard shows what is Sidestick's",
    file: "src/host/guard/guard-layout.ts",
    text: "  hide(subject.ours);\n",
    becomes: "",
    tests: HOSTILE,
  },
  {
    name: "start-up files that aren't there are not made",
    file: "src/host/guard/guard.ts",
    text: "...completeHome(HOME, SHELL, PATH), ",
    becomes: "",
    tests: HOSTILE,
  },
  {
    name: "a bound command runs whatever it would meet",
    file: "src/host/terminal/block-runner.ts",
    text: "if (binding.digest === expected.digest && run.isSame(binding)) return run;",
    becomes: 'if (binding.digest !== "") return run;',
    tests: ["src/host/terminal/bound-blocks.test.ts"],
  },
  {
    name: "what was swapped and swapped back while it ran is not told",
    file: "src/host/bound/vigil.ts",
    text: "this.#touched.add(path);",
    becomes: "{}",
    tests: ["src/host/terminal/bound-blocks.test.ts"],
  },
  {
    name: "a peer in a guard may use the operator's socket",
    file: "src/host/link/ancestry.ts",
    text: 'return namespace(pid) !== namespace("self");',
    becomes: "return false;",
    tests: ["test/guard/peers.test.ts"],
  },
  {
    name: "what runs inside outlives the shell",
    file: GUARD,
    text: "  kill 9, $first;\n",
    becomes: "",
    tests: ["test/guard/stopping.test.ts"],
  },
  {
    name: "a stop looks only below the shell",
    file: "src/host/terminal/sweep.ts",
    text: "const own = new Set([shell, ...keepers]);",
    becomes: "const own = new Set([shell, ...keepers.slice(keepers.length)]);",
    tests: ["src/host/terminal/stop-processes.test.ts"],
  },
  {
    name: "a killed keeper leaves its shell running",
    file: "src/host/terminal/terminal.ts",
    text: "it.pid === this.#shell?.pid || ",
    becomes: "",
    tests: LEFT_RUNNING,
  },
  {
    name: "what was approved under another policy is run",
    file: "src/hub/action-plans.ts",
    text: "if (this.#parts.policyVersion(workspaceId) === policyVersion) return;",
    becomes: "if (policyVersion !== workspaceId) return;",
    tests: APPROVALS,
  },
  {
    name: "an edit is recorded, and what was asked is run",
    file: "src/hub/action-desk.ts",
    text: "held.edits.get(contextHash) ?? held.plan",
    becomes: "held.plan",
    tests: APPROVALS,
  },
  {
    name: "what was prepared isn't compared when it is run",
    file: "src/hub/action-plans.ts",
    text: "bound: { programs, scripts, digest } }",
    becomes: "}",
    tests: APPROVALS,
  },
  {
    name: "an approval outlives the control under which it was asked",
    file: "src/main/desks.ts",
    text: "approvals.endIn(sessionId,",
    becomes: "void (sessionId,",
    tests: APPROVALS,
  },
  {
    name: "a command doesn't wait behind one that is asked about",
    file: "src/hub/action-desk.ts",
    text: "if (asking.isFront) this.#front.set(sessionId, requestId);",
    becomes: "",
    tests: APPROVALS,
  },
];
