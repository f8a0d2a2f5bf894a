/**
 * `npm run bench -- <name> [--assert]`: one JSON line per figure on stdout. With `--assert`, exit code 1 if a judged
 * ratio is not reached. `terminal` also takes `--quick` (a smoke run) and `--only=PART,PART`.
 */
import { readdirSync } from "node:fs";
import { inRunDirectory } from "../tools/suite/run-directory.ts";
import type { Benchmark } from "./measure.ts";

const PROGRAMS = new Set(["run.ts", "measure.ts"]);

const names = readdirSync(import.meta.dirname).flatMap((file) =>
  file.endsWith(".ts") && !PROGRAMS.has(file) ? [file.slice(0, -3)] : [],
);
const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
const judge = process.argv.includes("--assert");

if (wanted.length === 0 || wanted.some((name) => !names.includes(name))) {
  console.error(`usage: npm run bench -- <${names.join(" | ")}> [--assert]`);
  process.exit(2);
}

// A benchmark that is interrupted leaves neither its files nor the host that it started.
await inRunDirectory(async ({ env: { TMPDIR } }) => {
  Object.assign(process.env, { TMPDIR });
  for (const name of wanted) await measure(name);
});

async function measure(name: string): Promise<void> {
  const { run } = (await import(`./${name}.ts`)) as Benchmark;
  for await (const figure of run()) {
    console.log(JSON.stringify({ bench: name, ...figure, value: Number(figure.value.toPrecision(4)) }));
    const { atLeast = -Infinity, atMost = Infinity } = figure;
    if (judge && (figure.value < atLeast || figure.value > atMost)) {
      console.error(`${figure.name} is ${figure.value.toFixed(2)}, not between ${atLeast} and ${atMost}`);
      process.exitCode = 1;
    }
  }
}
