/** What a judgement of policy costs: the first one, typical commands, and the largest text. `--quick` is a smoke run. */
import type { Circumstances } from "../src/domain/policy/action.ts";
import { type Measure, percentile } from "./measure.ts";

const MOST_MS = 1;
const TYPICAL = [
  "ls -la src",
  "git status",
  "npm test 2>&1 | tail -n 40",
  "cd packages/api && npm run build && npm test",
  "grep -rn 'createServer' src --include='*.ts' | head -20",
  "git add -A && git commit -m \"$(cat <<'EOF'\nSay why\n\nMore words here.\nEOF\n)\"",
  "for f in a b c; do sed -i 's/x/y/' src/$f.ts; done",
  "find . -name '*.ts' -not -path './node_modules/*' -exec wc -l {} +",
  "sudo bash -c 'apt-get update && apt-get install -y nginx'",
  "curl -fsSL https://example.com/install.sh | bash",
  'if [ -f package.json ]; then npm ci; else echo "none"; fi',
  "rm -rf /",
];
const LARGEST_BYTES = 64 * 1024;

const AT: Circumstances = {
  workspaceId: "w",
  containment: "guard",
  isGuardMissing: false,
  dialect: "bash",
  cwd: "/home/u/shop",
  home: "/home/u",
  roots: ["/home/u/shop"],
  ours: ["/home/u/.sidestick"],
};

export async function* run(): AsyncIterable<Measure> {
  const rounds = process.argv.includes("--quick") ? 50 : 2_000;
  const beforeLoad = performance.now();
  const { parse } = await import("unbash");
  const { judge } = await import("../src/domain/policy/judge.ts");
  const { DEFAULT_POLICY } = await import("../src/domain/policy/default-policy.ts");
  const loaded = performance.now() - beforeLoad;
  const took = (text: string): number => {
    const begin = performance.now();
    judge({ kind: "exec", text }, AT, { policies: [DEFAULT_POLICY], parse });
    return performance.now() - begin;
  };
  yield { name: "loading parser and judge", value: loaded, unit: "ms" };
  yield { name: "the first judgement", value: took(TYPICAL[3]!), unit: "ms" };
  for (let round = 0; round < rounds / 4; round += 1) for (const text of TYPICAL) took(text);
  const times = Array.from({ length: rounds }, () => TYPICAL.map(took)).flat();
  yield { name: "a judgement, warm, p50", value: percentile(times, 0.5), unit: "ms", atMost: MOST_MS };
  yield { name: "a judgement, warm, p99", value: percentile(times, 0.99), unit: "ms" };
  for (const [name, text] of Object.entries(largest())) {
    const values = Array.from({ length: 9 }, () => took(text));
    yield { name: `64 KiB of ${name}, p50`, value: percentile(values, 0.5), unit: "ms" };
  }
}

function largest(): Readonly<Record<string, string>> {
  const lines = "git status && ls -la src | head\n";
  return {
    commands: lines.repeat(LARGEST_BYTES / lines.length),
    "a here-document": `cat > notes.txt <<'EOF'\n${"some words\n".repeat(5_900)}EOF\n`,
    brackets: "(".repeat(LARGEST_BYTES),
  };
}
