# Tells the state of a zsh to the file in __ss_to; read in a subshell without aliases whose functions are disabled, so that no
# name is another's. An expansion fails, and with it all, where `builtin` is disabled. No program runs.
# From the line that reads it: __ss_c, the last status; __ss_o, the options; __ss_f, the functions.
__ss_t=${${(M)builtins[builtin]:#defined}:?}
[[ -o errexit ]] && __ss_c=0
builtin emulate -R zsh -o no_aliases -o no_xtrace -o no_errexit -o clobber
exec >"$__ss_to" 2>/dev/null </dev/null
builtin print -rn -- $'\0path\0'"$PATH"$'\0options\0'
builtin print -rl -- "${(@qqqq)__ss_o}"
builtin print -rn -- $'\0functions\0'
builtin print -rl -- "${(@qqqq)__ss_f}"
builtin print -rn -- $'\0builtins\0'"${(Fk)dis_builtins}"$'\0aliases\0'
builtin print -rl -- "${(@qqqqkv)aliases}"
builtin print -rn -- $'\0galiases\0'
builtin print -rl -- "${(@qqqqkv)galiases}"
builtin print -rn -- $'\0saliases\0'
builtin print -rl -- "${(@qqqqkv)saliases}"
builtin print -rn -- $'\0prompt\0'
for __ss_n in PS1 PS2 PS3 PS4 RPS1 RPS2 {precmd,preexec,chpwd,periodic,zshaddhistory,zshexit}_functions; do
  builtin print -rl -- "${(qqqq)__ss_n}" "${(qqqq)${(j: :)${(P@)__ss_n}}}"
done
builtin print -rn -- $'\0environment\0'
builtin typeset -px
builtin print -rn -- $'\0hash\0'
builtin hash
builtin print -rn -- $'\0macros\0'
builtin bindkey -L
builtin zle -lL
#asked:builtin print -rn -- $'\0known\0'"${(Fk)builtins}"
builtin print -rn -- $'\0end\0'
builtin exit "$__ss_c"
