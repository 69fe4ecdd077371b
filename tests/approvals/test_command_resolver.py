"""Layouts of hooks: what an approval of each covers, what it does not, and what runs after an edit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from approvals.declared import argv, hook, program
from msgspec.structs import replace

from tray.approvals.command_resolver import CommandResolver
from tray.approvals.inspection import Inspection, inspect
from tray.errors import HooktrayError
from tray.model.hook import Hook
from tray.store.copies import Copies, DamagedError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="scripts for a POSIX shell")
SAYS = "#!/bin/sh\necho approved\n"
SOURCES = '#!/bin/sh\n. "$(dirname "$0")/{}"\n'


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Files below a project, the line that runs one of them, and what an approval makes of it."""

    files: Mapping[str, str]
    line: str
    covered: frozenset[str]
    uncovered: frozenset[str] = frozenset()
    said: str = "approved"
    listed: tuple[str, ...] = ()
    plugin: str = ""
    needs: str = "sh"


def layout(line: str, files: Mapping[str, str], *covered: str, **keys: object) -> Layout:
    return Layout(line=line, files=files, covered=frozenset(covered), **keys)  # type: ignore[arg-type]


LAYOUTS = {
    "one script": layout("./g.sh", {"g.sh": SAYS, "other.sh": SAYS}, "g.sh"),
    "a folder of hooks": layout(
        ".claude/hooks/g.sh",
        {".claude/hooks/g.sh": SOURCES.format("x"), ".claude/hooks/x": "echo approved\n", ".claude/config": ""},
        ".claude/hooks/g.sh", ".claude/hooks/x",
    ),
    "a folder of hooks whose script makes up the name of a file": layout(
        "hooks/g.sh",
        {"hooks/g.sh": '#!/bin/sh\nname=rules\n. "$(dirname "$0")/$name"\n', "hooks/rules": "echo approved\n"},
        "hooks/g.sh", "hooks/rules",
    ),
    "a plugin": layout(
        "bin/g.sh",
        {"bin/g.sh": SOURCES.format("../lib/x"), "lib/x": "echo approved\n", "docs/README.md": "", ".git/HEAD": ""},
        "bin/g.sh", "lib/x", "docs/README.md", plugin=".",
    ),
    "an agent's settings folder": layout(
        ".claude/g.sh",
        {".claude/g.sh": SAYS, ".claude/settings.json": "{}", ".claude/skills/x/SKILL.md": ""},
        ".claude/g.sh",
    ),
    "an agent's settings folder as a plugin": layout(
        ".claude/g.sh", {".claude/g.sh": SAYS, ".claude/settings.json": "{}"}, ".claude/g.sh", plugin=".claude"
    ),
    "python beside": layout(
        "./tools/g.py",
        {"tools/g.py": "#!/usr/bin/env python3\nfrom lib.words import SAID\nprint(SAID)\n",
         "tools/lib/__init__.py": "", "tools/lib/words.py": "from . import more\nSAID = more.SAID\n",
         "tools/lib/more.py": "SAID = 'approved'\n"},
        "tools/g.py", "tools/lib/__init__.py", "tools/lib/words.py", "tools/lib/more.py", needs="python3",
    ),
    "node_modules": layout(
        "node .claude/hooks/g.cjs",
        {".claude/hooks/g.cjs": "console.log('approved', require('words'));\n",
         ".claude/hooks/node_modules/words/index.js": "module.exports = 'approved';\n"},
        ".claude/hooks/g.cjs",
        uncovered=frozenset({".claude/hooks/node_modules"}), said="approved edited", needs="node",
    ),
    "node_modules of the project": layout(
        "node tools/g.cjs",
        {"tools/g.cjs": "console.log('approved', require('words'));\n", ".git/HEAD": "",
         "node_modules/words/index.js": "module.exports = 'approved';\n"},
        "tools/g.cjs", uncovered=frozenset({"node_modules"}), said="approved edited", needs="node",
    ),
    "a virtual environment": layout(
        "./g.sh",
        {"g.sh": '#!/bin/sh\n"$(dirname "$0")/.venv/bin/tool"\n', ".venv/bin/tool": SAYS},
        "g.sh", uncovered=frozenset({".venv"}), said="edited",
    ),
    "a program of node_modules": layout(
        "./node_modules/.bin/lint", {"node_modules/.bin/lint": "#!/bin/sh\necho same\n"},
        uncovered=frozenset({"node_modules/.bin/lint"}), said="same",
    ),
    "files": layout(
        "hooks/g.sh",
        {"hooks/g.sh": '#!/bin/sh\ncat "$(dirname "$0")"/rules/*\n', "hooks/rules/a": "approved\n", "hooks/b": ""},
        "hooks/g.sh", "hooks/rules/a", listed=("hooks/rules/*",),
    ),
    "a fixed place": layout(
        "./g.sh", {"g.sh": '#!/bin/sh\n. "{root}/far/x.sh"\n', "far/x.sh": "echo approved\n"},
        "g.sh", uncovered=frozenset({"far/x.sh"}), said="edited",
    ),
}  # fmt: skip


