"""The programs of hooks: which PATH finds them, that they stay the approved ones, and the one question when not."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from house import House

from tray.approvals.review import review
from tray.model.hook import ApprovalState
from tray.store.ledger import LedgerAction

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows finds programs by other rules")
SYSTEM = "/usr/bin:/bin"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    yield made
    made.close()


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A folder of the user's own programs."""
    folder = tmp_path / "home" / ".local" / "bin"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def program(folder: Path, name: str, text: str) -> Path:
    """An executable script, of a size of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text)
    path.chmod(0o755)
    return path


def python_at(path: Path) -> Path:
    """The system's interpreter under another name: a file of the user's own that starts it."""
    return program(path.parent, path.name, f'#!/bin/sh\nexec {shutil.which("sh", path=SYSTEM)} "$@"\n')


def declare(house: House, name: str, head: str, body: str, *, path: str = SYSTEM, command: str = "") -> None:
    """A hook, approved at a terminal with this PATH."""
    program(house.paths.config.parent, name, f"{head}\n{body}\n")
    state = house.hook(name, on="tool_before", command=command or f"./{name}", approved=False)
    house.consent.approve(state.key, state.digest, "test", path)


def outcome(house: House, path: str) -> tuple[str, str]:
    """Status of the only hook, and what it said, for an agent with this PATH."""
    house.tool("ls", environment={"PATH": path, "HOME": str(house.root)})
    found = house.last.hooks[0]
    return str(found["status"]), str(found["reason"])


DENY = "echo no >&2; exit 2"


def test_a_new_program_on_the_agents_path_is_not_run(house: House, own: Path) -> None:
    declare(house, "guard", "#!/usr/bin/env sh", DENY)
    program(own, "sh", "#!/bin/sh\nexit 0\n")

    found = outcome(house, f"{own}:{SYSTEM}")

    assert found == ("ok", "no")


def test_a_new_program_in_a_folder_of_the_recorded_path_hides_no_program_of_the_system(
    house: House, own: Path
) -> None:
    declare(house, "guard", "#!/bin/sh", "grep -q . || exit 1; echo no >&2; exit 2", path=f"{own}:{SYSTEM}")
    program(own, "grep", "#!/bin/sh\nexit 1\n")

    found = outcome(house, f"{own}:{SYSTEM}")

    assert found == ("ok", "no")


def test_a_replaced_interpreter_fails_all_its_hooks_until_one_question_is_answered(house: House, own: Path) -> None:
    interpreter = python_at(own / "mysh")
    for name in ("first", "second"):
        declare(house, name, "#!/usr/bin/env mysh", DENY, path=f"{own}:{SYSTEM}")
    program(own, "mysh", "#!/bin/sh\nexit 0\n")

    house.tool("ls", environment={"PATH": f"{own}:{SYSTEM}"})

    assert [one["status"] for one in house.last.hooks] == ["failed", "failed"]
    assert str(interpreter) in str(house.last.hooks[0]["reason"])
    (question,) = (one for one in house.catalog.settings() if one.waiting)
    assert "2 hooks use it (first, second)" in question.text

    house.controls().approve(question.key, question.digest, "test")
    house.tool("ls", environment={"PATH": f"{own}:{SYSTEM}"})

    assert [one["status"] for one in house.last.hooks] == ["ok", "ok"]
    assert [one for one in house.catalog.settings() if one.waiting] == []


def test_an_interpreter_in_the_line_is_the_same_question(
    house: House, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{own}:{SYSTEM}")
    python_at(own / "bash")
    declare(house, "guard", "", DENY, path=f"{own}:{SYSTEM}", command="bash ./guard")
    program(own, "bash", "#!/bin/sh\nexit 0\n")

    found = outcome(house, f"{own}:{SYSTEM}")

    assert found[0] == "failed"
    assert house.state("guard").state is ApprovalState.APPROVED
    (question,) = (one for one in house.catalog.settings() if one.waiting)
    house.controls().approve(question.key, question.digest, "test")
    assert outcome(house, f"{own}:{SYSTEM}")[0] == "ok"


def test_a_denied_question_leaves_the_hooks_failed_and_waits_no_more(house: House, own: Path) -> None:
    python_at(own / "mysh")
    declare(house, "guard", "#!/usr/bin/env mysh", DENY, path=f"{own}:{SYSTEM}")
    program(own, "mysh", "#!/bin/sh\nexit 0\n")
    (question,) = house.catalog.settings()

    house.controls().deny(question.key, question.digest, "test")

    assert outcome(house, SYSTEM)[0] == "failed"
    assert [one for one in house.catalog.settings() if one.waiting] == []


def test_a_link_of_the_users_own_to_a_program_of_the_system_may_be_upgraded_there(house: House, own: Path) -> None:
    (own / "mysh").symlink_to("/bin/sh")
    declare(house, "guard", "#!/usr/bin/env mysh", DENY, path=f"{own}:{SYSTEM}")

    assert outcome(house, SYSTEM)[1] == "no"
    (own / "mysh").unlink()
    program(own, "mysh", "#!/bin/sh\nexit 0\n")
    assert outcome(house, SYSTEM)[0] == "failed"


def test_a_program_that_the_script_starts_is_not_hidden_by_a_new_one(house: House, own: Path, tmp_path: Path) -> None:
    early = tmp_path / "early"
    program(early, "other", "#!/bin/sh\n:\n")
    program(own, "mytool", "#!/bin/sh\necho no\n")
    declare(house, "guard", "#!/bin/sh", "other; mytool >&2; exit 2", path=f"{early}:{own}:{SYSTEM}")
    assert outcome(house, SYSTEM)[1] == "no"

    program(early, "mytool", "#!/bin/sh\necho yes\n")

    found = outcome(house, SYSTEM)
    assert found[0] == "failed"
    assert str(early / "mytool") in found[1]
    (question,) = house.catalog.settings()
    assert str(early / "mytool") in question.text


def test_node_of_a_version_manager_is_found_without_the_agents_path(house: House, tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    versions = tmp_path / "home" / ".nvm" / "versions" / "node" / "v20" / "bin"
    versions.mkdir(parents=True)
    shutil.copy(os.path.realpath(node), versions / "node")
    text = "process.stderr.write('no ' + process.execPath); process.exitCode = 2"
    declare(house, "guard", "#!/usr/bin/env node", text, path=f"{versions}:{SYSTEM}")

    found = outcome(house, SYSTEM)

    assert found == ("ok", f"no {versions / 'node'}")


def test_a_program_that_moved_is_asked_about_once(house: House, tmp_path: Path) -> None:
    old, new = (tmp_path / "home" / ".nvm" / name / "bin" for name in ("v20", "v22"))
    python_at(old / "mynode")
    declare(house, "guard", "#!/usr/bin/env mynode", DENY, path=f"{old}:{SYSTEM}")
    python_at(new / "mynode")
    shutil.rmtree(old)

    found = outcome(house, f"{new}:{SYSTEM}")

    assert found[0] == "failed"
    assert f"{old / 'mynode'} is gone" in found[1]
    (question,) = house.catalog.settings()
    assert str(new / "mynode") in question.text
    house.controls().approve(question.key, question.digest, "test")
    assert outcome(house, SYSTEM)[1] == "no"
    assert house.catalog.settings() == ()


def test_a_projects_eslint_is_found_on_the_path_of_the_terminal_that_approved(house: House, tmp_path: Path) -> None:
    tools = tmp_path / "project" / "node_modules" / ".bin"
    package = tmp_path / "project" / "node_modules" / "eslint" / "bin"
    program(package, "eslint.js", "#!/usr/bin/env sh\necho lint >&2; exit 2\n")
    tools.mkdir()
    (tools / "eslint").symlink_to("../eslint/bin/eslint.js")
    declare(house, "guard", "#!/bin/sh", "eslint --stdin", path=f"{tools}:{SYSTEM}")

    assert outcome(house, SYSTEM)[1] == "lint"


def test_a_program_that_only_the_agents_path_has_is_proposed_with_its_place(house: House, tmp_path: Path) -> None:
    tools = tmp_path / "project" / "node_modules" / ".bin"
    program(tools, "mylint", "#!/bin/sh\necho lint >&2; exit 2\n")
    state = house.hook("guard", on="tool_before", command="mylint --stdin", approved=False)
    assert state.missing

    house.tool("ls", environment={"PATH": f"{tools}:{SYSTEM}"})
    state = house.state("guard")

    assert (state.state, state.missing) == (ApprovalState.PENDING, False)
    assert str(tools / "mylint") in review(state, house.stores.copies, {})
    house.consent.approve(state.key, state.digest, "test")
    assert outcome(house, SYSTEM)[1] == "lint"


def test_what_was_approved_before_keeps_what_it_finds_and_gets_its_pins_at_the_next_start(
    house: House, own: Path
) -> None:
    program(own, "mytool", "#!/bin/sh\necho no\n")
    house.catalog.search.saw_event(SYSTEM)
    program(house.paths.config.parent, "guard", "#!/usr/bin/env sh\nmytool >&2; exit 2\n")
    state = house.hook("guard", on="tool_before", command="./guard", approved=False)
    house.stores.ledger.append(  # as an earlier version wrote it
        LedgerAction.APPROVE, state.key, state.digest,
        definition=state.hook.definition, position=state.position, channel="test",
    )  # fmt: skip
    house.catalog.refresh()

    house.consent.pin_earlier("noted at start")
    program(own, "sh", "#!/bin/sh\nexit 0\n")

    assert outcome(house, f"{own}:{SYSTEM}")[1] == "no"
    (approved,) = house.stores.ledger.in_order()
    assert approved.pins is not None
    assert approved.pins.programs["sh"] in ("/usr/bin/sh", "/bin/sh")


def test_review_shows_the_path_and_the_programs(house: House, own: Path) -> None:
    python_at(own / "mysh")
    program(house.paths.config.parent, "guard", f"#!/usr/bin/env mysh\n{DENY}\n")
    house.catalog.search.saw_event(f"{own}:{SYSTEM}")
    state = house.hook("guard", on="tool_before", command="./guard", approved=False)

    text = review(state, house.stores.copies, {})

    assert f"    {own}\n    /usr/bin\n    /bin\n" in text
    assert f"mysh: {own / 'mysh'}, bound to its bytes" in text


def test_what_an_event_says_later_does_not_change_what_review_showed(house: House, own: Path) -> None:
    program(house.paths.config.parent, "guard", f"#!/usr/bin/env sh\n{DENY}\n")
    house.catalog.search.saw_event(SYSTEM)
    state = house.hook("guard", on="tool_before", command="./guard", approved=False)
    program(own, "sh", "#!/bin/sh\nexit 0\n")

    house.catalog.search.saw_event(f"{own}:{SYSTEM}")
    house.consent.approve(state.key, state.digest, "test")

    assert outcome(house, f"{own}:{SYSTEM}")[1] == "no"
