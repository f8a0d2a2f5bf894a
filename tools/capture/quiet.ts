/** Commands that ask nothing, though much of what they print looks as if they did. */
import type { Scenario } from "./scenario.ts";

const SCRIPT = `cat >s.sh <<'X'
#!/bin/bash
read -r -p "Continue? [y/N] " answer
select x in a b; do break; done
stty -echo; read -p "Password: " secret; stty echo
echo "Press Enter to continue"
X`;
const MENU_DOCUMENT = `cat >m.md <<'X'
# Menu

When it starts, the installer shows:

    Do you want to proceed?
    ❯ 1. Yes
      2. Yes, and don't ask again
      3. No

Choose an option:
1) Install
2) Update
3) Remove
X`;

const COMMANDS: Readonly<Record<string, string>> = {
  "script-cat": `${SCRIPT}\ncat s.sh`,
  "script-numbered": `${SCRIPT}\ncat -n s.sh`,
  "script-grep": `${SCRIPT}\ngrep -n 'read' s.sh`,
  "script-head": `${SCRIPT}\nhead -2 s.sh`,
  "script-diff": `${SCRIPT}\nsed 's/y.N/Y\\/n/' s.sh >t.sh; diff -u s.sh t.sh`,
  "script-xtrace": `${SCRIPT}\nbash -x s.sh </dev/null`,
  "menu-document": `${MENU_DOCUMENT}\ncat m.md`,
  "menu-document-end": `${MENU_DOCUMENT}\ntail -3 m.md`,
  "menu-document-grep": `${MENU_DOCUMENT}\ngrep -n '[0-9]' m.md`,
  "log-proceeding": 'for i in 1 2 3; do echo "10:0$i:00 INFO Proceeding? no"; done',
  "log-password":
    "echo '2026-03-01 12:00:00 sshd[812]: Failed password for alice from 127.0.0.1'; echo 'Password: (hidden)'",
  "log-json": 'echo \'{"level":"info","msg":"Continue? [y/N]"}\'',
  "echoed-question": "echo 'Do you want to continue? [Y/n] y'; echo 'Continuing.'",
  "yes-piped": "touch a; yes | rm -i a; echo; echo removed",
  ls: "touch a b; mkdir c; ls -la",
  env: "printf 'HOME=/root\\nSHELL=/bin/bash\\nTERM=xterm\\n'",
  ps: "ps | head -5",
  df: "df -h | head -4",
  "git-init": "git init r",
  "git-log":
    "git init -q r; cd r; git config user.email a@b.example; git config user.name A; git commit -q --allow-empty -m 'Ask: really? [y/N]'; git --no-pager log",
  "git-status": "git init -q r; cd r; touch a; git status",
  "git-help": "git | head -30",
  "apt-simulated": "apt-get -o Dir::Etc::sourceparts=- -s remove tnftp",
  "apt-version": "apt-get --version | head -12",
  "apt-show": "apt-cache -o Dir::Etc::sourceparts=- show bash | head -20",
  "dpkg-list": "dpkg -l bash coreutils",
  "ssh-usage": "ssh",
  "ssh-refused": "ssh -o BatchMode=yes -p 1 127.0.0.1",
  "curl-refused": "curl http://127.0.0.1:1/",
  "curl-progress": "head -c 3000000 /dev/zero >z; curl -o y file://$PWD/z",
  dd: "dd if=/dev/zero of=z bs=1M count=5",
  "pip-list": "python3 -m pip list 2>/dev/null | head -8",
  "npm-help": "npm help 2>/dev/null | head -20",
  "npm-error": "npm run nothing 2>&1 | head -8",
  "node-error": "node -e 'throw new Error(\"Password: ?\")'",
  "python-error": "python3 -c 'input()' </dev/null",
  "python-list": "python3 -c \"[print(f'{i}. step {i}') for i in range(1,6)]\"",
  "gcc-error": "echo 'int main() { return x; }' >a.c; cc a.c",
  make: "printf 'all:\\n\\techo one\\n\\techo two?\\n' >Makefile; make",
  "openssl-key": "openssl genrsa 1024 2>&1 | head -3",
  "man-text": "man cp | col -b | sed -n 1,30p",
  "bash-help": "bash -c 'help read' | head -30",
  "tree-like": "mkdir -p a/b c; find . | sort",
  "numbered-find": "printf '1: alpha\\n2: beta\\n3: gamma\\n' >f; cat f",
  table: "printf '+----+------+\\n| id | name |\\n+----+------+\\n|  1 | yes  |\\n+----+------+\\n'",
  faq: "printf 'Q: Do you want to know more?\\nA: Read the manual.\\n'",
  "sqlite-dump": "sqlite3 x.db 'create table t(a); insert into t values(\"Continue? [y/n]\"); select * from t;'",
};

export const QUIET: readonly Scenario[] = Object.entries(COMMANDS).map(([name, run]) => ({
  id: `quiet-${name}`,
  run,
  asks: [],
  ends: true,
}));
