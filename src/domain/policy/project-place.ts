/**
 * Whether a directory may be what an agent works on where nobody said so. Agents choose where their shells stand: what only
 * they chose must not make writing into start-up files or the machine's own places everyday work. Rule POL-5.
 */
import { isWithin, normal } from "./paths.ts";

const MACHINES_OWN =
  /^\/(?:bin|boot|dev|etc|lib|lib32|lib64|libx32|proc|run|sbin|sys|usr|var\/(?:lib|log|spool|cache|mail|backups))(?:\/|$)/;
/** Hidden directories hold settings and keys, `bin` what other shells run; the rest is what people keep. */
const PERSONS_OWN = /^(?:\..*|(?:bin|Desktop|Documents|Downloads|Library|Music|Pictures|Public|Templates|Videos)\/?$)/;

/** A home, and what is above one, is nobody's project. */
export function mayBeProject(directory: string, home: string): boolean {
  const path = normal(directory);
  if (isWithin(home, path)) return false;
  if (isWithin(path, home)) return !PERSONS_OWN.test(path.slice(home.length).replace(/^\//, ""));
  return !MACHINES_OWN.test(path);
}
