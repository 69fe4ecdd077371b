"""First lines as the kernel and `env` read them, with the approved program in its place."""

from __future__ import annotations

from every import every

from tray.approvals.script_start import parse_shebang, start_words

SH = "/bin/sh"


@every(
    ("line", "interpreter", "words"),
    [
        ("#!/bin/sh", SH, ()),
        ("#! /bin/zsh -e -u ", "/bin/zsh", ("/bin/zsh", "-f", "-e -u")),
        ("#!/usr/bin/env mysh", "mysh", (SH,)),
        ("#!/usr/bin/env -S mysh -e -u", "mysh", (SH, "-e", "-u")),
        ("#!/usr/bin/env -S A=b mysh -e", "mysh", ("/usr/bin/env", "A=b", SH, "-e")),
        ("#!/usr/bin/env -S -i mysh", "mysh", ("/usr/bin/env", "-i", SH)),
        ("#!/usr/bin/env -S -u X mysh", "mysh", ("/usr/bin/env", "-u", "X", SH)),
        ("#!/usr/bin/env -S mysh $HOME", "", ()),
        ("#!/usr/bin/env", "", ()),
        ("#!/nowhere/sh", "/nowhere/sh", ()),
        ("#!sh", "sh", ()),
        ("#!/bin/sh\r", "/bin/sh\r", ()),
        ("echo", "", ()),
    ],
)
def test_the_words_before_a_script(line: str, interpreter: str, words: tuple[str, ...]) -> None:
    shebang = parse_shebang(f"{line}\necho\n".encode())

    assert shebang.interpreter == interpreter
    assert start_words(shebang, {"mysh": SH}) == words


def test_without_an_approved_program_env_looks_for_the_name() -> None:
    assert start_words(parse_shebang(b"#!/usr/bin/env mysh\n"), {}) == ()
