/** Programs that show, find and change files. */
import type { Findings } from "./findings.ts";
import { isVital } from "./places.ts";
import type { Given, Option, Program } from "./program.ts";
import { literalWord, textOf, type Word } from "./words.ts";

const ANY: Program = { any: true };
const HERE = literalWord(".");

/** A pattern, unless options give one, then files. */
const GREP: Program = {
  options: {
    "-e --regexp -m --max-count -A -B -C --context --after-context --before-context": "value",
    "--include --exclude --exclude-dir --label -d --directories -D --devices --binary-files": "value",
    "-f --file --exclude-from": "read",
    "-r -R --recursive --dereference-recursive": [],
    "--color --colour": { attached: "value" },
  },
  more: (given, findings) => searches(given, findings, false),
};
const RIPGREP: Program = {
  ...GREP,
  options: {
    "--files": [],
    ...GREP.options,
    "-g --glob --iglob -t --type -T --type-not --color --colors -M --max-columns -j --threads --sort": "value",
    "--ignore-file": "read",
    "--pre --hostname-bin --pager": { takes: ["inline_code"] },
  },
  more: (given, findings) => searches(given, findings, true),
};

function searches({ options, operands }: Given, findings: Findings, isAlwaysDeep: boolean): void {
  const has = (pattern: RegExp): boolean => options.some(({ name }) => pattern.test(name));
  const recurses = ({ name, value }: Option): boolean =>
    /^(?:-d|--directories)$/.test(name) && textOf(value) !== "skip" && textOf(value) !== "read";
  const isDeep =
    isAlwaysDeep || has(/^(?:-r|-R|--recursive|--dereference-recursive)$/) || options.some((it) => recurses(it));
  const files = has(/^(?:-e|--regexp|-f|--file|--files)$/) ? operands : operands.slice(1);
  // Whether an option took the word before it as its value isn't the same for all of them.
  for (const word of operands.slice(0, 1)) if (textOf(word)?.startsWith("/") === true) findings.suspect(word);
  for (const word of files) if (textOf(word) !== "-") findings.touch(word, "read", { isDeep });
  if (files.length === 0 && isDeep) findings.touch(HERE, "read", { isDeep });
}

/** `tar cfC a.tar dir x`: letters without a dash, their values behind them in order. */
function withoutBundle(words: readonly Word[]): readonly Word[] {
  const letters = textOf(words[0]);
  if (letters === undefined || !/^[A-Za-z]+$/.test(letters)) return words;
  const rest = words.slice(1);
  const options = Array.from(letters, (letter) =>
    "fCITXFgbLNKVH".includes(letter) ? [literalWord(`-${letter}`), ...rest.splice(0, 1)] : [literalWord(`-${letter}`)],
  );
  return [...options.flat(), ...rest];
}

function tar({ options, operands }: Given, findings: Findings): void {
  const has = (letter: string, long: string): boolean => options.some(({ name }) => name === letter || name === long);
  const into = options.filter(({ name }) => /^(?:-C|--directory|--cd)$/.test(name)).flatMap(({ value }) => value ?? []);
  const archives = options.filter(({ name }) => name === "-f" || name === "--file").flatMap(({ value }) => value ?? []);
  const touchAll = (words: readonly Word[], how: "read" | "write"): void => {
    for (const word of words) if (textOf(word) !== "-") findings.touch(word, how, { isDeep: how === "read" });
  };
  if (archives.some((word) => textOf(word)?.includes(":") === true)) findings.add("remote");
  if (has("-x", "--extract") || has("-x", "--get")) {
    touchAll(archives, "read");
    if (!has("-O", "--to-stdout")) touchAll(into.length > 0 ? into : [HERE], "write");
    if (has("-P", "--absolute-names")) findings.add("unclear");
  } else if (has("-t", "--list")) touchAll(archives, "read");
  else {
    touchAll(archives, "write");
    touchAll([...into, ...operands], "read");
  }
}

/** `of=`, `if=` */
function dd({ operands }: Given, findings: Findings): void {
  for (const word of operands) {
    const [, name, path] = /^(\w+)=(.*)$/s.exec(textOf(word) ?? "") ?? [];
    if (name === undefined || path === undefined) findings.add("unclear");
    else if (name === "of") findings.touch(literalWord(path), "write");
    else if (name === "if") findings.touch(literalWord(path), "read");
  }
}

