/** Shapes that several operations share. */
import { z } from "zod";
import type { JsonObject } from "../domain/event.ts";

export const Timestamp = z.iso.datetime({ precision: 3 }).meta({ description: "RFC 3339, UTC, milliseconds" });

export const Id = z.uuid();

/** Names people give: shown in lists and logs, so nothing invisible or multi-line. */
export const Name = z
  .string()
  .min(1)
  .max(128)
  .regex(/^[^\p{C}\p{Zl}\p{Zp}]+$/u, "must not hold control or invisible characters");

export const AnyObject: z.ZodType<JsonObject> = z.record(z.string(), z.json());

export const Limit = z.int().min(1).max(5000).default(500).meta({ description: "At most this many" });

export const Sequence = z.int().min(0).meta({ description: "A place in the log; grows, is not dense" });
