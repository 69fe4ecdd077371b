"""What a shell would make of each word, and the line with other words in their place."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence

import pytest
from every import every
from hypothesis import given
from hypothesis import strategies as st

from tray.shell.evaluate import Code, EvaluatedLine, evaluate, rewrite
from tray.shell.expand import GLOB, MADE, PROJECT, UNSEEN, Places

HERE = Places(values={"ROOT": "/p", "HOME": "/h", "plug": "/a b"}, folder="/f", cwd=PROJECT, root=PROJECT)


class Programs:
    """`run` and `eval` take code as words, `sh` on its input. Stand-in for the module `approvals.programs`."""

    def find_code(self, argv: Sequence[str]) -> list[Code]:
        return [Code(first=1, last=len(argv) - 1)] if argv[:1] in (["run"], ["eval"]) and len(argv) > 1 else []

    def reads_shell_code(self, argv: Sequence[str]) -> bool:
        return list(argv) == ["sh"]


def read(line: str) -> EvaluatedLine:
    return evaluate(line, HERE, Programs())


def texts(line: str) -> list[list[str]]:
    """The words of each list that the last command may start with."""
    return [[field.text for field in variant] for variant in read(line).commands[-1].variants]


@every(
    ("line", "found"),
    [
        ("x $ROOT/a \"$ROOT\"'b'", ["x", "/p/a", "/pb"]),
        ("x ${ROOT:-/y} ${ROOT-/y} ${ROOT:=/y} ${ROOT:+z} ${ROOT%p}", ["x", "/p", "/p", "/p", "z", "/"]),
        ('x ${ROOT#/} ${ROOT##*/} ~/a ~ "~"', ["x", "p", "p", "/h/a", "/h", "~"]),
        ("x $plug '${plug}/c'", ["x", "/a b", "/a b/c"]),
        ("A=1 B=$A; x $A$B", ["x", "11"]),
        ("A='x y'; $A \"$A\" 'q w'", ["x", "y", "x y", "q w"]),
        ("A=1; A+=2; x $A", ["x", "12"]),
        ("A=1; (A=2; y); x $A", ["x", "1"]),
        ("A=1; B=ROOT; x ${!B} $(echo $A) `echo $A`", ["x", "/p", "1", "1"]),
        ("cd /; cd a; x $PWD $(pwd) $OLDPWD", ["x", "/a", "/a", "/"]),
        ("x $(cd /c && pwd)/y $(cd /c; cd d; pwd)", ["x", "/c/y", "/c/d"]),
        ("x $(dirname /a/b) $(basename /a/b.sh .sh)", ["x", "/a", "b"]),
        ("x $PWD $(git rev-parse --show-toplevel 2>/dev/null)", ["x", PROJECT, PROJECT]),
        ('x "$(cd "$(dirname "$ROOT/y")" && pwd)/z"', ["x", "/p/z"]),
        ("x $UNKNOWN $1 *.c a?b", ["x", UNSEEN, MADE, f"{GLOB}.c", f"a{GLOB}b"]),
        ("x $(cat f) $PWD/$(cat f)", ["x", MADE, f"{PROJECT}/{MADE}"]),
        ("set -- a 'b c'; x \"$@\" $2", ["x", "a", "b c", "b", "c"]),
        ("x a\\ b $'c\\x64' $\"e\"", ["x", "a b", "cd", "e"]),
        ("read A <<< /p; x $A", ["x", "/p"]),
        ("export A=1; declare B=2; x $A$B", ["x", "12"]),
        ("x 2>/dev/null y", ["x", "y"]),
    ],
)
def test_words_are_expanded_as_a_shell_would(line: str, found: list[str]) -> None:
    assert texts(line) == [found]


@every(
    ("line", "found"),
    [
        ("x ${U:-/y}", [["x", "/y"], ["x", UNSEEN]]),
        ("A=1; true || A=2; x $A", [["x", "2"], ["x", "1"]]),
        ("if y; then A=1; else A=2; fi; x $A", [["x", "2"], ["x", "1"]]),
        ("for A in 1 2; do x $A; done", [["done"]]),
        ("A=$(y || echo /z); x $A", [["x", MADE], ["x", "/z"]]),
    ],
)
def test_a_word_that_may_be_several_texts_is_each_of_them(line: str, found: list[list[str]]) -> None:
    assert texts(line) == found


def test_too_many_texts_of_one_word_leave_it_unknown() -> None:
    line = "".join(f"A{n}=a; true || A{n}=b; " for n in range(9)) + "x " + "".join(f"$A{n}" for n in range(9))

    assert any(MADE in variant[1] for variant in texts(line))


@pytest.mark.parametrize("line", ["x 'a", "x $(y", "x ${a", 'x "$(y)', "x `y"])
def test_what_is_not_closed_is_an_error(line: str) -> None:
    with pytest.raises(ValueError, match="not closed"):
        read(line)


def test_lines_inside_lines_end_at_a_limit() -> None:
    line = "x"
    for _ in range(9):
        line = f"run $({line}; true || A=2; echo $A)"
    began = time.monotonic()

    with pytest.raises(ValueError, match="too much"):
        read(line)

    assert time.monotonic() - began < 20


def run(line: str, **variables: str) -> str:
    environment = {"PATH": "/usr/bin:/bin", **variables}
    return subprocess.run(["/bin/sh", "-c", line], env=environment, capture_output=True, check=True).stdout.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="runs a POSIX shell")
@pytest.mark.parametrize("line", ["echo ${cwd}", 'echo "${cwd}"', "echo '${cwd}'", "echo 'a'${cwd}''"])
def test_a_placeholder_is_put_in_by_the_shell_wherever_it_is(line: str) -> None:
    written = rewrite(read(line), lambda word, command: None, {"cwd"})

    assert run(written, cwd="/a;echo evil").strip().lstrip("a") in ("/a;echo evil", "/;echo evil")


@pytest.mark.skipif(sys.platform == "win32", reason="runs a POSIX shell")
def test_an_unknown_one_in_single_quotes_stays_as_it_is() -> None:
    written = rewrite(read("echo '${other}' ${env:NAME}"), lambda word, command: None, {"cwd"})

    assert run(written, other="x", NAME="me") == "${other} me\n"


@every(
    ("line", "written"),
    [
        ("./x;y ./x", "'/c d';y '/c d'"),
        ('y "$(./x a)"', "y \"$('/c d' a)\""),
        ("y `./x`", "y $('/c d')"),
        ("run './x a'", "run ''\"'\"'/c d'\"'\"' a'"),
        ("cat <<E\n$(./x)\nE", "cat <<E\n$('/c d')\nE"),
        ("D=./x; $D", "D=./x; '/c d'"),
    ],
)
def test_a_word_is_replaced_as_one_word_also_inside_of_texts(line: str, written: str) -> None:
    def copy(word: object, command: object) -> str | None:
        fields = command.fields  # type: ignore[attr-defined]
        return "'/c d'" if [field.text for field in fields if field.word is word] == ["./x"] else None

    assert rewrite(read(line), copy, ()) == written


@given(st.text(alphabet="ab/ '\"\\$X{}()<>|&;#`\n*~=-:%@1"))
def test_a_line_without_placeholders_stays_as_it_is(line: str) -> None:
    try:
        script = read(line)
    except ValueError:
        return

    assert rewrite(script, lambda word, command: None, ()) == line
