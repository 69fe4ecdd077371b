"""Tracks which skills and subagents are active, for hooks that are scoped to one of them.

A skill is in force from its invocation, as the model's call of the Skill tool or the user's slash command, to the end
of that turn. Agents report no end of a turn that the user interrupts: then it ends with the next one.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterable

from tray.agents import tools, wire
from tray.agents.protocol import goes_on
from tray.errors import StoreError
from tray.model.decision import Decision, Verdict
from tray.model.event import Event, EventKind
from tray.store.sessions import Sessions

MARK = "skill:"
SKILL_TOOL = "Skill"
KEYS = ("skill", "command")  # of the tool's input; the older name comes second
SLASH = re.compile(r"/([^\s/]{1,128})(?:\s|\Z)")
COMMAND_KINDS = (EventKind.PROMPT_EXPANSION, EventKind.SLASH_COMMAND)
PROMPT_KINDS = (EventKind.PROMPT, EventKind.CONVERSATION_NEW)
END_KINDS = (EventKind.SESSION_END, EventKind.TURN_END, EventKind.TURN_FAILED, EventKind.TURN_INTERRUPTED)
SCOPE_KINDS = frozenset({*COMMAND_KINDS, *PROMPT_KINDS, *END_KINDS})  # and a call of SKILL_TOOL

log = logging.getLogger(__name__)


class SkillScopes:
    """Which skills are in force in which session, remembered where the one-shot engine finds it too."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def skills(self, event: Event) -> frozenset[str] | None:
        """None when that cannot be read: then the hooks of all skills are asked."""
        try:
            marks = self._sessions.marks(event.agent, event.session)
        except StoreError:
            log.exception("the skills in force in a session cannot be read")
            return None
        return frozenset(mark.removeprefix(MARK) for mark in marks if mark.startswith(MARK))

    def update(self, event: Event, decision: Decision) -> None:
        """What a decided event of SCOPE_KINDS, or a call of SKILL_TOOL, changes for those that follow it."""
        if event.answered or event.test:  # counted when it was answered; a test did not happen
            return
        refused = decision.verdict is Verdict.DENY
        try:
            if event.kind in END_KINDS and not goes_on(event, decision):  # a refused end goes on with the turn
                for skill in self.skills(event) or ():
                    self._sessions.unmark(event.agent, event.session, MARK + skill)
            elif event.session and not refused and (skill := invoked_skill(event)):
                self._sessions.mark(event.agent, event.session, MARK + skill)
        except StoreError:
            log.exception("the skills in force in a session cannot be written down")


def invoked_skill(event: Event) -> str:
    """The skill that this event brings into force; "" for most events."""
    if event.kind in COMMAND_KINDS:
        return event.topic
    if event.kind in PROMPT_KINDS:
        found = SLASH.match(event.prompt)
        return found[1] if found else ""
    if event.kind is not EventKind.TOOL_BEFORE or event.tool is None:
        return ""
    if tools.canonical(event.agent, event.tool.name) != SKILL_TOOL:
        return ""
    given = tools.canonical_input(event.agent, event.tool.name, event.tool.input)
    name = next((given[key] for key in KEYS if isinstance(given.get(key), str)), "")
    return str(name).strip().removeprefix("/").split(None, 1)[0] if name.strip() else ""


def is_active(names: Iterable[str], skills: Collection[str] | None) -> bool:
    """Whether one of these may be in force. `lint:check` is the skill `check` of the plugin `lint`."""
    return skills is None or any(_same(name, skill) for name in names for skill in skills)


def in_subagent(agent: str, event: Event) -> bool:
    """Whether this happens in the agent of that name: a subagent's event, or a session that was begun as it."""
    key = event.sender.main_agent_key if event.sender else ""
    names = (event.subagent, wire.text(event.payload, key) if key else "")
    return any(_same(agent, name) for name in names if name)


def _same(one: str, other: str) -> bool:
    return one == other or one.rpartition(":")[2] == other or other.rpartition(":")[2] == one
