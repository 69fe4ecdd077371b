"""Files that programs read by themselves: avoided where that changes nothing else, named in Review everywhere."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from house import House

from tray.approvals.review import review

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="other files there")
PATH = os.environ["PATH"]


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    made.catalog.search.saw_event(PATH)
    yield made
    made.close()


def declare(house: House, text: str, *, approved: bool = True, command: str = "./guard", **keys: Any) -> str:
    """The hook's review."""
    path = house.paths.config.parent / "guard"
    path.write_text(text)
    path.chmod(0o755)
    state = house.hook("guard", on="tool_before", command=command, approved=approved, **keys)
    return review(state, house.stores.copies, {})


def outcome(house: House, home: Path) -> tuple[str, str]:
    house.tool("ls", environment={"PATH": PATH, "HOME": str(home)})
    found = house.last.hooks[0]
    return str(found["status"]), str(found["reason"])


def need(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


@pytest.mark.parametrize("line", ["", ': "$0"\n'], ids=["descriptor", "copy"])
@pytest.mark.parametrize("head", ["/usr/bin/env zsh", "zsh"])
def test_zshenv_does_not_change_a_hook(house: House, tmp_path: Path, head: str, line: str) -> None:
    zsh = need("zsh")
    (tmp_path / ".zshenv").write_text("exit 0\n")
    declare(house, f"#!{head if head != 'zsh' else zsh}\n{line}echo no >&2\nexit 2\n")

    assert outcome(house, tmp_path) == ("ok", "no")


def test_a_package_json_above_does_not_change_a_script_of_one_file(house: House, tmp_path: Path) -> None:
    need("node")
    (tmp_path / "package.json").write_text('{"type": "module"}')
    declare(house, "#!/usr/bin/env node\nrequire('fs'); process.stderr.write('no'); process.exitCode = 2\n")

    assert outcome(house, tmp_path) == ("ok", "no")


def test_review_names_what_jq_reads_from_the_home_folder(house: House) -> None:
    text = declare(house, "#!/bin/sh\njq -e .tool_name\n", approved=False)

    assert f"  {Path.home() / '.jq'}: jq reads it at each start" in text


def test_review_names_package_json_and_node_modules_above_a_script_of_node(house: House, tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text("{}")

    text = declare(house, "#!/usr/bin/env node\nconsole.log(__dirname)\n", approved=False)

    assert f"  {tmp_path / 'package.json'}: node takes from it whether a script is a module" in text
    assert f"  {Path.home() / 'node_modules'}: node loads packages from there" in text


def test_review_tells_a_hook_in_python_whether_it_gets_the_users_own_packages(house: House) -> None:
    without = declare(house, "#!/usr/bin/env python3\nprint()\n", approved=False)
    assert "python3 does not load packages from there; `env: [PYTHONUSERBASE]` in the hook lets it" in without

    house._yaml.clear()
    loaded = declare(house, "#!/usr/bin/env python3\nprint()\n", approved=False, env=["PYTHONUSERBASE"])
    assert "python3 loads packages from there, because the hook's `env:` names PYTHONUSERBASE" in loaded


def test_zshenv_is_named_where_the_line_itself_starts_zsh(house: House) -> None:
    need("zsh")

    named = declare(house, "echo\n", approved=False, command="zsh ./guard")
    assert str(Path.home() / ".zshenv") in named

    house._yaml.clear()
    avoided = declare(house, "#!/usr/bin/env zsh\necho\n", approved=False)
    assert ".zshenv" not in avoided


def test_review_says_that_a_shim_decides_by_other_files(house: House, tmp_path: Path) -> None:
    shims = tmp_path / ".pyenv" / "shims"
    shims.mkdir(parents=True)
    (shims / "mypython").write_text("#!/bin/sh\nexit 0\n")
    (shims / "mypython").chmod(0o755)
    house.catalog.search.saw_event(f"{shims}:{PATH}")

    text = declare(house, "#!/usr/bin/env mypython\n", approved=False)

    assert f"  {shims / 'mypython'}: mypython is a shim of a version manager" in text
