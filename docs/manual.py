"""Writes the manual page and the shells' completions out of the command line: `python docs/manual.py [--check]`."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from tray import __version__
from tray.agents.registry import AGENTS
from tray.cli.command_line import HELP, HELP_TEXT, Option, Parameter, parameters
from tray.cli.commands import COMMANDS, GLOBAL, UserCommand
from tray.cli.completion import SCRIPTS, Shell

ROOT = Path(__file__).parent.parent
COMPLETIONS = {
    Shell.BASH: "hooktray.bash",
    Shell.FISH: "hooktray.fish",
    Shell.POWERSHELL: "hooktray.ps1",
    Shell.ZSH: "_hooktray",
}
HEAD = f""".\\" Written by docs/manual.py out of the command line itself.
.TH HOOKTRAY 1 "" "Hooktray {__version__}" "User commands"
.SH NAME
hooktray \\- one tray for every coding agent\\(aqs hooks
.SH SYNOPSIS
.B hooktray
.RB [ \\-\\-home
.IR DIR ]
.RI [ command
.IR "" [ argument " ...]]"
.br
.B hooktray\\-relay
.RB [ \\-\\-home
.IR DIR ]
.I AGENT
.RI [ EVENT ]
.SH DESCRIPTION
Hooktray receives the lifecycle events of several coding agents, runs the hooks that you approved for them, answers
each agent in its own dialect, raises an alert and a sound for what came out, and keeps a journal of every decision.
Without a command it shows the status at a terminal, and starts the tray elsewhere.
"""
RELAY = """.SS "relay AGENT [EVENT]"
What an agent runs: the event on its standard input goes to the tray, the tray\\(aqs answer to standard output,
standard error and the exit code. Without a tray the one\\-shot engine answers. AGENT is one of {agents}.
.B hooktray\\-relay
is the same, and quicker.
"""
TAIL = r""".SH FILES
.B hooktray paths
prints where everything is. On Linux:
.TP
.I ~/.config/hooktray/hooktray.yaml
settings and hooks
.TP
.I ~/.local/state/hooktray/
the database with journal and approvals, the approved copies, the logs, the socket
.SH ENVIRONMENT
.TP
.B HOOKTRAY_HOME
a folder below which everything is kept;
.B \-\-home
wins over it
.SH EXIT STATUS
.TP
.B 0
all went well; of off, pause, approve, deny and revoke also: they have asked, and a person is still to decide
.TP
.B 1
something that you can cure; the message says how
.TP
.B 2
the command line is not understood
.TP
.B 3
an error of Hooktray itself
.PP
.B relay
ends with what the agent expects.
.SH NOTES
Only a person can approve, revoke, pause or switch off: in the tray\(aqs menu, on the page or at a terminal.
The commands ask.
"""


def page() -> str:
    """The manual page, in the language of man(7)."""
    parts = [HEAD, ".SH OPTIONS\n", _options(GLOBAL), _option(HELP, "", HELP_TEXT), ".SH COMMANDS\n"]
    parts += map(_command, sorted(COMMANDS, key=lambda command: command.name))
    agents = ", ".join(f"\\fB{_plain(name)}\\fR" for name in sorted(AGENTS))
    return "".join([*parts, RELAY.replace("{agents}", agents), TAIL])


def files() -> dict[Path, str]:
    """Everything that follows from the command line, by its place."""
    scripts = {ROOT / "installers" / "completions" / name: SCRIPTS[shell] for shell, name in COMPLETIONS.items()}
    return {ROOT / "docs" / "hooktray.1": page(), **scripts}


def _command(command: UserCommand) -> str:
    taken = parameters(command.function())
    words = [one.shown for one in taken if not isinstance(one.declared, Option)]
    heading = f'.SS "{_plain(" ".join([command.name, *words]))}"\n'
    return heading + _text(command.help) + _options(taken)


def _options(taken: Iterable[Parameter]) -> str:
    found = (one.declared for one in taken if isinstance(one.declared, Option))
    return "".join(_option(one.flags, one.metavar, one.help) for one in found)


def _option(flags: Iterable[str], metavar: str, help: str) -> str:
    names = ", ".join(f"\\fB{_plain(flag)}\\fR" for flag in flags)
    value = f" \\fI{_plain(metavar)}\\fR" if metavar else ""
    return f".TP\n{names}{value}\n{_text(help)}"


def _text(text: str) -> str:
    lines = (_plain(line.strip()) for line in text.strip().splitlines())
    return "".join(f"\\&{line}\n" if line.startswith((".", "'")) else f"{line}\n" for line in lines if line)


def _plain(text: str) -> str:
    """What means itself: neither an escape nor a hyphen that a search would miss."""
    return (
        text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace('"', "\\(dq").replace("…", "...")
    )


def main(argv: list[str]) -> int:
    stale = [path for path, text in files().items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        if "--check" not in argv:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(files()[path], encoding="utf-8", newline="\n")
        print(path.relative_to(ROOT))
    return int(bool(stale) and "--check" in argv)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
