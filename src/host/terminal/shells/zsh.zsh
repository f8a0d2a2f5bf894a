# Integration for zsh, after the lines that set __ss (our directory), __ss_k (the nonce) and __ss_dot (the user's ZDOTDIR).
# Defined before any file of the user's is read, so that no alias of theirs changes it. No subshell and no program
# runs per prompt. Nothing may be traced (set -x would print the nonce) and no status of ours may end the shell (set -e).

builtin typeset -g +x __ss __ss_k
builtin typeset -gr __ss __ss_k

# Before a file of the user's ZDOTDIR is theirs again; after it ours, so that zsh finds our next one.
__sidestick_theirs() {
  builtin unset ZDOTDIR
  case $__ss_dot_type in
    '') ;;
    *export*) builtin typeset -gx ZDOTDIR=$__ss_dot ;;
    *) builtin typeset -g ZDOTDIR=$__ss_dot ;;
  esac
}

__sidestick_ours() {
  builtin typeset -g __ss_dot_type=${(t)ZDOTDIR-} __ss_dot=${ZDOTDIR-}
  builtin unset ZDOTDIR
  builtin typeset -g ZDOTDIR=$__ss/zsh
}

__sidestick_mark() {
  builtin emulate -L zsh -o no_xtrace -o no_errexit
  { builtin print -rn -- $'\e]7717;'"$__ss_k;$1"$'\a' >/dev/tty } 2>/dev/null
}

# PWD with every byte but the plain ones as %XX, in __ss_cwd.
__sidestick_place() {
  builtin emulate -L zsh -o no_xtrace -o no_errexit -o no_multibyte
  [[ ${__ss_pwd-} == "$PWD" ]] && return 0
  builtin typeset -g __ss_pwd=$PWD __ss_cwd=$PWD
  [[ $PWD == *[^a-zA-Z0-9/._-]* ]] || return 0
  builtin local at byte
  __ss_cwd=
  for ((at = 1; at <= $#PWD; at++)); do
    byte=$PWD[at]
    [[ $byte == [a-zA-Z0-9/._-] ]] || builtin printf -v byte '%%%02X' $((#byte & 255))
    __ss_cwd+=$byte
  done
}

__sidestick_preexec() {
  __sidestick_mark C
}

# First of the precmd functions.
__sidestick_done() {
  builtin local code=$?
  builtin setopt local_options no_xtrace no_errexit
  __sidestick_place
  __sidestick_mark "D;$code;$__ss_cwd"
  return $code
}

# At the first prompt: what is there before anybody has used the shell.
__sidestick_tell() {
  __ss_new=
  (__ss_c=0 __ss_o=("${(@kv)options}") __ss_f=("${(@kv)functions}"); \. "$__ss"/state)
  builtin trap >|"$__ss"/began-traps
}

# Last of the precmd functions.
__sidestick_ready() {
  builtin local code=$?
  [[ -z ${__ss_new-} ]] || __sidestick_tell
  builtin setopt local_options no_xtrace no_errexit
  __sidestick_mark "A;$code"
  __sidestick_arm
}

__sidestick_line_init() {
  __sidestick_mark B
}

__sidestick_keep() {
  builtin setopt local_options no_xtrace no_errexit
  if [[ $1 == ' \. "$__ss"'* || $1 == ' __ss_c=$?;('* ]]; then return 1; fi
}

# Puts back what somebody replaced.
__sidestick_arm() {
  builtin emulate -L zsh -o no_xtrace -o no_errexit
  builtin typeset -ga precmd_functions preexec_functions zshaddhistory_functions
  [[ $precmd_functions[1] == __sidestick_done && $precmd_functions[-1] == __sidestick_ready ]] ||
    precmd_functions=(__sidestick_done ${precmd_functions:#__sidestick_(done|ready)} __sidestick_ready)
  [[ $preexec_functions[-1] == __sidestick_preexec ]] ||
    preexec_functions=(${preexec_functions:#__sidestick_preexec} __sidestick_preexec)
  [[ $zshaddhistory_functions[1] == __sidestick_keep ]] ||
    zshaddhistory_functions=(__sidestick_keep ${zshaddhistory_functions:#__sidestick_keep})
}

__sidestick_install() {
  builtin emulate -L zsh -o no_xtrace -o no_errexit
  __sidestick_arm
  { builtin autoload -Uz add-zle-hook-widget && add-zle-hook-widget line-init __sidestick_line_init } 2>/dev/null ||
    builtin zle -N zle-line-init __sidestick_line_init
}

# Before a submitted command: its text goes into history as if it had been typed.
__sidestick_begin() {
  builtin local code=$?
  [[ -o errexit ]] && code=0
  builtin setopt local_options no_xtrace no_errexit
  __sidestick_mark C
  [[ $1 != *[^[:space:]]* || -o hist_ignore_space && $1 == ' '* ]] || builtin print -rs -- "$1"
  return $code
}

# In an always block, so that an error or an interrupt doesn't skip it; before zsh marks a partial line (PROMPT_SP).
__sidestick_end() {
  builtin local code=$? told=$?
  [[ -o errexit ]] && told=0
  builtin setopt local_options no_xtrace no_errexit
  __sidestick_place
  __sidestick_mark "D;$code;$__ss_cwd"
  __sidestick_arm
  return $told
}
