"""Codex: hooks in hooks.json, in config.toml and in plugins. It runs only what its user trusted in `/hooks`."""

from __future__ import annotations

import re

from tray.agents import wire
from tray.agents.agent import HookRules, Marks, NativeTool, Payload, Placeholders, part, protected
from tray.agents.claude_shape import CAPITALISED, claude_shaped
from tray.agents.codex.protocol import NAME, PROTOCOL, SETTINGS, SHAPE

ROLLOUT = "rollout-"
SETTING = f"a hook setting of {NAME}"
# What runs hooks and what its user trusts, what brings or stops hooks, and what lets a tool reach them.
GUARDED = re.compile(
    r"(?i)hook|plugin|marketplace|feature|trust|approval|sandbox|permission|^profile$|managed|shell_environment_policy"
)


def _is_sender(payload: Payload) -> bool:
    """Claude Code's shape with turn_id and model, or a transcript that is called rollout-….jsonl."""
    if not wire.text(payload, "hook_event_name"):
        return False
    if isinstance(payload.get("model"), str):
        if wire.text(payload, "turn_id"):
            return True
        if "permission_mode" in payload and "transcript_path" in payload and payload["transcript_path"] is None:
            return True
    return wire.path_parts(payload, "transcript_path")[-1].startswith(ROLLOUT)


AGENT = claude_shaped(
    name=NAME,
    shape=SHAPE,
    file=SETTINGS,
    protocol=PROTOCOL,
    tools={"Edit": NativeTool("apply_patch", patch="command"), "Task": NativeTool("Agent")},
    marks=Marks(
        keys=("model", "turn_id"),
        transcript=ROLLOUT,
        is_sender=_is_sender,
        yields=True,
        is_alike=_is_sender,
        event_names=CAPITALISED,
        event=wire.hook_event_name,
    ),
    rules=HookRules(
        word_lists=frozenset(SHAPE.events),
        text_counts=True,
        placeholders=Placeholders(plugin="PLUGIN_ROOT", storage="PLUGIN_DATA"),
    ),
    programs=frozenset({"codex"}),
    variables=frozenset({"CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_THREAD_ID"}),
    without_hooks=re.compile(
        r"^(?:-c|--config=)?(?:features\.)?hooks\b[^=]*=|^(?:--disable=)?hooks$"  # `--disable hooks`
    ),
    protected=(
        # Its trust in hooks is in config.toml.
        protected(SETTING, r".*/\.codex/(?:[^/]+\.)?config\.toml"),
        protected("a plugin's hooks", r".*/\.codex/plugins(?:/.*)?/hooks(?:/.*)?"),
        protected(SETTING, r".*/codex/requirements\.toml"),
    ),
    headless=re.compile(r"exec"),
    trusts_each_entry=True,
    keeps_call_ids=True,
    matcher_names={"apply_patch": ("Edit", "Write")},
    also_does={"apply_patch": ("Write",)},
    protected_in_home=(
        *SETTINGS.protected_in_home(NAME),
        protected(SETTING, r"/+(?:[^/]+\.)?config\.toml"),
    ),
    guarded_members={"*config.toml": GUARDED},
    settings_files=(".codex/hooks.json", ".codex/config.toml", ".codex/plugins/one/hooks/hooks.json"),
    path_words=("codex", "hook", "config.toml"),
    runs_own=part("tray.agents.codex.connector:runs_own"),
    connector=part("tray.agents.codex.connector:CONNECTOR"),
    reader=part("tray.agents.codex.source:READER"),
)
