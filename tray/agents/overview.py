"""What every event needs of all agents, so that it imports only the module of the agent that it came from.

Written by `python -m tray.agents.overview_build`, from the agents' own modules.
"""

from __future__ import annotations

from collections.abc import Mapping

AGENT_IDS = frozenset(
    {
        "antigravity",
        "claude-code",
        "cline",
        "codex",
        "copilot-cli",
        "cursor",
        "devin",
        "droid",
        "gemini-cli",
        "grok",
        "hermes",
        "kimi-code",
        "kiro",
        "opencode",
        "qwen-code",
        "shelley",
        "starchild",
        "windsurf",
        "x-code",
    }
)

# The agents by the keys of a payload that may identify them as its sender.
SENDERS_BY_KEY: Mapping[str, tuple[str, ...]] = {
    "agent_action_name": ("windsurf",),
    "client_type": ("kimi-code",),
    "conversationId": ("antigravity",),
    "conversation_id": ("cursor",),
    "cursor_version": ("cursor",),
    "extra": ("hermes",),
    "hookName": ("cline",),
    "model": ("codex",),
    "opencode_plugin": ("opencode",),
    "stepIdx": ("antigravity",),
    "timestamp": ("copilot-cli", "gemini-cli", "qwen-code"),
    "turn_id": ("codex",),
    "workspaceRoot": ("grok",),
}

# The agents by the words in a transcript's path that may do so.
SENDERS_BY_TRANSCRIPT: Mapping[str, str] = {
    ".factory": "droid",
    "rollout-": "codex",
}

# The agents by the variables that name their homes, where files are protected.
HOME_VARIABLES: Mapping[str, str] = {
    "CLAUDE_CONFIG_DIR": "claude-code",
    "CLINE_DIR": "cline",
    "CODEX_HOME": "codex",
    "COPILOT_HOME": "copilot-cli",
    "KIMI_CODE_HOME": "kimi-code",
    "OPENCODE_CONFIG_DIR": "opencode",
    "QWEN_HOME": "qwen-code",
    "X_CODE_HOME": "x-code",
}

# A text without one of these names no protected file of an agent, and starts no agent that has no hooks.
PROTECTED_WORDS = (
    ".claude",
    ".factory",
    ".grok",
    ".kimi-code",
    ".kiro",
    ".x-code",
    "agent.y",
    "agy",
    "antigravity",
    "claude",
    "cline",
    "codex",
    "config.json",
    "config.toml",
    "copilot",
    "cursor",
    "cursor-agent",
    "devin",
    "droid",
    "gemini",
    "grok",
    "hook",
    "hooks",
    "hooks.json",
    "hooktray.json",
    "kimi",
    "kiro-cli",
    "kiro-cli-chat",
    "opencode",
    "plugins",
    "qwen",
    "settings",
    "shelley",
    "starchild",
    "x-code",
    "xcode-cli",
)
