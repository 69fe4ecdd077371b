"""How far each module is run by its own tests: `tests/covered.py [pytest arguments]` writes docs/coverage.md."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from coverage import Coverage

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "coverage.md"
HEAD = """# How far the tests run each module

Written by `.venv/bin/python tests/covered.py`, never by hand. "Own" is the share of a module's statements that the
test files of the same name run (`tray/engine/merge.py`: `tests/engine/test_merge*.py`), "all" the share that any test
runs; what runs when a module is imported counts for both. Only the tests' own process is looked at: the relay, the
commands and the tray as a whole are tested as processes of their own, which shows here as little or nothing.

| module | statements | own | all |
| --- | --- | --- | --- |
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    module: str
    statements: int
    own: int | None  # None: no test file has its name
    everyone: int


def measure(argv: Sequence[str], data: Path) -> int:
    """Run the tests with each line's tests written down beside it."""
    options = ["--cov=tray", "--cov-context=test", "--cov-report=", "-q", "-n", "2", "--dist", "loadgroup"]
    command = [sys.executable, "-m", "pytest", *options, *argv]
    return subprocess.run(command, cwd=ROOT, env={**os.environ, "COVERAGE_FILE": str(data)}, check=False).returncode


def rows(data: Path) -> Iterator[Row]:
    coverage = Coverage(data_file=data)
    coverage.load()
    for path in sorted(ROOT.glob("tray/**/*.py")):
        _, statements, _, missing, _ = coverage.analysis2(str(path))
        if not statements:
            continue
        contexts = coverage.get_data().contexts_by_lineno(str(path))
        names = own_tests(path.relative_to(ROOT / "tray"))
        own = {line for line in statements if any(_is_own(one, names) for one in contexts.get(line, ()))}
        yield Row(
            module=str(path.relative_to(ROOT)),
            statements=len(statements),
            own=round(100 * len(own) / len(statements)) if names else None,
            everyone=round(100 * (len(statements) - len(missing)) / len(statements)),
        )


def own_tests(module: Path) -> tuple[str, ...]:
    """The test files that bear a module's name, in the folder that mirrors its own; `__init__` bears its folder's."""
    name = module.parent.name if module.stem == "__init__" else module.stem
    folders = (ROOT / "tests" / module.parent, ROOT / "tests" / module.parent / name)
    stems = (f"test_{name}", f"test_{module.parent.name}_{name}")
    found = {path for folder in folders for stem in stems for path in folder.glob(f"{stem}*.py")}
    return tuple(sorted(str(path.relative_to(ROOT)) for path in found))


def _is_own(context: str, names: Sequence[str]) -> bool:
    """Without a context a line ran when its module was imported."""
    return not context or context.startswith(tuple(f"{name}::" for name in names))


def page(found: Sequence[Row]) -> str:
    return HEAD + "".join(
        f"| `{row.module}` | {row.statements} | {_share(row.own)} | {_share(row.everyone)} |\n" for row in found
    )


def _share(percent: int | None) -> str:
    return "none" if percent is None else f"{percent} %"


def main(argv: Sequence[str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "coverage")
        code = measure(argv, data)
        found = list(rows(data))
    PAGE.write_text(page(found), encoding="utf-8")
    print(f"{len(found)} modules written to {PAGE.relative_to(ROOT)}")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
