# Integration for fish, after the lines that set __ss_k (the nonce). Runs after the user's configuration.

function __sidestick_mark
    printf '\e]7717;%s;%s\a' $__ss_k $argv[1] >/dev/tty 2>/dev/null
end

# fish shows a command's title after it has said that the command runs. Shown here instead, it is not the block's.
functions -q fish_title
and functions -c fish_title __sidestick_user_title
and function fish_title
    set -q __ss_titled
    and set -e __ss_titled
    or __sidestick_user_title $argv
end

function __sidestick_preexec --on-event fish_preexec
    if functions -q __sidestick_user_title
        set -l title (__sidestick_user_title $argv[1])
        set -q title[1]
        and printf '\e]0;%s\a' "$title" >/dev/tty 2>/dev/null
        set -g __ss_titled
    end
    __sidestick_mark C
end

# Comments alone leave $status as it was: a block of them has succeeded.
function __sidestick_postexec --on-event fish_postexec
    set -l code $status
    string match -qr '^\s*[^\s#]' -- (string split \n -- $argv[1]); or set code 0
    __sidestick_mark "D;$code;"(string escape --style=url -- $PWD)
end

function __sidestick_prompt --on-event fish_prompt
    set -l code $status
    __sidestick_mark "D;$code;"(string escape --style=url -- $PWD)
    # At the first prompt: what is there before anybody has used the shell.
    if set -q __ss_new
        set -l state $__ss_new
        set -e __ss_new
        source $state
    end
    __sidestick_mark "A;$code"
end

functions -q fish_prompt
and functions -c fish_prompt __sidestick_user_prompt
and function fish_prompt
    __sidestick_user_prompt
    printf '\e]7717;%s;B\a' $__ss_k
end
