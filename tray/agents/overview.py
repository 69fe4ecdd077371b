"""The values of all agents that every event needs: which agent may have sent it, and which files are protected.

An event imports only the module of the agent that it came from, so this repeats a few values of the built-in agents.
A test compares them with the agents' own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

import msgspec

from tray.agents.agent import KnownAgent
from tray.agents.registry import AGENTS


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """A few values of several agents.

    `senders_by_key` has the agents by payload keys that may identify the sender, `senders_by_transcript` by a word
    in the path of the transcript, and `home_variables` by the variables that name their homes, where files are
    protected. A text without any of `protected_words` names no protected file of an agent, and starts no agent
    without hooks.
    """

    senders_by_key: Mapping[str, tuple[str, ...]]
    senders_by_transcript: Mapping[str, str]
    home_variables: Mapping[str, str]
    protected_words: tuple[str, ...]


OVERVIEW = Overview(
    senders_by_key={
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
    },
    senders_by_transcript={".factory": "droid", "rollout-": "codex"},
    home_variables={
        "CLAUDE_CONFIG_DIR": "claude-code",
        "CLINE_DIR": "cline",
        "CODEX_HOME": "codex",
        "COPILOT_HOME": "copilot-cli",
        "KIMI_CODE_HOME": "kimi-code",
        "OPENCODE_CONFIG_DIR": "opencode",
        "QWEN_HOME": "qwen-code",
        "X_CODE_HOME": "x-code",
    },
    protected_words=(
        *(".claude", ".factory", ".grok", ".kimi-code", ".kiro", ".x-code", "agent.y", "agy", "antigravity"),
        *("claude", "cline", "codex", "config.json", "config.toml", "copilot", "cursor", "cursor-agent", "devin"),
        *("droid", "gemini", "grok", "hook", "hooks", "hooks.json", "hooktray.json", "kimi", "kiro-cli"),
        *("kiro-cli-chat", "opencode", "plugins", "qwen", "settings", "shelley", "starchild", "x-code", "xcode-cli"),
    ),
)


def overview_of(agents: Iterable[KnownAgent]) -> Overview:
    """Returns the values of these agents."""
    by_key: dict[str, tuple[str, ...]] = {}
    words: set[str] = set()
    agents = tuple(agents)
    for agent in agents:
        for key in agent.marks.keys:
            by_key[key] = (*by_key.get(key, ()), agent.id)
        words.update(agent.path_words)
        if agent.protected:
            words.update(name for name in agent.programs if len(name) > 2)
    return Overview(
        senders_by_key=by_key,
        senders_by_transcript={agent.marks.transcript: agent.id for agent in agents if agent.marks.transcript},
        home_variables={one.home_variable: one.id for one in agents if one.protected_in_home and one.home_variable},
        protected_words=tuple(sorted(words)),
    )


@cache
def whole_overview() -> Overview:
    """Returns the values of all agents. A built-in agent comes before those of packages."""
    packaged = overview_of(AGENTS.packaged.agents.values())
    keys = {**OVERVIEW.senders_by_key, **packaged.senders_by_key}
    own = OVERVIEW.senders_by_key
    return Overview(
        senders_by_key={key: (*own.get(key, ()), *packaged.senders_by_key.get(key, ())) for key in keys},
        senders_by_transcript={**packaged.senders_by_transcript, **OVERVIEW.senders_by_transcript},
        home_variables={**OVERVIEW.home_variables, **packaged.home_variables},
        protected_words=(*OVERVIEW.protected_words, *packaged.protected_words),
    )
