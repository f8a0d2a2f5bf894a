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

export const AnyObject: z.ZodType<JsonObject> = z.record(z.string(), z.json());

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
