/** Everyday tools: files, git, editors, interpreters, disks. */
import { chat, choice, enter, inLocales, LOCALES, none, type Scenario, step, text, yesNo } from "./scenario.ts";

const REPOSITORY =
  "git init -q r && cd r && git config user.email a@b.example && git config user.name A && printf '1\\n2\\n3\\n' >f && git add f && git commit -qm one && printf '1\\nx\\n3\\n' >f;";
const SPANISH = "es_ES.UTF-8";
const YN = { yes: "y", no: "n" };

const FILES: readonly Scenario[] = [
  { id: "rm-i", run: "touch a; rm -i a", asks: [yesNo("n\r", YN)] },
  ...inLocales(
    { id: "rm-i", run: "touch a; rm -i a", asks: [yesNo("n\r", YN)] },
    LOCALES.filter((it) => it !== SPANISH),
  ),
  ...inLocales({ id: "rm-i", run: "touch a; rm -i a", asks: [yesNo("n\r", { yes: "s", no: "n" })] }, [SPANISH]),
  { id: "rm-I", run: "touch a b c d; rm -I a b c d", asks: [yesNo("n\r", YN)] },
  { id: "rm-ir", run: "mkdir d; touch d/a; rm -ir d", asks: [yesNo("y\r", YN), yesNo("y\r", YN), yesNo("y\r", YN)] },
  { id: "cp-i", run: "echo 1 >a; echo 2 >b; cp -i a b", asks: [yesNo("n\r", YN)] },
  ...inLocales(
    { id: "cp-i", run: "echo 1 >a; echo 2 >b; cp -i a b", asks: [yesNo("n\r", YN)] },
    LOCALES.filter((it) => it !== SPANISH),
  ),
  ...inLocales({ id: "cp-i", run: "echo 1 >a; echo 2 >b; cp -i a b", asks: [yesNo("n\r", { yes: "s", no: "n" })] }, [
    SPANISH,
  ]),
  { id: "mv-i", run: "echo 1 >a; echo 2 >b; mv -i a b", asks: [yesNo("n\r", YN)] },
  ...inLocales({ id: "mv-i", run: "echo 1 >a; echo 2 >b; mv -i a b", asks: [yesNo("n\r", YN)] }, ["de_DE.UTF-8"]),
  { id: "ln-i", run: "touch a b; ln -i a b", asks: [yesNo("n\r", YN)] },
  { id: "find-ok", run: "touch a; find . -name a -ok echo {} \\;", asks: [yesNo("n\r", YN)] },
  ...inLocales({ id: "find-ok", run: "touch a; find . -name a -ok echo {} \\;", asks: [yesNo("n\r", YN)] }, [
    "fr_FR.UTF-8",
  ]),
  { id: "xargs-p", run: "echo a b | xargs -p echo", asks: [yesNo("n\r", YN)] },
  {
    id: "unzip",
    run: "echo 1 >a; echo 2 >b; python3 -c \"import zipfile;z=zipfile.ZipFile('z.zip','w');z.write('a');z.write('b')\"; unzip z.zip",
    asks: [
      choice("n\r", { keys: ["y", "n", "A", "N", "r"] }),
      choice("r\r", { keys: ["y", "n", "A", "N", "r"] }),
      text("c\r"),
    ],
  },
  {
    id: "patch",
    run: "printf 'a\\n' >f; printf -- '--- g\\n+++ g\\n@@ -1 +1 @@\\n-b\\n+c\\n' >p; patch <p",
    asks: [text("\r"), yesNo("\r", { default: "yes" })],
  },
  {
    id: "patch-reversed",
    run: "printf 'c\\n' >f; printf -- '--- f\\n+++ f\\n@@ -1 +1 @@\\n-b\\n+c\\n' >p; patch <p",
    asks: [yesNo("\r", { default: "no" }), yesNo("\r", { default: "no" })],
  },
  { id: "tar-w", run: "touch a b; tar cwf t.tar a b", asks: [yesNo("y\r", YN)] },
];

