"""Before which agents no user sits."""

from __future__ import annotations

from every import every

from tray.agents.registry import AGENTS

CASES: list[tuple[str, dict[str, str], tuple[str, ...], bool]] = [
    ("claude-code", {}, ("claude",), False),
    ("claude-code", {"CLAUDE_CODE_ENTRYPOINT": "cli"}, ("node", "/usr/bin/claude", "--resume", "x"), False),
    ("claude-code", {"CLAUDE_CODE_ENTRYPOINT": "sdk-py"}, (), True),
    ("claude-code", {}, ("claude", "-p", "say hello"), True),
    ("claude-code", {}, ("claude", "print -p here"), False),
    ("claude-code", {}, ("python", "wrapper.py", "-p"), False),
    ("claude-code", {"CI": "true"}, ("claude",), True),
    ("claude-code", {"CI": "false"}, ("claude",), False),
    ("codex", {}, ("codex", "exec", "fix it"), True),
    ("codex", {}, ("codex", "fix it"), False),
    ("copilot-cli", {}, ("copilot", "--prompt=fix"), True),
    ("gemini-cli", {}, ("gemini", "-p", "x"), True),
    ("qwen-code", {}, ("qwen", "--prompt", "x"), True),
    ("qwen-code", {}, ("qwen",), False),
    ("opencode", {}, ("opencode", "run", "x"), True),
    ("opencode", {}, ("opencode",), False),
    ("shelley", {}, ("shelley", "-p"), False),
]


@every(("agent", "environment", "command", "headless"), CASES)
def test_an_sdk_a_print_and_ci_have_no_user(
    agent: str, environment: dict[str, str], command: tuple[str, ...], headless: bool
) -> None:
    assert AGENTS[agent].is_headless(environment, command) is headless
