"""Claude Code's settings in every shape that people have them: connect and disconnect give the same bytes back."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from connect.sites import RELAY, Person, tree
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tray.agents.claude_code.connector import CONNECTOR
from tray.agents.claude_shape.settings_text import add_groups, handlers, parse_handler, remove_handlers
from tray.agents.registry import AGENTS
from tray.connect import apply_connect, connectors
from tray.edit.diff import diff
from tray.edit.json_edit import BOM, JsonText
from tray.errors import ConfigError, HooktrayError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="lines for a POSIX shell")

EVENTS = set(AGENTS["claude-code"].events) - {"WorktreeCreate"}
FOREIGN = '{"matcher": "Bash", "hooks": [{"type": "command", "command": "peon.sh Stop", "timeout": 5}]}'
PLAIN = '{\n  "model": "opus",\n  "permissions": {\n    "allow": ["Bash(ls:*)"]\n  }\n}\n'
WITH_HOOKS = '{\n  "hooks": {\n    "Stop": [\n      %s\n    ]\n  },\n  "model": "opus"\n}\n'
BIG = json.dumps({"permissions": {"allow": [f"Bash(tool-{n}:*) // {{[" for n in range(8_000)]}}, indent=1)

GOOD = {
    "nothing but braces": "{}",
    "braces and a line": "{}\n",
    "braces on two lines": "{\n}\n",
    "braces with a blank": "{ }\n",
    "empty": "",
    "blank lines": "\n \n",
    "two spaces": PLAIN,
    "four spaces": PLAIN.replace("  ", "    "),
    "tabs": PLAIN.replace("  ", "\t"),
    "no final newline": PLAIN.rstrip(),
    "two final newlines": PLAIN + "\n",
    "CRLF": PLAIN.replace("\n", "\r\n"),
    "BOM": "\ufeff" + PLAIN,
    "BOM and CRLF": "\ufeff" + PLAIN.replace("\n", "\r\n"),
    "BOM alone": "\ufeff",
    "minified": '{"model":"opus","permissions":{"allow":[]}}',
    "minified with hooks": '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]},"model":"opus"}',
    "one line with blanks": '{ "model": "opus", "hooks": { "Stop": [ ' + FOREIGN + " ] } }\n",
    "unicode": '{\n  "statusLine": "日本語 🦊 \u200f עברית",\n  "é": "\\u00e9\\ud83e"\n}\n',
    "odd escapes": '{\n  "a\\"b\\\\": "\\/ // no comment /* nor this */ }{][ ,",\n  "hooks": {}\n}\n',
    "numbers as written": '{\n  "a": 1.50, "b": 1E+2, "c": -0,\n  "d": 12345678901234567890.10\n}\n',
    "a comment in a line": '{\n  // mine\n  "model": "opus" // the best\n}\n',
    "a comment over lines": '/* top */\n{\n  "model": "opus" /* a\n b */\n  /* end */\n}\n// after\n',
    "a comment in empty hooks": '{\n  "hooks": {\n    // none yet\n  }\n}\n',
    "a comment behind hooks": WITH_HOOKS.replace("      %s\n", f"      {FOREIGN} // keep\n"),
    "hooks, empty": '{"hooks": {}}',
    "an event, empty": '{\n  "hooks": {\n    "Stop": [],\n    "PreToolUse": []\n  }\n}\n',
    "foreign hooks on one event": WITH_HOOKS % FOREIGN,
    "foreign hooks on every event": json.dumps({"hooks": {name: [json.loads(FOREIGN)] for name in sorted(EVENTS)}}),
    "an unknown event": '{\n  "hooks": {\n    "Tomorrow": [' + FOREIGN + "]\n  }\n}\n",
    "a worktree hook": '{"hooks": {"WorktreeCreate": [{"hooks": [{"type": "command", "command": "wt"}]}]}}',
    "who mentions us": WITH_HOOKS % FOREIGN.replace("peon.sh", "echo hooktray-hook claude-code"),
    "keys in an odd order": '{\n "z": 1,\n "hooks": {"Stop": [' + FOREIGN + ']},\n "a": {"hooks": {"Stop": 1}}\n}',
    "uneven indentation": '{\n "a": 1,\n      "b": {\n  "c": 2 },\n"d":\n3\n}\n',
    "CR": PLAIN.replace("\n", "\r"),
    "CR and hooks": (WITH_HOOKS % FOREIGN).replace("\n", "\r"),
    "a very long line": '{"permissions": {"allow": ["' + "x" * 200_000 + '"]},\n "hooks": {}}',
    "hooks elsewhere, twice": '{\n  "a": {"hooks": {"Stop": 1}, "hooks": [{"hooks": 2, "hooks": 3}]}\n}\n',
    "duplicate keys elsewhere": '{\n  "env": {"A": "1", "A": "2"}\n}\n',
    "thousands of lines": BIG,
    "deep": '{"a": ' + "[" * 500 + "]" * 500 + "}",
}
BAD: dict[str, tuple[str | bytes, str]] = {
    "a trailing comma": ('{\n  "model": "opus",\n}\n', ":2:18: a comma that nothing follows"),
    "a trailing comma in a list": ('{\n  "a": [1,]\n}\n', ":2:"),
    "cut short": ('{\n  "model": "op', ":2:"),
    "single quotes": ("{\n  'model': 'opus'\n}\n", ":2:3:"),
    "two objects": ("{}\n{}\n", ":2:1:"),
    "a list": ("[]\n", ":1:1:"),
    "a word": ("null\n", ":1:1:"),
    "hooks is a list": ('{\n  "hooks": []\n}\n', ":2:12:"),
    "hooks is null": ('{"hooks": null}', ":1:11:"),
    "an event is an object": ('{"hooks": {"Stop": {}}}', ":1:20:"),
    "a group without hooks": ('{"hooks": {"Stop": [{"matcher": "x"}]}}', ":1:21:"),
    "hooks given twice": ('{\n  "hooks": {},\n  "hooks": {}\n}\n', ":3:3:"),
    "an event given twice": ('{"hooks": {"Stop": [], "Stop": []}}', ":1:24:"),
    "not a number": ('{"a": NaN}', ":1:1:"),
    "Latin-1": (b'{\n  "a": "\xe9"\n}\n', ":2:9:"),
    "UTF-16": ('{"a": 1}'.encode("utf-16"), ":1:1:"),
    "NUL in a text": ('{"a": "b\0c"}', ":1:9:"),
    "NUL behind it": ('{"a": 1}\n\0', ":2:1:"),
    "hooks of a group given twice": ('{"hooks": {"Stop": [{"hooks": [], "hooks": []}]}}', ":1:35:"),
    "a tab in a text": ('{"a": "b\tc"}', ":1:9:"),
}


@pytest.fixture
def person(tmp_path: Path) -> Person:
    one = Person(tmp_path)
    (one.home / ".claude").mkdir()
    return one


@pytest.fixture
def file(person: Person) -> Path:
    return person.home / ".claude" / "settings.json"


@pytest.mark.parametrize("name", GOOD)
def test_connect_and_disconnect_give_the_same_bytes(person: Person, file: Path, name: str) -> None:
    file.write_bytes(GOOD[name].encode("utf-8", "surrogatepass"))
    file.chmod(0o640)
    before = tree(person.home)

    assert person.connect() == 2  # the settings and the command
    assert file.stat().st_mode & 0o777 == 0o640
    assert {entry.event for entry in person.relay_entries()} == EVENTS
    assert file.read_bytes().startswith(BOM) == (GOOD[name].strip("\ufeff \n") != "" and GOOD[name][0] == "\ufeff")
    assert person.connect() == 0
    assert person.disconnect() == 2

    assert tree(person.home) == before


def test_the_users_commands_get_one_that_the_tray_answers(person: Person) -> None:
    command = person.home / ".claude" / "commands" / "hooktray.md"
    before = tree(person.home)

    person.connect()
    written = command.read_text()
    person.disconnect()

    assert written.startswith("---\ndescription: ")
    assert "disable-model-invocation: true" in written
    assert tree(person.home) == before


@pytest.mark.parametrize("edited", [False, True])
def test_a_command_of_the_users_own_stays_as_it_is(person: Person, edited: bool) -> None:
    command = person.home / ".claude" / "commands" / "hooktray.md"
    if edited:
        person.connect()
        text = command.read_text() + "mine\n"
    else:
        command.parent.mkdir(parents=True)
        text = "mine\n"
    command.write_text(text)

    notes = connectors()["claude-code"].connect(person.site).notes
    person.connect()
    person.disconnect()

    assert any("`/hooktray` is not answered" in note for note in notes)
    assert command.read_text() == text


@pytest.mark.parametrize(
    "name",
    [
        *("braces on two lines", "two spaces", "tabs", "BOM and CRLF", "minified with hooks", "odd escapes"),
        *("a comment in empty hooks", "a comment behind hooks", "hooks, empty", "an event, empty", "CR and hooks"),
        *("foreign hooks on every event", "keys in an odd order", "hooks elsewhere, twice"),
    ],
)
def test_after_an_edit_just_ours_is_taken_out(person: Person, file: Path, name: str) -> None:
    file.write_bytes(GOOD[name].encode())
    old: Any = JsonText(file.read_bytes(), "old").value
    person.connect()
    edited = file.read_bytes().replace(b"{", b'{"later": [1, 2], ', 1)
    file.write_bytes(edited)

    person.disconnect()

    new: Any = JsonText(file.read_bytes(), "new").value
    assert new.pop("later") == [1, 2]
    assert {**new, "hooks": _filled(new)} == {**old, "hooks": _filled(old)}


def _filled(value: dict[str, dict[str, list[object]]]) -> dict[str, list[object]]:
    return {event: groups for event, groups in value.get("hooks", {}).items() if groups}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_read_is_refused_with_its_place(person: Person, file: Path, name: str) -> None:
    text, place = BAD[name]
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    before = tree(person.home)

    with pytest.raises(ConfigError, match=f"settings.json{place}"):
        person.connect()

    assert tree(person.home) == before
    assert list((person.site.paths.state / "connections").glob("*")) == []


def test_a_missing_folder_is_made_and_taken_away(person: Person, file: Path) -> None:
    file.parent.rmdir()

    person.connect()
    assert file.stat().st_mode & 0o777 == 0o600
    person.disconnect()

    assert tree(person.home) == {}


@pytest.mark.parametrize("relative", [True, False])
def test_a_link_stays_a_link(person: Person, file: Path, relative: bool) -> None:
    real = person.home / "dotfiles" / "claude.json"
    real.parent.mkdir()
    real.write_text(PLAIN)
    file.symlink_to(Path("../dotfiles/claude.json") if relative else real)
    before = tree(person.home)

    person.connect()
    assert file.is_symlink()
    assert "hooktray" in real.read_text()
    person.disconnect()

    assert tree(person.home) == before


def test_a_linked_folder_stays_linked(person: Person, file: Path) -> None:
    real = person.home / "dotfiles"
    real.mkdir()
    (real / "settings.json").write_text(PLAIN)
    file.parent.rmdir()
    file.parent.symlink_to(real)
    before = tree(person.home)

    person.connect()
    person.disconnect()

    assert tree(person.home) == before


def test_a_dangling_link_gets_its_file_and_loses_it_again(person: Person, file: Path) -> None:
    file.symlink_to("elsewhere.json")
    before = tree(person.home)

    person.connect()
    assert "hooktray" in (file.parent / "elsewhere.json").read_text()
    person.disconnect()

    assert tree(person.home) == before


def test_a_link_to_itself_is_refused(person: Person, file: Path) -> None:
    file.symlink_to("settings.json")

    refused(person, "link|leads")


def test_a_folder_in_its_place_is_refused(person: Person, file: Path) -> None:
    file.mkdir()

    refused(person, "is not a file")


def test_a_second_hard_link_is_refused(person: Person, file: Path) -> None:
    file.write_text(PLAIN)
    (person.home / "other").hardlink_to(file)

    refused(person, "hard link")


def refused(person: Person, why: str) -> None:
    before = tree(person.home)
    with pytest.raises(HooktrayError, match=why):
        person.connect()
    assert tree(person.home) == before


@pytest.mark.skipif(not hasattr(os, "setxattr") or os.getuid() != 0, reason="needs root to give a file away")
def test_owner_and_attributes_stay(person: Person, file: Path) -> None:
    file.write_text(PLAIN)
    os.chown(file, 1234, 1235)
    try:
        os.setxattr(file, "user.note", b"mine")
    except OSError:
        pytest.skip("no extended attributes here")

    person.connect()

    assert (file.stat().st_uid, file.stat().st_gid, os.getxattr(file, "user.note")) == (1234, 1235, b"mine")
    person.disconnect()
    assert (file.stat().st_uid, file.stat().st_gid, os.getxattr(file, "user.note")) == (1234, 1235, b"mine")


LOCKED = {  # how the system is told, in a mount namespace of the shell's own, and what it answers then
    "immutable": ("chattr +i {file} && trap 'chattr -i {file}' EXIT", "not permitted"),
    "read-only": ("mount --bind {folder} {folder} && mount -o remount,ro,bind {folder}", "Read-only file system"),
}


@pytest.mark.parametrize("name", LOCKED)
def test_what_the_system_does_not_let_us_write_is_refused(person: Person, file: Path, name: str) -> None:
    file.write_text(PLAIN)
    before = tree(person.home)
    told, why = LOCKED[name]
    prepare = told.format(file=file, folder=file.parent)
    if in_namespace(person, prepare).returncode:
        pytest.skip(f"this machine lets nobody make a file {name}")
    tool = [sys.executable, "-I", "-m", "tray", "--home", person.site.paths.home, "connect", "claude-code", "--yes"]

    done = in_namespace(person, f"{prepare} && {shlex.join(map(str, tool))}")

    assert done.returncode == 1
    assert why in done.stderr
    assert "nothing was written" in done.stderr
    assert tree(person.home) == before


def in_namespace(person: Person, line: str) -> subprocess.CompletedProcess[str]:
    environment = {"HOME": str(person.home), "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin", "LC_ALL": "C.UTF-8"}
    argv = ["unshare", "-m", "sh", "-c", line]
    return subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=60, check=False)


def test_somebody_elses_edit_in_between_is_noticed(person: Person, file: Path) -> None:
    file.write_text(PLAIN)
    plan = CONNECTOR.connect(person.site)
    file.write_text(PLAIN.replace("opus", "haiku"))

    with pytest.raises(HooktrayError, match="changed by somebody else"):
        apply_connect(person.site, "claude-code", plan)

    assert file.read_text() == PLAIN.replace("opus", "haiku")


@pytest.mark.parametrize(
    "old",
    [
        "hooktray relay claude-code Stop",
        "exec /usr/bin/hooktray --home /old relay claude-code Stop",
        "'/old place/bin/hooktray-hook' --home=/old claude-code Stop",
        "[ -x /old/hooktray-hook ] && exec /old/hooktray-hook claude-code Stop || cat >/dev/null",
    ],
)
def test_an_older_entry_is_brought_up_to_date_in_its_place(person: Person, file: Path, old: str) -> None:
    handler = json.dumps({"type": "command", "command": old})
    groups = f'{{"hooks": [{handler}]}},\n      {FOREIGN},\n      {{"hooks": [{handler}]}}'
    file.write_text(WITH_HOOKS % groups)

    person.connect()

    stop = json.loads(file.read_text())["hooks"]["Stop"]
    assert [entry.event for entry in person.relay_entries()].count("Stop") == 1
    assert RELAY[0] in stop[0]["hooks"][0]["command"]
    assert stop[1:] == [json.loads(FOREIGN)]


ELSEWHERE = ("/venv/bin/hooktray-hook", "--home", "/home/you/h")


@pytest.mark.parametrize(("first", "then"), [(ELSEWHERE, RELAY), (RELAY, ELSEWHERE)], ids=["shorter", "longer"])
@pytest.mark.parametrize("name", ["BOM and CRLF", "minified with hooks", "foreign hooks on one event"])
def test_another_relay_touches_no_byte_around_it(
    person: Person, file: Path, name: str, first: tuple[str, ...], then: tuple[str, ...]
) -> None:
    file.write_bytes(GOOD[name].encode())
    person.connect(then)
    direct = file.read_bytes()
    person.disconnect()

    person.connect(first)
    assert person.connect(then) == 1

    assert file.read_bytes() == direct
    person.disconnect()
    assert file.read_bytes() == GOOD[name].encode()


@pytest.mark.parametrize("name", ["two spaces", "CR", "tabs", "CRLF"])
def test_comments_between_our_entries_stay(person: Person, file: Path, name: str) -> None:
    file.write_bytes(GOOD[name].encode())
    person.connect()
    text = file.read_bytes().decode()
    end = next(sign for sign in ("\r\n", "\n", "\r") if sign in text)
    at = text.index('"PreToolUse"')
    inside = text[at:].replace("[", f"[ /* in */{end}", 1)
    file.write_bytes(f"{text[:at]}// before{end}{inside}".encode())
    assert person.connect() == 0

    person.disconnect()

    left = file.read_bytes().decode()
    assert "// before" in left
    assert "/* in */" in left
    assert "hooktray" not in left
    value: Any = JsonText(left.encode(), "f").value
    assert {**value, "hooks": _filled(value)} == {**json.loads(GOOD[name]), "hooks": {}}


def test_two_at_once_make_one_entry_and_lose_no_notes(person: Person, file: Path) -> None:
    file.write_text(PLAIN)
    plans = [CONNECTOR.connect(person.site) for _ in range(2)]
    other = CONNECTOR.connect(replace(person.site, relay=("/other/hooktray-hook",)))

    for plan in plans:
        apply_connect(person.site, "claude-code", plan)
    with pytest.raises(HooktrayError, match="changed by somebody else"):
        apply_connect(person.site, "claude-code", other)

    assert [entry.event for entry in person.relay_entries()].count("Stop") == 1
    person.disconnect()
    assert file.read_text() == PLAIN


def test_in_a_group_with_somebody_elses_only_ours_is_touched(person: Person, file: Path) -> None:
    ours = '{"type": "command", "command": "hooktray relay claude-code Stop"}'
    theirs = '{"type": "command", "command": "theirs"}'
    file.write_text(WITH_HOOKS % f'{{"matcher": "", "hooks": [{ours}, {theirs}]}}')

    person.disconnect()

    assert json.loads(file.read_text())["hooks"]["Stop"] == [{"matcher": "", "hooks": [json.loads(theirs)]}]


def test_connecting_leaves_the_others_in_a_group_that_is_narrower_than_ours(person: Person, file: Path) -> None:
    ours = '{"type": "command", "command": "hooktray relay claude-code Stop"}'
    theirs: dict[str, Any] = {"matcher": "x", "hooks": [{"type": "command", "command": "theirs"}]}
    file.write_text(WITH_HOOKS % f'{{"matcher": "x", "hooks": [{ours}, {json.dumps(theirs["hooks"][0])}]}}')

    person.connect()

    assert json.loads(file.read_text())["hooks"]["Stop"] == [theirs, CONNECTOR.desired(person.site.relay)["Stop"]]


def test_without_our_notes_just_ours_is_taken_out(person: Person, file: Path) -> None:
    file.write_text(WITH_HOOKS % FOREIGN)
    person.connect()
    for page in (person.site.paths.state / "connections").iterdir():
        page.unlink()

    person.disconnect()

    assert file.read_text() == WITH_HOOKS % FOREIGN


def test_the_difference_counts_lines_from_the_top(person: Person, file: Path) -> None:
    lines = "".join(f'  "key{n}": {n},\n' for n in range(1000))
    file.write_text("{\n" + lines + '  "last": 1\n}\n')

    shown = diff(CONNECTOR.connect(person.site).changes[0])

    assert shown.splitlines()[:4] == [f"--- {file}", f"+++ {file}", shown.splitlines()[2], '   "key997": 997,']
    assert shown.splitlines()[2].startswith("@@ -999,5 +999,")


def test_comments_which_claude_code_does_not_read_are_told(person: Person, file: Path) -> None:
    file.write_text('{\n  "url": "http://x", // mine\n  "a": 1\n}\n')

    plan = CONNECTOR.connect(person.site)

    assert plan.notes == (f"Claude Code reads no settings with comments: remove the one in {file}:2",)
    assert CONNECTOR.trust(person.site).startswith("off: ")


@pytest.mark.parametrize(
    ("scope", "name"), [("project", "settings.json"), ("local", "settings.local.json")], ids=["project", "local"]
)
def test_the_scope_chooses_the_file(tmp_path: Path, scope: str, name: str) -> None:
    person = Person(tmp_path, scope=scope)

    person.connect()

    assert [*tree(person.project)] == [".claude", f".claude/{name}"]
    assert tree(person.home) == {}  # only the user's own settings bring the command for all projects


def test_the_environment_names_the_folder(tmp_path: Path) -> None:
    person = Person(tmp_path, environment={"CLAUDE_CONFIG_DIR": str(tmp_path / "cc")})

    person.connect()

    assert {path.name for path in (tmp_path / "cc").iterdir()} == {"commands", "settings.json"}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
HANDLER = st.fixed_dictionaries({"type": st.just("command"), "command": st.text()})
GROUP = st.fixed_dictionaries({"hooks": st.lists(HANDLER, max_size=2)}, optional={"matcher": st.text()})
HOOKS = st.dictionaries(st.sampled_from(sorted(EVENTS)) | st.text(), st.lists(GROUP, max_size=3), max_size=4)
DOCUMENTS = st.dictionaries(st.text(), VALUES, max_size=5).flatmap(
    lambda value: st.booleans().flatmap(
        lambda there: HOOKS.map(lambda hooks: {**value, "hooks": hooks} if there else value)
    )
)


@settings(max_examples=12)
@given(
    value=DOCUMENTS,
    indent=st.sampled_from([None, 1, 2, "\t"]),
    tight=st.booleans(),
    ascii_only=st.booleans(),
    newline=st.sampled_from(["\n", "\r\n"]),
)
def test_any_document_keeps_what_is_not_ours(
    value: dict[str, object], indent: int | str | None, tight: bool, ascii_only: bool, newline: str
) -> None:
    if not isinstance(value.get("hooks", {}), dict):
        value = {**value, "hooks": {}}
    separators = (",", ":") if tight else (", " if indent is None else ",", ": ")
    text = json.dumps(value, indent=indent, separators=separators, ensure_ascii=ascii_only).replace("\n", newline)
    groups = {event: [group] for event, group in CONNECTOR.desired(RELAY).items()}

    connected = add_groups(JsonText(text.encode(), "f"), groups)
    document = JsonText(connected, "f")
    ours = {place for place, one in enumerate(handlers(document)) if parse_handler(one.value, "claude-code")}
    bare = remove_handlers(document, ours)

    new = json.loads(connected)
    assert {key: new[key] for key in new if key != "hooks"} == {key: value[key] for key in value if key != "hooks"}
    assert all(new["hooks"][event][-1] == groups[event][0] for event in groups)
    assert _filled(json.loads(bare)) == _filled(value)  # type: ignore[arg-type]