const GIT: readonly Scenario[] = [
  { id: "git-add-p", run: `${REPOSITORY} git add -p`, asks: [choice("?\r"), choice("q\r")] },
  { id: "git-restore-p", run: `${REPOSITORY} git restore -p .`, asks: [choice("q\r")] },
  { id: "git-stash-p", run: `${REPOSITORY} git stash -p`, asks: [choice("q\r")] },
  {
    id: "git-clean-i",
    run: `${REPOSITORY} touch u v; git clean -i`,
    asks: [choice("4\r"), yesNo("n\r", { yes: "y", no: "N", default: "no" })],
  },
  { id: "git-add-i", run: `${REPOSITORY} git add -i`, asks: [choice("2\r"), choice("1\r"), choice("\r")] },
  {
    id: "git-autocorrect",
    run: `${REPOSITORY} git config help.autocorrect prompt; git staus`,
    asks: [yesNo("n\r", { yes: "y", no: "N", default: "no" })],
  },
  {
    id: "git-difftool",
    run: `${REPOSITORY} git difftool --tool=vimdiff`,
    asks: [yesNo("n\r", { yes: "Y", no: "n", default: "yes" })],
  },
  {
    id: "git-mergetool",
    run: `${REPOSITORY} git commit -qam two; git checkout -qb o HEAD~; printf '1\\ny\\n3\\n' >f; git commit -qam three; git merge -q master main 2>/dev/null; git merge -q $(git branch --format='%(refname:short)' | grep -v '^o$'); git -c mergetool.prompt=true mergetool --tool=vimdiff`,
    asks: [enter()],
  },
  { id: "git-commit-editor", run: `${REPOSITORY} GIT_EDITOR=vim git commit -a`, asks: [none()] },
  {
    id: "git-log-pager",
    run: `${REPOSITORY} git commit -qam "$(seq 200)"; git -c core.pager='less' log`,
    asks: [enter()],
  },
  {
    id: "git-bisect",
    run: `${REPOSITORY} git bisect good`,
    asks: [yesNo("n\r", { yes: "Y", no: "n", default: "yes" })],
  },
];

const INTERPRETERS: readonly Scenario[] = [
  {
    id: "python-repl",
    run: "python3 -q",
    asks: [chat("x = input('Your name: ')\r"), text("bob\r"), chat("for i in range(2):\r"), chat()],
  },
  { id: "python-input", run: "python3 -c \"input('Enter your name: ')\"", asks: [text("a\r")] },
  { id: "python-input-bare", run: 'python3 -c "input()"', asks: [text("a\r")] },
  {
    id: "python-age",
    run: "python3 -c \"print('Welcome to the quiz.'); input('How old are you? ')\"",
    asks: [text("a\r")],
  },
  { id: "pdb", run: "printf 'x=1\\nprint(x)\\n' >a.py; python3 -m pdb a.py", asks: [chat("q\r")] },
  { id: "node-repl", run: "node", asks: [chat("1+1\r"), chat()] },
  { id: "sqlite", run: "sqlite3 x.db", asks: [chat("select 1;\r"), chat()] },
  {
    id: "gdb",
    run: "gdb -q /bin/true",
    asks: [
      chat("start\r"),
      yesNo("x\r", { yes: "y", no: "n", default: "no" }),
      yesNo("n\r", { yes: "y", no: "n", default: "no" }),
    ],
  },
  {
    id: "gdb-pending",
    run: "gdb -q /bin/true",
    asks: [step("break nowhere_at_all\r"), yesNo("n\r", { yes: "y", no: "n" })],
  },
  { id: "gdb-pages", run: "gdb -q /bin/true", asks: [step("help all\r"), enter("q\r")] },
  { id: "ed", run: "echo a >f; ed -p '*' f", asks: [chat("q\r")] },
  { id: "bash-in-bash", run: "PS1='alice@web1:~$ ' bash --norc", asks: [none()] },
  { id: "root-shell", run: "PS1='root@web1:/etc# ' bash --norc -i", asks: [none()] },
  { id: "zsh-in-bash", run: "zsh -f", asks: [none()] },
  { id: "dash", run: "dash -i", asks: [none()] },
  { id: "fish", run: "fish --no-config", asks: [none()] },
  { id: "redis-cli", run: "redis-cli -p 1", asks: [chat()] },
  { id: "ftp", run: "tnftp", asks: [chat("open\r"), text("\r")] },
  { id: "telnet", run: "telnet", asks: [chat("open\r"), text("\r")] },
  { id: "lftp", run: "lftp", asks: [chat()] },
  { id: "parted-shell", run: "truncate -s 20M d.img; parted d.img", asks: [chat()] },
];

