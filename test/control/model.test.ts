import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { TestViewer } from "../support/viewer.ts";
import type { ActorName } from "./world.ts";
import { World } from "./world.ts";
import { soakCount } from "../support/soak.ts";

const SEED = Number(process.env["SIDESTICK_SEED"] ?? Date.now() % 2 ** 31);
const COMMANDS = 100;
const RUNS = soakCount(200);

type Person = "ann" | "ben";
type Agent = "bot" | "cat";

/** One session of the world, from its beginning to its end. */
class Run {
  readonly world: World;
  readonly sessionId: string;
  readonly isFlagged: boolean;
  readonly viewers: TestViewer[] = [];
  commands = 0;

  constructor(world: World, sessionId: string, isFlagged: boolean) {
    this.world = world;
    this.sessionId = sessionId;
    this.isFlagged = isFlagged;
  }

  get gated() {
    return this.world.session(this.sessionId);
  }

  control(by: ActorName) {
    return this.world.client(by).control;
  }

  type(by: ActorName): Promise<unknown> {
    return this.world.client(by).session.input({ sessionId: this.sessionId, data: "x" });
  }

  refuseOffences(): void {
    expect(this.gated.referee.offences).toEqual([]);
    expect(this.world.failures).toEqual([]);
  }

  /** When all is quiet, hub, log and gate say the same, and a person can still have and give everything. */
  async end(): Promise<void> {
    await this.world.calm();
    for (const viewer of this.viewers.splice(0)) viewer.socket.terminate();
    await this.world.online();
    await this.agree();
    this.gated.sink.reads = true;
    // A link that has just come back may still take power away.
    await eventually(() => this.handOver());
    this.refuseOffences();
    await this.world.client("ann").session.close({ sessionId: this.sessionId });
  }

  async handOver(): Promise<void> {
    const { sessionId } = this;
    await this.control("ann").take({ sessionId });
    await this.control("ann").grant({ sessionId, lease_seconds: 60, agent_id: "bot" });
    const before = this.gated.referee.agentBytes;
    await this.type("bot");
    expect(this.gated.referee.agentBytes).toBeGreaterThan(before);
  }

  async agree(): Promise<void> {
    const { sessionId } = this;
    await eventually(async () => {
      const known = await this.control("ann").get({ sessionId });
      const { epoch, control_mode, holder, user_intent, attended, interactive } = this.gated.stick.describe();
      expect(known).toMatchObject({ epoch, control_mode, holder, user_intent, interactive });
      expect(attended).toBe(this.isFlagged);
    });
  }
}

class Command implements fc.AsyncCommand<object, Run> {
  readonly #name: string;
  readonly #perform: (run: Run) => Promise<unknown>;

  constructor(name: string, perform: (run: Run) => Promise<unknown>) {
    this.#name = name;
    this.#perform = perform;
  }

  check(): boolean {
    return true;
  }

  async run(_model: object, run: Run): Promise<void> {
    run.commands += 1;
    await this.#perform(run);
    run.refuseOffences();
  }

  toString(): string {
    return this.#name;
  }
}

const person = fc.constantFrom<Person>("ann", "ben");
const agent = fc.constantFrom<Agent>("bot", "cat");

function asked(name: string, call: (run: Run) => Promise<unknown>): Command {
  return new Command(name, (run) => run.world.ask(call(run)));
}

const grants = fc
  .tuple(person, fc.option(agent), fc.constantFrom(0.5, 60, 3600), fc.constantFrom(true, true, false))
  .map(([by, to, lease_seconds, attend]) =>
    asked(`${by} grants ${to} ${lease_seconds}`, (run) => {
      const named = to === null ? {} : { agent_id: to };
      return run.control(by).grant({ sessionId: run.sessionId, lease_seconds, attend, ...named });
    }),
  );

const ofPeople = [
  person.map((by) => asked(`${by} takes`, (run) => run.control(by).take({ sessionId: run.sessionId }))),
  person.map((by) => asked(`${by} releases`, (run) => run.control(by).release({ sessionId: run.sessionId }))),
  person.map((by) => asked(`${by} declines`, (run) => run.control(by).decline({ sessionId: run.sessionId }))),
  person.map((by) => asked(`${by} types`, (run) => run.type(by))),
  fc
    .tuple(person, fc.constantFrom("WAIT", "SAFE_INTERRUPT", "STOP_NOW"))
    .map(([by, intent]) =>
      asked(`${by} says ${intent}`, (run) => run.control(by).user_intent({ sessionId: run.sessionId, intent })),
    ),
];

