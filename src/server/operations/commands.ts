/** Commands of projects (seed 002): input → one call of the command desk → output. */
import type { CommandDesk } from "../../hub/command-desk.ts";
import type { CallContext } from "../caller.ts";
import type { Handlers } from "../dispatcher.ts";

const by = ({ caller, signal }: CallContext) => ({ actor: caller.actor, signal });

export function commandHandlers(commands: CommandDesk) {
  return {
    "command.execute": (input, context) => commands.execute(input, by(context)),
    "command.start": (input, context) => commands.begin(input, by(context)),
    "command.send": (input, context) => commands.send(input, by(context)),
    "command.wait": (input, context) => commands.wait(input, by(context)),
    "command.terminate": (input, context) => commands.terminate(input, by(context)),
  } satisfies Partial<Handlers>;
}
