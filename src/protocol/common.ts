/** Shapes that several operations share. */
import { z } from "zod";
import type { JsonObject } from "../domain/event.ts";

export const Timestamp = z.iso.datetime({ precision: 3 }).meta({ description: "RFC 3339, UTC, milliseconds" });

export const Id = z.uuid();

/** An id in a path: one that can't exist is answered like one that doesn't. */
export const AnyId = z.string().min(1).max(128);

/** Names people give: shown in lists and logs, so nothing invisible or multi-line. */
export const Name = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[^\p{C}\p{Zl}\p{Zp}]+$/u, "must not hold control or invisible characters");

/**
 * A JSON object of any content. Where it comes from, it has been parsed as JSON already; walking it again by a
 * recursive schema took seconds for a few megabytes of brackets.
 */
export const AnyObject: z.ZodType<JsonObject> = z.looseObject({}) as z.ZodType<JsonObject>;

/** As much as a person can be expected to look at, and as much as every reader of the log can bear. */
export const PAYLOAD_LIMIT = 32 * 1024;

export const Payload = AnyObject.refine((it) => JSON.stringify(it).length <= PAYLOAD_LIMIT, {
  message: `must not be larger than ${PAYLOAD_LIMIT} characters of JSON`,
});

/** Takes the names of a list and older names for some of them; gives only names of the list. */
export function enumWithOlder<const Name extends string, const Older extends string>(
  names: readonly Name[],
  older: Readonly<Record<Older, Name>>,
): z.ZodType<Name, Name | Older> {
  const olderNames = Object.keys(older) as Older[];
  return z.enum([...names, ...olderNames]).transform((it) => (older as Record<string, Name>)[it] ?? (it as Name));
}

export const Limit = z.int().min(1).max(5000).default(500).meta({ description: "At most this many" });

export const Sequence = z.int().min(0).meta({ description: "A place in the log; grows, is not dense" });
