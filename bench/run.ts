/** `npm run bench`: one JSON line per figure on stdout. */
import { readdirSync } from "node:fs";
import { parseArgs } from "node:util";
import { readOptions } from "../tools/options.ts";
import { inRunDirectory } from "../tools/suite/run-directory.ts";
import type { Benchmark } from "./measure.ts";

const PROGRAMS = new Set(["run.ts", "measure.ts"]);
const NAMES = readdirSync(import.meta.dirname).flatMap((file) =>
  file.endsWith(".ts") && !PROGRAMS.has(file) ? [file.slice(0, -3)] : [],
);
const USAGE = `npm run bench -- <name> … [--assert] [--quick] [--only=PART,PART]

  <name>     ${NAMES.join(", ")}
  --assert   fails if a figure that is judged isn't reached
  --quick    a smoke run, where a benchmark has one
  --only     the parts of \`terminal\` that are measured`;

const options = readOptions(process.argv.slice(2), USAGE, read);
if (options !== undefined) await measureAll(options);

type Options = { readonly names: readonly string[]; readonly isJudged: boolean };

/** `--quick` and `--only` are read by the benchmarks. */
function read(): Options {
  const flag = { type: "boolean", default: false } as const;
  const known = { assert: flag, quick: flag, only: { type: "string" } } as const;
  const { values, positionals: names } = parseArgs({ allowPositionals: true, options: known });
  if (names.length === 0) throw new Error("Which benchmark?");
  const only = `--only=${values.only}`;
  if (values.only !== undefined && !process.argv.includes(only)) throw new Error(`Write it as one word: ${only}`);
  const unknown = names.filter((name) => !NAMES.includes(name));
  if (unknown.length > 0) throw new Error(`There is no benchmark ${unknown.join(", ")}`);
  return { names, isJudged: values.assert };
}

/** A benchmark that is interrupted leaves neither its files nor the host that it started. */
async function measureAll({ names, isJudged }: Options): Promise<void> {
  await inRunDirectory(async ({ env: { TMPDIR } }) => {
    Object.assign(process.env, { TMPDIR });
    for (const name of names) await measure(name, isJudged);
  });
}

async function measure(name: string, isJudged: boolean): Promise<void> {
  const { run } = (await import(`./${name}.ts`)) as Benchmark;
  for await (const figure of run()) {
    console.log(JSON.stringify({ bench: name, ...figure, value: Number(figure.value.toPrecision(4)) }));
    const { atLeast = -Infinity, atMost = Infinity } = figure;
    if (isJudged && (figure.value < atLeast || figure.value > atMost)) {
      console.error(`${figure.name} is ${figure.value.toFixed(2)}, not between ${atLeast} and ${atMost}`);
      process.exitCode = 1;
    }
  }
}
