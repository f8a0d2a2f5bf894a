/** What this machine is, as hosts tell it. */
import { readFileSync } from "node:fs";
import { arch, release, type } from "node:os";
import type { HostFacts } from "../protocol/link.ts";
import { VERSION } from "./version.ts";

const SHELLS_MAX = 50;

export function hostFacts(): HostFacts {
  return { os: `${type()} ${release()}`.slice(0, 200), arch: arch(), shells: shells(), version: VERSION };
}

function shells(): string[] {
  try {
    const lines = readFileSync("/etc/shells", "utf8").split("\n");
    return [...new Set(lines.map((it) => it.trim()).filter((it) => it.startsWith("/")))].slice(0, SHELLS_MAX);
  } catch {
    return [];
  }
}
