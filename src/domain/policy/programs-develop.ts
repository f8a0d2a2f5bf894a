/** Programs that build and keep code. What the project itself says may run: `build`. */
import type { Findings } from "./findings.ts";
import { GIT } from "./git.ts";
import type { Given, OptionMeaning, Program } from "./program.ts";
import type { Effect } from "./verdict.ts";
import { literalWord, textOf, type Word } from "./words.ts";

function does(...effects: readonly Effect[]): Program {
  return { effects };
}

const BUILDS: Program = {
  effects: ["build"],
  options: {
    "-o --output --outDir --outFile --out-dir --output-file --output-dir --junitxml --html --cov-report --report-file":
      "write",
    "-p --project -c --config --config-file --rcfile --settings-path -k -m -t --testNamePattern --testPathPattern -n -j --reporter --rootDir --timeout":
      "value",
    // Their value is code, or names it.
    "--eval --init-hook --load-plugins --run_under --init-script --python-executable --rulesdir --resolve-plugins-relative-to --prepend --bootstrap --plugin --require --testRunner --globalSetup --setupFiles":
      ["inline_code"],
    // Whole names with which others begin.
    "--cov --report --test --root --out --python": [],
  },
  more: builds,
};

/** Words by which tools that build run something else: `bundle exec`, `mix eval`, `stack ghci`. */
const RUNS_OTHERS =
  /^(?:exec|eval|cmd|console|repl|shell|ghci|utop|devenv|runghc|script|run-commands|try-repo|fsi|e|exec:\w+|antrun:\w+|!.*)$/;
const SENDS_OUT = /^:?(?:deploy|publish|release|upload|push$|gh-deploy|hex\.publish|login$)/;
const INSTALLS_OTHERS = /^(?:add|plugin|tool|archive\.install|escript\.install|dependency:get|migrate)$/;
/** What it is told to build or to write elsewhere isn't the project's own. */
function builds({ options, operands }: Given, findings: Findings): void {
  for (const word of operands) {
    const text = textOf(word) ?? "";
    if (RUNS_OTHERS.test(text)) findings.add("inline_code");
    if (SENDS_OUT.test(text)) findings.add("push");
    if (INSTALLS_OTHERS.test(text)) findings.add("package");
    if (word.values !== undefined) findings.touch(word, "run");
  }
  for (const { value } of options) {
    if (/^(?:\/|~|\.\.(?:\/|$))/.test(value?.prefix ?? "")) findings.touch(value!, "run");
  }
  if (findings.touchesOutside) findings.add("script");
}

/** Where `-e` and its like are followed by code. */
function runsCode(options: string): Program {
  return { ...BUILDS, options: { [options]: { takes: ["inline_code"] }, ...BUILDS.options } };
}

const PACKAGE_SCRIPTS: Readonly<Record<string, OptionMeaning>> = {
  "--prefix -C --cwd --dir": "write",
  "-w --workspace --filter -F --loglevel --tag --otp": "value",
  "-g --global --location": ["package", "system"],
  "--registry --script-shell --userconfig --globalconfig --node-options": { takes: ["environment"] },
};

/** Tools that a project has; anything else would be fetched and run. */
const PROJECT_TOOLS =
  /^(?:tsc|eslint|prettier|vitest|jest|tsx|ts-node|mocha|ava|c8|nyc|oxlint|oxfmt|biome|rollup|vite|webpack|esbuild|tsup|next|nuxt|astro|playwright|cypress|stylelint|knip|turbo|nx|lerna|husky|lint-staged|swc|babel|tailwindcss|postcss|sass|depcheck|madge|typedoc|storybook|size-limit|publint|attw|vue-tsc|svelte-check|wireit|tap|tape|xo|standard|rimraf|mkdirp|concurrently|npm-run-all|cross-env)$/;

function runsTool({ operands, options, stdin }: Given, findings: Findings): void {
  const name = textOf(operands[0]);
  const isAsked = options.some(({ name: option }) => /^(?:-c|--call|-p|--package)$/.test(option));
  // What follows is the tool's own, and these run or delete what they are told.
  if (name === undefined || isAsked || !PROJECT_TOOLS.test(name)) findings.add("package", "unknown_program");
  else if (/^(?:rimraf|concurrently|cross-env|npm-run-all|tsx|ts-node|c8|nyc|tap|mkdirp|husky|lint-staged)$/.test(name))
    findings.add("script", "unclear");
  else {
    findings.add("build");
    builds({ options, operands: operands.slice(1), stdin }, findings);
  }
}

const RUNS_TOOL: Program = {
  effects: [],
  options: { "-p --package -c --call": "value", "-w --workspace": "value" },
  more: runsTool,
};

/** Without names it brings what the project asks for. */
const INSTALLS: Program = {
  effects: [],
  options: PACKAGE_SCRIPTS,
  more: ({ operands }, findings) => findings.add(operands.length === 0 ? "build" : "package"),
};

