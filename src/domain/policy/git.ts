/** git: what its subcommands do. Hooks and filters of the project count as building. */
import type { Findings } from "./findings.ts";
import { isCredential } from "./places.ts";
import type { Given, OptionMeaning, Program } from "./program.ts";
import { literalWord, textOf, type Word } from "./words.ts";

const HERE = literalWord(".");
/** Settings that only change how something looks or who wrote it; any other may run a program. */
const HARMLESS_SETTING =
  /^(?:user\.(?:name|email)|color\..*|column\..*|advice\..*|core\.(?:quotepath|autocrlf|eol|abbrev|ignorecase|longpaths)|init\.defaultbranch|commit\.gpgsign|tag\.gpgsign|log\.\w+|diff\.(?:algorithm|renames|context|colormoved)|merge\.conflictstyle|pull\.(?:rebase|ff)|push\.default|rebase\.autostash|fetch\.prune|status\..*|format\.pretty|gc\.auto|rerere\.enabled|branch\.[^.]+\.(?:remote|merge|rebase)|http\.postbuffer)(?:=|$)/i;

const GLOBAL: Readonly<Record<string, OptionMeaning>> = {
  // A repository elsewhere brings settings of its own, which may run programs.
  "--git-dir": { takes: ["environment"] },
  "-C --work-tree": "write",
  "-c --config-env": "value",
  "--exec-path": ["environment"],
  "-p --paginate -P --bare --literal-pathspecs --glob-pathspecs --html-path --man-path --info-path": [],
  "--namespace --super-prefix --list-cmds": "value",
};

const COMMON: Readonly<Record<string, OptionMeaning>> = {
  "--format --pretty": { attached: "value" },
  "-m --message --author --date --since --until --after --before --grep -S -G -n --max-count -L": "value",
  "-F --file -t --template --pathspec-from-file": "read",
  "--output -o --output-directory": "write",
  "--upload-pack --receive-pack --exec --ext-diff --textconv": { takes: ["environment"] },
  "-O --open-files-in-pager --extcmd": { takes: ["environment"] },
};

const READS: Program = {
  effects: ["read"],
  // Of those that read, most of these take no value: what follows is looked at.
  options: { "-m -t -F -o": [], "-n": { attached: "value" }, ...COMMON },
  more: ({ options, operands }, findings) => {
    const lines = options.flatMap(({ name, value }) => (name === "-L" && value !== undefined ? [value] : []));
    secrets([...operands, ...lines], findings);
  },
};
/** In the repository where it stands. */
const CHANGES: Program = {
  effects: ["write"],
  options: COMMON,
  more: (_given, findings) => findings.touch(HERE, "write"),
};

/** `.env`, `HEAD:.env` */
function secrets(words: readonly Word[], findings: Findings): void {
  for (const { text } of words.flatMap(({ values }) => values ?? [])) {
    if (isCredential(text.slice(text.indexOf(":") + 1))) findings.add("credentials");
  }
}

/** Without an index it searches wherever it is told to. */
function greps({ options, operands }: Given, findings: Findings): void {
  secrets(operands, findings);
  if (!options.some(({ name }) => name === "--no-index")) return;
  for (const word of operands) findings.touch(word, "read", { isDeep: true });
}

function commands(more: NonNullable<Program["more"]>): Program {
  return { effects: [], more };
}

const CONFIG: Program["options"] = {
  "-f --file --blob --type --default": "value",
  "--global --system --local --worktree -e --edit -l --list --get --get-all --get-regexp --get-urlmatch --get-color":
    [],
  "--unset --unset-all --add --replace-all --rename-section --remove-section": [],
};

function config({ options, operands }: Given, findings: Findings): void {
  const has = (pattern: RegExp): boolean => options.some(({ name }) => pattern.test(name));
  const [first, ...others] = operands.map(textOf);
  const isVerb = /^(?:get|list|set|unset|edit|rename-section|remove-section)$/.test(first ?? "");
  const key = isVerb ? others[0] : first;
  const isRead = has(/^(?:--get.*|-l|--list)$/) || /^(?:get|list)$/.test(first ?? "") || operands.length < 2;
  if (has(/^(?:-e|--edit)$/) || first === "edit") return findings.add("environment");
  if (isRead && !has(/^--unset/))
    return findings.add(/credential|token|password/i.test(key ?? "") ? "credentials" : "read");
  findings.add("write");
  if (key === undefined || !HARMLESS_SETTING.test(key)) findings.add("environment");
  if (has(/^(?:--global|--system|-f|--file)$/)) findings.add("system");
}

function remote({ operands }: Given, findings: Findings): void {
  const verb = textOf(operands[0]);
  findings.add(operands.length === 0 || /^(?:show|get-url|-v)$/.test(verb ?? "") ? "read" : "write");
  addresses(operands.slice(1), findings);
}

