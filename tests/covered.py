"""Writes docs/generated/coverage.md: how far its own tests run each module. `tests/covered.py [pytest arguments]`."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import covered_child
from coverage import Coverage, CoverageData

ROOT = Path(__file__).parent.parent
LOW = 70  # percent
PAGE = ROOT / "docs" / "generated" / "coverage.md"
LEFT_OUT = (
    "e2e",
    "examples",
    "hosts",
    "installers",
    "torture",
)  # of no one module
EDITING = (  # what careful editing is for: agents' settings
    "agents/claude_code/test_claude_code_connector agents/shelley/test_shelley_connector "
    "agents/starchild/test_starchild_connector agents/x_code/test_x_code_connector connect/test_connect_places "
    "agents/claude_code/test_claude_code_hook_import agents/starchild/test_starchild_hook_import "
    "agents/x_code/test_x_code_hook_import"
)
SHAPED = "agents/claude_shape/test_claude_shape_settings agents/claude_code/"  # what is the same for all of them
ELSEWHERE = {  # modules whose tests have another name, or are in another folder
    "agents/claude_code/source.py": "agents/claude_code/test_claude_code_frontmatter engine/test_foreign_hooks",
    "agents/claude_shape/__init__.py": "agents/test_new_agent agents/claude_shape/test_claude_shape_settings",
    "agents/claude_shape/connector.py": f"{SHAPED}test_claude_code_connector",
    "agents/claude_shape/hook_import.py": f"{SHAPED}test_claude_code_hook_import",
    "agents/claude_shape/hook_input.py": "agents/claude_shape/test_claude_shape_protocol agents/test_protocol_stdin",
    "agents/claude_shape/settings_text.py": f"{SHAPED}test_claude_code_connector",
    "agents/claude_shape/settings_hooks.py": f"{SHAPED}test_claude_code_settings_hooks",
    "agents/claude_shape/shape.py": "agents/claude_shape/test_claude_shape_answers"
    " agents/claude_shape/test_claude_shape_protocol",
    "agents/executables.py": "agents/cline/test_cline agents/shelley/test_shelley_connector",
    "agents/list_entries.py": "agents/kimi_code/test_kimi_code_connector agents/starchild/test_starchild_hook_import",
    "agents/own_file.py": "agents/copilot_cli/test_copilot_cli_connector agents/opencode/test_opencode_connector",
    "agents/settings_connector.py": f"{SHAPED}test_claude_code_connector connect/test_connect_places",
    "agents/placeholders.py": "approvals/test_inspection engine/test_foreign_hooks",
    "agents/native_runs.py": "installation/test_native_hooks",
    "app/web.py": "desktop/test_menu_settings web/test_page",
    "app/service.py": "app/test_service app/test_event_bus",
    "approvals/controls.py": "approvals/test_undo ipc/test_slash_command desktop/test_presenter",
    "approvals/command_words.py": "approvals/test_inspection approvals/test_command_resolver",
    "approvals/callers/click_check.py": "approvals/callers/test_click_check approvals/callers/test_click_trust",
    "approvals/checks.py": "approvals/test_checks approvals/test_user_packages",
    "approvals/script_files.py": "approvals/test_covered_files",
    "approvals/search_path.py": "approvals/test_search_path approvals/test_found_programs",
    "cli/autostart.py": "desktop/test_autostart",
    "cli/doctor.py": "doctor/test_checks cli/test_doctor_bundle",
    "cli/follow.py": "cli/test_history",
    "cli/requests.py": "cli/test_requests cli/test_over_ssh ipc/test_terminal test_trouble",
    "cli/tray_reports.py": "cli/test_tray_reports cli/test_status",
    "cli/views.py": "cli/test_tables cli/test_history cli/test_agents test_trouble",
    "desktop/launcher.py": "desktop/test_opener web/test_browsers",
    "edit/backups.py": EDITING,
    "edit/file_changes.py": EDITING,
    "edit/json_edit.py": EDITING,
    "edit/yaml_edit.py": f"edit/test_yaml_edit {EDITING}",
    "engine/hook_output.py": "engine/test_output engine/test_refusals",
    "engine/merge.py": "engine/test_merge engine/test_output",
    "engine/plan.py": "engine/test_plan engine/test_duplicates",
    "engine/replay.py": "cli/test_history",
    "engine/record.py": "engine/test_masks engine/test_sentence",
    "engine/session_states.py": "engine/test_session_states engine/test_turn_end",
    "errors.py": "sources/test_configuration",
    "own_environment.py": "test_once",
    "reading/entries.py": "agents/claude_code/test_claude_code_settings_hooks agents/shelley/test_shelley_source"
    " agents/starchild/test_starchild_source agents/x_code/test_x_code_source",
    "settings.py": "sources/test_configuration sources/test_schema",
    "store/copies.py": "store/test_copies store/test_copies_keeping approvals/test_inspection approvals/test_catalog",
    "store/sessions.py": "store/test_sessions store/test_change_file",
    "store/stats.py": "cli/test_history web/test_pages",
    "text/redaction.py": "test_redact",
    "text/secret_patterns.py": "test_redact",
    "web/request_checks.py": "web/test_request_checks web/test_attacks web/test_page",
}
HEAD = """# How far the tests run each module

Written by `.venv/bin/python tests/covered.py`, never by hand. "Own" is the share of a module's statements that its
own tests run: the files of its name (`tray/engine/merge.py`: `tests/engine/test_merge*.py`), or, where there is none,
of its package or of the outermost package. "All" is the share that all tests run. The processes that a test starts
count for it; those that are killed write nothing down, and neither does a Python that is started without `site`. What
runs when a module is imported counts for everybody.

