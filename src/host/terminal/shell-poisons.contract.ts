/** What an agent may do to a shell so that a person who types there later does something else, and what is told of it. */
import { expect } from "vitest";
import type { ShellChange } from "../../domain/shell-state/shell-changes.ts";

type Poison = {
  readonly shell: "bash" | "zsh" | "fish" | "dash";
  readonly done: string;
  readonly told: readonly ShellChange[];
};

const SECRET = "ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5";

export const POISONS: readonly Poison[] = [
  {
    shell: "bash",
    done: "sudo() { echo mine; }",
    told: [{ kind: "function", name: "sudo", after: "sudo () \n{ \n    echo mine\n}" }],
  },
  {
    shell: "bash",
    done: "__sidestick_place() { :; }",
    told: [
      {
        kind: "function",
        name: "__sidestick_place",
        before: expect.stringContaining("__ss_cwd") as string,
        after: "__sidestick_place () \n{ \n    :\n}",
      },
    ],
  },
  {
    shell: "bash",
    done: `alias ls='echo "it'\\''s" mine'`,
    told: [{ kind: "alias", name: "ls", after: `echo "it's" mine` }],
  },
  {
    shell: "bash",
    done: "trap 'echo d >/dev/null' DEBUG",
    told: [{ kind: "trap", name: "DEBUG", after: "echo d >/dev/null" }],
  },
  { shell: "bash", done: "trap 'echo e' ERR", told: [{ kind: "trap", name: "ERR", after: "echo e" }] },
  { shell: "bash", done: "trap : INT", told: [{ kind: "trap", name: "INT", after: ":" }] },
  {
    shell: "bash",
    done: 'PATH="$HOME/evil:$PATH"',
    told: [
      {
        kind: "path",
        name: "PATH",
        before: "/usr/bin:/bin",
        after: expect.stringMatching(/^\/.*\/evil:\/usr\/bin:\/bin$/) as string,
      },
    ],
  },
  {
    shell: "bash",
    done: "PROMPT_COMMAND='true mine'",
    told: [
      {
        kind: "prompt",
        name: "PROMPT_COMMAND",
        before: "([0]=__sidestick_done [1]=__sidestick_arm)",
        after: "([0]=__sidestick_done [1]=true mine [2]=__sidestick_arm)",
      },
    ],
  },
  {
    shell: "bash",
    done: "PS1='$(true)$ '",
    told: [{ kind: "prompt", name: "PS1", before: expect.stringMatching(/^[^7]*\$ $/) as string, after: "$(true)$ " }],
  },
  {
    shell: "bash",
    done: "set -o noclobber; shopt -u sourcepath; set +o history",
    told: [
      { kind: "option", name: "history", before: "on" },
      { kind: "option", name: "noclobber", after: "on" },
      { kind: "option", name: "sourcepath", before: "on" },
    ],
  },
  { shell: "bash", done: "enable -n echo", told: [{ kind: "option", name: "builtin echo", after: "disabled" }] },
  {
    shell: "bash",
    done: String.raw`bind -x '"\C-t": evil'; bind '"\C-o": "evil\n"'; bind '"y": accept-line'`,
    told: [
      { kind: "binding", name: String.raw`\C-o`, after: String.raw`evil\C-j` },
      { kind: "binding", name: String.raw`\C-t`, after: "evil" },
      { kind: "binding", name: "y", after: "accept-line" },
    ],
  },
  {
    shell: "bash",
    done: "hash -p /tmp/evil ls; hash cat",
    told: [{ kind: "hash", name: "ls", after: "/tmp/evil" }],
  },
  {
    shell: "bash",
    done: `export LD_PRELOAD='' API_TOKEN=${SECRET} LANG=C; unset TERM`,
    told: [
      { kind: "environment", name: "API_TOKEN", after: expect.not.stringContaining("aB3dE5fG7h") as string },
      { kind: "environment", name: "LANG", before: "C.UTF-8", after: "C" },
      { kind: "environment", name: "LD_PRELOAD", after: "" },
      { kind: "environment", name: "TERM", before: "xterm-256color" },
    ],
  },
  { shell: "zsh", done: "sudo() { echo mine }", told: [{ kind: "function", name: "sudo", after: "\techo mine" }] },
  {
    shell: "zsh",
    done: "alias ls='echo mine'; alias -g G='| cat'; alias -s txt=cat",
    told: [
      { kind: "alias", name: "-g G", after: "| cat" },
      { kind: "alias", name: "-s txt", after: "cat" },
      { kind: "alias", name: "ls", after: "echo mine" },
    ],
  },
  { shell: "zsh", done: "trap 'echo u' USR1", told: [{ kind: "trap", name: "USR1", after: "echo u" }] },
  { shell: "zsh", done: "TRAPUSR2() { echo u }", told: [{ kind: "trap", name: "USR2", after: "\techo u" }] },
  {
    shell: "zsh",
    done: "path=(/tmp/evil $path)",
    told: [{ kind: "path", name: "PATH", before: "/usr/bin:/bin", after: "/tmp/evil:/usr/bin:/bin" }],
  },
  {
    shell: "zsh",
    done: "mine() { : }; precmd_functions+=(mine); preexec_functions+=(mine)",
    told: [
      { kind: "function", name: "mine", after: "\t:" },
      {
        kind: "prompt",
        name: "precmd_functions",
        before: "__sidestick_done __sidestick_ready",
        after: "__sidestick_done mine __sidestick_ready",
      },
      {
        kind: "prompt",
        name: "preexec_functions",
        before: "__sidestick_preexec",
        after: "mine __sidestick_preexec",
      },
    ],
  },
  { shell: "zsh", done: "setopt noclobber", told: [{ kind: "option", name: "clobber", before: "on" }] },
  { shell: "zsh", done: "disable kill", told: [{ kind: "option", name: "builtin kill", after: "disabled" }] },
  {
    shell: "zsh",
    done: "bindkey -s '^T' 'evil\\n'; evil() { : }; zle -N kill-line evil",
    told: [
      { kind: "function", name: "evil", after: "\t:" },
      { kind: "binding", name: "bindkey -s ^T", after: "evil^J" },
      { kind: "binding", name: "bindkey ^T", before: "transpose-chars" },
      { kind: "binding", name: "zle -N kill-line", after: "evil" },
    ],
  },
  { shell: "zsh", done: "hash ls=/tmp/evil", told: [{ kind: "hash", name: "ls", after: "/tmp/evil" }] },
  {
    shell: "zsh",
    done: "export EDITOR='e v' LANG=C",
    told: [
      { kind: "environment", name: "EDITOR", after: "e v" },
      { kind: "environment", name: "LANG", before: "C.UTF-8", after: "C" },
    ],
  },
  {
    shell: "fish",
    done: "function sudo; echo mine; end; function ls; echo mine; end",
    told: [
      { kind: "function", name: "ls", after: expect.stringContaining("echo mine") as string },
      { kind: "function", name: "sudo", after: expect.stringContaining("echo mine") as string },
    ],
  },
  {
    shell: "fish",
    done: "abbr -a gs 'git status'; alias ls='echo mine'",
    told: [
      { kind: "alias", name: "gs", after: "'git status'" },
      { kind: "alias", name: "ls", after: expect.stringContaining("echo mine $argv") as string },
    ],
  },
  {
    shell: "fish",
    done: "function onsig --on-signal USR1; true; end",
    told: [
      { kind: "function", name: "onsig", after: expect.stringContaining("--on-signal") as string },
      { kind: "trap", name: "USR1 onsig", after: "signal" },
    ],
  },
  {
    shell: "fish",
    done: "set -x PATH /tmp/evil $PATH; set fish_function_path /tmp/evil $fish_function_path",
    told: [
      { kind: "path", name: "PATH", before: "/usr/bin:/bin", after: "/tmp/evil:/usr/bin:/bin" },
      {
        kind: "path",
        name: "fish_function_path",
        before: expect.not.stringContaining("/tmp/evil") as string,
        after: expect.stringContaining("/tmp/evil ") as string,
      },
    ],
  },
  {
    shell: "fish",
    done: "function fish_right_prompt; end; function mine --on-event fish_postexec; true; end",
    told: [
      { kind: "function", name: "mine", after: expect.stringContaining("fish_postexec") as string },
      { kind: "prompt", name: "fish_postexec mine", after: "generic" },
      { kind: "prompt", name: "fish_right_prompt", after: expect.stringContaining("fish_right_prompt") as string },
    ],
  },
  {
    shell: "fish",
    done: "bind \\ct 'commandline evil'",
    told: [{ kind: "binding", name: "bind \\ct", after: "'commandline evil'" }],
  },
  { shell: "fish", done: "set -gx EDITOR 'e v'", told: [{ kind: "environment", name: "EDITOR", after: "e v" }] },
  { shell: "dash", done: "alias ls='echo mine'", told: [{ kind: "alias", name: "ls", after: "echo mine" }] },
  { shell: "dash", done: "trap 'echo u' USR1", told: [{ kind: "trap", name: "USR1", after: "echo u" }] },
  {
    shell: "dash",
    done: "PATH=/tmp/evil:$PATH",
    told: [{ kind: "path", name: "PATH", before: "/usr/bin:/bin", after: "/tmp/evil:/usr/bin:/bin" }],
  },
  { shell: "dash", done: "PS2='>> '", told: [{ kind: "prompt", name: "PS2", before: "> ", after: ">> " }] },
  { shell: "dash", done: "set -C", told: [{ kind: "option", name: "noclobber", after: "on" }] },
  { shell: "dash", done: "export EDITOR='e v'", told: [{ kind: "environment", name: "EDITOR", after: "e v" }] },
];
