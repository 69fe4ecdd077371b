"""Guards of several files, as people publish them, by a settings source, a `hooks:` entry and `import-hooks`."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from connect.sites import RELAY
from connect.trays import approve_all, installed
from desk import wait
from house import PRE_TOOL_USE
from live import Live

from tray.agents.connection import Site
from tray.approvals.catalog import HookCatalog
from tray.approvals.checks import ImportCheck
from tray.approvals.review import review
from tray.connect import apply_connect, hook_import
from tray.engine.stores import open_stores
from tray.paths import locate

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="scripts for a POSIX shell")


@dataclass(frozen=True)
class Shape:
    """One project: its files below a home, the command of its guard, and the module that decides."""

    files: Mapping[str, str]
    command: str
    module: str


PYTHON = Shape(
    command="{home}/.claude/hooks/guard.py",
    module=".claude/hooks/utils/rules/shell.py",
    files={
        ".claude/hooks/guard.py": """#!/usr/bin/env python3
# /// script
# dependencies = []
# ///
import json
import sys
from pathlib import Path

from utils.rules.shell import forbidden

event = json.load(sys.stdin)
for word in (Path(__file__).parent / "utils" / "words.txt").read_text().split():
    if forbidden(event["tool_input"].get("command", ""), word):
        print(f"{word} is forbidden", file=sys.stderr)
        sys.exit(2)
""",
        ".claude/hooks/utils/__init__.py": "",
        ".claude/hooks/utils/rules/__init__.py": "",
        ".claude/hooks/utils/rules/shell.py": "def forbidden(line, word):\n    return word in line.split()\n",
        ".claude/hooks/utils/words.txt": "destroy\n",
    },
)
SHELL = Shape(
    command="{home}/guards/guard.sh --strict",
    module="guards/lib/common.sh",
    files={
        "guards/guard.sh": """#!/usr/bin/env bash
SCRIPT_DIR="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
source "$SCRIPT_DIR/lib/common.sh"
if forbidden "$(jq -r '.tool_input.command // empty')" "$SCRIPT_DIR/rules.json"; then refuse; fi
""",
        "guards/lib/common.sh": """refuse() { echo forbidden >&2; exit 2; }
forbidden() { jq -e --arg line "$1" 'any(.[]; . as $word | $line | startswith($word))' "$2" >/dev/null; }
""",
        "guards/rules.json": '["destroy"]\n',
    },
)
NODE = Shape(
    command="node {home}/tools/hooks/guard.js",
    module="tools/hooks/lib/rules.js",
    files={
        "tools/package.json": '{"name": "tools", "type": "module"}\n',
        "tools/hooks/guard.js": """import { readFileSync } from 'node:fs';
import { forbidden } from './lib/rules.js';

const event = JSON.parse(readFileSync(0, 'utf8'));
const { default: words } = await import('../words.js');
if (forbidden(event.tool_input.command ?? '', words)) {
  console.log(JSON.stringify({ decision: 'block', reason: 'forbidden' }));
}
""",
        "tools/hooks/lib/rules.js": "export const forbidden = (line, words) => words.includes(line.split(' ')[0]);\n",
        "tools/words.js": "export default ['destroy'];\n",
        "tools/.git/HEAD": "ref: refs/heads/main\n",
    },
)
SHAPES = {"python": PYTHON, "shell": SHELL, "node": NODE}
WAYS = {"python": "import", "shell": "source", "node": "hooks"}  # how each is declared
NEEDED = {"python": "python3", "shell": "jq", "node": "node"}


@dataclass
class Project:
    """A home with one project in it, and the tray that its guard is declared to."""

    live: Live
    home: Path
    shape: Shape
    way: str

    @property
    def command(self) -> str:
        return self.shape.command.format(home=self.home)

    def declare(self, way: str = "") -> None:
        """Bring the guard to Hooktray in one of the ways that people have."""
        way = way or self.way
        if way == "hooks":
            entry = {"name": "guard", "event": "tool_before", "command": self.command, "dialect": "claude-code"}
            self.live.configure({"hooks": [entry]})
            return
        handler = {"type": "command", "command": self.command}
        settings = self.home / ".claude" / "settings.json"
        settings.parent.mkdir(exist_ok=True)
        settings.write_text(json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [handler]}]}}))
        if way == "source":
            self.live.configure({"sources": [{"claude-code": str(settings)}]})
            return
        paths = locate(str(self.live.home))
        site = Site(paths=paths, relay=RELAY, home=self.home, cwd=self.home, now="2026-11-22T07:00:00.000Z")
        apply_connect(site, "claude-code", hook_import.import_hooks(site, "claude-code", ImportCheck()))

    def verdict(self, line: str) -> str:
        """What Claude Code is answered before it runs this line."""
        payload = {**PRE_TOOL_USE, "cwd": str(self.home), "tool_input": {"command": line}}
        done = self.live.relay("claude-code", "PreToolUse", payload)
        assert done.returncode == 0, done.stderr
        said = json.loads(done.stdout)["hookSpecificOutput"] if done.stdout.strip() else {}
        return str(said.get("permissionDecision", "")) or "nothing"

    def review(self) -> str:
        """What a person would read of it now."""
        paths = locate(str(self.live.home))
        kept = open_stores(paths, create=True)
        found = HookCatalog(paths, kept.ledger, kept.copies)
        found.refresh()
        text = review(found.states[0], kept.copies, {})
        kept.journal.close()
        return text


@pytest.fixture(params=SHAPES)
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Project]:
    if shutil.which(NEEDED[request.param]) is None:
        pytest.skip(f"{NEEDED[request.param]} is not installed")
    live = installed(tmp_path)
    home = tmp_path / "home"
    for name, text in SHAPES[request.param].files.items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755 if "guard" in path.name else 0o644)
    yield Project(live, home, SHAPES[request.param], WAYS[request.param])
    if hasattr(live, "process"):
        live.quit()
    live.place.close()


def test_a_guard_of_several_files_denies_with_what_was_approved_whatever_becomes_of_its_files(
    project: Project,
) -> None:
    project.declare()
    approve_all(project.live)
    project.live.start("--headless")
    seen = [project.verdict("destroy everything"), project.verdict("ls")]

    module = project.home / project.shape.module
    module.write_text("")
    seen.append(project.verdict("destroy everything"))
    module.unlink()
    seen.append(project.verdict("destroy everything"))

    assert seen == ["deny", "nothing", "deny", "deny"]
    wait(lambda: "changed" in project.live.states().values(), what="the change is noticed")


def test_a_module_that_is_missing_is_named_before_the_approval(project: Project) -> None:
    (project.home / project.shape.module).unlink()

    project.declare("source")

    text = project.review()
    assert "\nBefore you approve it:\n" in text
    found = text.partition("\nBefore you approve it:\n")[2].partition("\n\n")[0]
    assert Path(project.shape.module).stem in found
    assert "put the file " in found
    assert Path(project.shape.module).stem in project.live.rows("list")[0]["health"]


def test_import_leaves_a_guard_whose_module_is_missing_where_it_is_and_says_why(project: Project) -> None:
    (project.home / project.shape.module).unlink()
    before = {path: path.read_bytes() for path in project.home.rglob("*") if path.is_file()}

    with pytest.raises(Exception, match="no hook in it can be imported") as caught:
        project.declare("import")

    settings = project.home / ".claude" / "settings.json"
    assert Path(project.shape.module).stem in getattr(caught.value, "hint", "")
    assert json.loads(settings.read_text())["hooks"]["PreToolUse"]
    assert {path: path.read_bytes() for path in before} == before
