/** What happened in a session while an agent did not have it (CTL-34). */
import type { Actor } from "../domain/actor.ts";
import type { Control } from "../protocol/control.ts";
import type { BlockDesk } from "./block-desk.ts";
import type { ControlDesk } from "./control-desk.ts";
import type { OutputReader } from "./output-reader.ts";

export type ControlChangesParts = {
  readonly control: ControlDesk;
  readonly blocks: BlockDesk;
  readonly reader: OutputReader;
};

/** Enough to go on; the rest is in `blocks` and `read_output`. */
const BLOCKS_TOLD = 50;

export class ControlChanges {
  readonly #parts: ControlChangesParts;

  constructor(parts: ControlChangesParts) {
    this.#parts = parts;
  }

  /** Undefined for everybody but the agent that has control again. */
  async since(sessionId: string, by: Actor): Promise<Control["changed"]> {
    const { control, blocks, reader } = this.#parts;
    const { mode, holder } = control.state(sessionId);
    const lost = control.lostAt(sessionId, by.id);
    if (by.kind !== "agent" || mode !== "AGENT" || holder?.id !== by.id || lost === undefined) return undefined;
    const ran = (await blocks.list(sessionId)).filter((it) => it.position > lost.position && it.by.id !== by.id);
    return {
      from_cursor: lost.cursor,
      to_cursor: await reader.size(sessionId),
      from_position: lost.position,
      blocks: ran.slice(-BLOCKS_TOLD).map(({ blockId: block_id, seq, command, end }) => ({
        block_id,
        seq,
        command,
        ...(end?.exitCode === undefined ? {} : { exit_code: end.exitCode }),
      })),
    };
  }
}
