# Tells the state of a fish to the file in __ss_to. `builtin` is of fish's grammar: nothing can stand in its place. While there
# is no path to load functions from, only those are told that are loaded; where from is what counts. No program runs.
begin
    builtin printf '\0path\0'
    for __ss_n in PATH fish_function_path fish_complete_path
        builtin printf '%s\n%s\n' $__ss_n (builtin string escape --style=url -- "$$__ss_n")
    end
    builtin printf '\0handlers\0'
    builtin functions --handlers
    builtin printf '\0functions\0'
    builtin set -l __ss_folders $fish_function_path $fish_complete_path
    builtin set -l fish_function_path
    for __ss_n in (builtin functions --all --names)
        builtin set -l __ss_from (builtin functions --details $__ss_n)
        builtin test "$__ss_from" = n/a; and continue
        builtin contains -- (builtin string replace -r '/[^/]*$' '' -- $__ss_from) $__ss_folders; and continue
        builtin printf '%s\n' (builtin string escape --style=url -- $__ss_n (builtin functions $__ss_n | builtin string collect))
    end
    builtin printf '\0abbreviations\0'
    builtin abbr --show | builtin string escape --style=url
    builtin printf '\0environment\0'
    for __ss_n in (builtin set --export --names)
        builtin printf '%s\n%s\n' $__ss_n (builtin string escape --style=url -- "$$__ss_n")
    end
    builtin printf '\0macros\0'
    builtin bind | builtin string escape --style=url
#asked:    builtin printf '\0known\0'
#asked:    builtin --names
    builtin printf '\0end\0'
end >$__ss_to 2>/dev/null </dev/null
