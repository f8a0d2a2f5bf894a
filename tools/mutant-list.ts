/** The deliberate faults of `npm run test:mutants`. The text stands exactly once in its file; a test sees to that. */

export type Mutant = {
  readonly name: string;
  readonly file: string;
  readonly text: string;
  readonly becomes: string;
  /** Those that must catch it. */
  readonly tests: readonly string[];
};

const MACHINE = "src/domain/control.ts";
const STICK = "src/host/stick.ts";
const STICK_TESTS = ["src/host/stick.test.ts"];
const MACHINE_TESTS = ["src/domain/control"];
const LEFT_RUNNING = ["test/control/left-running.test.ts"];
const MODEL = ["test/control/model.test.ts"];
const GUARD = "src/host/guard/guard.pl";
const APPROVALS = ["test/approvals/actions.test.ts"];
const HOSTILE = ["test/guard/hostile.test.ts"];

export const MUTANTS: readonly Mutant[] = [
  {
    name: "the epoch check is skipped",
    file: MACHINE,
    text: "if (command.epoch !== undefined && command.epoch !== state.epoch) {",
    becomes: "if (command.epoch === -1) {",
    tests: MACHINE_TESTS,
  },
  {
    name: "a stale epoch is accepted after a new grant",
    file: MACHINE,
    text: "if (command.epoch !== undefined && command.epoch !== state.epoch) {",
    becomes: "if (command.epoch !== undefined && command.epoch > state.epoch) {",
    tests: MACHINE_TESTS,
  },
  {
    name: "only the master is flushed",
    file: "src/host/terminal/probe/tty.ts",
    text: "tcflush(fd, TCIFLUSH) === 0) ?? false",
    becomes: "fd >= 0 && tcflush(master, TCIFLUSH) === 0) ?? false",
    tests: ["src/host/terminal/control-queue.test.ts"],
  },
  {
    name: "a lease is live at its last moment",
    file: STICK,
    text: "return this.#leaseLeftMs() > 0;",
    becomes: "return this.#leaseLeftMs() >= 0;",
    tests: STICK_TESTS,
  },
  {
    name: "a person's key waits for its turn to revoke",
    file: "src/host/gate.ts",
    text: `if (drives && claim.by.kind !== "agent") this.#stick.admit(claim.by);`,
    becomes: "",
    tests: STICK_TESTS,
  },
  {
    name: "the loss is told before the queue is cleared",
    file: STICK,
    text: `    if (outcome.state !== before) this.#changed(before, outcome.state);
    for (const fact of outcome.facts) this.#position = this.#options.tell(fact);`,
    becomes: `    for (const fact of outcome.facts) this.#position = this.#options.tell(fact);
    if (outcome.state !== before) this.#changed(before, outcome.state);`,
    tests: STICK_TESTS,
  },
  {
    name: "an override doesn't clear the queue",
    file: "src/host/terminal/terminal.ts",
    text: "onAgentLost: () => this.work.lost(),",
    becomes: "onAgentLost: () => undefined,",
    tests: ["src/host/terminal/control-queue.test.ts"],
  },
  {
    name: "what is queued is not judged again",
    file: STICK,
    text: `if (mode !== "AGENT" || lease === null || this.#leaseLive()) return mode === "AGENT";`,
    becomes: `if (mode !== "AGENT" || lease === null || lease !== null) return mode === "AGENT";`,
    tests: STICK_TESTS,
  },
  {
    name: "a restart keeps the agent in control",
    file: MACHINE,
    text: `if (state.mode === "USER" || knownEpoch === state.epoch) return unchanged(state);`,
    becomes: `if (state.mode === "USER" || knownEpoch !== -1) return unchanged(state);`,
    tests: MACHINE_TESTS,
  },
  {
    name: "the shell gets no interrupt",
    file: "src/host/terminal/stop.ts",
    text: `      shell.signal("SIGINT");`,
    becomes: "",
    tests: ["src/host/terminal/stop-shells.test.ts"],
  },
  {
    name: "what is made to stand still is not killed",
    file: "src/host/terminal/sweep.ts",
    text: "for (const pid of this.#stopped) this.#kill(pid);",
    becomes: "return true;",
    tests: ["src/host/terminal/stop-processes.test.ts"],
  },
  {
    name: "the hub makes an epoch of its own",
    file: "src/server/hosts/host-driver.ts",
    text: `by.kind === "agent" ? { epoch: this.#epochs.get(sessionId) ?? FIRST_EPOCH } : {}`,
    becomes: `by.kind === "agent" ? { epoch: (this.#epochs.get(sessionId) ?? FIRST_EPOCH) + 1 } : {}`,
    tests: MODEL,
  },
  {
    name: "the hub sends no epoch",
    file: "src/server/hosts/host-driver.ts",
    text: `by.kind === "agent" ? { epoch: this.#epochs.get(sessionId) ?? FIRST_EPOCH } : {}`,
    becomes: "{}",
    tests: MODEL,
  },
  {
    name: "an agent that says no epoch is not late",
    file: STICK,
    text: "epoch: isOwn ? this.epoch : (epoch ?? 0) });",
    becomes: "epoch: isOwn ? this.epoch : (epoch ?? this.epoch) });",
    tests: ["src/host/gate.test.ts"],
  },
  {
    name: "a viewer's loss ends the hold",
    file: MACHINE,
    text: "const next = { ...state, attended };",
    becomes: "const next = { ...state, attended, held: attended && state.held };",
    tests: MACHINE_TESTS,
  },
  {
    name: "a flagged session is interactive with a viewer only",
    file: "src/hub/control-desk.ts",
    text: "const attended = interactive || this.#attendance.isAttended(sessionId);",
    becomes: "const attended = interactive && this.#attendance.isAttended(sessionId);",
    tests: MODEL,
  },
  {
    name: "a link that breaks again ends the session",
    file: "src/hub/session-desk.ts",
    text: `if (isRefusal(error, "host_offline") || isRefusal(error, "unknown_outcome")) return undefined;`,
    becomes: "",
    tests: ["test/control/link-breaks.test.ts"],
  },
  {
    name: "who comes while the gate is told of who left is forgotten",
    file: "src/hub/control-desk.ts",
    text: 'await this.change(sessionId, { type: "attended", attended, ...instead });',
    becomes: 'return void (await this.change(sessionId, { type: "attended", attended, ...instead }));',
    tests: ["test/control/link-breaks.test.ts"],
  },
  {
    name: "WAIT clears STOP_NOW",
    file: MACHINE,
    text: `if (state.intent === "STOP_NOW") return change(state, { type: "intent", by, payload: { intent } });`,
    becomes: "",
    tests: MACHINE_TESTS,
  },
  {
    name: "a safe point ignores SAFE_INTERRUPT",
    file: MACHINE,
    text: "if (isPending && mayDrive(state, by, moment)) {",
    becomes: "if (isPending && state.epoch < 0) {",
    tests: MACHINE_TESTS,
  },
  {
    name: "renew revives a lease that is over",
    file: MACHINE,
    text: `command.type === "expire" || leaseIsOver(state, moment) ?`,
    becomes: `command.type === "expire" || (command.type !== "renew" && leaseIsOver(state, moment)) ?`,
    tests: MACHINE_TESTS,
  },
  {
    name: "an agent may grant",
    file: MACHINE,
    text: `  if (by.kind !== "person") return { ...unchanged(state), refusal: "control_refused" };
  if (expectedEpoch`,
    becomes: "  if (expectedEpoch",
    tests: MACHINE_TESTS,
  },
  {
    name: "a take doesn't hold",
    file: MACHINE,
    text: `handOver(state, { reason: "taken", by, to: by, status: statusAfterLoss(state) });`,
    becomes: `handOver(state, { reason: "taken", by, to: by, status: statusAfterLoss(state), held: false });`,
    tests: MACHINE_TESTS,
  },
  {
    name: "a grant is installed before it is stored",
    file: "src/hub/control-desk.ts",
    text: "    await this.#parts.journal.note(",
    becomes: "    void this.#parts.journal.note(",
    tests: ["test/control/grant-order.test.ts"],
  },
  {
    name: "a grant is installed over any epoch",
    file: MACHINE,
    text: "if (expectedEpoch !== undefined && expectedEpoch !== state.epoch)",
    becomes: "if (expectedEpoch === -1)",
    tests: MACHINE_TESTS,
  },
  {
    name: "agents gain time before a pause by asking",
    file: STICK,
    text: "if (isPending && this.#overdue !== undefined) return;",
    becomes: "",
    tests: STICK_TESTS,
  },
  {
    name: "a class of its own lets an agent past the stick",
    file: "src/host/gate.ts",
    text: `    if (by.kind !== "person") return "drive";\n`,
    becomes: "",
    tests: STICK_TESTS,
  },
  {
    name: "an agent goes on to end a program that a person took control to save",
    file: "src/host/terminal/ending.ts",
    text: `by.kind === "agent" ? () => refuseIfLost(recheck) : () => undefined;`,
    becomes: "() => undefined;",
    tests: ["src/host/terminal/terminal-session.test.ts"],
  },
  {
    name: "a host that comes back to a new hub serves agents before they are revoked",
    file: "src/hub/session-desk.ts",
    text: "if (this.#left.has(session.sessionId)) this.#settling.add(session.sessionId, adoption);",
    becomes: "",
    tests: ["test/control/link-breaks.test.ts"],
  },
  {
    name: "an agent goes on at a safe point by what was granted before the hub's restart",
    file: "src/hub/control-desk.ts",
    text: `if (!known.isOurs && "by" in change && change.by.kind === "agent") await this.#reconnect(known);`,
    becomes: "",
    tests: ["test/control/link-breaks.test.ts"],
  },
  {
    name: "an agent closes its session past the gate",
    file: "src/hub/session-desk.ts",
    text: `await this.#parts.control.refuseUnlessGoingOn(sessionId, by, "close");`,
    becomes: "this.#parts.control.refuseUnlessDriving(sessionId, by);",
    tests: ["test/control/link-breaks.test.ts"],
  },
  {
    name: "a stop lets go on what the shell runs for an agent that drives no longer",
    file: "src/host/terminal/terminal-session.ts",
    text: "drivesForeground: isDriving || work.isInFront",
    becomes: "drivesForeground: isDriving",
    tests: LEFT_RUNNING,
  },
  {
    name: "a stop lets go on what an agent typed into a person's program before it lost control",
    file: "src/host/terminal/agent-work.ts",
    text: ' || this.#last === "agent"',
    becomes: "",
    tests: ["src/host/terminal/stop-inside.test.ts"],
  },
  {
    name: "what an ended shell leaves behind goes to init",
    file: "src/host/orphans.ts",
    text: "prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)",
    becomes: "prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)",
    tests: LEFT_RUNNING,
  },
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
  {
    name: "a saved cursor goes with what scrolls",
    file: "src/host/terminal/screen/emulator.ts",
    text: "keepSavedCursorOnScreen(this.#terminal as unknown as SavingTerminal);",
    becomes: "void (keepSavedCursorOnScreen satisfies (it: SavingTerminal) => void);",
    tests: ["src/host/terminal/screen/emulator.test.ts"],
  },
  {
    name: "a run that heeds nothing is not killed",
    file: "src/host/terminal/ending.ts",
    text: 'act: () => shell.signalForeground("SIGKILL")',
    becomes: "act: () => false",
    tests: ["src/host/terminal/terminal-session.test.ts"],
  },
];
