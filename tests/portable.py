"""Runs the tests for macOS and Windows: `python tests/portable.py [pytest arguments]`.

They need neither Linux nor a desktop. .github/workflows/tests.yml runs them; those for Windows run under wine, too
(tests/wine).
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

PLACES = (
    "agents", "approvals", "cli", "edit", "engine", "execution", "ipc", "language", "model", "protection", "reading",
    "shell", "sources", "store", "web", "desktop/test_menu.py", "desktop/test_pystray_icon.py",
    "notify/test_balloon.py", "test_strict.py", "test_text.py",
)  # fmt: skip
LINUX_ONLY = (  # they start trays, look into /proc, or use programs from packages of Debian
    "agents/test_new_agent.py",
    "agents/test_packages.py",
    "agents/test_scorecard.py",
    "approvals/callers",
    "cli/test_completion.py",
    "execution/test_command.py",
    "execution/test_isolation.py",
    "execution/test_orphans.py",
    "approvals/callers/test_caller_facts.py",
    "ipc/test_passphrase_terminals.py",
    "web/test_accessible.py",
)
NOT_ON_WINDOWS = (  # scripts of a shell, paths and links as POSIX has them, programs that Windows has not
    "approvals/test_catalog.py",
    "approvals/test_command_resolver.py",
    "approvals/test_inspection.py",
    "approvals/test_programs.py",
    "cli/test_config.py",
    "cli/test_over_ssh.py",
    "cli/test_tables.py",
    "execution/test_http_client.py",
    "execution/test_project_folder.py",
    "execution/test_request_job.py",
    "execution/test_request_jobs.py",
    "ipc/test_client.py",
    "ipc/test_sockets.py",
    "sources/test_schema.py",
    "store/test_copies_keeping.py",
    "web/test_page.py",
    "web/test_question_form.py",
    "web/test_replay.py",
    "web/test_request_checks.py",
)
TESTS = Path(__file__).parent
BYTECODE = ("-B",) if sys.dont_write_bytecode else ()


def arguments(platform: str) -> list[str]:
    """Of pytest; its time limit by a signal is one of POSIX."""
    left_out = (*LINUX_ONLY, *(NOT_ON_WINDOWS if platform == "win32" else ()))
    return [
        "-q", "-m", "not desktop and not client", "-o", "timeout_method=thread",
        *(str(TESTS / place) for place in PLACES), *(f"--ignore={TESTS / file}" for file in left_out),
    ]  # fmt: skip


def main() -> int:
    """pytest's exit status. On Windows it fails at folders with files that it cannot delete, so these are ours."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        pytest = [sys.executable, *BYTECODE, "-m", "pytest", "--basetemp", str(Path(folder) / "t")]
        return subprocess.call([*pytest, *arguments(sys.platform), *sys.argv[1:]], cwd=TESTS.parent)


if __name__ == "__main__":
    sys.exit(main())