def made(root: Path, one: Layout) -> Hook:
    for name, text in one.files.items():
        program(root / name, text.replace("{root}", str(root)))
    first = one.line.split()[0]
    return hook(
        root,
        one.line,
        files=one.listed,
        interpreter="" if "/" in first else shutil.which(first) or "",
        plugin=os.path.normpath(root / one.plugin) if one.plugin else "",
    )


def said(copies: Copies, found: Inspection, cwd: Path) -> str:
    environment = {"PATH": found.search_path, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        argv(copies, found.bundle), cwd=cwd, env=environment, capture_output=True, check=True, timeout=60
    )
    return done.stdout.decode().strip()


def below(paths: tuple[str, ...], root: Path) -> set[str]:
    return {os.path.relpath(path, root) for path in paths if path.startswith(f"{root}/")}


@pytest.mark.parametrize("name", LAYOUTS)
def test_what_an_approval_of_each_layout_covers_and_what_runs_after_an_edit(
    tmp_path: Path, copies: Copies, name: str
) -> None:
    one, root = LAYOUTS[name], tmp_path / "project"
    if shutil.which(one.needs) is None:
        pytest.skip(f"{one.needs} is not installed")
    found = inspect(made(root, one))
    copies.save(found.bundle)

    for file in one.files:
        (root / file).write_text((root / file).read_text().replace("approved", "edited"))

    assert below(found.bundle.covered, root) == one.covered
    assert below(found.uncovered, root) == one.uncovered
    assert said(copies, found, tmp_path) == one.said
    assert said(copies, found, tmp_path) == one.said  # and the links and what was written are no damage


@pytest.mark.parametrize(("number", "size"), [(201, 1), (3, 2 * 1024 * 1024)], ids=["too many", "too large"])
def test_a_folder_beyond_the_limits_is_refused_with_the_cure(tmp_path: Path, number: int, size: int) -> None:
    one = made(tmp_path, LAYOUTS["a folder of hooks"])
    for index in range(number):
        with (tmp_path / f".claude/hooks/{index}.wav").open("wb") as file:
            file.truncate(size)

    with pytest.raises(HooktrayError) as refused:
        inspect(one)

    assert str(tmp_path / ".claude/hooks") in refused.value.message
    assert "`files:`" in refused.value.hint
    listed = inspect(replace(one, files=(".claude/hooks/x",)))
    assert below(listed.bundle.covered, tmp_path) == {".claude/hooks/g.sh", ".claude/hooks/x"}


def test_a_link_that_leads_elsewhere_is_put_back(tmp_path: Path, copies: Copies) -> None:
    found = inspect(made(tmp_path / "project", LAYOUTS["a virtual environment"]))
    copies.save(found.bundle)
    link = copies.path(found.bundle.digest, str(tmp_path / "project" / ".venv"))
    link.unlink()
    link.symlink_to(tmp_path)

    assert said(copies, found, tmp_path) == "approved"
    assert link.readlink() == tmp_path / "project" / ".venv"
    resolver = CommandResolver(copies)
    first, again = (resolver.argv(found.bundle.hook, found.bundle.digest) for _ in range(2))
    assert first == again


def test_a_program_of_node_modules_that_is_the_hook_itself_is_known_by_its_bytes(
    tmp_path: Path, copies: Copies
) -> None:
    found = inspect(made(tmp_path / "project", LAYOUTS["a program of node_modules"]))
    copies.save(found.bundle)

    program(tmp_path / "project/node_modules/.bin/lint", "#!/bin/sh\necho other\n")

    with pytest.raises(DamagedError, match="another program"):
        argv(copies, found.bundle)
