/** What hosts answer, read and put into the hub's words. */
import type { z } from "zod";
import type { Actor } from "../../domain/actor.ts";
import type { Foreground } from "../../hub/terminal-driver.ts";
import { AppError } from "../../protocol/errors.ts";
import type { StatusReply } from "../../protocol/link-replies.ts";
import type { Ask } from "./host-link.ts";

/** For whom it is asked. */
export function actorOf(ask: Ask): Actor | undefined {
  if (ask.type === "CONTROL") return "by" in ask.command ? ask.command.by : undefined;
  return "by" in ask ? ask.by : undefined;
}

/** Throws where the host's answer makes no sense. */
export function read<Schema extends z.ZodType>(schema: Schema, fields: unknown): z.output<Schema> {
  const { success, data, error } = schema.safeParse(fields);
  if (!success) throw new AppError("internal", { detail: "The host's answer makes no sense." }, { cause: error });
  return data;
}

/** Without what is absent. */
export function given<Fields extends object>(fields: Fields): { [K in keyof Fields]?: NonNullable<Fields[K]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as ReturnType<
    typeof given<Fields>
  >;
}

export function foregroundOf({
  programs,
  at_empty_prompt: atEmptyPrompt,
  hides_lines: hidesLines = false,
  waits,
}: NonNullable<z.output<typeof StatusReply>["foreground"]>): Foreground {
  return {
    programs,
    atEmptyPrompt,
    hidesLines,
    ...(waits && { waits: { promptId: waits.prompt_id, for: waits.for } }),
  };
}
