/** Failures of the file system, as callers of the byte store see them. Rule BYT-12. */
import { StorageFailed } from "../../hub/ports.ts";

/** Anything else, as a cursor that is no longer kept or a fault of ours, is answered as it is. */
export function asStorageFailed(error: unknown, path: string): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (syscall === undefined) return error;
  return new StorageFailed(`Output in ${path} can't be reached (${code}).`, { cause: error });
}
