"""Starchild is connected and disconnected without a trace."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from connect.sites import Person, tree
from hosts.starchild import approved
from servers import Asked, Said, WebServer

from tray.agents.registry import AGENTS
from tray.connect import connectors
from tray.edit.yaml_edit import append
from tray.errors import HooktrayError
from tray.strict.yaml_reader import load_yaml

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="lines for a POSIX shell")


def settings(text: bytes) -> dict[str, Any]:
    value: Any = load_yaml(text, "f").value
    assert isinstance(value, dict)
    return value


@pytest.fixture
def starchild(tmp_path: Path) -> Person:
    return Person(tmp_path, "starchild")


ENTRY = "  - event: pre_tool_call   # why\n    matcher: 'rm -rf'\n    command: ./guard.py\n    timeout: 0x10\n"
SHEETS = {
    "missing": None,
    "empty": "",
    "comments alone": "# nothing yet\n",
    "an empty list": "hooks: []\n",
    "no list": "hooks:\n",
    "no list, with a comment": "hooks:  # to come\nother: 1\n",
    "another key": "other: {a: 1}   # flow\n",
    "another key, no line end": "other: 1",
    "one hook": "hooks:\n" + ENTRY,
    "hooks and more": "# top\nhooks:\n" + ENTRY + "\n# after\nother:\n    - x\n",
    "unindented items": "hooks:\n- event: on_stop\n  command: a\nother: 1\n",
    "deep items": "hooks:\n        -   event: on_stop\n            command: a\n",
    "flow items": 'hooks: [{event: on_stop, command: "a"}]  # flow\n',
    "a block text last": "hooks:\n  - event: on_stop\n    command: >-\n      a\n      b\n\nother: 1\n",
    "CRLF": ("hooks:\n" + ENTRY + "other: 1\n").replace("\n", "\r\n"),
    "BOM": "\ufeffhooks:\n" + ENTRY,
    "no line end": ("hooks:\n" + ENTRY).rstrip(),
    "unicode": "# 日本語\nhooks:\n  - event: on_stop\n    command: 'é 🦊'\n# ende ü\n",
    "document start": "---\nhooks:\n" + ENTRY,
}
BROKEN_SHEETS = {
    "not YAML": ("hooks:\n  - event: [\n", ":3:"),
    "tabs": ("hooks:\n\t- event: a\n", ":2:"),
    "hooks is text": ("hooks: yes please\n", ":1:8:"),
    "a list": ("- event: a\n", ":1:"),
    "hooks given twice": ("hooks: []\nhooks: []\n", ":2:"),
    "anchors": ("a: &x 1\nhooks: []\n", ":1:"),
    "null in words": ("hooks: null\n", ":"),
    "two documents": ("hooks: []\n---\nhooks: []\n", ":"),
}


LOST = ("empty", "comments alone", "no list, with a comment", "hooks and more", "flow items", "CRLF")


@pytest.mark.parametrize(
    ("name", "forgotten"), [*((name, False) for name in SHEETS), *((name, True) for name in LOST)]
)
def test_starchilds_hooks_come_and_go(starchild: Person, name: str, forgotten: bool) -> None:
    file = starchild.home / "workspace" / "config" / "shell_hooks.yaml"
    text = SHEETS[name]
    if text is not None:
        file.parent.mkdir(parents=True)
        file.write_bytes(text.encode())
    before = tree(starchild.home)

    assert starchild.connect() == 1
    assert {entry.event for entry in starchild.relay_entries()} == set(AGENTS["starchild"].events)
    assert starchild.connect() == 0
    if forgotten:
        for page in (starchild.site.paths.state / "connections").iterdir():
            page.unlink()
    starchild.disconnect()

    assert forgotten or tree(starchild.home) == before
    if forgotten and text:
        old, new = (settings(one) for one in (text.encode(), file.read_bytes()))
        assert {**new, "hooks": new.get("hooks") or []} == {**old, "hooks": old.get("hooks") or []}


@pytest.mark.parametrize("text", ["", "a: 1\n", "hooks:\n" + ENTRY])
def test_a_comment_between_our_entries_stays(starchild: Person, text: str) -> None:
    file = starchild.home / "workspace" / "config" / "shell_hooks.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    starchild.connect()
    ours = '  - event: "on_stop"'
    file.write_text(file.read_text().replace(ours, f"  # mine: not to be lost\n{ours}"))
    assert starchild.connect() == 0

    starchild.disconnect()

    left = file.read_text()
    assert "  # mine: not to be lost\n" in left
    old, new = (settings(one.encode() or b"{}") for one in (text, left))
    assert {**new, "hooks": new.get("hooks")} == {**old, "hooks": old.get("hooks")}


@pytest.mark.parametrize("name", BROKEN_SHEETS)
def test_a_sheet_that_cannot_be_edited_is_refused(starchild: Person, name: str) -> None:
    text, place = BROKEN_SHEETS[name]
    file = starchild.home / "workspace" / "config" / "shell_hooks.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    before = tree(starchild.home)

    with pytest.raises(HooktrayError, match=f"shell_hooks.yaml{place}"):
        starchild.connect()

    assert tree(starchild.home) == before


def test_one_pasted_line_has_starchild_approve_every_entry(starchild: Person) -> None:
    plan = connectors()["starchild"].connect(starchild.site)
    starchild.connect()
    file = starchild.home / "workspace" / "config" / "shell_hooks.yaml"
    (line,) = [note for note in plan.notes if note.startswith("curl ")]

    def approve(asked: Asked) -> Said:
        return Said(json.dumps({"ok": True, "events": approved(file, asked.json["command"])}).encode())

    environment = {"PATH": os.environ["PATH"]}  # without a proxy
    server = WebServer(approve)
    with closing(server):
        pasted = line.replace("http://localhost:8000", server.url)
        done = subprocess.run(
            ["/bin/sh", "-c", pasted], capture_output=True, env=environment, timeout=60, check=False
        )

    (asked,) = server.asked
    assert (asked.path, asked.headers["Content-Type"]) == ("/internal/runtime/hooks/approve", "application/json")
    assert json.loads(done.stdout) == {"ok": True, "events": [*AGENTS["starchild"].events]}


def test_an_older_starchild_takes_each_entry_as_the_file_has_it(starchild: Person) -> None:
    plan = connectors()["starchild"].connect(starchild.site)

    starchild.connect()

    assert "`/hooks approve EVENT COMMAND` there for each entry of the file, then `/hooks on`" in plan.notes[-1]
    assert len({tuple(entry.argv) for entry in starchild.relay_entries()}) == 1


@pytest.mark.parametrize("named", ["elsewhere", ""])
def test_the_workspace_is_named_or_the_folder_we_are_in(tmp_path: Path, named: str) -> None:
    person = Person(tmp_path, "starchild", workspace=named)
    (person.project / "config").mkdir()
    (person.project / "config" / "agent.yaml").write_text("shell_hooks: {enabled: true}\n")

    person.connect()

    assert (person.project / named / "config" / "shell_hooks.yaml").exists()


def test_an_item_of_a_list_in_yaml_need_not_have_keys() -> None:
    assert settings(append(b"a: 1\n", "f", "hooks", ["x: y"])) == {"a": 1, "hooks": ["x: y"]}
