"""Which events `connect` writes entries for."""

from __future__ import annotations

from typing import Any

from engine.declared import built_hook
from msgspec.structs import replace

from tray.agents.registry import AGENTS
from tray.engine.needed_events import needed_events
from tray.model.decision import Verdict
from tray.model.hook import Hook, Match, Rule
from tray.sessions.call_audit import AFTER_KINDS


def hook(event: str, *agents: str, **more: Any) -> Hook:
    return built_hook(Rule(verdict=Verdict.DENY), Match(event=event, agents=agents, **more))


def test_without_hooks_only_notifications_sessions_and_self_protection_need_events() -> None:
    assert needed_events(())["claude-code"] == {
        "Elicitation", "ElicitationResult", "Notification", "PermissionDenied", "PermissionRequest", "PostToolUse",
        "PostToolUseFailure", "PreToolUse", "SessionEnd", "SessionStart", "Stop", "StopFailure",
        "UserPromptExpansion", "UserPromptSubmit",
    }  # fmt: skip


def test_an_event_after_each_call_is_needed_without_any_hook_at_every_agent_that_has_one() -> None:
    """By it a call that ran unjudged is noticed (tray/sessions/call_audit.py)."""
    for agent, needed in needed_events(()).items():
        events = AGENTS[agent].events
        kinds = {events[name].kind for name in needed}
        assert {spec.kind for spec in events.values()} & AFTER_KINDS <= kinds, agent


def test_a_hook_needs_its_event_at_every_agent_that_it_is_for() -> None:
    everywhere, one = hook("compact_before"), hook("compact_before", "x-code")
    native = hook("TaskCreated", "claude-code")

    assert "PreCompact" in needed_events([everywhere])["claude-code"] & needed_events([everywhere])["x-code"]
    assert "PreCompact" not in needed_events([one])["claude-code"]
    assert "PreCompact" in needed_events([one])["x-code"]
    assert needed_events([native])["claude-code"] - needed_events(())["claude-code"] == {"TaskCreated"}


def test_what_else_a_matcher_looks_at_takes_no_event_away() -> None:
    keys = {"tool": "Bash", "pattern": "rm", "project": "/p", "condition": "Bash(rm *)", "subagent": "reviewer"}

    assert "SubagentStart" in needed_events([hook("subagent_start", **keys)])["claude-code"]


def test_a_hook_that_is_switched_off_needs_nothing() -> None:
    off = replace(hook("compact_before"), enabled=False)

    assert needed_events([off]) == needed_events(())


def test_an_agent_that_asks_for_trust_at_each_change_gets_all_its_events_at_once() -> None:
    for agent in ("codex", "starchild"):
        assert needed_events(())[agent] == frozenset(AGENTS[agent].events)


def test_an_event_that_connect_leaves_out_is_never_needed() -> None:
    assert "WorktreeCreate" in AGENTS["claude-code"].unconnected_events
    assert "WorktreeCreate" not in needed_events([hook("worktree_create")])["claude-code"]
