# Tells the state of a dash to the file in __ss_to, as far as dash can say it: it can't list functions. Special builtins can't
# be functions in it; the others are freed of theirs in a subshell.
\trap >|"$__ss_to"
(
  \unset -f printf alias
  \printf '\0path\0%s\0PS1\0%s\0PS2\0%s\0PS4\0%s\0options\0' "${PATH-}" "${PS1-}" "${PS2-}" "${PS4-}"
  \set -o
  \printf '\0aliases\0'
  \alias
  \printf '\0environment\0'
  \export -p
  \printf '\0end\0'
) >>"$__ss_to" 2>/dev/null </dev/null
case $- in *e*) __ss_c=0 ;; esac
\return "$__ss_c"
