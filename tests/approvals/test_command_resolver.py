"""Layouts of hooks: what an approval of each covers, what it does not, and what runs after an edit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tray.approvals.command_resolver import CommandResolver
from tray.approvals.inspection import Inspection, inspect
from tray.errors import HooktrayError
from tray.model.hook import Command, Hook, Match, Source
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
    declared_in: str = ""
    needs: str = field(default="sh")


def layout(line: str, files: Mapping[str, str], *covered: str, **keys: object) -> Layout:
    return Layout(line=line, files=files, covered=frozenset(covered), **keys)  # type: ignore[arg-type]


LAYOUTS = {
    "one script": layout("./g.sh", {"g.sh": SAYS, "other.sh": SAYS}, "g.sh"),
    "one script behind an interpreter": layout("sh g.sh", {"g.sh": SAYS}, "g.sh"),
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
    "codex": layout(
        "python3 .codex/hooks/policy.py",
        {".codex/hooks/policy.py": "from rules import SAID\nprint(SAID)\n",
         ".codex/hooks/rules.py": "SAID = 'approved'\n", ".codex/config.toml": ""},
        ".codex/hooks/policy.py", ".codex/hooks/rules.py", needs="python3",
    ),
    "gemini": layout(
        "$0/.gemini/hooks/g.sh", {".gemini/hooks/g.sh": SAYS, ".gemini/settings.json": ""}, ".gemini/hooks/g.sh"
    ),
    "github": layout(
        ".github/hooks/scripts/g.sh",
        {".github/hooks/scripts/g.sh": SOURCES.format("../lib.sh"), ".github/hooks/lib.sh": "echo approved\n",
         ".github/hooks/hooks.json": "{}", ".github/workflows/ci.yml": ""},
        ".github/hooks/scripts/g.sh", ".github/hooks/lib.sh", ".github/hooks/hooks.json",
    ),
    "helpers": layout(
        ".claude/helpers/g.sh",
        {".claude/helpers/g.sh": SOURCES.format("lib.sh"), ".claude/helpers/lib.sh": SOURCES.format("deep.sh"),
         ".claude/helpers/deep.sh": "echo approved\n", ".claude/helpers/other.sh": SAYS},
        *(f".claude/helpers/{name}.sh" for name in ("g", "lib", "deep")),
    ),
    "python beside": layout(
        "./tools/g.py",
        {"tools/g.py": "#!/usr/bin/env python3\nfrom lib.words import SAID\nprint(SAID)\n",
         "tools/lib/__init__.py": "", "tools/lib/words.py": "from . import more\nSAID = more.SAID\n",
         "tools/lib/more.py": "SAID = 'approved'\n"},
        "tools/g.py", "tools/lib/__init__.py", "tools/lib/words.py", "tools/lib/more.py", needs="python3",
    ),
    "javascript beside": layout(
        "node tools/g.mjs",
        {"tools/g.mjs": "import { said } from '../lib/words.mjs';\nconsole.log(said);\n",
         "lib/words.mjs": "export const said = 'approved';\n"},
        "tools/g.mjs", "lib/words.mjs", needs="node",
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
    "data": layout(
        "./g.sh ./rules.txt", {"g.sh": '#!/bin/sh\necho approved $(cat "$1")\n', "rules.txt": "approved\n"},
        "g.sh", uncovered=frozenset({"rules.txt"}), said="approved edited",
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


@pytest.fixture
def copies(tmp_path: Path) -> Copies:
    (tmp_path / "copies").mkdir()
    return Copies(tmp_path / "copies")


def made(root: Path, one: Layout) -> Hook:
    for name, text in one.files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("{root}", str(root)))
        path.chmod(0o755)
    first = one.line.split()[0]
    return Hook(
        name="guard",
        source=Source(kind="hooktray", path=str(root / "hooktray.yaml")),
        match=Match(event="tool_before"),
        action=Command(
            line=one.line.replace("$0", str(root)),
            folder=str(root),
            interpreter="" if "/" in first else shutil.which(first) or "",
            plugin=os.path.normpath(root / one.plugin) if one.plugin else "",
        ),
        files=one.listed,
        dialect="starchild",
    )


def said(copies: Copies, found: Inspection, cwd: Path) -> str:
    argv = CommandResolver(copies).argv(found.bundle.hook, found.bundle.digest)
    environment = {"PATH": found.search_path, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(argv, cwd=cwd, env=environment, capture_output=True, check=True, timeout=60)
    return done.stdout.decode().strip()


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

    def below(paths: tuple[str, ...]) -> set[str]:
        return {os.path.relpath(path, root) for path in paths if path.startswith(f"{root}/")}

    assert below(found.bundle.covered) == one.covered
    assert below(found.uncovered) == one.uncovered
    assert said(copies, found, tmp_path) == one.said
    assert said(copies, found, tmp_path) == one.said  # and the links and what was written are no damage


@pytest.mark.parametrize(("number", "size"), [(201, 1), (3, 2 * 1024 * 1024)], ids=["too many", "too large"])
def test_a_folder_beyond_the_limits_is_refused_with_the_cure(tmp_path: Path, number: int, size: int) -> None:
    hook = made(tmp_path, LAYOUTS["a folder of hooks"])
    for index in range(number):
        with (tmp_path / f".claude/hooks/{index}.wav").open("wb") as file:
            file.truncate(size)

    with pytest.raises(HooktrayError) as refused:
        inspect(hook)

    assert str(tmp_path / ".claude/hooks") in refused.value.message
    assert "`files:`" in refused.value.hint


def test_a_link_that_leads_elsewhere_is_put_back(tmp_path: Path, copies: Copies) -> None:
    found = inspect(made(tmp_path / "project", LAYOUTS["a virtual environment"]))
    copies.save(found.bundle)
    link = copies.path(found.bundle.digest, str(tmp_path / "project" / ".venv"))
    link.unlink()
    link.symlink_to(tmp_path)

    assert said(copies, found, tmp_path) == "approved"
    assert link.readlink() == tmp_path / "project" / ".venv"


def test_altered_bytes_of_a_copy_do_not_run(tmp_path: Path, copies: Copies) -> None:
    found = inspect(made(tmp_path / "project", LAYOUTS["one script"]))
    copies.save(found.bundle)
    resolver = CommandResolver(copies)
    (copy,) = resolver.argv(found.bundle.hook, found.bundle.digest)
    Path(copy).chmod(0o700)
    Path(copy).write_text("#!/bin/sh\necho evil\n")

    assert said(copies, found, tmp_path) == "approved"


def test_a_program_of_node_modules_that_is_the_hook_itself_is_known_by_its_bytes(
    tmp_path: Path, copies: Copies
) -> None:
    found = inspect(made(tmp_path / "project", LAYOUTS["a program of node_modules"]))
    copies.save(found.bundle)

    (tmp_path / "project/node_modules/.bin/lint").write_text("#!/bin/sh\necho other\n")

    with pytest.raises(DamagedError, match="another program"):
        CommandResolver(copies).argv(found.bundle.hook, found.bundle.digest)


def test_a_line_is_made_once_while_hook_and_copy_are_the_same(tmp_path: Path, copies: Copies) -> None:
    found = inspect(made(tmp_path / "project", LAYOUTS["one script"]))
    copies.save(found.bundle)
    resolver = CommandResolver(copies)

    first, second = (resolver.argv(found.bundle.hook, found.bundle.digest) for _ in range(2))

    assert first is second