const NPM: Program = {
  options: PACKAGE_SCRIPTS,
  subcommands: {
    "test|t|tst|run|run-script|start|stop|restart|build|lint|dev|typecheck|check|format|fmt|rebuild|prune|dedupe|pack":
      {
        effects: ["build"],
        options: PACKAGE_SCRIPTS,
      },
    "ci|clean-install": { effects: ["build"], options: PACKAGE_SCRIPTS },
    "install|i|in": INSTALLS,
    "add|remove|uninstall|rm|un|r|update|up|upgrade|link|ln|install-test|import|patch|self-update|create|init|set":
      does("package"),
    "exec|x|dlx": RUNS_TOOL,
    "ls|list|ll|la|view|info|show|v|outdated|why|explain|audit|help|version|-v|root|prefix|bin|search|ping|doctor|fund|query|licenses":
      {
        effects: ["read", "fetch"],
        options: { ...PACKAGE_SCRIPTS, "--fix": ["package"] },
        more: ({ operands }, findings) => {
          if (textOf(operands[0]) === "fix") findings.add("package");
        },
      },
    "publish|unpublish|deprecate|dist-tag|owner|access|team|star|hook|org": does("push"),
    "login|logout|adduser|token|profile|whoami|config|c|get": does("credentials"),
  },
};

/** yarn and its like run scripts by their bare names. */
const YARN: Program = {
  ...NPM,
  subcommands: {
    ...NPM.subcommands,
    "node|npm|plugin|global|deploy|env|setup|store|patch-commit": does("package", "inline_code"),
    "rimraf|concurrently|cross-env|npm-run-all|run-p|run-s|tsx|ts-node|c8|nyc|tap|mkdirp|husky|lint-staged|shx|zx":
      does("script", "unclear"),
  },
  otherwise: { effects: ["build"], more: bareScript },
};

function bareScript({ operands }: Given, findings: Findings): void {
  if (operands.some((word) => textOf(word) === undefined)) findings.add("unclear");
  if (operands.some((word) => RUNS_OTHERS.test(textOf(word) ?? ""))) findings.add("inline_code");
}

/** `cargo +nightly build`: the toolchain that rustup has. */
function withoutToolchain(words: readonly Word[]): readonly Word[] {
  return /^\+[\w.-]+$/.test(textOf(words[0]) ?? "") ? words.slice(1) : words;
}

const CARGO: Program = {
  rewrite: withoutToolchain,
  options: { "--config -Z -C": { takes: ["environment"] }, "--color": "value", "--offline --locked --frozen": [] },
  subcommands: {
    "build|b|check|c|test|t|run|r|bench|doc|d|clippy|fmt|clean|tree|metadata|nextest|fetch|vendor|expand|audit|version|help|locate-project|search|pkgid":
      {
        effects: ["build"],
        options: {
          "--config": { takes: ["environment"] },
          "--target": "value",
          "--target-dir --manifest-path": "write",
        },
      },
    "add|remove|rm|update|install|uninstall|new|init|generate-lockfile": does("package"),
    "publish|login|logout|yank|owner": does("push", "credentials"),
  },
};

