/** A terminal whose agent's commands are bound before they run. */
import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { z } from "zod";
import type { JsonObject } from "../../src/domain/event.ts";
import { PreparedReply } from "../../src/protocol/link-replies.ts";
import { BOT, type FinishedBlock, OpenedTerminal } from "./terminal.ts";

export type Wanted = { readonly programs: string[]; readonly scripts: string[]; readonly cwd?: string };
export type Prepared = Wanted & { readonly reply: z.infer<typeof PreparedReply> };

export class BoundTerminal {
  readonly terminal: OpenedTerminal;

  private constructor(terminal: OpenedTerminal) {
    this.terminal = terminal;
  }

  /** In its home: `x.sh`, `l.sh` that leads to it, `d/y.sh`, and `bin/tool` in PATH after `first`. */
  static async open(shell: string, containment?: "guard"): Promise<BoundTerminal> {
    const options = containment === undefined ? {} : { containment };
    const terminal = await OpenedTerminal.open({ shell: `/usr/bin/${shell}`, ...options });
    const bound = new BoundTerminal(terminal);
    for (const name of ["d", "bin", "first"]) mkdirSync(bound.path(name));
    for (const name of ["x.sh", "d/y.sh", "bin/tool"]) bound.write(name, "echo good");
    await terminal.block(
      shell === "fish"
        ? "set -gx PATH $HOME/first $HOME/bin $PATH; ln -s x.sh l.sh"
        : 'export PATH="$HOME/first:$HOME/bin:$PATH"; ln -s x.sh l.sh',
    );
    return bound;
  }

  path(name: string): string {
    return join(this.terminal.home, name);
  }

  write(name: string, script: string): void {
    writeFileSync(this.path(name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }

  async prepare(wanted: Wanted): Promise<Prepared> {
    const { fields } = await this.terminal.ask({ type: "PREPARE", by: BOT, ...wanted });
    return { ...wanted, reply: PreparedReply.parse(fields) };
  }

  /** To its end. */
  async run({ programs, scripts, cwd, reply }: Prepared, command: string): Promise<BoundBlock> {
    const { terminal } = this;
    const block_id = randomUUID();
    const bound = { programs, scripts, digest: reply.digest };
    const place = cwd === undefined ? {} : { cwd };
    const ask = { type: "RUN_BLOCK", by: BOT, block_id, bound, epoch: reply.epoch, ...place } as const;
    const { fields } = await terminal.ask(ask, command);
    const begun = {
      blockId: block_id,
      ...(fields as { seq: number; cursor: number; position: number; began_at: number }),
    };
    const finished = await terminal.finished(begun);
    // What was found is told before anything else gets its turn.
    await terminal.ask({ type: "CHANGES" });
    const violated = terminal.events("approval_violated").find((it) => it.payload["blockId"] === block_id);
    return { ...finished, violated: violated?.payload };
  }

  /** After an interrupt the agent needs a person. */
  async letGoOn(): Promise<void> {
    await this.terminal.ask({ type: "CONTROL", command: { type: "release", by: { kind: "person", id: "ann" } } });
  }
}

type BoundBlock = FinishedBlock & { readonly violated: JsonObject | undefined };
