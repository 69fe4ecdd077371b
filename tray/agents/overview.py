"""What every event needs of all agents, so that it imports only the module of the agent that it came from.

The values of these agents are written down here; a test compares them with the agents' own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from tray.agents.agent import KnownAgent

AGENT_IDS = frozenset(
    {
        "antigravity", "claude-code", "cline", "codex", "copilot-cli", "cursor", "devin", "droid", "gemini-cli",
        "grok", "hermes", "kimi-code", "kiro", "opencode", "qwen-code", "shelley", "starchild", "windsurf", "x-code",
    }
)  # fmt: skip

# The agents by the keys of a payload, and by the words in a transcript's path, that may identify them as its sender.
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
SENDERS_BY_TRANSCRIPT: Mapping[str, str] = {"rollout-": "codex"}

HOME_VARIABLES: Mapping[str, str] = {  # the agents by the variables that name their homes, where files are protected
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
    ".claude", ".factory", ".grok", ".kimi-code", ".kiro", ".x-code", "agent.y", "claude", "cline", "codex",
    "config.json", "config.toml", "copilot", "cursor", "devin", "gemini", "hook", "hooks", "hooks.json",
    "hooktray.json", "kimi", "opencode", "plugins", "qwen", "settings", "x-code", "xcode-cli",
)  # fmt: skip


def senders_by_key(agents: Iterable[KnownAgent]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = defaultdict(tuple)
    for agent in agents:
        for key in agent.marks.keys:
            found[key] += (agent.id,)
    return dict(found)


def senders_by_transcript(agents: Iterable[KnownAgent]) -> dict[str, str]:
    return {agent.marks.transcript: agent.id for agent in agents if agent.marks.transcript}


def home_variables(agents: Iterable[KnownAgent]) -> dict[str, str]:
    return {agent.home_variable: agent.id for agent in agents if agent.protected_in_home and agent.home_variable}


def protected_words(agents: Iterable[KnownAgent]) -> set[str]:
    words: set[str] = set()
    for agent in agents:
        words.update(agent.path_words)
        if agent.without_hooks or agent.home_variable:
            words.update(name for name in agent.programs if len(name) > 2)
    return words
