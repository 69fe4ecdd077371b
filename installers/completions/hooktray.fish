function __hooktray_complete
    set -l before (commandline -opc)
    set -l word (commandline -ct)
    set -l found ($before[1] __complete "=$word" $before[2..] 2>/dev/null)
    if set -q found[1]
        printf '%s\n' $found
    else
        __fish_complete_path $word
    end
end

complete --command hooktray --no-files --arguments '(__hooktray_complete)'
