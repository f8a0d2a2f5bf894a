/**
 * A bare program on a real PTY as a hosted session: bytes, input, size, end. It stands in for the terminal in tests of
 * the link. A program should not end while its session may be paused: node-pty then drops what it has not read.
 */
import { write } from "node:fs";
import { spawn, type IPty } from "@lydell/node-pty";
import type { SessionFrame } from "../../src/domain/session-frame.ts";
import type { HostedSession, OpenSession, Reply, SessionRequest } from "../../src/host/hosted-session.ts";
import { AppError } from "../../src/protocol/errors.ts";
import { BODY_MAX } from "../../src/protocol/link.ts";

/** Every session runs `command`, by `/bin/sh`, without echo and without translation. */
export function plainSessions(command: string): OpenSession {
  return async (start, emit) => {
    if (start.cwd === "/refuse") throw new AppError("limit_reached", { detail: "asked to refuse", most: 3 });
    const pty = spawn("/bin/sh", ["-c", String.raw`stty raw -echo -opost; printf '\6'; ${command}`], {
      encoding: null,
      cols: start.cols,
      rows: start.rows,
      cwd: "/",
      env: { PATH: "/usr/local/bin:/usr/bin:/bin", TERM: "xterm-256color" },
    });
    const session = new PlainSession(start.session_id, pty, emit);
    await session.ready;
    return session;
  };
}

class PlainSession implements HostedSession {
  readonly sessionId: string;
  readonly #ready = Promise.withResolvers<void>();
  readonly #pty: IPty;
  readonly #emit: (frame: SessionFrame) => void;
  #order = 0;
  #cursor = 0;
  #writing: Promise<void> = Promise.resolve();

  constructor(sessionId: string, pty: IPty, emit: (frame: SessionFrame) => void) {
    this.sessionId = sessionId;
    this.#pty = pty;
    this.#emit = emit;
    // With `encoding: null` it gives bytes, whatever its types say.
    let first = 1;
    pty.onData((data) => {
      this.#output((data as unknown as Buffer).subarray(first));
      first = 0;
      this.#ready.resolve();
    });
    pty.onExit(({ exitCode, signal }) => {
      const how = signal ? { signal: `SIG${signal}` } : { exitCode };
      this.#emit({ ...this.#place(), kind: "exit", at: Date.now(), reason: "exited", ...how });
    });
  }

  /** Resolves when what is typed is no longer echoed by the terminal itself: the first byte says so. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  async handle(request: SessionRequest, body: Uint8Array): Promise<Reply> {
    switch (request.type) {
      case "SEND_INPUT":
        await (this.#writing = this.#writing.then(() => this.#write(body)));
        return { fields: { position: this.#order, cursor: this.#cursor, bytes: body.length, number: request.number } };
      case "RESIZE": {
        const { cols, rows, by } = request;
        this.#pty.resize(cols, rows);
        this.#emit({ ...this.#place(), kind: "event", at: Date.now(), type: "resize", payload: { cols, rows }, by });
        return { fields: {} };
      }
      case "STATUS":
        return { fields: { mode: "idle", pid: this.#pty.pid, shell: "sh", integration: "none", cols: 1, rows: 1 } };
      case "SNAPSHOT":
        return { fields: { cols: 1, rows: 1, cursor: this.#cursor }, body: Buffer.from("é".repeat(200_000)) };
      case "TERMINATE_CMD":
        this.#pty.kill("SIGKILL");
        return { fields: {} };
      default:
        throw new Error(`${request.type} is not for plain sessions`);
    }
  }

  pause(): void {
    this.#pty.pause();
  }

  resume(): void {
    this.#pty.resume();
  }

  #place() {
    return { order: (this.#order += 1), cursor: this.#cursor };
  }

  #output(data: Uint8Array): void {
    for (let at = 0; at < data.length; at += BODY_MAX) {
      const bytes = data.subarray(at, at + BODY_MAX);
      this.#emit({ ...this.#place(), kind: "bytes", bytes });
      this.#cursor += bytes.length;
    }
  }

  /** Waits for a program that doesn't read. */
  async #write(body: Uint8Array): Promise<void> {
    const { fd } = this.#pty as IPty & { readonly fd: number };
    for (let done = 0; done < body.length;) done += await writeSome(fd, body.subarray(done, done + 4096));
  }
}

function writeSome(fd: number, bytes: Uint8Array): Promise<number> {
  return new Promise((resolve, reject) => {
    write(fd, bytes, (error, written) => {
      if (error === null) resolve(written);
      else if (error.code === "EAGAIN") setTimeout(() => resolve(0), 5);
      else reject(error);
    });
  });
}
