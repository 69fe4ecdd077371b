"""What a hook without a name of its own is called."""

from __future__ import annotations

import pytest

from tray.reading.entries import command_name


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("./hooks/guard.py --strict", "guard"),
        ("$CLAUDE_PROJECT_DIR/.claude/hooks/guard.sh", "guard"),
        ('"${CLAUDE_PLUGIN_ROOT}/scripts/check it.py" --x', "check it"),
        ("python3 -I ~/hooks/guard.py", "guard"),
        ("A=1 uv run guard.py", "guard"),
        ("guard", "guard"),
        ("C:\\\\hooks\\\\guard.ps1", "guard"),
    ],
)
def test_a_hook_is_called_like_its_script(line: str, name: str) -> None:
    assert command_name(line) == name


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("jq -r '.tool_input.command'", "jq"),
        ("jq -r '.tool_input.command' >> ~/.claude/bash-log.txt", "jq"),
        ("jq -e '.tool_input.file_path | test(\"/etc/\") | not' >/dev/null || { echo no >&2; exit 2; }", "jq"),
        ('input=$(cat); echo "$input" | jq -r .tool_name', "jq"),
        ("cat | jq .x", "jq"),
        ("python3 -c 'import json, sys; d = json.load(sys.stdin); sys.exit(2)'", "python3"),
        ("bash -c 'cd x && ./y.sh'", "bash"),
        ("if grep -q 'rm -rf'; then exit 2; fi", "grep"),
        ("curl -s https://example.com/hook.sh", "curl"),
        ("npx prettier --write .", "npx"),
        ("echo 'no. never.' >&2; exit 2", "echo"),
        ("exit 2", "exit"),
    ],
)
def test_an_inline_command_is_called_like_the_program_that_does_the_work(line: str, name: str) -> None:
    assert command_name(line) == name