function chmod({ options, operands }: Given, findings: Findings): void {
  const mode = textOf(operands[0]);
  if (mode === undefined) findings.add("unclear");
  else if (/s|[2-7]\d{3}$/.test(mode)) findings.add("privilege");
  const isDeep = options.some(({ name }) => name === "-R" || name === "--recursive");
  for (const word of operands.slice(1)) {
    findings.touch(word, "write", { isDeep });
    // Without its rights the machine is lost as without its files.
    if (isDeep && word.values?.some(({ text }) => isVital(text.replace(/\/\*$/, "") || "/", findings.home))) {
      findings.add("irreversible");
    }
  }
}

const RIGHTS_OPTIONS: Program["options"] = { "-R --recursive": [], "--reference --from": { takes: ["unclear"] } };
const CHANGES_RIGHTS: Program = { effects: ["write"], options: RIGHTS_OPTIONS, more: chmod };
const PACKS: Program = { effects: ["write"], operands: "write", options: { "-S --suffix -T --threads": "value" } };

export const FILE_PROGRAMS: Readonly<Record<string, Program>> = {
  "echo|true|false|test|[|:|pwd|whoami|id|groups|uname|arch|nproc|uptime|tty|logname|users|who|w|last|locale|cal|yes|seq|sleep|wait|jobs|times|umask|return|exit|break|continue|shift|let|type|which|whereis|basename|dirname|realpath|readlink|expr|factor|numfmt|clear|reset|tput|stty|getconf|lscpu|lsblk|lsusb|lspci|free|vmstat|iostat|df|ls|dir|vdir|ll|stat|pgrep|pstree|lsof|top|htop|netstat|exa|eza|help|apropos|whatis|tldr|locate|cksum|test-path|bg|fg|ulimit|sync|unset|getopts|dircolors|lsb_release":
    ANY,
  "wc|du": { any: true, options: { "--files0-from": "read", "-X --exclude-from": "read", "-d -t -B": "value" } },
  file: { any: true, options: { "-f --files-from -m --magic-file": "read" } },
  info: { any: true, options: { "-o --output --dribble": "write", "--restore --init-file": { takes: ["unclear"] } } },
  mktemp: {
    effects: ["write"],
    operands: "write",
    options: { "-p": "write", "--tmpdir": { attached: "write" }, "--suffix": "value" },
  },
  // What stands in a name that is asked for leaves the machine.
  "dig|nslookup|host|ping|ping6|traceroute": {
    effects: ["fetch"],
    options: { "-f": "read", "-c -W -i -t -p": "value" },
  },
  ps: {
    any: true,
    more: ({ operands }, findings) => {
      if (operands.some((word) => /^[a-z]*e[a-z]*$/.test(textOf(word) ?? "e"))) findings.add("credentials");
    },
  },
  tree: { options: { "-o": "write", "-L -P -I": "value", "--fromfile": "read" } },
  hostname: { more: ({ operands }, findings) => findings.add(operands.length > 0 ? "system" : "read") },
  fuser: { options: { "-k --kill": ["process"] } },
  ss: { options: { "-K --kill": ["system"], "-D --diag": "write", "-F --filter": "read" } },
  getent: {
    more: ({ operands }, findings) =>
      findings.add(/^g?shadow$/.test(textOf(operands[0]) ?? "shadow") ? "credentials" : "read"),
  },
  printf: { any: true, options: { "-v": { takes: ["shell_state"] } } },
  man: { options: { "-P --pager -H --html -C --config-file": { takes: ["environment"] } } },
  "cd|pushd|popd|dirs": { any: true },
  "read|local|declare|typeset|readonly|export": { any: true },
  "readarray|mapfile": { any: true, options: { "-C": { takes: ["inline_code"] }, "-c -d -n -O -s -u": "value" } },
  date: {
    any: true,
    options: { "-d --date -r --reference": "value", "-f --file": "read", "-s --set": { takes: ["system"] } },
  },
  "cat|nl|head|tail|tac|rev|od|hexdump|strings|cut|paste|join|fold|fmt|expand|unexpand|column|comm|cmp|md5sum|sha1sum|sha224sum|sha256sum|sha384sum|sha512sum|b2sum|shasum|base32|zcat|bzcat|xzcat|bat|batcat|pr|iconv|csvlook|nm|objdump|readelf|size|ldd|ffprobe|mediainfo|tokei|scc|jsonlint|yamllint|shellcheck|hadolint|xmllint":
    {
      operands: "read",
      options: { "-n -c --lines --bytes -s -d -f --fields --delimiter -w --width": "value", "-o --output": "write" },
    },
  "diff|colordiff": {
    operands: "read",
    options: { "-I -x -F -U -C -W --width --label --unified --context --color --palette": "value", "-X": "read" },
    deep: ["-r", "--recursive"],
  },
  base64: { operands: "read", options: { "-w --wrap": "value" } },
  more: { operands: "read", options: { "-n --lines": "value" }, more: commandsOfPager },
  less: {
    operands: "read",
    // A key file sets variables too, of which one names a program.
    options: { "-o -O --log-file": "write", "-k -K --lesskey-file --lesskey-src": { takes: ["environment"] } },
    more: commandsOfPager,
  },
  xxd: { effects: ["read"], more: secondIsWritten, options: { "-l -s -c -g -o": "value" } },
  pdftotext: {
    isSingleDash: true,
    options: { "-f -l -r -x -y -W -H -enc -eol -opw -upw": "value" },
    more: (given, findings) => {
      secondIsWritten(given, findings);
      if (given.operands.length === 1) findings.touch(HERE, "write");
    },
  },
  uniq: { more: secondIsWritten, options: { "-f -s -w": "value" } },
  sort: {
    operands: "read",
    options: {
      "-o --output": "write",
      "-k --key -t --field-separator -S --buffer-size --parallel --batch-size": "value",
      "-T --temporary-directory": "write",
      "--compress-program": { takes: ["inline_code"] },
      "--files0-from": "read",
    },
  },
  split: {
    effects: ["write"],
    options: { "-l -b -n -a -C": "value", "--filter": { takes: ["inline_code"] } },
    operands: "write",
  },
  tr: ANY,
  "grep|egrep|fgrep|zgrep": GREP,
  "rg|ag|ack": RIPGREP,
  "jq|yq|gojq": {
    rewrite: withoutNames,
    options: {
      "--slurp --raw-output --raw-input": [],
      "--slurpfile --rawfile": "read",
      "-f --from-file": "read",
      "--indent -o --output-format -p --input-format": "value",
      "-i --inplace": ["unclear"],
      "-L": "read",
    },
    more: filters,
  },
  mkdir: { effects: ["write"], operands: "write", options: { "-m --mode": "value" } },
  touch: { effects: ["write"], operands: "write", options: { "-d --date -t": "value", "-r --reference": "value" } },
  "tee|truncate|fallocate|mkfifo|sponge": {
    effects: ["write"],
    operands: "write",
    options: { "-s --size -l -o -m": "value" },
  },
  "rm|rmdir|unlink": { effects: ["delete"], operands: "delete" },
  shred: { effects: ["delete"], operands: "delete", options: { "-n -s --iterations --size": "value" } },
  cp: {
    effects: ["write"],
    operands: "copy",
    options: { "-t --target-directory": "write", "-S --suffix": "value" },
    deep: ["-r", "-R", "-a", "--recursive", "--archive"],
  },
  install: {
    effects: ["write"],
    operands: "copy",
    options: { "-t --target-directory": "write", "-m --mode -o -g": "value" },
  },
  // Behind a link to elsewhere every path leads elsewhere.
  ln: { effects: ["write"], operands: "write", options: { "-t --target-directory": "write" } },
  link: { effects: ["write"], operands: "copy" },
  mv: { effects: ["write"], operands: "move", options: { "-t --target-directory": "write", "-S --suffix": "value" } },
  "rename|mmv": { effects: ["write", "inline_code"] },
  dd: { effects: ["write"], more: dd },
  chmod: CHANGES_RIGHTS,
  "chown|chgrp": { effects: ["write", "privilege"], options: RIGHTS_OPTIONS, more: chmod },
  "setfacl|chattr|setcap": { effects: ["write", "privilege"] },
  "gzip|gunzip|bzip2|bunzip2|xz|unxz|zstd|unzstd|lz4|compress": PACKS,
  "tar|bsdtar": {
    effects: [],
    rewrite: withoutBundle,
    options: {
      "-g --listed-incremental --index-file --volno-file": "write",
      "--one-top-level": { attached: "write" },
      "--create --append --update --catenate --concatenate --diff --compare --list --extract --get": [],
      "--to-stdout --absolute-names --checkpoint --verbose --gzip --bzip2 --xz --keep-old-files": [],
      "--remove-files --recursive-unlink --delete": ["unclear"],
      "-f --file -C --directory --cd --exclude --strip-components --transform --mode --owner --group": "value",
      "-T --files-from -X --exclude-from": "read",
      "-I --use-compress-program --checkpoint-action --to-command --rsh-command -F --info-script --new-volume-script": {
        takes: ["inline_code"],
      },
    },
    more: tar,
  },
  unzip: {
    options: { "-d": "write", "-x": "value", "-P": "value" },
    more: ({ options, operands }, findings) => {
      for (const word of operands.slice(0, 1)) findings.touch(word, "read");
      if (!options.some(({ name }) => /^-[dlpvtzZ]$/.test(name))) findings.touch(HERE, "write");
    },
  },
  "7z|7za": { effects: [], isSingleDash: true, more: sevenZip },
  rar: { effects: ["write", "unclear"] },
  zip: {
    effects: ["write"],
    options: {
      "-O --out --output-file -b --temp-path --logfile-path": "write",
      "-x -i": "value",
      "-T -TT --unzip-command": ["inline_code"],
    },
    more: ({ operands }, findings) => {
      for (const word of operands.slice(0, 1)) findings.touch(word, "write");
      for (const word of operands.slice(1)) findings.touch(word, "read", { isDeep: true });
    },
  },
  patch: {
    effects: ["write"],
    options: {
      "-p --strip -F --fuzz -D --ifdef -z --suffix -V --version-control -g --get": "value",
      "-i --input": "read",
      "-d --directory -o --output -r --reject-file -B --prefix -Y --basename-prefix": "write",
    },
    operands: "write",
  },
};

