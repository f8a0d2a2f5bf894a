/** A hub as a process, a host that joined it, and between them a way that can be cut. */
import type { ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SidestickClient } from "../../src/client/sidestick.ts";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { Cuttable } from "./cuttable.ts";
import { type HubProcess, operatorClient, spawnHub, tokenOf } from "./hub.ts";
import { keptPort } from "./kept-port.ts";
import { letAgentsBe } from "./policy.ts";
import { joinHost, type RemoteHostProcess, seen } from "./remote-host.ts";

export const FAR = "far";

export class FarStage {
  readonly way: Cuttable;
  readonly dataDir: string;
  readonly person: SidestickClient;
  hub!: HubProcess;
  host!: RemoteHostProcess;
  /** Doesn't go over the way that is cut. */
  agent!: SidestickClient;
  readonly #port: number;

  /** For a whole file: what `beforeAll` returns must be `stop`. */
  static async open(policy?: string): Promise<FarStage> {
    const dataDir = await mkdtemp(join(tmpdir(), "sidestick-"));
    const stage = new FarStage(await Cuttable.open(), dataDir, await keptPort());
    await stage.#set(policy).catch(async (error: unknown) => {
      await stage.stop();
      throw error;
    });
    return stage;
  }

  private constructor(way: Cuttable, dataDir: string, port: number) {
    this.way = way;
    this.way.target = port;
    this.dataDir = dataDir;
    this.#port = port;
    this.person = operatorClient(dataDir);
  }

  async #set(policy?: string): Promise<void> {
    await letAgentsBe(this.dataDir, policy);
    await this.startHub();
    const { person, way } = this;
    const joining = { url: way.url, person, name: FAR, workspaceId: FAR };
    this.host = await joinHost({ ...joining, env: { SIDESTICK_TEST_REDACTION: "off" } });
    await person.workspace.put({ workspaceId: FAR, settings: { containment: "open" } });
    this.agent = await this.as("agent", "bot");
  }

  /** Before each test: whatever the one before it cut or killed is there again. */
  readonly mend = async (): Promise<void> => {
    this.way.heal();
    if (hasEnded(this.hub.child)) await this.startHub();
    if (hasEnded(this.host.child)) await this.host.again();
    await seen(this.person, FAR, true);
  };

  /** On the same port each time. */
  async startHub(): Promise<void> {
    const args = ["--public-url", this.way.url, "--port", String(this.#port)];
    this.hub = await spawnHub(this.dataDir, args);
  }

  readonly stop = async (): Promise<void> => {
    await this.host?.end();
    await this.hub?.kill();
    await this.way.close();
    await rm(this.dataDir, { recursive: true, force: true, maxRetries: 10 });
  };

  async as(role: "agent" | "operator", name: string): Promise<SidestickClient> {
    return new SidestickClient({
      url: `http://127.0.0.1:${this.#port}`,
      token: await tokenOf(this.dataDir, role, name),
    });
  }

  /** A terminal there, at its prompt. */
  async terminal(conversation_id: string, interactive = false): Promise<string> {
    const session = { kind: "terminal", workspaceId: FAR, conversationId: conversation_id, interactive } as const;
    const { sessionId } = await this.agent.session.create(session);
    if (!interactive) await this.agent.pty.exec_block({ conversation_id, command: "true", wait_ms: WAIT_BUDGET_MS });
    return sessionId;
  }

  async rawOutput(conversation_id: string, block_id: string): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let from: number | undefined; ;) {
      const wanted = { conversation_id, block_id, view: "raw", max_bytes: 65_536 } as const;
      const page = await this.person.pty.read_output({ ...wanted, ...(from !== undefined && { from_cursor: from }) });
      parts.push(Buffer.from(page.data, "base64"));
      if (page.cursor >= page.end_cursor || page.data === "") return Buffer.concat(parts);
      from = page.cursor;
    }
  }
}

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;
