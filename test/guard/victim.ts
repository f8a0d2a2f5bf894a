/**
 * A person whose machine an agent works on: a home, a running hub and host, a terminal of the person's, and servers of
 * theirs that listen on sockets. Everything runs as `account`.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { SidestickClient } from "../../src/client/sidestick.ts";
import { takeDown } from "../../src/main/down.ts";
import { compileCache } from "../support/compile-cache.ts";
import { addressOf, tokenOf } from "../support/hub.ts";
import { UNJUDGED } from "../support/policy.ts";
import { CLI } from "../support/run-cli.ts";

export type Account = { readonly uid: number; readonly gid: number };

const HUB = fileURLToPath(new URL("victim-hub.ts", import.meta.url));
const ROOT = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");

export class Victim implements AsyncDisposable {
  readonly directory: string;
  readonly account: Account;
  url = "";
  agent!: SidestickClient;
  person!: SidestickClient;
  agentToken = "";
  hubPid = 0;
  /** The terminal of the person's, not the agent's. */
  otherPid = 0;
  otherSession = "";
  readonly #ends: (() => Promise<unknown> | undefined)[] = [];

  private constructor(account: Account) {
    this.account = account;
    this.directory = mkdtempSync(join(tmpdir(), "ssv-"));
    chmodSync(this.directory, 0o755);
  }

  static async open(account: Account): Promise<Victim> {
    const victim = new Victim(account);
    try {
      victim.#furnish();
      await victim.#listen();
      await victim.#start();
    } catch (error) {
      await victim[Symbol.asyncDispose]();
      throw error;
    }
    return victim;
  }

  /** In the names of what lies outside its directory: a process's number would be another test's one day. */
  get #scene(): string {
    return this.directory.slice(-6);
  }

  get home(): string {
    return join(this.directory, "home");
  }

  get dataDir(): string {
    return join(this.home, ".local", "share", "sidestick");
  }

  /** What an attempt may know: the agent is clever, so it knows all. */
  get facts(): Readonly<Record<string, string>> {
    const { home, dataDir, directory } = this;
    return {
      DATA: dataDir,
      CONFIG: join(home, ".config", "sidestick"),
      HEADS: join(home, ".local", "state", "sidestick"),
      INSTALL: ROOT,
      NODE: process.execPath,
      URL: this.url,
      TOKEN: this.agentToken,
      HUB: String(this.hubPid),
      HOST: readFileSync(join(dataDir, "host", "lock"), "utf8").trim(),
      OTHER: String(this.otherPid),
      OTHER_SESSION: this.otherSession,
      VICTIM: directory,
      EVIL: join(directory, "evil"),
      TMUX_SOCKET: this.tmuxSocket,
      ABSTRACT: this.abstractName,
      SCENE: this.#scene,
    };
  }

  get abstractName(): string {
    return `ssv-${this.#scene}`;
  }

  /** Made by somebody outside at the wish of somebody inside. */
  get evil(): readonly string[] {
    return readdirSync(join(this.directory, "evil"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const end of this.#ends.toReversed()) await end();
    if (this.url !== "") await takeDown(this.dataDir);
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5 });
  }

  /** A command of the person's; its output. */
  async run(file: string, args: readonly string[]): Promise<string> {
    const child = this.spawn(file, args);
    const [output] = await Promise.all([text(child.stdout!), once(child, "exit")]);
    return output;
  }

  cli(...args: readonly string[]): Promise<string> {
    return this.run(process.execPath, ["--disable-warning=ExperimentalWarning", CLI, ...args]);
  }

  /** A process of the person's. */
  spawn(file: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess {
    const child = spawn(file, args, {
      ...this.account,
      env: { ...compileCache(this.account), PATH: "/usr/bin:/bin", HOME: this.home, LANG: "C.UTF-8", ...env },
      cwd: this.home,
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.#ends.push(() => {
      if (child.exitCode !== null || child.signalCode !== null) return undefined;
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      return exited;
    });
    return child;
  }

  write(path: string, content: string, mode = 0o600): void {
    const file = join(this.home, path);
    this.#mkdir(dirname(file));
    writeFileSync(file, content, { mode });
    chownSync(file, this.account.uid, this.account.gid);
  }

  #mkdir(path: string): void {
    if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return;
    this.#mkdir(dirname(path));
    mkdirSync(path, { mode: 0o755 });
    chownSync(path, this.account.uid, this.account.gid);
  }

  #furnish(): void {
    this.#mkdir(this.home);
    chmodSync(this.home, 0o700);
    this.#mkdir(join(this.directory, "evil"));
    this.write(".bashrc", "# mine\n");
    this.write(".profile", 'if [ -d "$HOME/bin" ]; then PATH="$HOME/bin:$PATH"; fi\n');
    this.write(".aws/credentials", "aws_secret_access_key = of-the-person\n");
    this.write(".ssh/id_ed25519", "of-the-person\n");
    this.write(".config/chromium/Cookies", "of-the-person\n");
    this.write(".local/bin/tool", "#!/bin/sh\n", 0o755);
    this.write("project/README", "to be worked on\n");
    this.write(".config/sidestick/config.json", "{}\n");
    this.write(".local/share/sidestick/policy.yaml", UNJUDGED);
    chmodSync(this.dataDir, 0o700);
    const login = { HOME: this.home, SHELL: "/bin/bash", USER: "victim", LOGNAME: "victim", LANG: "C.UTF-8" };
    const PATH = `${this.home}/.local/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin`;
    this.write(".local/share/login.json", JSON.stringify({ ...login, PATH }));
  }

  /** Servers of the person's, each on a socket that gives power. */
  async #listen(): Promise<void> {
    await Promise.all(
      [
        join(this.home, ".docker", "run", "docker.sock"),
        join(this.home, ".gnupg", "S.gpg-agent"),
        `/tmp/ssh-ssv${this.#scene}/agent.1`,
        `/tmp/.X11-unix/X${this.#scene}`,
        `/run/ssv-${this.#scene}/docker.sock`,
        `\0${this.abstractName}`,
      ].map((path) => this.#serve(path)),
    );
    this.#mkdir(dirname(this.tmuxSocket));
    chmodSync(dirname(this.tmuxSocket), 0o700);
    await this.run("/usr/bin/tmux", ["-S", this.tmuxSocket, "-f", "/dev/null", "new", "-d", "cat"]);
    this.#ends.push(async () => {
      await this.run("/usr/bin/tmux", ["-S", this.tmuxSocket, "kill-server"]);
      rmSync(this.tmuxSocket, { force: true });
    });
  }

  get tmuxSocket(): string {
    return `/tmp/tmux-${this.account.uid}/ssv-${this.#scene}`;
  }

  async #serve(path: string): Promise<void> {
    const isFile = !path.startsWith("\0");
    if (isFile) mkdirSync(dirname(path), { recursive: true, mode: 0o777 });
    const server: Server = createServer((socket) => socket.on("error", () => undefined).end("power\n")).listen(path);
    await once(server, "listening");
    if (isFile) chmodSync(path, 0o777);
    this.#ends.push(() => {
      if (isFile) rmSync(path, { force: true });
      // /tmp/.X11-unix is everybody's: another victim's server may listen there.
      if (dirname(path).includes(this.#scene)) rmSync(dirname(path), { recursive: true, force: true });
      return new Promise((resolve) => server.close(resolve));
    });
  }

  /** The hub's socket answers its own account alone. */
  async #operatorToken(): Promise<string> {
    if (this.account.uid === process.getuid?.()) return tokenOf(this.dataDir, "operator", "operator");
    return (await this.cli("token", "create", "--role", "operator", "--name", "operator")).trim();
  }

  async #start(): Promise<void> {
    const hub = this.spawn(process.execPath, ["--disable-warning=ExperimentalWarning", HUB, "--port", "0"]);
    this.hubPid = hub.pid ?? 0;
    this.url = await addressOf(hub);
    this.person = new SidestickClient({ url: this.url, token: await this.#operatorToken() });
    this.agentToken = (await this.person.token.create({ role: "agent", name: "agent" })).token;
    this.agent = new SidestickClient({ url: this.url, token: this.agentToken });
    const { sessionId } = await this.person.session.create({ kind: "terminal", conversationId: "the person's" });
    this.otherSession = sessionId;
    const { pid = 0 } = await this.person.pty.status({ conversation_id: "the person's" });
    this.otherPid = pid;
  }
}
