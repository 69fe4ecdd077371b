"""What belongs to scripts is found by reading them: modules, sourced files, rules, folders; nothing of them runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from every import every

from tray.agents import relay_command
from tray.approvals.covered_files import CoveredFiles, FileContents, boundary, find, hooks_folder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="places of a POSIX system")


def tree(root: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def seen(root: Path, script: str, *, data: tuple[str, ...] = ()) -> CoveredFiles:
    named = {str(root / name) for name in data}
    entries = [str(root / script)]
    return find(entries, str(root), data=named, contents=FileContents())


def covered(root: Path, found: CoveredFiles) -> set[str]:
    return {os.path.relpath(path, root) for path in found.files}


HERE = "from pathlib import Path\nHERE = Path(__file__).resolve().parent"
FOLDER_BY_OS = "sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), 'lib'))"
FOLDER_BY_PATHLIB = f"{HERE}\nsys.path.append(str(HERE / 'lib'))"
# A script with the files beside it; it loads or names each of them.
FOUND: list[tuple[str, str, dict[str, str]]] = [
    ("g.py", "from words import WORD", {"words.py": ""}),
    ("g.py", "from utils.llm import names", {"utils/__init__.py": "", "utils/llm/names.py": ""}),
    ("g.py", "import a", {"a.py": "from b import *", "b.py": "import c.d", "c/d.py": ""}),
    ("g.py", "import p", {"p/__init__.py": "from . import q", "p/q.py": "from ..r import x", "r.py": ""}),
    ("g.py", "def f():\n    import late", {"late.py": ""}),
    ("g.py", "import importlib\nimportlib.import_module('rules.first')", {"rules/first.py": ""}),
    ("g.py", f"import os, sys\n{FOLDER_BY_OS}\nimport x", {"lib/x.py": ""}),
    ("g.py", f"import sys\n{FOLDER_BY_PATHLIB}\nimport x", {"lib/x.py": ""}),
    ("g.py", "import json\njson.load(open('rules.json'))", {"rules.json": "{}"}),
    ("g.py", f"{HERE}\ndef f():\n    d = HERE / 'utils'\n    return d / 'tts' / 'speak.py'",
     {"utils/tts/speak.py": "import voice", "utils/tts/voice.py": ""}),
    ("g.py", f"{HERE}\nfor one in (HERE / 'rules').glob('*.yaml'): pass", {"rules/a.yaml": "", "rules/b/c.yaml": ""}),
    ("g.sh", '. "$(dirname "$0")/lib.sh"', {"lib.sh": ""}),
    ("g.sh", 'DIR="$(cd "$(dirname "${BASH_SOURCE[0]}")" >/dev/null 2>&1 && pwd)"\nsource "$DIR/lib/common.sh"',
     {"lib/common.sh": '. "$(dirname "${BASH_SOURCE[0]}")/deep.sh"', "lib/deep.sh": ""}),
    ("g.sh", "source ${BASH_SOURCE%/*}/lib.sh", {"lib.sh": ""}),
    ("g.sh", 'source "${0%/*}"/lib.sh', {"lib.sh": ""}),
    ("g.sh", 'D=$(dirname "$(realpath "$0")")\nLIB="$D/lib"\n. "${LIB}/a.sh"\njq -f "$LIB/rules.jq"',
     {"lib/a.sh": "", "lib/rules.jq": ""}),
    ("g.sh", 'jq -f "$HOOK_DIR/rules.jq"', {"rules.jq": ""}),
    ("g.sh", 'RULES="$(dirname "$0")/rules.json"\njq . "$RULES"', {"rules.json": ""}),
    ("g.sh", 'cwd=$(dirname "$0")\n. "$cwd/lib.sh"\npython3 "$cwd/a.py"', {"lib.sh": "", "a.py": ""}),
    ("g.sh", "python3 helper.py", {"helper.py": "import words", "words.py": ""}),
    ("g.mjs", "import { a } from './lib/a.mjs';", {"lib/a.mjs": "export * from '../b.mjs'", "b.mjs": ""}),
    ("g.mjs", "import './a.mjs'", {"a.mjs": ""}),
    ("g.mjs", "import {\n  a,\n  b,\n} from './a.mjs'", {"a.mjs": ""}),
    ("g.mjs", "const a = await import('./a.mjs')", {"a.mjs": ""}),
    ("g.mjs", "const { a } = require('./lib/a')", {"lib/a.js": "require('.')", "lib/index.js": ""}),
    ("g.mjs", "const rules = require('./rules.json')", {"rules.json": ""}),
    ("g.mjs", "import x from './x.js'", {"x.ts": ""}),  # TypeScript imports `x.ts` as `x.js`
    ("g.mjs", "const ROOT = path.join(__dirname, 'data')\nread(path.join(ROOT, 'a.json'))", {"data/a.json": ""}),
    ("g.mjs", "readFileSync(new URL('./rules.json', import.meta.url))", {"rules.json": ""}),
    ("g.mjs", "read(`${__dirname}/rules.json`)", {"rules.json": ""}),
    ("g.rb", "require_relative 'lib/words'\nFile.read(File.join(__dir__, 'rules', 'a.yml'))",
     {"lib/words.rb": "", "rules/a.yml": ""}),
    ("g.pl", "use FindBin;\nrequire './more.pl';", {"more.pl": ""}),
    ("g.php", "<?php require_once __DIR__ . '/lib/a.php';", {"lib/a.php": ""}),
    ("g", "#!/usr/bin/awk -f\n# reads rules.txt\n", {"rules.txt": ""}),
]  # fmt: skip
# A script with a file beside it that it only writes, or names only in a comment, or that belongs to a package.
NOT_FOUND = [
    ("g.py", f"{HERE}\nLOG = HERE / 'seen.txt'\nwith open(LOG, 'a') as f: f.write('x')", "seen.txt"),
    ("g.py", "LOG = 'audit.log'", "audit.log"),
    ("g.py", "import json, os.path, asyncore", "unrelated"),
    ("g.sh", 'date >> "$(dirname "$0")/seen.txt"', "seen.txt"),
    ("g.sh", 'DIR=$(dirname "$0")\ntee -a "$DIR/seen.txt"', "seen.txt"),
    ("g.sh", "# see lib.sh\n:", "lib.sh"),
    ("g.mjs", "fs.appendFileSync(path.join(__dirname, 'seen.txt'), 'x')", "seen.txt"),
    ("g.mjs", "// import './a.mjs'\n/* require('./a.mjs') */", "a.mjs"),
    ("g.mjs", "import { z } from 'zod/v4'", "node_modules/zod/v4.js"),
]


CASES = [
    *((script, text, files, {script, *files}) for script, text, files in FOUND),
    *((script, text, {file: ""}, {script}) for script, text, file in NOT_FOUND),
]


@pytest.mark.parametrize(("script", "text", "files", "expected"), CASES)
def test_what_a_script_loads_or_names_beside_itself_is_found(
    tmp_path: Path, script: str, text: str, files: dict[str, str], expected: set[str]
) -> None:
    tree(tmp_path, {**files, script: text, "unrelated.txt": "", "unrelated.py": ""})

    found = seen(tmp_path, script)

    assert covered(tmp_path, found) == expected
    assert not [problem for problem in found.problems if problem.certain]


LACKS = [
    ("g.sh", '. "$(dirname "$0")/gone.sh"', True),
    ("g.mjs", "import x from './gone.sh'", True),
    ("g.rb", "require_relative './gone.sh'", True),
    ("g.cjs", "try { require('./gone.sh') } catch {}", False),
]


@every(("script", "text", "sure"), LACKS)
def test_a_file_that_a_script_loads_and_that_is_not_there_is_named_with_its_line(
    tmp_path: Path, script: str, text: str, sure: bool
) -> None:
    tree(tmp_path, {script: f"\n{text}\n"})

    (problem,) = seen(tmp_path, script).problems

    assert (problem.name, problem.line, problem.certain) == (str(tmp_path / "gone.sh"), 2, sure)


@every(
    "text",
    [
        "jq -e 'any(.[]; . as $word | $line | startswith($word))'",  # the dot is jq's
        'D=$(dirname "$0")\n[ -f "$D/own.sh" ] && . "$D/own.sh"',  # the script checks that the file exists
    ],
)
def test_a_dot_that_loads_no_required_file_is_no_problem(tmp_path: Path, text: str) -> None:
    tree(tmp_path, {"g.sh": f"{text}\n"})

    assert seen(tmp_path, "g.sh").problems == ()


def test_a_folder_of_hooks_goes_along_as_a_whole_without_what_programs_write(tmp_path: Path) -> None:
    script = 'echo "$(date)" > "$(dirname "$0")/state.json"\n'
    whole = ("g.sh", "utils/words.py", "rules/more.yaml")
    written = ("state.json", "audit.log", ".env", "__pycache__/g.pyc", ".git/HEAD", "node_modules/zod/index.js")
    files = dict.fromkeys((*whole, *written, ".venv/bin/python", "../settings.json"), "")
    tree(tmp_path / ".claude/hooks", {**files, "g.sh": script})

    found = seen(tmp_path, ".claude/hooks/g.sh")

    assert covered(tmp_path, found) == {f".claude/hooks/{name}" for name in whole}
    assert found.links == tuple(str(tmp_path / ".claude/hooks" / name) for name in (".venv", "node_modules"))


def test_what_connect_writes_into_a_folder_of_hooks_is_no_part_of_a_hook(tmp_path: Path) -> None:
    tree(tmp_path, {"hooks/PreToolUse": "", "hooks/hooks.json": "{}"})
    before = seen(tmp_path, "hooks/PreToolUse")
    shim = relay_command.shim(("/x/hooktray-hook", "cline", "PreToolUse"), otherwise="cat >/dev/null").decode()
    tree(tmp_path, {"hooks/PreToolUse.bash": shim, "hooks/hooktray.json": "{}"})

    after = seen(tmp_path, "hooks/PreToolUse")

    assert after == before
    assert covered(tmp_path, after) == {"hooks/PreToolUse", "hooks/hooks.json"}


@every(
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


@every(
    ("name", "above"),
    [
        ("guard.py", "."),  # its own folder, which is never covered as a whole
        (".claude/hooks/g.py", ".claude"),
        ("work/repo/tools/g.py", "work/repo"),
    ],
)
def test_nothing_above_the_repository_or_the_home_belongs_to_a_hook(own_home: Path, name: str, above: str) -> None:
    tree(own_home, {name: "", "work/repo/.git/HEAD": ""})

    assert boundary(str(own_home / name), "/etc") == str(own_home / above)


def test_a_module_beside_the_folder_of_hooks_is_covered_and_one_outside_is_named(own_home: Path) -> None:
    text = (
        '. "$(dirname "$0")/../lib/near.sh"\n. "$(dirname "$0")/../../far.sh"\n. "$HOME/x.sh"\n'
        '. "$CLAUDE_PROJECT_DIR/y.sh"\npython3 "$HOME/.claude/hooks/z.py"\nsh ~/.claude/lib/near.sh >/dev/null\n'
    )
    own = (".claude/hooks/g.sh", ".claude/hooks/z.py", ".claude/lib/near.sh")
    tree(own_home, {**dict.fromkeys((*own, "far.sh"), ""), own[0]: text})

    found = find([str(own_home / own[0])], "/", contents=FileContents())

    assert covered(own_home, found) == set(own)
    by_their_place = (str(own_home / name) for name in ("x.sh", "far.sh", *own[1:]))
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


@every(
    ("script", "text"),
    [
        ("g.sh", "DATA='" + "word; " * 8_000 + "'\n"),
        ("g.mjs", "join(__dirname, " + "'a' " * 8_000),
        ("g.py", "from a import " + "b, " * 8_000),
        ("g.rb", "join(__dir__, " + "'a' " * 8_000),
    ],
)
def test_a_script_with_a_very_long_line_is_read(tmp_path: Path, script: str, text: str) -> None:
    """Without an end to the search, each of these takes minutes or for ever."""
    tree(tmp_path, {script: text})

    assert covered(tmp_path, seen(tmp_path, script)) == {script}


@every(
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
    in_python, in_shell = f"open({str(mark)!r}, 'w')\n", f"touch {mark}\n"
    tree(tmp_path, {"g.py": f"import evil\n{in_python}", "evil.py": in_python})
    tree(tmp_path, {"g.sh": f'. "$(dirname "$0")/evil.sh"\n{in_shell}', "evil.sh": in_shell})

    for script in ("g.py", "g.sh"):
        assert len(seen(tmp_path, script).files) == 2

    assert not mark.exists()
