"""What a shell line runs is known as the shell expands it: forms of naming and running a file, in each place.

The forms are run by a real shell, so that what the evaluator found is what the shell ran.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from every import every

from tray.approvals.checks import blocking_problem_of
from tray.approvals.command_resolver import CommandResolver
from tray.approvals.inspection import read_bundle
from tray.approvals.shell_hooks import unseen_words
from tray.errors import HooktrayError
from tray.model.event import EventKind
from tray.model.hook import Command, Failure, Hook, Match, Source
from tray.store.copies import Copies

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="lines for a POSIX shell")

SHELL = "/bin/bash"
PROJECT = "$CLAUDE_PROJECT_DIR"
# Ways to name the folder of the project, inside double quotes.
FOLDERS = [
    PROJECT,
    "${CLAUDE_PROJECT_DIR}",
    "${CLAUDE_PROJECT_DIR:-.}",
    "${CLAUDE_PROJECT_DIR-.}",
    "${CLAUDE_PROJECT_DIR:-$PWD}",
    "${CLAUDE_PROJECT_DIR:=/nowhere}",
    "${CLAUDE_PROJECT_DIR:?missing}",
    "${CLAUDE_PROJECT_DIR%/}",
    "${CLAUDE_PROJECT_DIR#nothing}",
    "${CLAUDE_PROJECT_DIR:+$CLAUDE_PROJECT_DIR}",
    "${GUARD_ROOT:-$CLAUDE_PROJECT_DIR}",
    "${GUARD_ROOT-$(pwd)}",
    "${GUARD_ROOT:-${CLAUDE_PROJECT_DIR:-$PWD}}",
    "${GUARD_ROOT:=$CLAUDE_PROJECT_DIR}",
    "$PWD",
    "${PWD}",
    "$PWD/hooks/..",
    "${PWD%/}",
    "$(pwd)",
    "$(pwd -P)",
    "`pwd`",
    "$(git rev-parse --show-toplevel)",
    "$(git rev-parse --show-toplevel 2>/dev/null || pwd)",
    '$(git -C "$CLAUDE_PROJECT_DIR" rev-parse --show-toplevel)',
    '$(cd "$CLAUDE_PROJECT_DIR" && pwd)',
    '$(cd "$CLAUDE_PROJECT_DIR/hooks/.." >/dev/null 2>&1 && pwd -P)',
    '$(dirname "$CLAUDE_PROJECT_DIR/hooks")',
    '$(realpath "$CLAUDE_PROJECT_DIR")',
    '$(readlink -f "$PWD")',
    '$(echo "$CLAUDE_PROJECT_DIR")',
    '$(printf %s "$PWD")',
]
# Ways to run the file: FILE is its path for double quotes, FOLDER its folder's parent.
STARTS = [
    '"FILE"',
    'sh "FILE"',
    'bash -eu "FILE"',
    'D="FOLDER"; "$D/hooks/check"',
    'D="FOLDER/hooks"; sh "$D"/check',
    'D="FOLDER"; E="${D}/hooks"; "$E/check"',
    'export D="FOLDER"; sh "$D/hooks/check"',
    'D="FILE"; export D; sh -c \'"$D"\'',
    'D="FILE" sh -c \'"$D"\'',
    ': "${D:=FOLDER}"; "$D/hooks/check"',
    'CMD="sh FILE"; $CMD',
    "sh -c 'FILE'",
    'sh -c "FILE"',
    "bash -ec 'true; sh \"FILE\"'",
    "env A=1 sh -c 'exec \"FILE\"'",
    "sh -c '\"$1\"' _ \"FILE\"",
    'env A=1 B=2 "FILE"',
    'exec "FILE"',
    'command "FILE"',
    'nice -n 1 "FILE"',
    'nohup "FILE"',
    'timeout 5 "FILE"',
    'time "FILE"',
    'env nice timeout 5 sh "FILE"',
    'xargs -n 1 "FILE" < /dev/null',
    'eval "FILE"',
    'eval sh "FILE"',
    'eval \'"FILE"\'',
    '. "FILE"',
    'source "FILE"',
    'cd "FOLDER" && ./hooks/check',
    'cd "FOLDER/hooks"; sh check',
    'cd "FOLDER" || exit 1; hooks/check',
    'pushd "FOLDER" > /dev/null; ./hooks/check',
    '(cd "FOLDER"; ./hooks/check)',
    'true | "FILE"',
    '"FILE" | cat',
    'false || "FILE"',
    'test -x "FILE" && "FILE"',
    '[ ! -f "FILE" ] || sh "FILE"',
    'if [ -f "FILE" ]; then sh "FILE"; fi',
    'if false; then true; else "FILE"; fi',
    'for one in "FILE"; do sh "$one"; done',
    'while :; do "FILE"; break; done',
    'case a in a) "FILE";; esac',
    'run() { "FILE"; }; run',
    '{ "FILE"; }',
    '"FILE" &\nwait',
    'sh < "FILE"',
    'cat "FILE" | sh',
    'sh <<E\n"FILE"\nE',
    'cat <<E\n$("FILE")\nE',
    'bash <<< "FILE"',
    'echo "$("FILE")"',
    'cat <("FILE")',
    'set -- sh "FILE"; "$@"',
    'set -- "FILE"; "$1"',
    'eval "$(cat "FILE")"',
    'bash -c "$(cat "FILE")"',
    'source <(cat "FILE")',
    'read -r D <<< "FILE"; sh "$D"',
    'printf -v D %s "FILE"; "$D"',
    'declare D="FILE"; "$D"',
    'find /bin/sh -maxdepth 0 -exec "FILE" {} \\;',
]
CASES = list(dict.fromkeys([*((start, folder) for start in STARTS[:4] for folder in FOLDERS),
    *((start, folder) for start in STARTS for folder in (FOLDERS[0], FOLDERS[4], FOLDERS[18]))]))



def line_of(start: str, folder: str) -> str:
    return start.replace("FILE", f"{folder}/hooks/check").replace("FOLDER", folder)


def hook(folder: Path, line: str, *, project: str = "", shell: bool = True) -> Hook:
    return Hook(
        name="check",
        source=Source(kind="claude-code", path=str(folder / "settings.json")),
        match=Match(event=EventKind.TOOL_BEFORE.value, project=project),
        action=Command(
            line=line, folder=str(folder), interpreter=SHELL, shell=shell, format="claude-code" if shell else ""
        ),
        failure=Failure.ALLOW,
        dialect="claude-code",
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "api"
    (folder / "hooks").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", folder], check=True)
    put(folder, "approved")
    return folder


def put(project: Path, text: str) -> None:
    (project / "hooks" / "check").write_text(f"#!/bin/sh\necho {text}\n")
    (project / "hooks" / "check").chmod(0o755)


def run(argv: list[str], project: Path) -> str:
    environment = {"PATH": os.environ["PATH"], "HOME": str(project), "CLAUDE_PROJECT_DIR": str(project)}
    done = subprocess.run(argv, cwd=project, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return done.stdout.strip()


@every(("start", "folder"), CASES)
def test_a_file_of_a_project_is_refused_in_the_users_own_settings(project: Path, tmp_path: Path, start: str, folder: str) -> None:
    line = line_of(start, folder)
    own = tmp_path / "own"

    with pytest.raises(HooktrayError, match="each project would bring its own program"):
        read_bundle(hook(own, line))

    assert run([SHELL, "-c", line], project) == "approved"  # so it is a way to run it


@every(("start", "folder"), CASES)
def test_a_projects_own_settings_run_the_approved_copy_of_it(project: Path, tmp_path: Path, start: str, folder: str) -> None:
    copies = Copies(tmp_path / "copies")
    (tmp_path / "copies").mkdir(exist_ok=True)
    put(project, "approved")
    bundle = read_bundle(hook(project, line_of(start, folder), project=str(project)))
    copies.save(bundle)
    put(project, "planted")

    argv = CommandResolver(copies).argv(bundle.hook, bundle.digest)

    assert bundle.covered == (str(project / "hooks" / "check"),)
    assert run(list(argv), project) == "approved", argv[-1]
