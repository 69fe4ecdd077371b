"""The programs of hooks: which PATH finds them, and that they stay where they were approved."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
from approvals.declared import program
from house import House

from tray.approvals.review import review
from tray.model.hook import ApprovalState

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows finds programs by other rules")
SYSTEM = "/usr/bin:/bin"


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A folder of the user's own programs."""
    return tmp_path / "home" / ".local" / "bin"


def python_at(path: Path) -> Path:
    """The system's interpreter under another name: a file of the user's own that starts it."""
    return program(path, f'#!/bin/sh\nexec {shutil.which("sh", path=SYSTEM)} "$@"\n')


def declare(house: House, name: str, head: str, body: str, *, path: str = SYSTEM, command: str = "") -> None:
    """A hook, approved at a terminal with this PATH."""
    program(house.paths.config.parent / name, f"{head}\n{body}\n")
    house.hook(name, on="tool_before", command=command or f"./{name}", approved=False)
    state = house.catalog.at_path(house.state(name), path)
    house.consent.approve(state.key, state.digest, "test", path)


def from_settings(house: House, line: str) -> None:
    """An approved line for a shell, as an agent's settings have it."""
    settings = house.root / "settings.json"
    hooks = [{"type": "command", "command": line, "shell": "bash"}]
    settings.write_text(json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": hooks}]}}))
    house.configure({"sources": [{"claude-code": str(settings)}]})
    (state,) = house.catalog.states
    house.consent.approve(state.key, state.digest, "test")


def outcome(house: House, path: str) -> tuple[str, str]:
    """Status of the only hook, and what it said, for an agent with this PATH."""
    house.tool("ls", environment={"PATH": path, "HOME": str(house.root)})
    found = house.last.hooks[0]
    return str(found["status"]), str(found["reason"])


DENY = "echo no >&2; exit 2"


def test_a_new_program_on_the_agents_path_is_not_run(house: House, own: Path) -> None:
    declare(house, "guard", "#!/usr/bin/env sh", DENY)
    program(own / "sh", "#!/bin/sh\nexit 0\n")

    found = outcome(house, f"{own}:{SYSTEM}")

    assert found == ("ok", "no")


@pytest.mark.parametrize(
    "line",
    [
        *("mysh {guard} ; exit $?", "timeout 9 mysh {guard} || exit 2", "A=b env mysh {guard} || exit 2"),
        'case "$(cat)" in *env*|ls|*ls*) echo no >&2; exit 2;; esac; list=(ls env)',  # its words do not change
    ],
)
def test_a_new_program_is_not_run_by_a_line_for_a_shell_either(house: House, own: Path, line: str) -> None:
    tools = house.root / "tools"
    python_at(tools / "mysh")
    guard = program(house.root / "guard", f"{DENY}\n")
    house.catalog.search.saw_event(f"{own}:{tools}:{SYSTEM}")
    from_settings(house, line.format(guard=guard))
    program(own / "mysh", "#!/bin/sh\nexit 0\n")

    found = outcome(house, f"{own}:{SYSTEM}")

    assert found == ("ok", "no")


def test_a_program_that_is_gone_waits_for_a_new_approval_with_its_new_place(house: House, tmp_path: Path) -> None:
    old, new = (tmp_path / "home" / ".nvm" / name / "bin" for name in ("v20", "v22"))
    python_at(old / "mynode")
    declare(house, "guard", "#!/usr/bin/env mynode", DENY, path=f"{old}:{SYSTEM}")
    python_at(new / "mynode")
    shutil.rmtree(old)

    found = outcome(house, f"{new}:{SYSTEM}")

    assert found[0] == "failed"
    assert f"{old / 'mynode'}" in found[1]
    house.catalog.search.saw_event(f"{new}:{SYSTEM}")
    state = house.state("guard")
    assert state.state is ApprovalState.CHANGED
    assert f"mynode: {new / 'mynode'}" in review(state, house.stores.copies, {})
    house.consent.approve(state.key, state.digest, "test")
    assert outcome(house, SYSTEM) == ("ok", "no")


def test_the_next_version_of_an_interpreter_in_its_place_is_no_change(house: House, own: Path) -> None:
    python_at(own / "mysh")
    declare(house, "guard", "#!/usr/bin/env mysh", DENY, path=f"{own}:{SYSTEM}")

    program(own / "mysh", '#!/bin/sh\n# 2\nexec /bin/sh "$@"\n')

    assert outcome(house, SYSTEM) == ("ok", "no")
    assert house.state("guard").state is ApprovalState.APPROVED


def test_a_program_that_is_the_hook_itself_fails_when_it_is_another_one_and_waits(house: House, own: Path) -> None:
    tool = program(own / "mytool", "")
    shutil.copy("/bin/false", tool)
    declare(house, "guard", "", "", path=f"{own}:{SYSTEM}", command=str(tool))

    shutil.copy("/bin/true", tool)

    found = outcome(house, SYSTEM)
    assert found[0] == "failed"
    assert "another program" in found[1]
    assert house.state("guard").state is ApprovalState.CHANGED


def test_a_projects_eslint_is_found_on_the_path_of_the_terminal_that_approved(house: House, tmp_path: Path) -> None:
    tools = tmp_path / "project" / "node_modules" / ".bin"
    program(tools.parent / "eslint" / "bin" / "eslint.js", "#!/usr/bin/env sh\necho lint >&2; exit 2\n")
    tools.mkdir()
    (tools / "eslint").symlink_to("../eslint/bin/eslint.js")
    state = house.hook("other", on="tool_before", command="eslint --stdin", approved=False)
    assert state.missing

    house.tool("ls", environment={"PATH": f"{tools}:{SYSTEM}"})
    state = house.state("other")

    assert (state.state, state.missing) == (ApprovalState.PENDING, False)
    assert str(tools / "eslint") in review(state, house.stores.copies, {}), "it is on the agent's PATH only"
    declare(house, "guard", "#!/bin/sh", "eslint --stdin", path=f"{tools}:{SYSTEM}")
    assert outcome(house, SYSTEM)[1] == "lint"


def test_review_shows_the_path_and_the_programs(house: House, own: Path) -> None:
    python_at(own / "mysh")
    program(house.paths.config.parent / "guard", f"#!/usr/bin/env mysh\n{DENY}\n")
    house.catalog.search.saw_event(f"{own}:{SYSTEM}")
    state = house.hook("guard", on="tool_before", command="./guard", approved=False)

    text = review(state, house.stores.copies, {})

    assert f"    {own}\n    /usr/bin\n    /bin\n" in text
    assert f"mysh: {own / 'mysh'}" in text


def test_what_an_event_says_later_does_not_change_what_review_showed(house: House, own: Path) -> None:
    program(house.paths.config.parent / "guard", f"#!/usr/bin/env sh\n{DENY}\n")
    house.catalog.search.saw_event(SYSTEM)
    state = house.hook("guard", on="tool_before", command="./guard", approved=False)
    program(own / "sh", "#!/bin/sh\nexit 0\n")

    house.catalog.search.saw_event(f"{own}:{SYSTEM}")
    house.consent.approve(state.key, state.digest, "test")

    assert outcome(house, f"{own}:{SYSTEM}")[1] == "no"
