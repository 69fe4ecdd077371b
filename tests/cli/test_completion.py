"""Completion in a real shell, and the pages that are written out of the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from scripts import loaded

from tray.cli import run_command
from tray.cli.command_line import UsageError
from tray.cli.commands import first_words

ROOT = Path(__file__).parent.parent.parent
PROGRAM = Path(sys.executable).with_name("hooktray")
WORDS = sorted(word for word, _ in first_words())


@pytest.fixture(scope="module")
def manual() -> ModuleType:
    return loaded("docs/manual.py")


def run(*argv: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    path = f"{PROGRAM.parent}:{os.environ['PATH']}"
    everything = {"PATH": path, "HOME": os.environ["HOME"], "LC_ALL": "C.UTF-8", **environment}
    return subprocess.run(argv, env=everything, capture_output=True, text=True, timeout=60, check=False)


def completed(line: str) -> list[str]:
    """What bash offers at the end of a line, by the script that packages carry."""
    script = ROOT / "installers" / "completions" / "hooktray.bash"
    ask = (
        f"source {script}; COMP_WORDS=({line}); [[ '{line}' == *' ' ]] && COMP_WORDS+=('');"
        ' COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 )); _hooktray_completion hooktray; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = run("bash", "-c", ask)
    assert done.stderr == ""
    return sorted(done.stdout.split())


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("hooktray ", WORDS),
        ("hooktray config ", ["check"]),
        ("hooktray log --lim", ["--limit"]),
        ("hooktray --home /nowhere completion ", ["bash", "fish", "powershell", "zsh"]),
        ("hooktray passphrase f", ["forget"]),
        ("hooktray log --agent ", []),  # the shell offers files
        ("hooktray nothing ", []),
        ("hooktray --v", ["--version"]),
    ],
)
def test_bash_offers_what_may_stand_there(line: str, offered: list[str]) -> None:
    assert completed(line) == offered


ZSH = """
compdef() { : }
_describe() { print -l -- "${(@P)2}" }
_files() { print files }
source {script}
words=({words}); CURRENT=$#words
_hooktray
"""


@pytest.mark.parametrize(
    ("words", "offered"),
    [("hooktray log --lim", ["--limit:How many rows."]), ("hooktray log --agent ''", ["files"])],
)
def test_zsh_offers_words_with_what_they_mean(words: str, offered: list[str]) -> None:
    script = ROOT / "installers" / "completions" / "_hooktray"

    done = run("zsh", "-f", "-c", ZSH.replace("{script}", str(script)).replace("{words}", words))

    assert (done.stdout.splitlines(), done.stderr) == (offered, "")


@pytest.mark.parametrize(
    ("line", "offered"),
    [("hooktray pas", ["passphrase"]), ("hooktray log --lim", ["--limit"])],
)
def test_fish_offers_words_with_what_they_mean(line: str, offered: list[str], tmp_path: Path) -> None:
    script = ROOT / "installers" / "completions" / "hooktray.fish"

    done = run("fish", "-N", "-c", f"source {script}; complete --do-complete '{line}'", HOME=str(tmp_path))

    assert [shown.split("\t")[0] for shown in done.stdout.splitlines()] == offered
    assert done.stderr == ""


def test_completion_prints_what_packages_carry(manual: ModuleType) -> None:
    printed = run(PROGRAM, "completion", "zsh")

    assert printed.stdout == (ROOT / "installers" / "completions" / "_hooktray").read_text()
    assert (printed.returncode, printed.stderr) == (0, "")


def test_an_unknown_shell_is_a_usage_error_that_names_the_known_ones() -> None:
    with pytest.raises(UsageError, match="fish"):
        run_command(["completion", "tcsh"])


def test_the_committed_pages_are_what_the_command_line_says(manual: ModuleType) -> None:
    stale = [path.name for path, text in manual.files().items() if path.read_text() != text]

    assert stale == [], "run `python docs/manual.py`"


def test_man_shows_the_manual_without_a_complaint() -> None:
    shown = run("man", "--warnings", "-l", ROOT / "docs" / "hooktray.1", MANWIDTH="100")

    assert shown.stderr == ""
    assert "hooktray paths prints where everything is" in " ".join(shown.stdout.split())
