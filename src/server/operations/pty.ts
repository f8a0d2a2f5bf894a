/** Terminals (seed 001): input → one call of the terminal desk → output. */
import type { TerminalDesk } from "../../hub/terminal-desk.ts";
import type { CallContext } from "../caller.ts";
import type { Handlers } from "../dispatcher.ts";

const by = ({ caller, signal }: CallContext) => ({ actor: caller.actor, signal });

export function ptyHandlers(terminals: TerminalDesk) {
  return {
    "pty.exec_block": (input, context) => terminals.execBlock(input, by(context)),
    "pty.exec_interactive": (input, context) => terminals.execInteractive(input, by(context)),
    "pty.send": (input, context) => terminals.send(input, by(context)),
    // Interrupting is always allowed to whoever may type at all.
    "pty.ctrl_c": (input, context) => terminals.send({ ...input, keys: ["C-c"] }, by(context), { notAtShell: false }),
    "pty.ctrl_d": (input, context) => terminals.send({ ...input, keys: ["C-d"] }, by(context)),
    "pty.enter": (input, context) => terminals.send({ ...input, keys: ["Enter"] }, by(context)),
    "pty.wait_for": (input, context) => terminals.waitFor(input, by(context)),
    "pty.expect_send": (input, context) => terminals.expectSend(input, by(context)),
    "pty.read_output": (input) => terminals.readOutput(input),
    "pty.read_screen": (input) => terminals.readScreen(input),
    "pty.blocks": (input) => terminals.blocks(input),
    "pty.status": (input) => terminals.status(input),
    "pty.end_session": (input, context) => terminals.endSession(input, by(context)),
    "pty.reset": (input, context) => terminals.reset(input, by(context)),
    "pty.resize": (input, context) => terminals.resize(input, by(context)),
  } satisfies Partial<Handlers>;
}
