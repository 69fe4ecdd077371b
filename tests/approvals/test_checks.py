"""What is found wrong with a hook before it is approved, what Review shows of it, and that nothing of it runs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from approvals.declared import hook, program
from house import House

from tray.approvals.checks import ImportCheck, problems
from tray.approvals.inspection import inspect
from tray.approvals.review import SectionKind, sections

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="scripts for a POSIX shell")


WRONG = {
    "mode": ("echo", "{folder}/guard is not executable: run `chmod +x {folder}/guard`"),
    "interpreter": (
        "#!/opt/nowhere/python9\n",
        "`/opt/nowhere/python9` is not installed, and {folder}/guard:1 begins with it: install it, or correct",
    ),
    "sh": ("#!/bin/sh\nif true; then\n", "{folder}/guard cannot be read: "),
    "bash": ("#!/usr/bin/env bash\ncase x in\n", "{folder}/guard cannot be read: "),
    "sourced": (
        '#!/bin/sh\n. "$(dirname "$0")/words.sh"\n',
        "`{folder}/words.sh` is not there, and {folder}/guard:2 loads it: put the file there, or name it under",
    ),
    "python": (
        "#!{folder}/venv/bin/python3\nimport json, here, linked\nimport wordz\n",
        "the import `wordz` of {folder}/guard:3 was not found: ",
    ),
}


def environment(folder: Path) -> None:
    """A virtual environment as far as it can be looked at, with one package and a folder that is linked."""
    packages = folder / "venv" / "lib" / "python3.11" / "site-packages"
    (packages / "here").mkdir(parents=True)
    (packages / "more.pth").write_text(f"{folder}/linked\n")
    (folder / "linked").mkdir()
    (folder / "linked" / "linked.py").touch()
    (folder / "venv" / "bin").mkdir()
    (folder / "venv" / "bin" / "python3").touch(0o755)
    (folder / "venv" / "pyvenv.cfg").write_text("include-system-site-packages = false\n")


@pytest.mark.parametrize("kind", WRONG)
def test_what_keeps_a_hook_from_working_is_named_with_its_cure(tmp_path: Path, kind: str) -> None:
    environment(tmp_path)
    text, expected = (part.replace("{folder}", str(tmp_path)) for part in WRONG[kind])
    (tmp_path / "guard").write_text(text)
    (tmp_path / "guard").chmod(0o644 if kind == "mode" else 0o755)
    one = hook(tmp_path, "./guard")

    (problem,) = problems(inspect(one))

    assert str(problem).startswith(expected)
    assert ImportCheck().problem(one) == str(problem)


def test_a_missing_script_is_reported_and_a_working_hook_has_no_problems(tmp_path: Path) -> None:
    assert "there is no such program" in ImportCheck().problem(hook(tmp_path, "./guard"))

    program(tmp_path / "guard", '#!/bin/sh\n[ -f ./own.sh ] && . ./own.sh\ncase "$1" in (a) ;; esac\n')

    assert problems(inspect(hook(tmp_path, "./guard"))) == ()


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_looking_at_the_syntax_of_a_script_runs_nothing_and_reads_no_startup_file(
    tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch, shell: str
) -> None:
    mark, startup = tmp_path / "ran", tmp_path / "startup"
    startup.write_text(f"touch {mark}\n")
    for name in (".bashrc", ".profile", ".bash_profile"):
        (own_home / name).write_text(f"touch {mark}\n")
    for name in ("ENV", "BASH_ENV"):
        monkeypatch.setenv(name, str(startup))
    (tmp_path / "guard").write_text(f"#!/bin/{shell}\ntouch {mark}\necho $(touch {mark})\ntouch {mark}; if\n")
    (tmp_path / "guard").chmod(0o755)

    found = problems(inspect(hook(tmp_path, "./guard")))

    assert len(found) == 1
    assert not mark.exists()


def test_the_first_lines_of_a_review_name_what_is_not_covered(house: House) -> None:
    folder = house.paths.config.parent
    (folder / "lib").mkdir()
    (folder / "lib" / "words.sh").write_text("WORD=x\n")
    (folder / "node_modules").mkdir()
    (folder / "audit.log").write_text("")
    text = '. "$(dirname "$0")/lib/words.sh"\n. "$HOME/more.sh"\n. "$CLAUDE_PROJECT_DIR/own.sh"\n'
    house.hook(
        "guard", on="tool_before", script=text, command="./guard.sh --log=./audit.log ~/far.log", approved=False
    )

    state = house.state("guard")
    first, *_ = sections(state, house.stores.copies, {})

    names = (f"{folder}/node_modules", f"{Path.home()}/more.sh", f"{folder}/audit.log", f"{Path.home()}/far.log")
    assert first.kind is SectionKind.UNCOVERED
    assert first.lines == (
        f"  {folder}/node_modules", "  ~/more.sh", f"  {folder}/audit.log", "  ~/far.log",
        "  $CLAUDE_PROJECT_DIR/own.sh",
    )  # fmt: skip
    assert state.inspection is not None
    assert state.inspection.uncovered == names
    assert state.covered == (f"{folder}/guard.sh", f"{folder}/lib/words.sh")


def test_a_hook_that_waits_says_in_the_list_what_its_script_lacks_until_it_is_there(house: House) -> None:
    text = '. "$(dirname "$0")/words.sh"\n'
    house.hook("guard", on="tool_before", script=text, approved=False)
    before = house.state("guard").health

    (house.paths.config.parent / "words.sh").write_text("WORD=x\n")
    after = house.state("guard")

    assert "words.sh` is not there" in before
    assert after.health == ""
    assert [Path(path).name for path in after.covered] == ["guard.sh", "words.sh"]
