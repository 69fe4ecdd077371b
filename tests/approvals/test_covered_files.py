"""What belongs to scripts is found by reading them: modules, sourced files, rules, folders; nothing of them runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tray.agents import relay_command
from tray.approvals.covered_files import CoveredFiles, FileContents, boundary, find, hooks_folder
from tray.errors import HooktrayError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="places of a POSIX system")


def tree(root: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def seen(root: Path, script: str, *, data: tuple[str, ...] = (), has_files: bool = False) -> CoveredFiles:
    named = {str(root / name) for name in data}
    entries = [str(root / script)]
    return find(entries, str(root), has_files=has_files, data=named, contents=FileContents())


def covered(root: Path, found: CoveredFiles) -> set[str]:
    return {os.path.relpath(path, root) for path in found.files}


PYTHON = {
    "imports": ("import words", {"words.py": ""}, {"words.py"}),
    "from": ("from words import WORD", {"words.py": ""}, {"words.py"}),
    "submodule": (
        "from utils.llm import names",
        {"utils/__init__.py": "", "utils/llm/names.py": ""},
        {"utils/__init__.py", "utils/llm/names.py"},
    ),
    "transitive": (
        "import a",
        {"a.py": "from b import *", "b.py": "import c.d", "c/d.py": ""},
        {"a.py", "b.py", "c/d.py"},
    ),
    "relative": (
        "import p",
        {"p/__init__.py": "from . import q", "p/q.py": "from ..r import x", "r.py": ""},
        {"p/__init__.py", "p/q.py", "r.py"},
    ),
    "lazy": ("def f():\n    import late", {"late.py": ""}, {"late.py"}),
    "by name": (
        "import importlib\nimportlib.import_module('rules.first')",
        {"rules/first.py": ""},
        {"rules/first.py"},
    ),
    "path": (
        (
            "import os, sys\n"
            "sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))\n"
            "import x"
        ),
        {"lib/x.py": ""},
        {"lib/x.py"},
    ),
    "pathlib": (
        (
            "import sys\n"
            "from pathlib import Path\n"
            "HERE = Path(__file__).resolve().parent\n"
            "sys.path.append(str(HERE / 'lib'))\n"
            "import x"
        ),
        {"lib/x.py": ""},
        {"lib/x.py"},
    ),
    "opened": ("import json\njson.load(open('rules.json'))", {"rules.json": "{}"}, {"rules.json"}),
    "named": (
        (
            "from pathlib import Path\n"
            "def f():\n"
            "    d = Path(__file__).parent / 'utils'\n"
            "    return d / 'tts' / 'speak.py'"
        ),
        {"utils/tts/speak.py": "import voice", "utils/tts/voice.py": ""},
        {"utils/tts/speak.py", "utils/tts/voice.py"},
    ),
    "listed": (
        "from pathlib import Path\nfor one in (Path(__file__).parent / 'rules').glob('*.yaml'): pass",
        {"rules/a.yaml": "", "rules/more/b.yaml": ""},
        {"rules/a.yaml", "rules/more/b.yaml"},
    ),
    "written": (
        "from pathlib import Path\nLOG = Path(__file__).parent / 'seen.txt'\nwith open(LOG, 'a') as f: f.write('x')",
        {"seen.txt": ""},
        set(),
    ),
    "a log": ("LOG = 'audit.log'", {"audit.log": ""}, set()),
    "standard": ("import json, os.path, asyncore", {}, set()),
}
SHELL = {
    "dirname": ('. "$(dirname "$0")/lib.sh"', {"lib.sh": ""}, {"lib.sh"}),
    "cd": (
        'DIR="$(cd "$(dirname "${BASH_SOURCE[0]}")" >/dev/null 2>&1 && pwd)"\nsource "$DIR/lib/common.sh"',
        {"lib/common.sh": '. "$(dirname "${BASH_SOURCE[0]}")/deep.sh"', "lib/deep.sh": ""},
        {"lib/common.sh", "lib/deep.sh"},
    ),
    "short": ("source ${BASH_SOURCE%/*}/lib.sh", {"lib.sh": ""}, {"lib.sh"}),
    "braces": ('source "${0%/*}"/lib.sh', {"lib.sh": ""}, {"lib.sh"}),
    "two steps": (
        'SCRIPT_DIR=$(dirname "$(realpath "$0")")\nLIB="$SCRIPT_DIR/lib"\n. "${LIB}/a.sh"\njq -f "$LIB/rules.jq"',
        {"lib/a.sh": "", "lib/rules.jq": ""},
        {"lib/a.sh", "lib/rules.jq"},
    ),
    "unknown variable": ('jq -f "$HOOK_DIR/rules.jq"', {"rules.jq": ""}, {"rules.jq"}),
    "assigned": ('RULES="$(dirname "$0")/rules.json"\njq . "$RULES"', {"rules.json": ""}, {"rules.json"}),
    "the script's own `cwd`": (
        'cwd=$(dirname "$0")\n. "$cwd/lib.sh"\npython3 "$cwd/a.py"',
        {"lib.sh": "", "a.py": ""},
        {"lib.sh", "a.py"},
    ),
    "bare": ("python3 helper.py", {"helper.py": "import words", "words.py": ""}, {"helper.py", "words.py"}),
    "written": ('date >> "$(dirname "$0")/seen.txt"', {"seen.txt": ""}, set()),
    "tee": ('DIR=$(dirname "$0")\ntee -a "$DIR/seen.txt"', {"seen.txt": ""}, set()),
    "comment": ("# see lib.sh\n:", {"lib.sh": ""}, set()),
}
JAVASCRIPT = {
    "esm": (
        "import { a } from './lib/a.mjs';",
        {"lib/a.mjs": "export * from '../b.mjs'", "b.mjs": ""},
        {"lib/a.mjs", "b.mjs"},
    ),
    "side effect": ("import './a.mjs'", {"a.mjs": ""}, {"a.mjs"}),
    "several lines": ("import {\n  a,\n  b,\n} from './a.mjs'", {"a.mjs": ""}, {"a.mjs"}),
    "dynamic": ("const a = await import('./a.mjs')", {"a.mjs": ""}, {"a.mjs"}),
    "require": (
        "const { a } = require('./lib/a')",
        {"lib/a.js": "require('.')", "lib/index.js": ""},
        {"lib/a.js", "lib/index.js"},
    ),
    "json": ("const rules = require('./rules.json')", {"rules.json": ""}, {"rules.json"}),
    "folder": ("require('./lib')", {"lib/index.js": ""}, {"lib/index.js"}),
    "typescript by its own name": ("import x from './x.js'", {"x.ts": ""}, {"x.ts"}),
    "joined": (
        (
            "const path = require('path')\n"
            "const ROOT = path.join(__dirname, 'data')\n"
            "read(path.join(ROOT, 'rules.json'))"
        ),
        {"data/rules.json": ""},
        {"data/rules.json"},
    ),
    "url": ("readFileSync(new URL('./rules.json', import.meta.url))", {"rules.json": ""}, {"rules.json"}),
    "template": ("read(`${__dirname}/rules.json`)", {"rules.json": ""}, {"rules.json"}),
    "written": ("fs.appendFileSync(path.join(__dirname, 'seen.txt'), 'x')", {"seen.txt": ""}, set()),
    "comment": ("// import './a.mjs'\n/* require('./a.mjs') */", {"a.mjs": ""}, set()),
    "package": ("import { z } from 'zod/v4'", {"node_modules/zod/v4.js": ""}, set()),
}
OTHER = {
    "ruby": (
        "g.rb",
        "require_relative 'lib/words'\nFile.read(File.join(__dir__, 'rules', 'a.yml'))",
        {"lib/words.rb": "", "rules/a.yml": ""},
        {"lib/words.rb", "rules/a.yml"},
    ),
    "perl": ("g.pl", "use FindBin;\nrequire './more.pl';", {"more.pl": ""}, {"more.pl"}),
    "php": ("g.php", "<?php require_once __DIR__ . '/lib/a.php';", {"lib/a.php": ""}, {"lib/a.php"}),
    "any": ("g", "#!/usr/bin/awk -f\n# reads rules.txt\n", {"rules.txt": ""}, {"rules.txt"}),
}
CASES = [
    *(pytest.param("g.py", *case, id=f"python {name}") for name, case in PYTHON.items()),
    *(pytest.param("g.sh", *case, id=f"shell {name}") for name, case in SHELL.items()),
    *(pytest.param("g.mjs", *case, id=f"javascript {name}") for name, case in JAVASCRIPT.items()),
    *(pytest.param(*case, id=f"other {name}") for name, case in OTHER.items()),
]  # fmt: skip


@pytest.mark.parametrize(("script", "text", "files", "expected"), CASES)
def test_what_a_script_loads_or_names_beside_itself_is_found(
    tmp_path: Path, script: str, text: str, files: dict[str, str], expected: set[str]
) -> None:
    tree(tmp_path, {**files, script: text, "unrelated.txt": "", "unrelated.py": ""})

    found = seen(tmp_path, script)

    assert covered(tmp_path, found) == {script, *expected}
    assert not [problem for problem in found.problems if problem.certain]


LACKS = {
    "sourced": ("g.sh", '. "$(dirname "$0")/gone.sh"', True),
    "esm": ("g.mjs", "import x from './gone.sh'", True),
    "ruby": ("g.rb", "require_relative './gone.sh'", True),
    "require in a try": ("g.cjs", "try { require('./gone.sh') } catch {}", False),
}


@pytest.mark.parametrize(("script", "text", "sure"), LACKS.values(), ids=LACKS)
def test_a_file_that_a_script_loads_and_that_is_not_there_is_named_with_its_line(
    tmp_path: Path, script: str, text: str, sure: bool
) -> None:
    tree(tmp_path, {script: f"\n{text}\n"})

    (problem,) = seen(tmp_path, script).problems

    assert (problem.name, problem.line, problem.certain) == (str(tmp_path / "gone.sh"), 2, sure)


def test_a_dot_in_a_program_of_another_language_loads_nothing(tmp_path: Path) -> None:
    tree(tmp_path, {"g.sh": "jq -e 'any(.[]; . as $word | $line | startswith($word))'\n"})

    assert seen(tmp_path, "g.sh").problems == ()


def test_a_file_that_is_tested_for_may_be_missing(tmp_path: Path) -> None:
    tree(tmp_path, {"g.sh": 'D=$(dirname "$0")\n[ -f "$D/own.sh" ] && . "$D/own.sh"\n'})

    assert seen(tmp_path, "g.sh").problems == ()


def test_a_folder_of_hooks_goes_along_as_a_whole_without_what_programs_write(tmp_path: Path) -> None:
    tree(
        tmp_path,
        {
            ".claude/hooks/g.sh": 'echo "$(date)" > "$(dirname "$0")/state.json"\n',
            ".claude/hooks/utils/words.py": "",
            ".claude/hooks/rules/more.yaml": "",
            ".claude/hooks/state.json": "",
            ".claude/hooks/audit.log": "",
            ".claude/hooks/.env": "",
            ".claude/hooks/__pycache__/g.pyc": "",
            ".claude/hooks/.git/HEAD": "",
            ".claude/hooks/node_modules/zod/index.js": "",
            ".claude/hooks/.venv/bin/python": "",
            ".claude/settings.json": "",
        },
    )

    found = seen(tmp_path, ".claude/hooks/g.sh")

    assert covered(tmp_path, found) == {
        f".claude/hooks/{name}" for name in ("g.sh", "utils/words.py", "rules/more.yaml")
    }
    assert found.links == tuple(str(tmp_path / ".claude/hooks" / name) for name in (".venv", "node_modules"))


def test_what_connect_writes_into_a_folder_of_hooks_is_no_part_of_a_hook(tmp_path: Path) -> None:
    tree(tmp_path, {"hooks/PreToolUse": "", "hooks/hooks.json": "{}"})
    before = seen(tmp_path, "hooks/PreToolUse")
    shim = relay_command.shim(("/x/hooktray-hook", "cline", "PreToolUse"), otherwise="cat >/dev/null").decode()
    tree(tmp_path, {"hooks/PreToolUse.bash": shim, "hooks/hooktray.json": "{}"})

    after = seen(tmp_path, "hooks/PreToolUse")

    assert after == before
    assert covered(tmp_path, after) == {"hooks/PreToolUse", "hooks/hooks.json"}


@pytest.mark.parametrize(
    ("script", "folder"),
    [
        ("/home/you/.claude/hooks/g.py", "/home/you/.claude/hooks"),
        ("/home/you/.claude/hooks/deep/er/g.py", "/home/you/.claude/hooks"),
        ("/home/you/.config/shelley/hooks/g", "/home/you/.config/shelley/hooks"),
        ("/p/.cursor/hooks/g.py", "/p/.cursor/hooks"),
        ("/p/.github/hooks/scripts/g.sh", "/p/.github/hooks"),
        ("/p/hooks/g.py", "/p/hooks"),
        ("/p/.git/hooks/pre-commit", ""),
        ("/p/.claude/g.py", ""),
        ("/home/you/.config/hooktray/g.py", ""),
    ],
)
def test_a_folder_of_hooks_is_known_by_its_name(script: str, folder: str) -> None:
    assert hooks_folder(script) == folder


def test_a_folder_of_this_name_around_a_repository_is_no_folder_of_hooks(tmp_path: Path) -> None:
    tree(tmp_path, {"hooks/project/.git/HEAD": "", "hooks/project/tools/g.py": ""})

    assert hooks_folder(str(tmp_path / "hooks/project/tools/g.py")) == ""


def test_nothing_above_the_repository_or_the_home_belongs_to_a_hook(tmp_path: Path, own_home: Path) -> None:
    tree(own_home, {"guard.py": "", ".claude/hooks/g.py": "", "work/repo/.git/HEAD": "", "work/repo/tools/g.py": ""})

    found = {
        name: boundary(str(own_home / name), "/etc")
        for name in ("guard.py", ".claude/hooks/g.py", "work/repo/tools/g.py")
    }

    assert found == {
        "guard.py": str(own_home),  # its own folder; none of it is ever taken as a whole
        ".claude/hooks/g.py": str(own_home / ".claude"),
        "work/repo/tools/g.py": str(own_home / "work/repo"),
    }


def test_a_module_beside_the_folder_of_hooks_is_covered_and_one_outside_is_named(own_home: Path) -> None:
    tree(
        own_home,
        {
            ".claude/hooks/g.sh": '. "$(dirname "$0")/../lib/near.sh"\n'
            '. "$(dirname "$0")/../../far.sh"\n. "$HOME/x.sh"\n. "$CLAUDE_PROJECT_DIR/y.sh"\n'
            'python3 "$HOME/.claude/hooks/z.py"\nsh ~/.claude/lib/near.sh >/dev/null\n',
            ".claude/hooks/z.py": "",
            ".claude/lib/near.sh": "",
            "far.sh": "",
        },
    )

    found = find([str(own_home / ".claude/hooks/g.sh")], "/", contents=FileContents())

    assert covered(own_home, found) == {".claude/hooks/g.sh", ".claude/hooks/z.py", ".claude/lib/near.sh"}
    by_their_place = (
        str(own_home / name) for name in ("x.sh", "far.sh", ".claude/hooks/z.py", ".claude/lib/near.sh")
    )
    assert set(found.outside) == {*by_their_place, "$CLAUDE_PROJECT_DIR/y.sh"}


def test_a_file_that_the_line_names_as_data_is_not_covered_because_its_script_names_it_too(tmp_path: Path) -> None:
    tree(tmp_path, {"g.py": "import sys\nDEFAULT = 'state.json'\n", "state.json": ""})

    assert covered(tmp_path, seen(tmp_path, "g.py", data=("state.json",))) == {"g.py"}


def test_package_json_is_covered_where_it_says_what_a_script_is(tmp_path: Path) -> None:
    tree(tmp_path, {"h/g.js": "import 'node:fs'", "package.json": '{"type": "module"}', "h/.keep": ""})
    with_type = covered(tmp_path, seen(tmp_path, "h/g.js"))
    tree(tmp_path, {"package.json": '{"name": "x"}'})

    assert with_type == {"h/g.js", "package.json"}
    assert covered(tmp_path, seen(tmp_path, "h/g.js")) == {"h/g.js"}


@pytest.mark.parametrize("script", [".claude/checks/g.py", "tools/checks/g.py"])
def test_a_project_that_its_hook_walks_through_is_no_part_of_the_hook(tmp_path: Path, script: str) -> None:
    text = "from pathlib import Path\nROOT = Path(__file__).resolve().parents[2]\nprint(*ROOT.rglob('*.py'))\n"
    tree(tmp_path, {".git/HEAD": "", script: text, "src/code.py": "", "README.md": ""})

    assert covered(tmp_path, seen(tmp_path, script)) == {script}


@pytest.mark.parametrize(("number", "size"), [(200, 0), (3, 2 * 1024 * 1024)], ids=["too many", "too large"])
def test_a_folder_of_hooks_that_is_too_large_is_refused_and_files_is_the_cure(
    tmp_path: Path, number: int, size: int
) -> None:
    tree(tmp_path, {".claude/hooks/g.sh": '. "$(dirname "$0")/lib.sh"', ".claude/hooks/lib.sh": ""})
    for one in range(number):
        with (tmp_path / f".claude/hooks/{one}.wav").open("wb") as file:
            file.truncate(size)

    with pytest.raises(HooktrayError) as refused:
        seen(tmp_path, ".claude/hooks/g.sh")

    assert "`files:`" in refused.value.hint
    found = seen(tmp_path, ".claude/hooks/g.sh", has_files=True)
    assert covered(tmp_path, found) == {".claude/hooks/g.sh", ".claude/hooks/lib.sh"}


@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("g.sh", "DATA='" + "word; " * 20_000 + "'\n"),
        ("g.mjs", "join(__dirname, " + "'a' " * 20_000),
        ("g.py", "from a import " + "b, " * 20_000),
        ("g.rb", "join(__dir__, " + "'a' " * 20_000),
    ],
    ids=["shell", "javascript", "python", "ruby"],
)
def test_a_script_with_a_very_long_line_is_read(tmp_path: Path, script: str, text: str) -> None:
    """Without an end to the search, each of these takes minutes or for ever."""
    tree(tmp_path, {script: text})

    assert covered(tmp_path, seen(tmp_path, script)) == {script}


@pytest.mark.parametrize(
    "line",
    [
        'echo 1 > "$HOME/.claude/hooks/state.json"',
        "echo 1 > ~/.claude/hooks/state.json",
        'STATE="$HOME/.claude/hooks/state.json"\necho 1 > "$STATE"',
        'DIR=~/.claude/hooks\necho 1 >> "${DIR}/state.json"',
    ],
)
def test_a_file_that_a_script_writes_by_its_whole_path_is_no_part_of_the_hook(own_home: Path, line: str) -> None:
    """Else each run would change the hook, and it would wait for an approval for ever."""
    text = f'. "$(dirname "$0")/lib.sh"\n{line}\n'
    tree(own_home, {".claude/hooks/g.sh": text, ".claude/hooks/lib.sh": "", ".claude/hooks/state.json": ""})

    assert covered(own_home, seen(own_home, ".claude/hooks/g.sh")) == {".claude/hooks/g.sh", ".claude/hooks/lib.sh"}


def test_reading_a_script_never_runs_it(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    tree(
        tmp_path,
        {
            "g.py": f"import evil\nopen({str(mark)!r}, 'w')\n",
            "evil.py": f"open({str(mark)!r}, 'w')\n",
            "g.sh": f'. "$(dirname "$0")/evil.sh"\ntouch {mark}\n',
            "evil.sh": f"touch {mark}\n",
        },
    )

    for script in ("g.py", "g.sh"):
        assert len(seen(tmp_path, script).files) == 2

    assert not mark.exists()
