"""The user's own hooks go below Hooktray and come back, byte for byte."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from connect.sites import NoProblem, Person, tree
from user_controls import user_controls

from tray.agents.claude_code.connector import IMPORTER
from tray.agents.connection import Plan, Site
from tray.approvals.catalog import HookCatalog
from tray.cli import agents
from tray.connect import hook_import
from tray.engine.stores import open_stores
from tray.errors import HooktrayError
from tray.sources.configuration import load

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="lines for a POSIX shell")

HANDLER = '{"type": "command",  "command": "/bin/echo é", "timeout": 5}'
GUARD = f'{{\n        "matcher": "Bash",\n        "hooks": [ {HANDLER} ]\n      }}'
ASKED = '{"hooks": [{"type": "mcp_tool", "server": "s", "tool": "t"}]}'
TEXT = f"""{{
  "model": "opus",
  "hooks": {{
    "PreToolUse": [
      {GUARD},
      {ASKED}
    ],
    "Stop": [{{"hooks": [{HANDLER}]}}]
  }}
}}
"""


@pytest.fixture
def person(tmp_path: Path) -> Person:
    one = Person(tmp_path)
    (one.home / ".claude").mkdir()
    return one


@pytest.fixture
def file(person: Person) -> Path:
    file = person.home / ".claude" / "settings.json"
    file.write_text(TEXT)
    return file


def test_commands_move_and_wait_and_the_rest_stays(person: Person, file: Path) -> None:
    notes = person.import_hooks()

    assert json.loads(file.read_text()) == {"model": "opus", "hooks": {"PreToolUse": [json.loads(ASKED)]}}
    assert IMPORTER.path(person.site).read_text().count(GUARD) == 1
    found = load(person.site.paths)
    assert [(hook.match.native, hook.match.tool, hook.match.agents, hook.inactive) for hook in found.hooks] == [
        ("PreToolUse", "Bash", ("claude-code",), ""),
        ("Stop", "", ("claude-code",), ""),
    ]
    assert found.warnings == ()
    assert [note[:2] for note in notes] == ["1 ", "2 ", "Un"]
    assert notes[2] == "Until `hooktray connect claude-code` no event reaches them."
    assert "hooktray import-hooks claude-code --undo" in hook_import.import_reminder(person.site, "claude-code")
    assert [hook_import.import_reminder(person.site, agent) for agent in ("shelley", "starchild")] == ["", ""]


def test_of_a_connected_agent_nothing_more_is_to_be_done(person: Person, file: Path) -> None:
    person.connect()

    assert [note[:2] for note in person.import_hooks()] == ["1 ", "2 "]


def test_after_an_edit_each_group_comes_back_as_it_was_written(person: Person, file: Path) -> None:
    person.import_hooks()
    person.connect()

    person.undo_import()
    person.disconnect()

    assert file.read_text().count(GUARD) == 1
    new, old = json.loads(file.read_text()), json.loads(TEXT)
    assert sorted(map(str, new["hooks"].pop("PreToolUse"))) == sorted(map(str, old["hooks"].pop("PreToolUse")))
    assert new == old


def test_a_list_of_sources_keeps_its_other_lines(person: Person, file: Path) -> None:
    text = "# mine\nsources:\n  - shelley: ~/hooks   # old\n# end\n"
    person.site.paths.config.write_text(text)

    person.import_hooks()
    assert person.site.paths.config.read_text().startswith(
        "# mine\nsources:\n  - shelley: ~/hooks   # old\n  - claude-code"
    )
    person.undo_import()

    assert person.site.paths.config.read_text() == text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"hooks": {}}', "no hook of yours is in it"),
        (f'{{"hooks": {{"Stop": [{ASKED}]}}}}', "no hook in it can be imported"),
        ("", "no hook of yours is in it"),
        ("\ufeff\n", "no hook of yours is in it"),
        ('{"disableAllHooks": true, "hooks": {}}', "runs none of its hooks"),
        ('{"hooks": {} // mine\n}', "runs none of its hooks"),
        ('{"hooks": {},}', ":1:13:"),
    ],
)
def test_what_cannot_be_imported_is_refused(person: Person, file: Path, text: str, why: str) -> None:
    file.write_text(text)
    before = tree(person.home), tree(person.site.paths.config.parent)

    with pytest.raises(HooktrayError, match=why):
        person.import_hooks()

    assert (tree(person.home), tree(person.site.paths.config.parent)) == before


LONG = '{"type": "command", "command": "/bin/echo", "timeout": 300}'


@pytest.mark.parametrize(
    ("event", "group", "why"),
    [
        ("WorktreeCreate", f'{{"hooks": [{HANDLER}]}}', "no line of ours"),
        ("FileChanged", f'{{"matcher": ".envrc|.env", "hooks": [{HANDLER}]}}', "which files to watch"),
        ("UserPromptSubmit", f'{{"hooks": [{LONG}]}}', "longer than the 30 s that our line has"),
    ],
)
def test_a_hook_that_would_not_be_asked_as_it_is_now_stays_and_the_user_is_told_why(
    person: Person, file: Path, event: str, group: str, why: str
) -> None:
    file.write_text(f'{{"hooks": {{"Stop": [{GUARD}], "{event}": [{group}]}}}}')

    notes = person.import_hooks()

    assert json.loads(file.read_text()) == {"hooks": {event: [json.loads(group)]}}
    assert notes[0].startswith("1 of your hooks stay: ")
    assert why in notes[0]


@pytest.mark.parametrize(
    ("event", "group"),
    [
        ("FileChanged", f'{{"hooks": [{HANDLER}]}}'),
        ("SessionEnd", f'{{"hooks": [{LONG}]}}'),  # nobody waits for it
        ("UserPromptSubmit", f'{{"hooks": [{LONG[:-1]}, "async": true}}]}}'),
        ("UserPromptSubmit", '{"hooks": [{"type": "command", "command": "/bin/echo"}]}'),
    ],
)
def test_a_hook_that_is_asked_as_it_is_now_moves(person: Person, file: Path, event: str, group: str) -> None:
    file.write_text(f'{{"hooks": {{"{event}": [{group}]}}}}')

    assert person.import_hooks()[0].startswith("1 hook moves")


@pytest.mark.parametrize(
    "work",
    [lambda site, agent: hook_import.import_hooks(site, agent, NoProblem()), hook_import.undo_import],
)
def test_shelleys_are_moved_by_connecting(person: Person, work: Callable[[Site, str], Plan]) -> None:
    with pytest.raises(HooktrayError, match="not moved by this command") as caught:
        work(person.site, "shelley")

    assert "hooktray connect shelley" in caught.value.hint
    assert "hooktray disconnect shelley" in caught.value.hint


def test_twice_is_refused_and_so_is_a_release_of_nothing(person: Person, file: Path) -> None:
    with pytest.raises(HooktrayError, match="nothing to put back"):
        person.undo_import()
    person.import_hooks()
    file.write_text(TEXT)

    with pytest.raises(HooktrayError, match="imported before"):
        person.import_hooks()


def settings(file: Path, *commands: str) -> None:
    groups = [{"hooks": [{"type": "command", "command": command}]} for command in commands]
    file.write_text(json.dumps({"hooks": {"PreToolUse": groups}}))


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("{home}/gone.sh", "there is no such program"),
        ("{home}/lacking.sh", "words.sh` is not there"),
        ("{home}/plain", "is not executable"),
        ("python3 {home}/lacking.py", "the import `wordz`"),
        ('"$CLAUDE_PROJECT_DIR"/x.sh', "each project would bring its own program"),
        ('"${{CLAUDE_PROJECT_DIR:-.}}/x.sh"', "each project would bring its own program"),
        ('D="$CLAUDE_PROJECT_DIR/x"; node "$D/y.js"', "each project would bring its own program"),
    ],
)
def test_a_hook_that_cannot_work_stays_where_it_is_and_the_others_move(
    person: Person, file: Path, command: str, why: str
) -> None:
    script(person.home / "lacking.sh", '. "$(dirname "$0")/words.sh"')
    (person.home / "lacking.py").write_text("from .wordz import x\n")
    (person.home / "plain").write_text("#!/bin/sh\n")
    stays = command.format(home=person.home)
    settings(file, stays, str(script(person.home / "good.sh", "exit 0")))

    notes = person.import_hooks()

    (left,) = json.loads(file.read_text())["hooks"]["PreToolUse"]
    assert left["hooks"][0]["command"] == stays
    assert notes[0].startswith("1 of your hooks stay: ")
    assert why in notes[0]
    assert notes[1].startswith("1 hook moves; ")


def test_import_and_undo_leave_every_other_file_of_the_user_as_it_is(person: Person, file: Path) -> None:
    settings(file, str(script(person.home / ".claude" / "hooks" / "good.sh", '. "$(dirname "$0")/lib/words.sh"')))
    script(person.home / ".claude" / "hooks" / "lib" / "words.sh", "WORD=x")
    before = tree(person.home)

    person.import_hooks()
    imported = tree(person.home)
    person.undo_import()

    assert {name: one for name, one in imported.items() if name != ".claude/settings.json"} == {
        name: one for name, one in before.items() if name != ".claude/settings.json"
    }
    assert tree(person.home) == before


@pytest.mark.parametrize("works", [True, False])
def test_hooks_that_were_approved_before_run_once_after_import_and_a_failure_names_the_way_back(
    person: Person, file: Path, capsys: pytest.CaptureFixture[str], works: bool
) -> None:
    settings(file, str(script(person.home / "guard.sh", "exit 0" if works else "echo no such thing >&2; exit 7")))
    person.import_hooks()
    stores = open_stores(person.site.paths, create=True)
    catalog = HookCatalog(person.site.paths, stores.ledger, stores.copies)
    catalog.refresh()
    user_controls(stores, catalog).approve(catalog.states[0].key, catalog.states[0].digest, "test")
    stores.journal.close()
    person.undo_import()
    person.import_hooks()

    agents.try_imported(person.site, "claude-code")

    said = capsys.readouterr().out
    if works:
        assert said == "claude-code: 1 of them is approved already and passed a test run.\n"
    else:
        assert "guard failed its test run: exit 7: no such thing" in said
        assert "`hooktray import-hooks claude-code --undo`" in said