/** `--arg name value` and `--rawfile name file`: two words each, of which a file's name matters. */
function withoutNames(words: readonly Word[]): readonly Word[] {
  const left: Word[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const text = textOf(words[at]) ?? "";
    if (/^--arg(?:json)?$/.test(text)) at += 2;
    else if (/^--(?:slurpfile|rawfile|argfile)$/.test(text)) {
      left.push(literalWord("--rawfile"), ...words.slice(at + 2, at + 3));
      at += 2;
    } else left.push(words[at]!);
  }
  return left;
}

function filters({ options, operands }: Given, findings: Findings): void {
  const isInFile = options.some(({ name }) => name === "-f" || name === "--from-file");
  const [filter] = operands;
  if (!isInFile && /\benv\b|\$ENV|\binput_filename\b|load|\bimport\b|\binclude\b/.test(textOf(filter) ?? "env"))
    findings.add("credentials");
  for (const word of isInFile ? operands : operands.slice(1)) findings.touch(word, "read");
}

/** `+…` is typed into the pager, and `!` there runs anything: where to begin, and what to look for, is all that is harmless. */
function commandsOfPager({ operands }: Given, findings: Findings): void {
  const isHarmless = (word: Word): boolean => /^\+\+?(?:\d*[Gg]?|F|\/[\w .:-]*)$/.test(textOf(word) ?? "");
  if (operands.some((word) => word.prefix.startsWith("+") && !isHarmless(word))) findings.add("inline_code");
}

