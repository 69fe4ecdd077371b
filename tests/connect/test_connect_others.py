"""Shelley, Starchild and X-Code CLI are connected and disconnected without a trace."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from connect.sites import RELAY, Person, tree

from tray.agents.claude_code import settings_hooks as claude_source
from tray.agents.registry import AGENTS
from tray.agents.shelley import source as shelley_source
from tray.agents.starchild import source as starchild_source
from tray.agents.x_code import source as x_code_source
from tray.connect import apply_connect, connectors
from tray.edit.yaml_edit import append, remove
from tray.errors import HooktrayError
from tray.sources.configuration import load
from tray.strict import load_yaml

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="lines for a POSIX shell")

# ---- Shelley


@pytest.fixture
def shelley(tmp_path: Path) -> Person:
    return Person(tmp_path, "shelley")


@pytest.fixture
def hooks(shelley: Person) -> Path:
    folder = shelley.home / ".config" / "shelley" / "hooks"
    folder.mkdir(parents=True)
    return folder


def script(path: Path, text: str = "echo mine", mode: int = 0o755) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(mode)
    return path


def test_shelley_gets_its_four_executables_and_loses_them_again(shelley: Person) -> None:
    assert shelley.connect() == 4
    assert {entry.event for entry in shelley.relay_entries()} == {
        "chat-message",
        "end-of-turn",
        "new-conversation",
        "system-prompt",
    }
    assert shelley.connect() == 0
    shelley.disconnect()

    assert tree(shelley.home) == {}
    assert tree(shelley.site.paths.config.parent) == {}


@pytest.mark.parametrize("name", ["system-prompt", "chat-message"])
def test_with_the_program_gone_shelley_goes_on(shelley: Person, hooks: Path, name: str) -> None:
    shelley.connect()

    done = subprocess.run([hooks / name], input=b"You are Shelley.", capture_output=True, check=False)

    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == (b"You are Shelley." if name == "system-prompt" else b"")


def test_the_users_own_executables_move_and_wait_as_hooks(shelley: Person, hooks: Path) -> None:
    script(hooks / "chat-message", mode=0o750)
    script(hooks / "slash" / "deploy")
    script(hooks / "slash" / "not a name")
    shelley.site.paths.config.write_text("# mine\nhooks: []  # none\n")
    before = tree(shelley.home), tree(shelley.site.paths.config.parent)

    shelley.connect()

    found = load(shelley.site.paths)
    assert [(hook.name, hook.match.agents, hook.failure.value) for hook in found.hooks] == [
        ("chat-message", ("shelley",), "block"),
        ("slash/deploy", ("shelley",), "block"),
    ]
    assert {entry.event for entry in shelley.relay_entries()} >= {"chat-message", "slash/deploy"}
    assert shelley.connect() == 0
    shelley.disconnect()
    assert (tree(shelley.home), tree(shelley.site.paths.config.parent)) == before


def test_a_link_among_them_comes_back_as_it_was(shelley: Person, hooks: Path) -> None:
    script(hooks.parent / "mine.sh")
    (hooks / "end-of-turn").symlink_to("../mine.sh")
    before = tree(shelley.home)

    shelley.connect()
    assert [hook.name for hook in load(shelley.site.paths).hooks] == ["end-of-turn"]
    shelley.disconnect()

    assert tree(shelley.home) == before


def test_what_was_edited_at_its_new_place_comes_back_edited(shelley: Person, hooks: Path) -> None:
    script(hooks / "chat-message")
    shelley.connect()
    script(shelley.site.paths.config.parent / "shelley-hooks" / "chat-message", "echo better")

    shelley.disconnect()

    assert (hooks / "chat-message").read_text() == "#!/bin/sh\necho better\n"


def test_somebody_elses_executable_in_our_place_is_left_and_nothing_is_lost(shelley: Person, hooks: Path) -> None:
    script(hooks / "chat-message")
    shelley.connect()
    script(hooks / "chat-message", "echo new")

    shelley.disconnect()

    assert (hooks / "chat-message").read_text() == "#!/bin/sh\necho new\n"
    assert (shelley.site.paths.config.parent / "shelley-hooks" / "chat-message").exists()


def test_what_shelley_does_not_run_is_left_alone(shelley: Person, hooks: Path) -> None:
    script(hooks / "chat-message", mode=0o644)
    (hooks / "end-of-turn").mkdir()
    before = tree(shelley.home)

    assert shelley.connect() == 2
    shelley.disconnect()

    assert tree(shelley.home) == before


def test_in_a_source_our_executables_are_no_hooks(shelley: Person, hooks: Path) -> None:
    shelley.connect()

    found = shelley_source.read(hooks, (), {})

    assert {hook.inactive for hook in found.hooks} == {"it is Hooktray's own relay"}


# ---- X-Code CLI


@pytest.fixture
def x_code(tmp_path: Path) -> Person:
    return Person(tmp_path, "x-code")


def test_x_code_gets_one_plugin_with_ten_events_and_loses_it_again(x_code: Person) -> None:
    assert x_code.connect() == 2
    assert {entry.event for entry in x_code.relay_entries()} == set(AGENTS["x-code"].events)
    assert x_code.connect() == 0
    plugin = x_code.home / ".x-code" / "plugins" / "cache" / "local" / "hooktray" / "1.0.0"
    found = x_code_source.read(plugin, (), {})
    assert len(found.hooks) == 10
    assert {hook.timeout for hook in found.hooks} == {30.0}
    assert found.warnings == ()

    x_code.disconnect()

    assert tree(x_code.home) == {}


OTHER = {"id": "lint@market", "name": "lint", "marketplace": "market", "version": "2", "installScope": "user"}


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"schemaVersion": "1", "plugins": [OTHER]}, indent=2) + "\n",
        json.dumps({"schemaVersion": "1", "plugins": []}, indent=2) + "\n",
        json.dumps({"plugins": [OTHER]}),
        '{"schemaVersion": "1"}',
    ],
)
@pytest.mark.parametrize("forgotten", [False, True], ids=["noted", "notes lost"])
def test_other_plugins_stay(x_code: Person, text: str, forgotten: bool) -> None:
    file = x_code.home / ".x-code" / "plugins" / "installed_plugins.json"
    file.parent.mkdir(parents=True)
    file.write_text(text)

    x_code.connect()
    there = json.loads(file.read_text())
    if forgotten:
        for page in (x_code.site.paths.state / "connections").iterdir():
            page.unlink()
    x_code.disconnect()

    assert there["plugins"][:-1] == json.loads(text).get("plugins", [])
    assert there["plugins"][-1]["id"] == "hooktray@local"
    assert forgotten or file.read_text() == text
    assert json.loads(file.read_text()).get("plugins", []) == json.loads(text).get("plugins", [])


@pytest.mark.parametrize(("variable", "inside"), [("X_CODE_HOME", "plugins"), ("XC_PLUGINS_DIR", "")])
def test_x_codes_folders_follow_its_environment(tmp_path: Path, variable: str, inside: str) -> None:
    person = Person(tmp_path, "x-code", environment={variable: str(tmp_path / "xc")})

    person.connect()

    assert (tmp_path / "xc" / inside / "installed_plugins.json").exists()
    assert tree(person.home) == {}


def test_a_list_of_plugins_that_cannot_be_read_is_refused(x_code: Person) -> None:
    file = x_code.home / ".x-code" / "plugins" / "installed_plugins.json"
    file.parent.mkdir(parents=True)
    file.write_text('{"plugins": [}')
    before = tree(x_code.home)

    with pytest.raises(HooktrayError, match=r"installed_plugins.json:1:14:"):
        x_code.connect()

    assert tree(x_code.home) == before


# ---- Starchild


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


@pytest.mark.parametrize("name", SHEETS)
@pytest.mark.parametrize("forgotten", [False, True], ids=["noted", "notes lost"])
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
        old, new = (load_yaml(one, "f").value for one in (text.encode(), file.read_bytes()))
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
    old, new = (load_yaml(one.encode() or b"{}", "f").value for one in (text, left))
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


def test_another_relay_takes_the_place_of_the_old_one(starchild: Person) -> None:
    starchild.connect(("/old/hooktray-relay",))
    starchild.connect(RELAY)

    entries = starchild.relay_entries()

    assert len(entries) == 12
    assert {entry.state_folder for entry in entries} == {"/home/you/h/state"}
    assert all(RELAY[0] in entry.argv[2] for entry in entries)


def test_the_lines_to_paste_are_those_in_the_file(starchild: Person) -> None:
    plan = connectors()["starchild"].connect(starchild.site)

    starchild.connect()
    pasted = [note.split(" ", 3)[3] for note in plan.notes if note.startswith("/hooks approve")]
    assert [shlex.split(one) for one in pasted] == [list(entry.argv) for entry in starchild.relay_entries()]
    assert plan.notes[-1] == "/hooks on"


@pytest.mark.parametrize("named", ["elsewhere", ""])
def test_the_workspace_is_named_or_the_folder_we_are_in(tmp_path: Path, named: str) -> None:
    person = Person(tmp_path, "starchild", workspace=named)
    (person.project / "config").mkdir()
    (person.project / "config" / "agent.yaml").write_text("shell_hooks: {enabled: true}\n")

    person.connect()

    assert (person.project / named / "config" / "shell_hooks.yaml").exists()


@pytest.mark.parametrize("name", [name for name in SHEETS if SHEETS[name]])
def test_a_list_in_yaml_takes_an_item_and_gives_it_back(name: str) -> None:
    text = str(SHEETS[name]).encode()
    item = {"event": "on_stop", "command": "ours: # '\"\\ é"}

    taken = append(text, "f", "hooks", [item])
    back = remove(taken, "f", "hooks", lambda one: one == item)

    assert load_yaml(taken, "f").value["hooks"][-1] == item
    assert (load_yaml(back, "f").value.get("hooks") or []) == (load_yaml(text, "f").value.get("hooks") or [])
    assert b"ours" not in back


# ---- all or none


def test_when_one_file_cannot_be_written_none_is(x_code: Person) -> None:
    file = x_code.home / ".x-code" / "plugins" / "installed_plugins.json"
    file.parent.mkdir(parents=True)
    file.write_text('{"plugins": []}')
    plan = connectors()["x-code"].connect(x_code.site)
    file.write_text('{"plugins": [ ]}')
    before = tree(x_code.home)

    with pytest.raises(HooktrayError, match="changed by somebody else"):
        apply_connect(x_code.site, "x-code", plan)

    assert tree(x_code.home) == before
    assert tree(x_code.site.paths.state / "connections") == {}


def test_a_failed_upgrade_keeps_what_disconnect_needs(x_code: Person) -> None:
    x_code.connect(("/old/hooktray-relay",))
    file = x_code.home / ".x-code" / "plugins" / "installed_plugins.json"
    plan = connectors()["x-code"].connect(replace(x_code.site, relay=RELAY))
    file.parent.joinpath("cache/local/hooktray/1.0.0/.x-code-plugin/plugin.json").write_text("{}")

    with pytest.raises(HooktrayError, match="changed by somebody else"):
        apply_connect(x_code.site, "x-code", plan)
    x_code.disconnect()

    assert tree(x_code.home) == {}


@pytest.mark.parametrize("relay", [RELAY, ("/my python/bin/python3", "-I", "-S", "/it's here/tray/relay.py")])
def test_our_lines_are_no_hooks_where_their_file_is_a_source(tmp_path: Path, relay: tuple[str, ...]) -> None:
    claude = Person(tmp_path / "c")
    claude.connect(relay)
    star = Person(tmp_path / "s", "starchild")
    star.connect(relay)

    settings = claude_source.read(claude.home / ".claude" / "settings.json", ())
    hooks_file = starchild_source.read(star.home / "workspace" / "config" / "shell_hooks.yaml", (), {})

    assert {hook.inactive for hook in (*settings.hooks, *hooks_file.hooks)} == {"it is Hooktray's own relay"}
    assert (settings.warnings, hooks_file.warnings) == ((), ())
