# Integration for dash and other plain POSIX shells, after the lines that set __ss (our directory) and __ss_k (the
# nonce). There is no hook: submitted files print their marks, and PS1 tells what a syntax error or Ctrl+C skipped.

readonly __ss __ss_k

# Prints byte for byte: capturing what printf says would need a subshell.
__sidestick_done() {
  printf '\033]7717;%s;D;%s;' "$__ss_k" "$1"
  case ${PWD-} in
    *[!a-zA-Z0-9/._-]*)
      __ss_rest=$PWD
      while [ -n "$__ss_rest" ]; do
        __ss_byte=${__ss_rest%"${__ss_rest#?}"}
        __ss_rest=${__ss_rest#?}
        case $__ss_byte in
          [a-zA-Z0-9/._-]) printf %s "$__ss_byte" ;;
          *) printf %%%02X "'$__ss_byte" ;;
        esac
      done
      ;;
    *) printf %s "${PWD-}" ;;
  esac
  printf '\007'
}

# A trace would print the nonce.
__sidestick_begin() {
  { set -- "$?" "$-"; set +x; } 2>/dev/null
  printf '\033]7717;%s;C\007' "$__ss_k" 2>/dev/null >/dev/tty || :
  __sidestick_back "$@"
}

__sidestick_end() {
  { set -- "$?" "$-"; set +x; } 2>/dev/null
  __sidestick_done "$1" 2>/dev/null >/dev/tty || :
  case ${PS1-} in
    "$__ss_a"*"$__ss_b") ;;
    *) PS1=$__ss_a${PS1-}$__ss_b ;;
  esac
  __sidestick_back "$@"
}

__sidestick_back() {
  case $2 in *x*) set -x ;; esac
  case $2 in *e*) return 0 ;; esac
  return "$1"
}

__ss_a=$(printf '\033]7717;${__ss_k-};A;$?\007')
__ss_b=$(printf '\033]7717;${__ss_k-};B\007')
