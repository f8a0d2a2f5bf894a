# Tells the state of a bash to the file in __ss_to; read in a subshell that is in POSIX mode: there special builtins win over
# functions, so until `builtin` itself is known to be bash's own, nothing else is used. No program runs. Lines that begin
# with #asked: are left out at the start of a shell, for it must not take long.
# From the line that reads it: __ss_c, the last status; __ss_o, the options.
\exec >|"$__ss_to" 2>/dev/null </dev/null
\set +e
\export -f builtin
\export -f command_not_found_handle
\export -f
\unset -f builtin || \exit "$__ss_c"
\unset -f command_not_found_handle || \exit "$__ss_c"
# Disabled, it would be looked for in PATH, or where a hash says.
#asked:(PATH=/dev/null; \builtin :) || \exit "$__ss_c"
\set +o posix +u +x
\builtin printf '\0options\0%s\0path\0%s\0names\0' "$__ss_o" "${PATH-}"
\builtin declare -F
\builtin printf '\0functions\0'
\builtin declare -f
\builtin printf '\0builtins\0'
\builtin enable -n
\builtin printf '\0aliases\0'
\builtin alias -p
\builtin printf '\0traps\0'
\builtin trap -p
\builtin printf '\0prompt\0'
\builtin declare -p PROMPT_COMMAND PS0 PS1 PS2 PS4
\builtin printf '\0environment\0'
\builtin declare -px
\builtin declare -p IFS CDPATH MAILPATH BASH_ENV ENV HISTFILE
\builtin printf '\0hash\0'
\builtin hash -l
\builtin printf '\0macros\0'
\builtin bind -s
\builtin bind -X
#asked:\builtin printf '\0keys\0'
#asked:\builtin bind -p
#asked:\builtin printf '\0known\0'
#asked:\builtin compgen -A enabled
\builtin printf '\0end\0'
[[ :$__ss_o: == *:errexit:* ]] && \builtin exit 0
\builtin exit "$__ss_c"