const SCRIPTS: readonly Scenario[] = [
  { id: "read-p", run: "read -p 'Project name: ' x", asks: [text("a\r")] },
  { id: "read-yn", run: "read -p 'Deploy to production? (y/n) ' x", asks: [yesNo("n\r", YN)] },
  {
    id: "read-yN",
    run: "read -r -p 'Overwrite config.yml? [y/N] ' x",
    asks: [yesNo("n\r", { yes: "y", no: "N", default: "no" })],
  },
  {
    id: "read-Yn",
    run: "read -r -p 'Install dependencies? [Y/n]: ' x",
    asks: [yesNo("n\r", { yes: "Y", no: "n", default: "yes" })],
  },
  {
    id: "read-yesno",
    run: "read -r -p 'Delete the cluster (yes/no)? ' x",
    asks: [yesNo("no\r", { yes: "yes", no: "no" })],
  },
  { id: "read-sure", run: "echo 'This removes 14 files.'; read -r -p 'Are you sure? ' x", asks: [yesNo("n\r", YN)] },
  { id: "read-enter", run: "read -r -p 'Press [Enter] to continue...' x", asks: [enter("\r")] },
  { id: "read-anykey", run: "read -n 1 -s -r -p 'Press any key to continue'", asks: [enter("x")] },
  { id: "read-ctrlc", run: "read -r -p 'Press ENTER to continue or Ctrl-C to abort.'", asks: [enter("\r")] },
  {
    id: "read-n1",
    run: "read -n 1 -r -p 'Are you sure? [y/N] ' x",
    asks: [yesNo("n", { yes: "y", no: "N", default: "no" })],
  },
  {
    id: "read-type-yes",
    run: "echo \"To delete the volume type 'yes':\"; read -r x",
    asks: [yesNo("no\r", { yes: "yes" })],
  },
  {
    id: "read-type-name",
    run: "echo 'This cannot be undone.'; read -r -p 'Type the name of the repository to confirm: ' x",
    asks: [text("a\r")],
  },
  { id: "read-default", run: "read -r -p 'Port [8080]: ' x", asks: [text("\r", { default: "8080" })] },
  {
    id: "read-default-paren",
    run: "read -r -p 'Region (default: eu-west-1): ' x",
    asks: [text("\r", { default: "eu-west-1" })],
  },
  { id: "read-question", run: "read -r -p 'Where should the files go? ' x", asks: [text("\r")] },
  { id: "read-email", run: "read -r -p 'E-mail address > ' x", asks: [text("\r")] },
  {
    id: "select",
    run: "PS3='Choose a mirror: '; select x in Europe America Asia; do break; done",
    asks: [choice("2\r", { keys: ["1", "2", "3"] })],
  },
  {
    id: "select-bare",
    run: "select x in start stop restart quit; do break; done",
    asks: [choice("2\r", { keys: ["1", "2", "3", "4"] })],
  },
  {
    id: "menu-brackets",
    run: "printf '[1] Install\\n[2] Repair\\n[3] Remove\\n'; read -r -p 'Your choice: ' x",
    asks: [choice("2\r", { keys: ["1", "2", "3"] })],
  },
  {
    id: "menu-dots",
    run: "printf 'What do you want to do?\\n  1. Upgrade\\n  2. Keep\\n\\n'; read -r -p 'Select [1-2]: ' x",
    asks: [choice("2\r", { keys: ["1", "2"] })],
  },
  {
    id: "menu-letters",
    run: "printf 'a) Abort\\nb) Retry\\nc) Ignore\\n'; read -r -p '> ' x",
    asks: [choice("a\r", { keys: ["a", "b", "c"] })],
  },
  {
    id: "menu-proceed",
    run: "printf 'Do you want to proceed?\\n1) Yes\\n2) No\\n3) Show the diff\\n'; read -r -p '#? ' x",
    asks: [choice("2\r", { keys: ["1", "2", "3"] })],
  },
  {
    id: "menu-default",
    run: "printf '1) small\\n2) medium\\n3) large\\n'; read -r -p 'Size [2]: ' x",
    asks: [choice("\r", { keys: ["1", "2", "3"], default: "2" })],
  },
  {
    id: "menu-zero",
    run: "printf '0) None\\n1) All\\n2) Some\\n'; read -r -p 'Enter a number: ' x",
    asks: [choice("0\r", { keys: ["0", "1", "2"] })],
  },
  { id: "dash-read", run: "dash -c 'printf \"Continue? [y/n]: \"; read x'", asks: [yesNo("n\r", YN)] },
  { id: "zsh-read", run: "zsh -f -c 'read -q \"?Remove all? (y/n) \"'", asks: [yesNo("n", YN)] },
  { id: "zsh-vared", run: "zsh -f -c 'x=main; vared -p \"Branch: \" x'", asks: [text("\r")] },
  { id: "fish-read", run: "fish --no-config -c 'read -P \"Your city: \" x'", asks: [text("a\r")] },
  {
    id: "read-de",
    run: "read -r -p 'Möchten Sie fortfahren? [J/n] ' x",
    asks: [yesNo("n\r", { yes: "J", no: "n", default: "yes" })],
  },
  {
    id: "read-de-word",
    run: "read -r -p 'Wirklich löschen? (ja/nein) ' x",
    asks: [yesNo("nein\r", { yes: "ja", no: "nein" })],
  },
  {
    id: "read-fr",
    run: "read -r -p 'Voulez-vous continuer ? [O/n] ' x",
    asks: [yesNo("n\r", { yes: "O", no: "n", default: "yes" })],
  },
  {
    id: "read-es",
    run: "read -r -p '¿Desea continuar? [S/n] ' x",
    asks: [yesNo("n\r", { yes: "S", no: "n", default: "yes" })],
  },
  {
    id: "read-ja",
    run: "read -r -p '続行しますか? [Y/n] ' x",
    asks: [yesNo("n\r", { yes: "Y", no: "n", default: "yes" })],
  },
  {
    id: "read-zh",
    run: "read -r -p '您希望继续执行吗？ [Y/n] ' x",
    asks: [yesNo("n\r", { yes: "Y", no: "n", default: "yes" })],
  },
  { id: "read-de-enter", run: "read -r -p 'Weiter mit der Eingabetaste ...' x", asks: [enter("\r")] },
  { id: "read-fr-enter", run: "read -r -p 'Appuyez sur Entrée pour continuer...' x", asks: [enter("\r")] },
  { id: "read-es-enter", run: "read -r -p 'Presione Enter para continuar' x", asks: [enter("\r")] },
  { id: "read-ja-enter", run: "read -r -p '続行するには Enter キーを押してください: ' x", asks: [enter("\r")] },
  { id: "read-zh-enter", run: "read -r -p '按回车键继续...' x", asks: [enter("\r")] },
  { id: "read-de-text", run: "read -r -p 'Bitte geben Sie Ihren Namen ein: ' x", asks: [text("a\r")] },
  { id: "read-ja-text", run: "read -r -p 'お名前を入力してください： ' x", asks: [text("a\r")] },
  { id: "read-zh-text", run: "read -r -p '请输入用户名：' x", asks: [text("a\r")] },
  {
    id: "read-after-log",
    run: "for i in $(seq 30); do echo \"2026-01-01T10:00:$i INFO step $i done\"; done; read -r -p 'Run the migration now? [y/N] ' x",
    asks: [yesNo("n\r", { yes: "y", no: "N", default: "no" })],
  },
];

