"""Writes docs/generated/coverage.md: how much of each module the tests run. `tests/covered.py [pytest arguments]`."""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path

from coverage import Coverage

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "generated" / "coverage.md"
LOW = 70  # percent
LEFT_OUT = ("e2e", "examples", "hosts", "installers", "torture")
# In the environment's site folder while the tests run, so that the processes that they start are measured, too.
STARTER = (
    "import sys; 'pytest' not in sys.orig_argv and any('tray' in word for word in sys.orig_argv[1:])"
    " and (sys.path.append({tests!r}), __import__('covered').measure({folder!r}))\n"
)
HEAD = """# How much of each module the tests run

Written by `.venv/bin/python tests/covered.py`, never by hand. The processes that a test starts count; those that are
killed write nothing down, and neither does a Python that is started without `site`.

What stays low, and why: `tray/desktop/windows.py` and the other systems' half of `tray/desktop/opener.py` (no
such system here), `tray/desktop/linux.py` (a thread of pystray's that is ended with its panel), `tray/relay.py`
and `tray/desktop/launcher.py` (started without `site`) and `tray/__main__.py` with `tray/cli/run.py` (trays that
are ended by a signal, as they are meant to be).

"""


def measure(folder: str) -> None:
    """Measure this process, which a test has started."""
    ours = str(ROOT / "tray" / "*")
    coverage = Coverage(data_file=Path(folder, "child.coverage"), data_suffix=True, config_file=False, include=[ours])
    coverage.set_option("run:disable_warnings", ["no-data-collected"])
    coverage.set_option("run:patch", ["_exit"])
    coverage.start()
    atexit.register(coverage.save)


def run(argv: Sequence[str], folder: Path) -> int:
    options = ["--cov=tray", "--cov-report=", "-q", *(f"--ignore=tests/{name}" for name in LEFT_OUT)]
    parallel = [] if any(word.startswith("-n") for word in argv) else ["-n", "3", "--dist", "loadgroup"]
    starter = Path(sysconfig.get_path("purelib"), "hooktray_covered.pth")
    starter.write_text(STARTER.format(tests=str(ROOT / "tests"), folder=str(folder)), encoding="utf-8")
    try:
        return subprocess.run(
            [sys.executable, "-m", "pytest", *options, *parallel, *argv],
            cwd=ROOT, env={**os.environ, "COVERAGE_FILE": str(folder / "tests.coverage")}, check=False,
        ).returncode  # fmt: skip
    finally:
        starter.unlink()


def page(folder: Path) -> str:
    coverage = Coverage(data_file=folder / "all.coverage", messages=False)
    coverage.combine([str(path) for path in folder.glob("*.coverage*")])
    rows = []
    for path in sorted(ROOT.glob("tray/**/*.py")):
        _, statements, _, missing, _ = coverage.analysis2(str(path))
        if statements:
            share = round(100 * (1 - len(missing) / len(statements)))
            rows.append((path.relative_to(ROOT).as_posix(), len(statements), share))
    whole = sum(size * part for _, size, part in rows) / sum(size for _, size, _ in rows)
    low = sum(part < LOW for _, _, part in rows)
    summary = f"{len(rows)} modules; the tests run {whole:.0f} % of all statements; below {LOW} %: {low}.\n\n"
    table = "| module | statements | run |\n| --- | --: | --: |\n"
    return HEAD + summary + table + "".join(f"| `{name}` | {size} | {part} % |\n" for name, size, part in rows)


def main(argv: Sequence[str]) -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that nothing stays in the environment
    with tempfile.TemporaryDirectory() as folder:
        code = run(argv, Path(folder))
        if code in (0, 1):  # pytest ran the tests, and some may have failed
            PAGE.write_text(page(Path(folder)), encoding="utf-8")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