/** `ext::` and its like run programs. */
function addresses(words: readonly Word[], findings: Findings): void {
  for (const word of words) {
    if (word.values === undefined) findings.add("unclear");
    else if (word.values.some(({ text }) => /^\w+::|^-/.test(text))) findings.add("environment");
  }
}

function clone({ operands }: Given, findings: Findings): void {
  findings.touch(operands[1] ?? HERE, "write");
  addresses(operands, findings);
}

function stash({ operands }: Given, findings: Findings): void {
  findings.add(/^(?:list|show)$/.test(textOf(operands[0]) ?? "") ? "read" : "write");
}

export const GIT: Program = {
  effects: [],
  options: GLOBAL,
  more: ({ options }, findings) => {
    for (const { name, value } of options) {
      if (name !== "-c" && name !== "--config-env") continue;
      if (!HARMLESS_SETTING.test(textOf(value) ?? "") && !/^core\.pager=(?:cat)?$/.test(textOf(value) ?? ""))
        findings.add("environment");
    }
  },
  subcommands: {
    "status|diff|log|show|blame|annotate|shortlog|describe|rev-parse|rev-list|ls-files|ls-tree|cat-file|reflog|whatchanged|name-rev|merge-base|for-each-ref|show-ref|show-branch|count-objects|fsck|check-ignore|check-attr|diff-tree|diff-index|diff-files|var|version|help|--version|range-diff|cherry|verify-commit|symbolic-ref":
      READS,
    grep: { ...READS, options: { ...COMMON, "-e -f -A -B -C --threads --max-depth": "value" }, more: greps },
    "add|commit|checkout|switch|branch|restore|reset|merge|rebase|cherry-pick|revert|tag|mv|rm|apply|am|notes|gc|prune|format-patch|archive|stage|sparse-checkout|update-index|read-tree|write-tree|hash-object|commit-tree":
      {
        ...CHANGES,
        options: {
          "--unsafe-paths": ["unclear"],
          "--template --separate-git-dir": { takes: ["environment"] },
          "--remote": { takes: ["remote"] },
          ...COMMON,
          "-x --exec": { takes: ["inline_code"] },
          "-b -B -C -c -u --onto -s --strategy": "value",
        },
        more: changes,
      },
    "init|worktree": {
      effects: ["write"],
      operands: "write",
      options: { "--template --separate-git-dir": { takes: ["environment"] }, ...COMMON, "-b -B --reason": "value" },
    },
    clean: { ...CHANGES, effects: ["delete"], options: { "-e --exclude": "value" } },
    stash: { effects: [], options: COMMON, more: stash },
    "fetch|pull|ls-remote": {
      effects: ["fetch", "write"],
      options: { ...COMMON, "-u": ["environment"], "--depth -j --jobs": "value" },
      more: ({ operands }, findings) => addresses(operands, findings),
    },
    clone: {
      effects: ["fetch", "write"],
      options: {
        ...COMMON,
        "-c --config -u": { takes: ["environment"] },
        "-b --branch --depth -o --origin -j": "value",
        "--template": { takes: ["environment"] },
      },
      more: clone,
    },
    bundle: {
      effects: ["read"],
      options: { "--version": "value", ...COMMON },
      more: ({ operands }, findings) => {
        for (const word of operands.slice(1, 2))
          findings.touch(word, textOf(operands[0]) === "create" ? "write" : "read");
        if (textOf(operands[0]) === undefined) findings.add("unclear");
      },
    },
    maintenance: commands(({ operands }, findings) =>
      // Others write settings of the user and start services.
      findings.add(textOf(operands[0]) === "run" ? "write" : "system"),
    ),
    remote: commands(remote),
    config: { effects: [], options: CONFIG, more: config },
    submodule: {
      effects: ["fetch", "write"],
      more: ({ operands }, findings) => {
        if (operands.some((word) => textOf(word) === "foreach" || textOf(word) === undefined))
          findings.add("inline_code");
        addresses(operands, findings);
      },
    },
    bisect: {
      effects: ["write"],
      more: ({ operands }, findings) => {
        if (operands.some((word) => textOf(word) === "run" || textOf(word) === undefined)) findings.add("inline_code");
      },
    },
    "push|send-pack|send-email|request-pull|svn|p4|imap-send": { effects: ["push"], options: COMMON },
    "credential|credential-store|credential-cache": { effects: ["credentials"] },
    "difftool|mergetool|instaweb|daemon|filter-branch|filter-repo|shell|gui|citool": { effects: ["environment"] },
  },
};

/** `git rm`, `git mv` and `git clean` delete too; what `-O` and `-C` name is of other subcommands. */
function changes({ operands }: Given, findings: Findings): void {
  secrets(operands, findings);
  findings.touch(HERE, "write");
}
