# Integration for bash, after the lines that set __ss (our directory) and __ss_k (the nonce).
# The nonce is in one variable and nowhere else: PS0, PS1 and PROMPT_COMMAND may be exported, printed or saved.
# No subshell and no program runs per prompt. Everything must hold under set -u, set -e and POSIX mode.
# A trace (set -x) would print the nonce: `local -` and `set +x` turn it off until the function returns.

builtin readonly __ss __ss_k
builtin export -n __ss __ss_k
__ss_a='\[\e]7717;${__ss_k-};A;$?\a\]'
__ss_b='\[\e]7717;${__ss_k-};B\a\]'
__ss_c='\e]7717;${__ss_k-};C\a'
__ss_e=$'__sidestick_recall\n\\builtin eval -- "$__ss_text"\n__sidestick_arm'
builtin readonly __ss_e
__ss_i=' \\. "$__ss"*: (__ss_c=*'

# PWD with every byte but the plain ones as %XX, in __ss_cwd.
__sidestick_place() {
  [ "${__ss_pwd-}" = "${PWD-}" ] && return 0
  __ss_pwd=${PWD-} __ss_cwd=${PWD-}
  [[ $__ss_pwd == *[!abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-]* ]] || return 0
  builtin local LC_ALL=C at byte code
  __ss_cwd=
  for ((at = 0; at < ${#__ss_pwd}; at++)); do
    byte=${__ss_pwd:at:1}
    case $byte in
      [abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-]) ;;
      *)
        builtin printf -v code %d "'$byte"
        builtin printf -v byte %%%02X "$((code & 255))"
        ;;
    esac
    __ss_cwd+=$byte
  done
}

__sidestick_mark() {
  { builtin printf '\e]7717;%s;%s\a' "$__ss_k" "$1" >/dev/tty; } 2>/dev/null || builtin return 0
}

# First of PROMPT_COMMAND.
__sidestick_done() {
  builtin local code=$?
  [[ $- == *x* ]] && { builtin local -; builtin set +x; } 2>/dev/null
  __sidestick_place
  __sidestick_mark "D;$code;$__ss_cwd"
  [[ $- == *e* ]] || builtin return "$code"
}

# Last of PROMPT_COMMAND, when themes have set PS1. Puts back what somebody replaced.
__sidestick_arm() {
  builtin local code=$?
  [[ $- == *x* ]] && { builtin local -; builtin set +x; } 2>/dev/null
  [[ ${PS0-} == *"$__ss_c"* ]] || PS0=${PS0-}$__ss_c
  if [[ ${PS1-} != "$__ss_a"*"$__ss_b" ]]; then
    PS1=${PS1-}
    PS1=${PS1//"$__ss_a"/}
    PS1=$__ss_a${PS1//"$__ss_b"/}$__ss_b
  fi
  [[ ${HISTIGNORE-} == *"$__ss_i"* ]] || HISTIGNORE=${HISTIGNORE:+$HISTIGNORE:}$__ss_i
  __sidestick_arm_commands
  [[ ${__ss_new-} ]] && { __ss_new=; __sidestick_tell; }
  [[ $- == *e* ]] || builtin return "$code"
}

# At the first prompt: what is there before anybody has used the shell.
__sidestick_tell() {
  (__ss_c=0 __ss_o=$SHELLOPTS:$BASHOPTS POSIXLY_CORRECT=1; \. "$__ss"/state)
}

__sidestick_arm_commands() {
  builtin local each
  builtin local -a theirs
  if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 501)); then
    [[ ${PROMPT_COMMAND-} == __sidestick_done$'\n'*__sidestick_arm ]] && builtin return 0
    each=${PROMPT_COMMAND-}
    each=${each//__sidestick_done/:}
    PROMPT_COMMAND=__sidestick_done$'\n'${each//__sidestick_arm/:}$'\n'__sidestick_arm
    builtin return 0
  fi
  [[ ${PROMPT_COMMAND[0]-} == __sidestick_done && ${PROMPT_COMMAND[*]: -1} == __sidestick_arm ]] && builtin return 0
  for each in ${PROMPT_COMMAND[@]+"${PROMPT_COMMAND[@]}"}; do
    each=${each//__sidestick_done/:}
    each=${each//__sidestick_arm/:}
    [[ $each == : ]] || theirs+=("$each")
  done
  builtin unset -v PROMPT_COMMAND
  PROMPT_COMMAND=(__sidestick_done ${theirs[@]+"${theirs[@]}"} __sidestick_arm)
}

# Before a submitted command, which is then evaluated at the top level: in a sourced file bash would announce ended
# jobs in the middle of the output. The text goes into history under the user's own HISTCONTROL and HISTIGNORE.
__sidestick_begin() {
  builtin local code=$?
  [[ $- == *x* ]] && { builtin local -; builtin set +x; } 2>/dev/null
  __ss_code=$code __ss_text=$1$'\n' __ss_t=$__ss_e
  builtin export -n __ss_text
  [[ -o history && $1 == *[![:space:]]* ]] && builtin history -s -- "${1%"${1##*[!$'\n']}"}"
  [[ ${PS0-} == *"$__ss_c"* ]] && ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404)) && builtin shopt -q promptvars ||
    __sidestick_mark C
}

# Gives the command the status of the one before. A line that is read again must not run an old command again.
__sidestick_recall() {
  __ss_t=
  [[ $- == *e* ]] || builtin return "$__ss_code"
}
