"""Tables are appended and removed; every other byte of the file stays."""

from __future__ import annotations

import tomllib

import pytest

from tray.edit.toml_edit import Table, append, block, items, parse, remove
from tray.errors import ConfigError

OURS: Table = {"event": "Stop", "command": "[ -x '/o' ] && exec '/o' \"$@\" || true", "timeout": 600}
USERS = """\
# models
model = "a"   # the usual one

[[hooks]]
event = "Stop"    # mine
command = "true"

# about the provider
[providers.a]
key = '''
[[hooks]]
'''
"""
TEXTS = ["", "a = 1", "a = 1\n", USERS, USERS.replace("\n", "\r\n"), "hooks = []\n[b]\nc = 1\n"]


@pytest.mark.parametrize("text", [text for text in TEXTS if "hooks = []" not in text])
def test_what_is_appended_is_read_and_removed_again(text: str) -> None:
    connected = append(text.encode(), "f", "hooks", [OURS, {**OURS, "event": "PreToolUse"}])

    found = tomllib.loads(connected.decode())["hooks"]
    assert found[-2:] == [OURS, {**OURS, "event": "PreToolUse"}]
    assert connected.startswith(text.encode())
    if "'''" in text:
        return  # a header within a text of several lines: it is refused, below
    rest = remove(connected, "f", "hooks", found[-2:])
    assert rest.decode().rstrip("\r\n") == text.rstrip("\r\n")


def test_the_comments_around_a_removed_table_stay() -> None:
    text = USERS.replace("[[hooks]]\n'''", "x\n'''")

    rest = remove(text.encode(), "f", "hooks", items(text.encode(), "f", "hooks")).decode()

    assert rest == text.replace('\n[[hooks]]\nevent = "Stop"    # mine\ncommand = "true"\n', "")


@pytest.mark.parametrize(
    "text", [USERS, 'hooks = [{event = "Stop"}]\n', "[a]\nhooks = 1\n[[ hooks ]]\n[hooks.x]\ny = 1\n"]
)
def test_what_cannot_be_removed_by_whole_lines_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="cannot be edited without touching the rest"):
        remove(text.encode(), "f", "hooks", items(text.encode(), "f", "hooks"))


def test_a_list_within_a_line_takes_no_further_table() -> None:
    with pytest.raises(ConfigError, match="cannot be edited without touching the rest"):
        append(b"hooks = []\n", "f", "hooks", [OURS])


@pytest.mark.parametrize("value", ["it's", 'a "b" \\ c', "tab\there", "line\nbreak", "\x1b[0m", "ä€"])
def test_any_text_can_be_written(value: str) -> None:
    text = append(b"", "f", "hooks", [{"command": value}])

    assert items(text, "f", "hooks") == [{"command": value}]


def test_a_block_is_as_it_is_written() -> None:
    text = USERS.replace("[[hooks]]\n'''", "x\n'''").encode()

    assert block(text, "f", "hooks", 0) == '[[hooks]]\nevent = "Stop"    # mine\ncommand = "true"\n'


def test_what_is_no_toml_is_reported_with_its_place() -> None:
    with pytest.raises(ConfigError, match=r"^f:2:\d+: not TOML: "):
        parse(b"a = 1\nb = \n", "f")
    with pytest.raises(ConfigError, match="`hooks` is not an array of tables"):
        items(b"hooks = 1\n", "f", "hooks")
