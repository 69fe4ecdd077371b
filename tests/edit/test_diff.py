"""The difference that is shown: whole where lines can be read, and of a very long line what changes in it."""

from __future__ import annotations

import json
from pathlib import Path

from tray.edit.diff import LONG_LINE, diff
from tray.edit.file_changes import File, FileChange, Link

ALLOW = json.dumps([f"Bash(tool-{n}:*)" for n in range(400)])
PLACE = Path("/f")
LINE = f'{{"hooks":{{"Stop":[1]}},"model":"opus","permissions":{{"allow":{ALLOW}}},"last":true}}'


def shown(before: str | None, after: str | None) -> str:
    old, new = (File(text=text.encode()) if text is not None else None for text in (before, after))
    return diff(FileChange(path=PLACE, before=old, after=new))


def test_a_short_file_is_shown_as_every_tool_does() -> None:
    assert shown("a\nb\n", "a\nc") == (
        f"--- {PLACE}\n+++ {PLACE}\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n\\ No newline at end of file\n"
    )
    assert shown(None, "a\n").startswith(f"--- /dev/null\n+++ {PLACE}\n")


def test_of_a_long_line_what_changes_is_shown_with_its_column() -> None:
    text = shown(LINE, LINE.replace("[1]", "[1,2]").replace("true}", 'true,"more":1}'))

    assert text.splitlines()[2:] == [
        "@@ -1 +1 @@",
        f" (a line of {len(LINE):,} characters; shown is what changes in it)",
        ' (column 20) {"hooks":{"Stop":[1',
        "+,2",
        f" (column {len(LINE)}) …" + LINE[-31:-1],
        '+,"more":1',
        " (the rest of this line stays: 1)",
    ]


def test_all_that_comes_and_goes_is_shown_however_long_it_is() -> None:
    added = [f'"{"x" * 90}{n}"' for n in range(50)]

    text = shown(LINE, LINE.replace("[1]", f"[1,{','.join(added)}]"))

    assert max(map(len, text.splitlines())) <= LONG_LINE + 1
    assert "".join(row[1:] for row in text.splitlines()[3:] if row[0] == "+") == f",{','.join(added)}"


def test_a_long_line_that_stays_is_cut_and_says_so() -> None:
    text = shown(f"{LINE}\nb\n", f"{LINE}\nc\n")

    assert f"… ({len(LINE) - 200 + 1:,} characters more, which stay)\n-b\n+c\n" in text


def test_a_long_line_of_another_kind_is_shown_too() -> None:
    old, new = 'é"' * 9_000, "é" * 3_000

    assert len(shown(old, new).splitlines()) > 3


def test_lines_may_end_as_on_an_old_mac() -> None:
    assert shown("a\rb\r", "a\rb\rc\r") == f"--- {PLACE}\n+++ {PLACE}\n@@ -1,2 +1,3 @@\n a\n b\n+c\n"


def test_no_sign_in_it_does_anything_to_a_terminal() -> None:
    assert "\x1b" not in shown("a\n", "\x1b[2J\u202e\u2028b\n")
    assert "\\x1b[2J\\u202e\\u2028b\n" in shown("a\n", "\x1b[2J\u202e\u2028b\n")


def test_a_link_is_told_by_what_it_leads_to() -> None:
    assert "-link to ../x\n" in diff(FileChange(path=PLACE, before=Link("../x"), after=File(text=b"a\n")))
