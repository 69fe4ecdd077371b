"""One name for one thing in tray/, its layers, and no import of a test module."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

pytestmark = pytest.mark.xdist_group("structure")  # one worker parses each module once
ROOT = Path(__file__).parent.parent
MODULES = sorted(ROOT.glob("tray/**/*.py"))
IMPORT = re.compile(r"^\s*(?:from|import) .*\btest_", re.MULTILINE)
# The places that catch every exception and go on: how many a file has. There are four kinds, and no others.
CATCHING = {
    # The connection: the failure of one caller ends no other's.
    "tray/ipc/server.py": 1,
    "tray/web/server.py": 1,
    # The turn of a hook or of our own guard: its failure has a meaning of its own in the decision.
    "tray/engine/execute.py": 2,  # before it runs and when its output is read: the hook failed
    "tray/engine/pipeline.py": 2,  # before the hooks run and after: every hook that the event asks failed
    "tray/engine/plan.py": 1,  # its matcher: the hook is asked
    "tray/execution/request_job.py": 1,  # its request: the hook failed
    "tray/protection/self_protection.py": 1,  # the guard asks
    # The import of a package's agent: the agent is left out.
    "tray/agents/packages.py": 1,
    # Main: the outermost handler of a process and of its threads.
    "tray/__main__.py": 2,  # of events, and of commands
    "tray/once.py": 1,
    "tray/relay.py": 1,
    "tray/threads.py": 1,
}
FROM_OUTSIDE = ("tray/agents/", "tray/reading/", "tray/sources/", "tray/settings.py")  # JSON and YAML of others
# An event carries its EventSpec and its agent: `parse` alone looks them up.
LOOKUP = re.compile(r"(\bAGENTS\[|\b(AGENTS\.get|AGENTS\.find|hook_rules|known_agent|neutral|spec)\()event\.agent\b")
OUTSIDE = {"tray", "tray.relay"}  # of the layers: the root package, and the relay, which imports nothing of ours


class Facts(NamedTuple):
    classes: tuple[str, ...]
    any_lines: tuple[int, ...]
    catches: int


@cache
def facts(path: Path) -> Facts:
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    return Facts(
        classes=tuple(node.name for node in nodes if isinstance(node, ast.ClassDef)),
        any_lines=tuple(node.lineno for node in nodes if isinstance(node, ast.Name) and node.id == "Any"),
        catches=sum(map(swallows, nodes)),
    )


def words(path: Path) -> tuple[str, ...]:
    """A module's dotted name, word by word; a package's is that of its folder."""
    place = path.relative_to(ROOT)
    return place.parent.parts if place.name == "__init__.py" else place.with_suffix("").parts


def twice(found: Iterable[tuple[str, str]]) -> Mapping[str, list[str]]:
    """The names that are used more than once, with the places."""
    places: dict[str, list[str]] = defaultdict(list)
    for name, place in found:
        places[name].append(place)
    return {name: here for name, here in places.items() if len(here) > 1}


def agent(place: str) -> str:
    """The agent whose folder or file this is below tray/agents/, else ""."""
    parts = place.split(".")
    return parts[2] if parts[:2] == ["tray", "agents"] and len(parts) > 2 else ""


def test_no_class_name_is_used_twice() -> None:
    classes = [(name, ".".join(words(path))) for path in MODULES for name in facts(path).classes]

    found = twice(classes)

    assert {
        name: places
        for name, places in found.items()
        if not all(map(agent, places)) or len({*map(agent, places)}) < len(places)  # each agent may have its own
    } == {}


def test_no_module_has_the_name_of_one_of_the_standard_library() -> None:
    names = [words(path) for path in MODULES if path.name != "__main__.py"]

    assert [".".join(name) for name in names if name[-1] in sys.stdlib_module_names] == []


def test_no_module_name_is_used_twice_in_a_package() -> None:
    names = [words(path) for path in MODULES]

    found = {
        package: twice((name[-1], ".".join(name)) for name in names if name[1:2] == (package,))
        for package in sorted({name[1] for name in names if len(name) > 1} - {"agents"})
    }

    assert {package: clashes for package, clashes in found.items() if clashes} == {}


def test_every_package_and_module_has_its_layer() -> None:
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ][0]
    layers = [part.strip() for layer in contract["layers"] for part in layer.split("|")]
    top = {".".join(words(path)[:2]) for path in MODULES} - OUTSIDE

    assert contract["type"] == "layers"
    assert sorted(layers) == sorted(top)


def swallows(node: ast.AST) -> bool:
    """Whether this catches every exception, and does not raise it again, as AGENTS.failure does."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
        name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
        return name == "suppress" and any(ast.unparse(one) in ("Exception", "BaseException") for one in node.args)
    if not isinstance(node, ast.ExceptHandler):
        return False
    caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
    catches_all = any(
        one is None or ast.unparse(one) in ("Exception", "BaseException", "PACKAGE_ERRORS") for one in caught
    )
    raises = any(isinstance(each, ast.Raise) or ast.unparse(each) == "AGENTS.failure" for each in ast.walk(node))
    return catches_all and not raises


def test_every_exception_is_caught_only_by_a_connection_a_turn_and_main() -> None:
    found = Counter({path.relative_to(ROOT).as_posix(): facts(path).catches for path in MODULES})

    assert +found == CATCHING


def test_any_is_used_only_where_json_from_outside_is_read() -> None:
    places = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in MODULES
        if not path.relative_to(ROOT).as_posix().startswith(FROM_OUTSIDE)
        for line in facts(path).any_lines
    ]

    assert places == []


def test_only_parse_looks_up_the_agent_and_the_spec_of_an_event() -> None:
    texts = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in MODULES}
    lookups = {file: len(LOOKUP.findall(text)) for file, text in texts.items()}

    assert +Counter(lookups) == {"tray/agents/protocol.py": 1}


def test_no_module_imports_a_test_module() -> None:
    """Shared code is in a conftest.py, or in a module without `test_` in its name."""
    imports = [
        (path.relative_to(ROOT).as_posix(), name)
        for path in sorted(ROOT.glob("tests/**/*.py"))
        if IMPORT.search(text := path.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (getattr(node, "module", None) or "", *(one.name for one in node.names))
        if any(part.startswith("test_") for part in name.split("."))
    ]

    assert imports == []