const PAGERS: readonly Scenario[] = [
  { id: "less", run: "seq 300 >f; less f", asks: [enter("G"), enter("q")] },
  { id: "more", run: "seq 300 >f; more f", asks: [enter("q")] },
  { id: "man", run: "man ls", asks: [enter("q")] },
  { id: "python-help", run: "python3 -c 'help(str)'", asks: [enter("q")] },
  { id: "vim", run: "vim -u NONE f", asks: [none()] },
  { id: "vim-more", run: "vim -u NONE -c 'echo 1' -c 'echo 2' f", asks: [enter()] },
  { id: "nano", run: "nano f", asks: [none()] },
  { id: "fzf", run: "seq 5 | fzf", asks: [none()] },
  { id: "mc", run: "mc -u", asks: [none()] },
];

const DISKS: readonly Scenario[] = [
  {
    id: "fdisk",
    run: "truncate -s 20M d.img; fdisk d.img",
    asks: [
      chat("n\r"),
      choice("p\r", { keys: ["p", "e"], default: "p" }),
      text("\r", { default: "1" }),
      text("\r", { default: "2048" }),
      text("\r"),
      chat("q\r"),
    ],
  },
  {
    id: "fdisk-signature",
    run: "truncate -s 20M d.img; mkfs.ext4 -q d.img; printf 'o\\nn\\np\\n1\\n2048\\n\\nw\\n' | fdisk d.img >/dev/null 2>&1; mkfs.ext4 -qF -E offset=1048576 d.img 16M; fdisk d.img",
    asks: [
      chat("d\r"),
      chat("n\r"),
      step("p\r"),
      step("\r"),
      step("\r"),
      step("\r"),
      yesNo("n\r", { yes: "Y", no: "N" }),
    ],
  },
  {
    id: "parted-mklabel",
    run: "truncate -s 20M d.img; parted -s d.img mklabel msdos; parted d.img mklabel gpt",
    asks: [yesNo("No\r", { yes: "Yes", no: "No" })],
  },
  {
    id: "parted-mkpart",
    run: "truncate -s 20M d.img; parted -s d.img mklabel msdos; parted d.img mkpart",
    asks: [
      choice("primary\r", { keys: ["primary", "extended"] }),
      text("\r", { default: "ext2" }),
      text("1\r"),
      text("10\r"),
    ],
  },
  {
    id: "mkfs",
    run: "truncate -s 20M d.img; mkfs.ext4 -q d.img; mkfs.ext4 d.img",
    asks: [yesNo("n\r", { yes: "y", no: "N", default: "no" })],
  },
  {
    id: "e2fsck",
    run: "truncate -s 20M d.img; mkfs.ext4 -q d.img; debugfs -w -R 'clri <11>' d.img 2>/dev/null; e2fsck -f d.img",
    asks: [yesNo("y\r", { yes: "y", no: "n", default: "yes" }), yesNo("y\r")],
  },
];

export const TOOLS: readonly Scenario[] = [...FILES, ...GIT, ...INTERPRETERS, ...SCRIPTS, ...PAGERS, ...DISKS].filter(
  ({ asks }) => asks.length > 0,
);