/** `go run example.com/tool@latest` */
function fetchesCode({ operands }: Given, findings: Findings): void {
  if (operands.some(({ prefix }) => /@|:\/\//.test(prefix))) findings.add("package");
}

const GO: Program = {
  options: { "-C": "write" },
  subcommands: {
    "build|test|vet|list|version|doc|fmt|clean|run|generate|tool": {
      more: fetchesCode,
      effects: ["build"],
      isSingleDash: true,
      options: {
        "-o -coverprofile -cpuprofile -memprofile -blockprofile -mutexprofile -trace -outputdir -pkgdir": "write",
        "-modfile": "run",
        "-exec -toolexec -vettool -overlay": { takes: ["environment"] },
        "-run -tags -count -timeout -bench -p -ldflags -gcflags": "value",
      },
    },
    env: { effects: ["read"], isSingleDash: true, options: { "-w": ["environment"], "-u": ["environment"] } },
    mod: { subcommands: { "tidy|verify|graph|why|download|vendor": does("build"), "edit|init": does("write") } },
    "get|install|work": does("package"),
  },
};

const RUN_BY_MAKE =
  /^(?:\.?SHELL\w*|CC|CXX|CPP|FC|MAKE\w*|LD|AR|AS|NM|RM|CP|MV|LN|INSTALL\w*|MKDIR\w*|LEX|YACC|SED|AWK|PYTHON\w*|NODE|NPM|GO|CARGO|PATH|\w*(?:_CMD|_COMMAND|_BIN|_PROGRAM|_TOOL))\s*[:?+!]*=/;

/** Variables on its command line may be functions that run programs. */
function make({ options, operands }: Given, findings: Findings): void {
  if (options.some(({ name }) => /^(?:-f|--file|--makefile|-C|--directory)$/.test(name))) findings.add("script");
  for (const word of operands) {
    const text = textOf(word);
    if (text === undefined) continue;
    // A recipe's shell reads what a variable holds; some variables are the programs that it runs.
    if (/[$`]|^[^=]*=.*[;&|<>()#\n]/s.test(text) || RUN_BY_MAKE.test(text)) findings.add("inline_code");
    if (/^(?:install|uninstall|deploy|publish|release|upload|push)/.test(text)) findings.add("system");
  }
}

/** Values that stand in the same word, and lists of options in files. */
function compiles({ options, operands }: Given, findings: Findings): void {
  for (const { name } of options) {
    const [, output] = /^-(?:o|MF)(.+)$/s.exec(name) ?? [];
    if (output !== undefined && !/^-output|^-objc/.test(name)) findings.touch(literalWord(output), "write");
    if (/^-B.|^-W[lp],.*(?:-o|-M|plugin|,\/)/.test(name)) findings.add("environment");
  }
  if (operands.some(({ prefix }) => prefix.startsWith("@"))) findings.add("environment");
  for (const word of operands) findings.touch(word, "read");
}

const GH_BRINGS: Program = {
  effects: ["fetch", "write"],
  options: { "-O --output -D --dir": "write", "-p --pattern -n --name -A --archive -b --branch -u -R --repo": "value" },
  more: ({ operands }, findings) => {
    for (const word of operands.slice(1)) {
      // Behind `--` stand options of git.
      if (word.prefix.startsWith("-")) findings.add("environment");
      else findings.touch(word, "write");
    }
  },
};

const GH: Program = {
  subcommands: {
    "pr|issue|run|workflow|release|repo|gist|label|cache|project": {
      options: { "-R --repo": "value" },
      subcommands: {
        "view|list|diff|status|checks|watch": { effects: ["fetch"] },
        "checkout|clone|download": GH_BRINGS,
      },
      otherwise: does("push"),
    },
    "search|status|browse|help|version": { effects: ["fetch"] },
    api: {
      effects: ["fetch"],
      options: {
        "-X --method -f --raw-field -F --field --input": { takes: ["push"] },
        "-H --header -q --jq -t --template": "value",
      },
    },
    "auth|secret|variable|ssh-key|gpg-key|config": does("credentials"),
  },
  otherwise: does("push"),
};

export const DEVELOPMENT_PROGRAMS: Readonly<Record<string, Program>> = {
  git: GIT,
  npm: NPM,
  "pnpm|yarn": YARN,
  // A name that is no script of the project is a file.
  bun: { ...YARN, otherwise: does("build", "script") },
  "npx|pnpx|bunx": RUNS_TOOL,
  cargo: CARGO,
  go: GO,
  "just|task|rake": {
    effects: ["build"],
    options: {
      "-f --justfile --taskfile --rakefile -t -d --dir --working-directory --dotenv-path -r -R --require --libdir": {
        takes: ["script"],
      },
      "-c --command --chooser --shell --shell-arg -e --execute -p --execute-print -E --execute-continue": {
        takes: ["inline_code"],
      },
      "--edit": ["inline_code"],
    },
    more: make,
  },
  cmake: {
    ...BUILDS,
    options: {
      "-E -P -C": { takes: ["inline_code"] },
      ...BUILDS.options,
      "-D -U -G -A -T -W": "value",
      "-B -S": "run",
    },
  },
  ctest: runsCode("-S --build-and-test"),
  "ghc|swift|mix|crystal": runsCode("-e --eval"),
  "make|gmake": {
    effects: ["build"],
    options: {
      "-C --directory -f --file --makefile -I": "run",
      "-j --jobs -l --load-average": { attached: "value" },
      "-o -W": "value",
      "-E --eval --set --shell": { takes: ["inline_code"] },
    },
    more: make,
  },
  "pytest|py.test|jest|vitest|mocha|tsc|eslint|prettier|ruff|black|isort|mypy|flake8|pylint|pyright|tox|nox|coverage|gradle|gradlew|mvn|mvnw|ant|sbt|ninja|meson|bazel|buck|clang-format|clang-tidy|ld|as|ar|rustc|rustfmt|gofmt|goimports|golangci-lint|staticcheck|javac|kotlinc|scalac|swiftc|dotnet|msbuild|rebar3|stack|cabal|dune|zig|nim|phpunit|rspec|rubocop|bundle|swiftlint|ktlint|oxlint|oxfmt|biome|vite|webpack|rollup|esbuild|turbo|nx|lerna|playwright|cypress|protoc|buf|pre-commit|actionlint|markdownlint|hugo|jekyll|mkdocs|sphinx-build|autoconf|automake|configure|pkg-config|strip":
    BUILDS,
  "gcc|g++|cc|c++|clang|clang++": {
    effects: ["build"],
    isSingleDash: true,
    options: {
      "-o -output -MF -dumpdir -aux-info": "write",
      "-x": "value",
      "-wrapper -B -specs -fplugin -fpass-plugin -fuse-ld -ld-path -config -load -Xclang -cc1": {
        takes: ["environment"],
      },
    },
    more: compiles,
  },
  gh: GH,
  "glab|hub": does("push"),
  "svn|hg|bzr|fossil": {
    options: { "--config --config-option --config-dir": { takes: ["environment"] } },
    subcommands: {
      "status|st|diff|log|info|list|cat|blame|annotate|branches|heads|tip": {
        options: {
          "--config --config-option --config-dir --diff-cmd -x --extensions --tool": { takes: ["environment"] },
        },
      },
    },
    otherwise: does("unknown_program"),
  },
};