const ofAgents = [
  agent.map((by) => asked(`${by} types`, (run) => run.type(by))),
  agent.map((by) => asked(`${by} types`, (run) => run.type(by))),
  agent.map((by) => asked(`${by} types`, (run) => run.type(by))),
  agent.map((by) => asked(`${by} renews`, (run) => run.control(by).renew({ sessionId: run.sessionId }))),
  agent.map((by) => asked(`${by} releases`, (run) => run.control(by).release({ sessionId: run.sessionId }))),
  agent.map((by) => asked(`${by} asks`, (run) => run.control(by).request({ sessionId: run.sessionId, reason: "r" }))),
  agent.map((by) =>
    asked(`${by} is at a safe point`, (run) =>
      run.control(by).safe_point({ sessionId: run.sessionId, step: "s", sequence: 1 }),
    ),
  ),
];

const ofTheWorld = [
  fc.boolean().map((reads) => new Command(`reads: ${reads}`, async (run) => void (run.gated.sink.reads = reads))),
  fc
    .constantFrom(100, 499, 500, 5_000, 60_000)
    .map((ms) => new Command(`${ms} ms pass`, async (run) => void (run.world.nowMs += ms))),
  fc
    .constantFrom(-3_600_000, 3_600_000)
    .map((ms) => new Command(`the wall clock jumps ${ms}`, async () => void vi.setSystemTime(Date.now() + ms))),
  fc
    .boolean()
    .map(
      (input) =>
        new Command(`a viewer comes, input: ${input}`, async (run) =>
          run.viewers.push(await run.world.attach(run.sessionId, input)),
        ),
    ),
  fc.constant(new Command("a viewer goes", async (run) => run.viewers.pop()?.socket.terminate())),
  fc.constant(new Command("messages are kept", async (run) => void (run.world.proxy.keeps = true))),
  fc
    .tuple(fc.nat(7), fc.boolean())
    .map(([index, again]) => new Command(`message ${index} passes`, async (run) => run.world.proxy.pass(index, again))),
  fc.nat().map((pick) => new Command("all messages pass", (run) => run.world.calm((count) => pick % count))),
];

const rare = [
  fc.constant(new Command("the link is cut", async (run) => run.world.proxy.cut())),
  fc.constant(new Command("the hub restarts", (run) => run.world.restart())),
];

const command = fc.oneof(
  { weight: 30, arbitrary: grants },
  { weight: 30, arbitrary: fc.oneof(...ofPeople) },
  { weight: 90, arbitrary: fc.oneof(...ofAgents) },
  { weight: 48, arbitrary: fc.oneof(...ofTheWorld) },
  { weight: 2, arbitrary: fc.oneof(...rare) },
);

test(`[CTL-2, CTL-13, CTL-14, CTL-17, CTL-19, CTL-20, CTL-22, CTL-23] no agent byte without a live grant of the present epoch`, async () => {
  vi.useFakeTimers({ toFake: ["Date"], shouldAdvanceTime: true });
  const world = await World.open();
  let commands = 0;
  let agentBytes = 0;
  const property = fc.asyncProperty(
    fc.boolean(),
    fc.array(command, { minLength: COMMANDS, maxLength: COMMANDS, size: "max" }),
    async (interactive, steps) => {
      const run = new Run(world, await world.begin(interactive), interactive);
      for (const step of steps) await step.run({}, run);
      await run.end();
      commands += run.commands;
      agentBytes += run.gated.referee.agentBytes;
    },
  );
  await fc.assert(property, { seed: SEED, numRuns: RUNS, endOnFailure: true });
  console.log(`seed ${SEED}: ${commands} commands, ${agentBytes} parts of agents' inputs`);
  expect(commands).toBe(RUNS * COMMANDS);
  expect(agentBytes).toBeGreaterThan(RUNS);
  vi.useRealTimers();
});
