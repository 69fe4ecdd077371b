"""What a shell line runs is known as the shell expands it: forms of naming and running a file, in each place.

The forms are run by a real shell, so that what the evaluator found is what the shell ran.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest
from approvals import declared
from approvals.declared import argv, program, saved, settings_hook
from every import every
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tray.approvals.checks import ImportCheck
from tray.approvals.inspection import read_bundle
from tray.approvals.shell_hooks import runs, script_of, unseen_words
from tray.errors import HooktrayError
from tray.model.hook import Command, Hook
from tray.store.copies import Copies

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="lines for a POSIX shell")

SHELL = "/bin/bash"
PROJECT = "$CLAUDE_PROJECT_DIR"
# Ways to name the folder of the project, inside double quotes.
FOLDERS = [
    *(PROJECT, "${CLAUDE_PROJECT_DIR}", "${CLAUDE_PROJECT_DIR:-.}", "${CLAUDE_PROJECT_DIR-.}"),
    *("${CLAUDE_PROJECT_DIR:-$PWD}", "${CLAUDE_PROJECT_DIR:=/nowhere}", "${CLAUDE_PROJECT_DIR:?missing}"),
    *("${CLAUDE_PROJECT_DIR%/}", "${CLAUDE_PROJECT_DIR#nothing}", "${CLAUDE_PROJECT_DIR:+$CLAUDE_PROJECT_DIR}"),
    *("${GUARD_ROOT:-$CLAUDE_PROJECT_DIR}", "${GUARD_ROOT-$(pwd)}", "${GUARD_ROOT:-${CLAUDE_PROJECT_DIR:-$PWD}}"),
    *("${GUARD_ROOT:=$CLAUDE_PROJECT_DIR}", "$PWD", "${PWD}", "$PWD/hooks/..", "${PWD%/}", "$(pwd)", "$(pwd -P)"),
    *("`pwd`", "$(git rev-parse --show-toplevel)", "$(git rev-parse --show-toplevel 2>/dev/null || pwd)"),
    *('$(git -C "$CLAUDE_PROJECT_DIR" rev-parse --show-toplevel)', '$(cd "$CLAUDE_PROJECT_DIR" && pwd)'),
    *('$(cd "$CLAUDE_PROJECT_DIR/hooks/.." >/dev/null 2>&1 && pwd -P)', '$(dirname "$CLAUDE_PROJECT_DIR/hooks")'),
    *('$(realpath "$CLAUDE_PROJECT_DIR")', '$(readlink -f "$PWD")', '$(echo "$CLAUDE_PROJECT_DIR")'),
    '$(printf %s "$PWD")',
]
# Ways to run the file: FILE is its path for double quotes, FOLDER its folder's parent.
STARTS = [
    *('"FILE"', 'sh "FILE"', 'rbash "FILE"', 'bash -eu "FILE"', 'D="FOLDER"; "$D/hooks/check"'),
    *('D="FOLDER/hooks"; sh "$D"/check', 'D="FOLDER"; E="${D}/hooks"; "$E/check"'),
    *('export D="FOLDER"; sh "$D/hooks/check"', 'D="FILE"; export D; sh -c \'"$D"\'', 'D="FILE" sh -c \'"$D"\''),
    *(': "${D:=FOLDER}"; "$D/hooks/check"', 'CMD="sh FILE"; $CMD', "sh -c 'FILE'", 'sh -c "FILE"'),
    *("bash -ec 'true; sh \"FILE\"'", "env A=1 sh -c 'exec \"FILE\"'", 'sh -c \'"$1"\' _ "FILE"'),
    *('env A=1 B=2 "FILE"', 'exec "FILE"', 'command "FILE"', 'nice -n 1 "FILE"', 'nohup "FILE"'),
    *('timeout 5 "FILE"', 'time "FILE"', 'env nice timeout 5 sh "FILE"', 'xargs -n 1 "FILE" < /dev/null'),
    *('eval "FILE"', 'eval sh "FILE"', "eval '\"FILE\"'", '. "FILE"', 'source "FILE"'),
    *('cd "FOLDER" && ./hooks/check', 'cd "FOLDER/hooks"; sh check', 'cd "FOLDER" || exit 1; hooks/check'),
    *('pushd "FOLDER" > /dev/null; ./hooks/check', '(cd "FOLDER"; ./hooks/check)', 'true | "FILE"', '"FILE" | cat'),
    *('false || "FILE"', 'test -x "FILE" && "FILE"', '[ ! -f "FILE" ] || sh "FILE"'),
    *('if [ -f "FILE" ]; then sh "FILE"; fi', 'if false; then true; else "FILE"; fi'),
    *('for one in "FILE"; do sh "$one"; done', 'while :; do "FILE"; break; done', 'case a in a) "FILE";; esac'),
    *('run() { "FILE"; }; run', '{ "FILE"; }', '"FILE" &\nwait', 'sh < "FILE"', 'cat "FILE" | sh'),
    *('sh <<E\n"FILE"\nE', 'cat <<E\n$("FILE")\nE', 'bash <<< "FILE"', 'echo "$("FILE")"', 'cat <("FILE")'),
    *('set -- sh "FILE"; "$@"', 'set -- "FILE"; "$1"', 'eval "$(cat "FILE")"', 'bash -c "$(cat "FILE")"'),
    *('source <(cat "FILE")', 'read -r D <<< "FILE"; sh "$D"', 'printf -v D %s "FILE"; "$D"'),
    *('declare D="FILE"; "$D"', 'find /bin/sh -maxdepth 0 -exec "FILE" {} \\;', 'function run { "FILE"; }; run'),
    *('set -- x "FILE"; shift; "$1"', 'bash -c \'for one; do sh "$one"; done\' _ "FILE"', 'sh - "FILE"'),
    *('"$(printf "%s/hooks/check" "FOLDER")"', 'eval "D=FOLDER"; "$D/hooks/check"', '$UNKNOWN sh "FILE"'),
    *('cat <<E | sh\n"FILE"\nE', 'env -C "FOLDER" ./hooks/check', 'flock -n "$HOME/lock" "FILE"'),
    'find /bin/sh -exec sh "FILE" \\;',
]
CASES = [
    *((STARTS[0], folder) for folder in FOLDERS),
    *((start, (FOLDERS[4], FOLDERS[18])[number % 2]) for number, start in enumerate(STARTS[1:])),
]


def line_of(start: str, folder: str) -> str:
    return start.replace("FILE", f"{folder}/hooks/check").replace("FOLDER", folder)


def hook(folder: Path, line: str, *, project: str = "", plugin: str = "") -> Hook:
    return settings_hook(folder, line, interpreter=SHELL, project=project, plugin=plugin)


def own_hook(folder: Path, line: str) -> Hook:
    """A hook of hooktray.yaml, whose words no shell reads."""
    return declared.hook(folder, shlex.join(["bash", "-c", line]), interpreter=SHELL)


def unseen(one: Hook) -> tuple[str, ...]:
    return unseen_words(one, cast("Command", one.action))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "api"
    put(folder, "approved")
    subprocess.run(["git", "init", "-q", folder], check=True)
    return folder


def put(project: Path, text: str) -> None:
    program(project / "hooks" / "check", f"#!/bin/sh\necho {text}\n")


def run(words: list[str], project: Path) -> str:
    environment = {"PATH": os.environ["PATH"], "HOME": str(project), "CLAUDE_PROJECT_DIR": str(project)}
    done = subprocess.run(
        words, cwd=project, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


@every(("start", "folder"), CASES)
def test_the_users_own_hooks_run_no_file_of_a_project(project: Path, tmp_path: Path, start: str, folder: str) -> None:
    line, own = line_of(start, folder), tmp_path / "own"
    in_settings, in_yaml = hook(own, line), own_hook(own, line)
    in_plugin = hook(own, line, plugin=str(own))

    for one in (in_settings, in_yaml, in_plugin):
        with pytest.raises(HooktrayError, match="each project would bring its own program"):
            read_bundle(one)
    assert "each project would bring its own program" in ImportCheck().problem(in_settings)  # so it is not imported
    assert run([SHELL, "-c", line], project) == "approved"  # this is how a shell would run it


@every(("start", "folder"), CASES)
def test_a_projects_own_hooks_run_the_approved_copy_of_its_file(
    project: Path, copies: Copies, start: str, folder: str
) -> None:
    put(project, "approved")
    bundle = saved(copies, hook(project, line_of(start, folder), project=str(project)))
    put(project, "planted")

    assert bundle.covered == (str(project / "hooks" / "check"),)
    assert run(argv(copies, bundle), project) == "approved", argv(copies, bundle)[-1]


PLUGIN_FOLDERS = ["${CLAUDE_PLUGIN_ROOT:-.}", '$(cd "${CLAUDE_PLUGIN_ROOT:-$CLAUDE_PROJECT_DIR}" && pwd)']


@every(("start", "folder"), [(start, PLUGIN_FOLDERS[number % 2]) for number, start in enumerate(STARTS[::2])])
def test_a_plugins_hooks_run_the_approved_copy_of_its_file(
    project: Path, copies: Copies, tmp_path: Path, start: str, folder: str
) -> None:
    put(project, "approved")
    bundle = saved(copies, hook(project, line_of(start, folder), plugin=str(project)))
    put(project, "planted")

    assert str(project / "hooks" / "check") in bundle.covered
    assert run(argv(copies, bundle), tmp_path) == "approved", argv(copies, bundle)[-1]


# « and » enclose what Hooktray cannot see.
UNSEEN = [
    *('«"$TOOL"» --check', "«$TOOL/check»", 'python3 «"$TOOL/check.py"»', "«${TOOL:-/usr/bin/true}»"),
    *('«"$(npm root)/x"»', 'sh -c «"$CODE"»', "sh -c «'\"$TOOL\"'»", 'eval «"$(direnv export bash)"»'),
    *("«curl -s https://example.com/x» | sh", "«jq -r .command» | bash -s", "«bash -s»"),
    *("for one in ~/hooks/*.sh; do sh «$one»; done", 'read -r D; «"$D"»', 'run() { «"$1"»; }; run ls'),
    *("perl -e «'exec \"./x\"'»", "node -e «'require(process.argv[1])'»", "git -c «alias.x='!./x'» x"),
    *("alias «x=./x»\nx", "awk «'BEGIN { system(\"./x\") }'»", "sed -n «'1e ./x'» /etc/hosts"),
    *("tar cf x «--checkpoint-action=exec=./x» .", "ruby -e «'load \"./x\"'»", "php -r «'include \"./x\";'»"),
    *('env «--split-string="sh ./x"»', "python3 -I -c «'import os; os.system(\"x\")'»", "vim -es -c «'!./x'» -c q"),
    *("vim -es «'+silent !sh x'» notes", "nvim --headless -c «'luafile ./x.lua'» -c q", "perl -e «'do \"./x\"'»"),
    *("declare -n r=x; x=./check; «$r»", "fish -c «'source ./x; and echo y'»"),
    *("node --input-type=module -e «'import \"./x.js\"'»", "deno eval «'import \"./x.ts\"'»"),
    *("osascript -e «'do shell script \"~/x\"'»", "find . -name '*.sh' -exec sh «{}» \\;"),
    *("ls | xargs -I«{}» sh {}", 'parallel «"$CLAUDE_PROJECT_DIR/hooks/check"» ::: a'),
    *('go run «"$CLAUDE_PROJECT_DIR/hooks/check"»', 'A=(sh x); «"${A[@]}"»'),
    'ls hooks | while read -r f; do sh «"hooks/$f"»; done',
]


@every("marked", UNSEEN)
def test_words_that_only_the_shell_can_expand_are_named(tmp_path: Path, marked: str) -> None:
    before, word, after = re.split("[«»]", marked)
    one = hook(tmp_path, before + word + after)

    assert read_bundle(one).digest
    assert unseen(one) == (word,)


SEEN = [
    *("echo done", "jq -r .tool_input.file_path | xargs -n 1 ls -l"),
    *('FILE=$(jq -r .tool_input.file_path); npx prettier --check "$FILE"', 'cd "$CLAUDE_PROJECT_DIR" && npm test'),
    *('grep -q x "$CLAUDE_PROJECT_DIR/notes.txt" && exit 2', 'git -C "$CLAUDE_PROJECT_DIR" status --short'),
    *('env -C "$CLAUDE_PROJECT_DIR" make check', "cat > /dev/null; echo '{}'", "node -v; python3 --version"),
    *("python3 -I -c 'import json, sys; json.load(sys.stdin)'", "awk '{print $1}' /etc/hosts"),
    *("awk '!seen[$0]++' /etc/hosts", "sed -n -e 's/e x/y/p' /etc/hosts"),
    *("python3 -I -c 'import json, sys; from json import load; load(sys.stdin)'", "ENV=test make check"),
    *('case "$1" in *.py) ruff check "$1";; esac', 'notify-send "Claude" "$(basename "$PWD")"'),
    *("[ -n \"$CI\" ] || say -v Anna 'done'", "vim -es -u NONE -c 'set so=5' -c wq notes"),
    *('osascript -e \'display notification "a/b" with title "Claude"\'', "bun -e 'console.log(\"a/b\")'"),
    *("fish -c 'echo done'", "node --import tsx/esm -e 'console.log(1)'", "flock -n /tmp/lock npm test"),
    *("export -n X=a; X=jq; $X .", "flock /tmp/lock -c 'date >> /tmp/log'", "xargs -I{} prettier --write {}"),
    *('sudo -u "$USER" systemctl status x', 'uv run --project "$CLAUDE_PROJECT_DIR" ruff check'),
    *("direnv exec . npm test", "EDITOR=true git commit --amend", "GIT_SSH_COMMAND='ssh -i ~/.ssh/key' git fetch"),
    *("find . -name '*.py' -exec black {} +", "go test ./...", 'mytool --root "$CLAUDE_PROJECT_DIR/src"'),
]


@every("line", SEEN)
def test_a_line_that_runs_only_programs_of_the_path_has_nothing_unseen(tmp_path: Path, line: str) -> None:
    one = hook(tmp_path, line)

    assert read_bundle(one).digest
    assert unseen(one) == ()


@every(
    ("line", "shown"),
    [
        ('PATH="$CLAUDE_PROJECT_DIR/hooks:$PATH" check', True),
        ('export BASH_ENV="$PWD/hooks/check"; bash -c :', True),
        ("BASH_ENV=hooks/check bash -c :", True),
        ("GIT_EXTERNAL_DIFF=hooks/check git diff", True),
        ('EDITOR="$PWD/hooks/check" git commit', True),
        ("export ENV=./hooks/check; sh -ic :", True),
        ("PYTHONPATH=hooks python3 -c :", True),
        ('for one in "$CLAUDE_PROJECT_DIR"/hooks/*; do sh "$one"; done', True),
        ('"$(git rev-parse --git-dir)/../hooks/check"', True),
        ('D=/usr; [ -d "$D/none" ] || D=$PWD; "$D/hooks/check"', False),
        ('echo "$PWD/hooks/check" | xargs sh', False),
        ('printf "sh $PWD/hooks/check" | sh', False),
    ],
)
def test_what_runs_but_has_no_place_for_its_copy_is_named_or_refused(
    project: Path, line: str, *, shown: bool
) -> None:
    one = hook(project, line, project=str(project))

    if shown:
        assert unseen(one)
    else:
        with pytest.raises(HooktrayError):
            read_bundle(one)
    with pytest.raises(HooktrayError):
        read_bundle(hook(project, line))


RUNNERS = [
    *("aws-vault exec me --", "aws-vault exec me", "conda run -n x", "direnv exec ."),
    *('direnv exec "$CLAUDE_PROJECT_DIR"', "doas -u me", "flock -w 5 /tmp/lock", "gtimeout 5"),
    *("mise exec node@20 --", "nice -n5", "nix develop -c", "npx --yes tsx", "op run --env-file=.env --"),
    *("pixi run", "poetry run python", "setpriv --reuid=1", 'sudo -u "$USER"', "systemd-run --user --scope"),
    *('uv run --quiet --project "$CLAUDE_PROJECT_DIR"', "just --justfile", "make --file=/dev/null --makefile"),
    "emacs -Q --script",
]


@every("runner", RUNNERS)
def test_a_file_without_an_ending_is_found_behind_each_runner(project: Path, tmp_path: Path, runner: str) -> None:
    line = f'{runner} "$CLAUDE_PROJECT_DIR/hooks/check"'
    one = hook(project, line, project=str(project))

    assert str(project / "hooks" / "check") in read_bundle(one).covered
    assert unseen(one) == ()
    with pytest.raises(HooktrayError, match="each project would bring its own program"):
        read_bundle(hook(tmp_path / "own", line))


@every("runner", ["uv run", "poetry run", "conda run -n x", "mise exec --", "direnv exec ."])
def test_a_program_of_another_environment_is_not_replaced_by_that_of_the_path(
    project: Path, copies: Copies, runner: str
) -> None:
    line = f"{runner} sh hooks/check"
    bundle = saved(copies, hook(project, line, project=str(project)))

    assert f"{runner} sh " in argv(copies, bundle)[-1]
    first = program(copies.folder.parent / runner.split()[0], "")
    without_shell = settings_hook(project, line, interpreter=str(first), project=str(project))
    assert "sh" not in read_bundle(without_shell).pinned


@every(
    ("line", "words"),
    [
        ("unknown-wrapper --opt hooks/check", ("hooks/check",)),
        ("watchexec -n -- ./hooks/check", ("./hooks/check",)),
        ("unknown-tool --config notes.txt", ()),
        ("grep x hooks/check", ()),
        ("git add hooks/check", ()),
        ("chmod +x hooks/check", ()),
    ],
)
def test_an_unknown_program_may_run_an_executable_file_that_it_is_given(
    project: Path, line: str, words: tuple[str, ...]
) -> None:
    assert unseen(hook(project, line, project=str(project))) == words


LINES = st.recursive(
    st.sampled_from([start for start in STARTS if start.count("FILE") == 1 and "case" not in start]),
    lambda inner: st.one_of(
        st.builds("bash -c {}".format, inner.map(shlex.quote)),
        st.builds("eval {}".format, inner.map(shlex.quote)),
        st.builds("cd / && ({}\n)".format, inner),
        st.builds("cd hooks; {}".format, inner),
        st.builds("if true; then {}\nfi".format, inner),
        st.builds('echo "$({}\n)"'.format, inner),
        st.builds("env X=1 bash -c {}".format, inner.map(shlex.quote)),
        st.builds("{}\n{}".format, st.sampled_from(["X=/", "export X=hooks", "unset X", "set -- a b"]), inner),
    ),
    max_leaves=3,
)


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(line=LINES, folder=st.sampled_from(FOLDERS[:6]))
def test_what_is_found_in_a_line_is_what_a_shell_runs_and_its_copy_runs_instead(
    project: Path, copies: Copies, line: str, folder: str
) -> None:
    put(project, "approved")
    whole = line_of(line, folder)
    one = hook(project, whole, project=str(project))
    command = cast("Command", one.action)

    found = {each.path for each in runs(script_of(one, command), command.folder) if each.path}
    printed = run([SHELL, "-c", whole], project)

    assert found - {"/bin/sh"} == ({str(project / "hooks" / "check")} if "approved" in printed else set())
    try:
        bundle = saved(copies, one)
    except HooktrayError:  # a line that cannot be rewritten is not run at all
        return
    put(project, "planted")
    assert "planted" not in run(argv(copies, bundle), project)


@every(
    "line",
    [
        "function cat { echo mine; }; cat /etc/hosts",
        "function cat\n{ echo mine; }\ncat /etc/hosts",
        "shopt -s expand_aliases\nalias cat='echo mine'\ncat",
        "cat() { echo mine; }; cat /etc/hosts",
    ],
)
def test_what_a_line_defines_is_not_replaced_by_the_program_of_that_name(
    project: Path, copies: Copies, line: str
) -> None:
    bundle = saved(copies, hook(project, line, project=str(project)))

    assert run(argv(copies, bundle), project) == "mine"