What stays low, and why: `tray/desktop/windows.py` and the other systems' half of `tray/desktop/opener.py` (no
such system here), `tray/desktop/linux.py` (a thread of pystray's that is ended with its panel), `tray/relay.py`
and `tray/desktop/launcher.py` (started without `site`) and `tray/__main__.py` with `tray/cli/run.py` (trays that
are ended by a signal, as they are meant to be).

"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    module: str
    tests: str
    statements: int
    own: int
    everyone: int


def measure(argv: Sequence[str], folder: Path) -> int:
    """Run the tests with each line's tests written down beside it."""
    options = ["--cov=tray", "--cov-context=test", "--cov-report=", "-q", "-p", "covered_child"]
    parallel = [] if any(word.startswith("-n") for word in argv) else ["-n", "3", "--dist", "loadgroup"]
    left_out = [f"--ignore=tests/{name}" for name in LEFT_OUT]
    command = [sys.executable, "-m", "pytest", *options, *parallel, *left_out, *argv]
    variables = {
        "COVERAGE_FILE": str(folder / "tests.coverage"),
        "PYTHONPATH": str(ROOT / "tests"),
        covered_child.FOLDER: str(folder),
    }
    with _children_measured(folder):
        return subprocess.run(command, cwd=ROOT, env={**os.environ, **variables}, check=False).returncode


@contextlib.contextmanager
def _children_measured(folder: Path) -> Iterator[None]:
    path = Path(sysconfig.get_path("purelib"), "hooktray_covered.pth")
    path.write_text(covered_child.LINE.format(tests=str(ROOT / "tests"), folder=str(folder)), encoding="utf-8")
    try:
        yield
    finally:
        path.unlink()


def rows(folder: Path) -> Iterator[Row]:
    coverage = Coverage(data_file=folder / "all.coverage", messages=False)
    coverage.combine([str(path) for path in folder.glob("*.coverage*")])
    data = coverage.get_data()
    for path in sorted(ROOT.glob("tray/**/*.py")):
        _, statements, _, missing, _ = coverage.analysis2(str(path))
        if not statements:
            continue
        tests = own_tests(path.relative_to(ROOT / "tray"))
        own = _run_by(data, path, tests) & set(statements)
        yield Row(
            module=str(path.relative_to(ROOT)),
            tests=named(tests),
            statements=len(statements),
            own=round(100 * len(own) / len(statements)),
            everyone=round(100 * (len(statements) - len(missing)) / len(statements)),
        )


def _run_by(data: CoverageData, path: Path, tests: Sequence[str]) -> set[int]:
    """Without a context a line ran when its module was imported."""
    contexts = data.contexts_by_lineno(str(path))
    return {line for line, ran in contexts.items() if any(not one or one.split("::", 1)[0] in tests for one in ran)}


def own_tests(module: Path) -> tuple[str, ...]:
    """The test files of a module: of its name, else of its package's, else all of the outermost package's."""
    if module.as_posix() in ELSEWHERE:
        return tuple(f"tests/{name}.py" for name in ELSEWHERE[module.as_posix()].split())
    package = module.parent.name
    name = package if module.stem == "__init__" else module.stem
    above = [ROOT / "tests" / one for one in module.parents]
    folders = [ROOT / "tests" / module.parent / name, *(above[:-1] or above)]
    found = _called(folders, name, f"{package}_{name}") or (len(above) > 2 and _called(above, package))
    found = found or set((ROOT / "tests" / module.parts[0]).rglob("test_*.py")) or _called(above, package)
    return tuple(sorted(path.relative_to(ROOT).as_posix() for path in found))


def _called(folders: Sequence[Path], *names: str) -> set[Path]:
    """The test files of these names, without those that have another module's name (`doctor/test_checks_live.py`)."""
    forms = [form for name in names if name for form in (f"test_{name}.py", f"test_{name}_*.py")]
    others = _module_names() - {*names}
    found = {path for folder in folders for form in forms for path in folder.glob(form)}
    return {path for path in found if path.stem.removeprefix("test_") not in others}


@cache
def _module_names() -> frozenset[str]:
    """Each module as a test file may call it: `live` and `checks_live`."""
    modules = [path.relative_to(ROOT) for path in ROOT.glob("tray/**/*.py")]
    return frozenset(name for one in modules for name in (one.stem, f"{one.parent.name}_{one.stem}"))


def named(tests: Sequence[str]) -> str:
    """Few files by their names, more of them by their folder."""
    if len(tests) > 3:
        return f"`{os.path.commonpath(tests)}/`"
    return " ".join(f"`{Path(test).name}`" for test in tests) or "none"


def page(found: Sequence[Row]) -> str:
    own = sum(row.own * row.statements for row in found) / max(1, sum(row.statements for row in found))
    low = sum(row.own < LOW for row in found)
    summary = f"{len(found)} modules; their own tests run {own:.0f} % of all statements; below {LOW} %: {low}.\n\n"
    table = "| module | its tests | statements | own | all |\n| --- | --- | --: | --: | --: |\n"
    return "".join((HEAD, summary, table, *map(_line, found)))


def _line(row: Row) -> str:
    return f"| `{row.module}` | {row.tests} | {row.statements} | {row.own} % | {row.everyone} % |\n"


def main(argv: Sequence[str]) -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that nothing stays in the environment
    with tempfile.TemporaryDirectory() as folder:
        code = measure(argv, Path(folder))
        if code not in (0, 1):  # pytest's word that tests ran: all passed, some failed
            return code
        found = list(rows(Path(folder)))
    PAGE.write_text(page(found), encoding="utf-8")
    print(f"{len(found)} modules written to {PAGE.relative_to(ROOT)}")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
