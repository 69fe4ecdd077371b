"""`hooktray completion`: the script that makes a shell complete our commands, and the answers at each Tab.

The script asks the program at each Tab, so it never falls behind: `hooktray __complete =WORD BEFORE...`, where WORD
is the one at the cursor, which may be empty, and BEFORE are those in front of it.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from typing import Annotated

from tray.cli.command_line import HELP, HELP_TEXT, Argument, Parameter, parameters
from tray.cli.commands import GLOBAL, GROUPS, find_command, first_words, group_parser, split_globals
from tray.paths import Paths

Candidates = Iterable[tuple[str, str]]  # words and what they mean


class Shell(enum.StrEnum):
    BASH = "bash"
    FISH = "fish"
    POWERSHELL = "powershell"
    ZSH = "zsh"


SCRIPTS = {
    Shell.BASH: r"""_hooktray_completion() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        COMPREPLY+=("${line%%$'\t'*}")
    done < <("$1" __complete "=${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)
}

complete -o default -F _hooktray_completion hooktray
""",
    Shell.FISH: r"""function __hooktray_complete
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
""",
    Shell.POWERSHELL: r"""Register-ArgumentCompleter -Native -CommandName hooktray -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $before = @($commandAst.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.Extent.Text })
    hooktray __complete "=$wordToComplete" @before 2>$null | ForEach-Object {
        $word, $help = $_ -split "`t", 2
        if (-not $help) { $help = $word }
        [System.Management.Automation.CompletionResult]::new($word, $word, 'ParameterValue', $help)
    }
}
""",
    Shell.ZSH: r"""#compdef hooktray

_hooktray() {
    local line
    local -a found
    for line in "${(@f)$("${words[1]}" __complete "=${words[CURRENT]}" "${(@)words[2,CURRENT-1]}" 2>/dev/null)}"; do
        [[ -n $line ]] && found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    done
    if (( ${#found} )); then
        _describe hooktray found
    else
        _files
    fi
}

if [[ ${funcstack[1]} == _hooktray ]]; then
    _hooktray "$@"
else
    compdef _hooktray hooktray
fi
""",
}


def completion(paths: Paths, shell: Annotated[Shell, Argument(metavar="SHELL", help="For which shell.")]) -> None:
    print(SCRIPTS[shell], end="")


def complete(asked: Sequence[str]) -> int:
    """Print what may follow at the cursor, one to a line with its meaning; nothing where a file may."""
    word, before = asked[0].removeprefix("="), asked[1:]
    for candidate, help in candidates(before, word):
        if candidate.startswith(word):
            print(f"{candidate}\t{help}")
    return 0


def candidates(before: Sequence[str], word: str) -> Candidates:
    """What may follow these words; options only where the word begins like one."""
    options, words = split_globals(before)
    if options[-1:] == ["--home"]:
        return ()
    if not words:
        return _options(GLOBAL) if word.startswith("-") else first_words()
    command, rest = find_command(words)
    if command is not None:
        found = parameters(command.function())
        for one in found:
            if rest and rest[-1] in one.declared.flags and not one.is_flag:
                return _choices(one)
        if word.startswith("-"):
            return _options(found)
        return next((_choices(one) for one in found if not one.declared.flags), ())
    return group_parser(words[0]).commands if list(words) in ([group] for group in GROUPS) else ()


def _choices(parameter: Parameter) -> Candidates:
    return [(choice, parameter.declared.help) for choice in parameter.choices]


def _options(found: Iterable[Parameter]) -> Candidates:
    given = [(flag, one.declared.help) for one in found for flag in one.declared.flags]
    return [*given, *((flag, HELP_TEXT) for flag in HELP)]
