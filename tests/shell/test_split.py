from __future__ import annotations

import subprocess

import pytest
from every import every
from hypothesis import given, settings
from hypothesis import strategies as st

from tray.shell.split import commands, words

PLACES = {"CLAUDE_PROJECT_DIR": "/p", "pluginDir": "/plug in", "HOME": "/h"}


@every(
    ("line", "named"),
    [
        ("./a.sh one", ["./a.sh", "one"]),
        ('"$CLAUDE_PROJECT_DIR"/.claude/x.sh', ["/p/.claude/x.sh"]),
        ('"${CLAUDE_PROJECT_DIR}/x y.sh"', ["/p/x y.sh"]),
        ("node '${pluginDir}/l.mjs'", ["node", "/plug in/l.mjs"]),
        ("'${HOME}/x' ~x $HOME/y", ["${HOME}/x", "~x", "/h/y"]),
        ("a\\ b.sh # it's a comment", ["a b.sh"]),
        ("a&&b||c;d|e\nf", ["a", "b", "c", "d", "e", "f"]),
        ("x <<EOF\nit's text\nEOF", ["x"]),
        ("x <<EOF | y\nit's text\nEOF\n./z.sh", ["x", "y", "./z.sh"]),
        ("x <<-'E F' >o\n\tit's\n\tE F\n./z.sh", ["x", "o", "./z.sh"]),
        ('x <<< "a b" | ./z.sh', ["x", "a b", "./z.sh"]),
        ("x $((1<<2))\n./z.sh", ["x", "1", "2", "./z.sh"]),
        ("x $(./y.sh) `./z.sh`", ["x", "./y.sh", "./z.sh"]),
        ("a \\\n b", ["a", "b"]),
        ("", []),
    ],
)
def test_words_are_what_the_shell_makes_of_them(line: str, named: list[str]) -> None:
    assert [word.text for word in words(line, PLACES)] == named


@pytest.mark.parametrize("line", ["'a", 'x "y', "x\\", "a'b"])
def test_a_quote_that_is_not_closed_is_an_error(line: str) -> None:
    with pytest.raises(ValueError, match="not closed"):
        words(line, {})


@every("line", ["$X", '"${X}/a"', "*.sh", "a?.sh", "{a,b}", '"$(x)"', '"`x`"', "${X:-/a}"])
def test_what_only_the_shell_knows_is_not_plain(line: str) -> None:
    assert [word.is_literal for word in words(line, PLACES)] == [False]


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("a b | c d && e", ["a", "c", "e"]),
        ("X=1 Y=2 a b", ["a"]),
        ("if a; then b; else c; fi", ["a", "b", "c", "fi"]),
        ("(a) ; { b; }", ["a", "b", "}"]),
        ("! exec a b", ["a"]),
        (">log a <in b 2>&1", ["a"]),
    ],
)
def test_a_commands_name_is_the_word_the_shell_would_run(line: str, names: list[str]) -> None:
    assert [group[0].text for group in commands(words(line, {}))] == names


def test_what_is_written_to_is_known() -> None:
    assert [word.text for word in words("a <b >c >>d &>e 2>f", {}) if word.is_output] == ["c", "d", "e", "f"]


def run(line: str, **variables: str) -> str:
    environment = {"PATH": "/usr/bin:/bin", **variables}
    return subprocess.run(["/bin/sh", "-c", line], env=environment, capture_output=True, check=True).stdout.decode()


@settings(max_examples=150)
@given(st.text(alphabet="ab/ '\"\\$X{}#-="))
def test_plain_words_are_those_of_a_real_shell(line: str) -> None:
    try:
        found = words(f"printf [%s] {line}", {"X": "a b"})
    except ValueError:
        return
    if (
        not all(word.is_literal for word in found) or "X" in line
    ):  # an unquoted value is split, and then names no file
        return

    told = run(f"printf [%s] {line}")

    assert told == "".join(f"[{word.text}]" for word in found[2:]) or (told, len(found)) == ("[]", 2)
