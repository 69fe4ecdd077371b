"""Runs the tests that need neither Linux nor a desktop: `python tests/portable.py [pytest arguments]`.

What macOS and Windows run (.github/workflows/tests.yml). Those for Windows passed under wine.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PLACES = (
    "agents", "edit", "language", "model", "reading", "desktop/test_menu.py", "desktop/test_pystray_icon.py",
    "notify/test_balloon.py", "test_strict.py", "test_text.py",
)  # fmt: skip
LINUX_ONLY = ("agents/test_new_agent.py", "agents/test_packages.py", "agents/test_scorecard.py")  # they start trays
NOT_ON_WINDOWS = (  # their examples are scripts of a shell, or paths as POSIX has them
    "agents/claude_code/test_claude_code_conditions.py",
    "agents/claude_code/test_claude_code_frontmatter.py",
    "agents/claude_code/test_claude_code_settings_hooks.py",
    "agents/claude_shape/test_claude_shape_settings.py",
    "agents/codex/test_codex_connector.py",
    "agents/codex/test_codex_source.py",
    "agents/copilot_cli/test_copilot_cli_source.py",
    "agents/gemini_cli/test_gemini_cli_source.py",
    "agents/shelley/test_shelley_source.py",
    "agents/test_differences.py",
)
TESTS = Path(__file__).parent


def arguments(platform: str) -> list[str]:
    """Of pytest; its time limit by a signal is one of POSIX."""
    left_out = (*LINUX_ONLY, *(NOT_ON_WINDOWS if platform == "win32" else ()))
    return [
        "-q", "-m", "not desktop and not client", "-o", "timeout_method=thread",
        *(str(TESTS / place) for place in PLACES), *(f"--ignore={TESTS / file}" for file in left_out),
    ]  # fmt: skip


if __name__ == "__main__":
    sys.exit(
        subprocess.call([sys.executable, "-m", "pytest", *arguments(sys.platform), *sys.argv[1:]], cwd=TESTS.parent)
    )