/** A value of an option that isn't known may stand before them: then the third is. */
function secondIsWritten({ operands }: Given, findings: Findings): void {
  for (const [index, word] of operands.entries())
    if (textOf(word) !== "-") findings.touch(word, index > 0 ? "write" : "read");
}

/** A letter for what it does, then an archive and files; values stand in the option's word: `-o/tmp/x`. */
function sevenZip({ options, operands }: Given, findings: Findings): void {
  const [verb, archive, ...files] = operands;
  const into: Word[] = [];
  for (const { name } of options) {
    const [, place] = /^-[ow](.*)$/s.exec(name) ?? [];
    if (place !== undefined && place !== "") into.push(literalWord(place));
    // Absolute names, sources that are deleted, and a place that nobody knows.
    if (/^-(?:spf|sdel|o$)/.test(name)) findings.add("unclear");
  }
  for (const word of into) findings.touch(word, "write");
  const does = textOf(verb) ?? "";
  if (archive === undefined || !/^[xeltaudhi]$/.test(does))
    return findings.add(archive === undefined ? "read" : "unclear");
  findings.touch(archive, /^[aud]$/.test(does) ? "write" : "read");
  if (/^[xe]$/.test(does) && into.length === 0) findings.touch(HERE, "write");
  if (does === "a" || does === "u") for (const word of files) findings.touch(word, "read", { isDeep: true });
}
