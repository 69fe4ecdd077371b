"""Needs you: what agents wait for."""

from __future__ import annotations

from tray.desktop.labels import age, agent_label, clean
from tray.desktop.menu.actions import AnswerQuestion, GoToSession, OpenPage
from tray.desktop.menu.items import Item, child_id, click, deduplicate, label, submenu, truncated, with_count
from tray.desktop.menu.state import MenuQuestion, MenuState
from tray.language import say
from tray.model.session import Session, SessionState


def questions(state: MenuState) -> Item:
    found = [_question(one) for one in state.questions]
    for one in waiting_sessions(state):
        text = say("{agent} waits for you · {when}", agent=session_text(one), when=age(one.since, state.now))
        key = child_id("questions/session", one.agent, one.session)
        found.append(click(key, text, GoToSession(one.agent, one.session)))
    rows = deduplicate(found)
    none = label("questions/none", say("Nobody waits for an answer"))
    return submenu("questions", with_count(say("Needs you"), len(rows)), truncated(rows or [none], "questions/more"))


def waiting_sessions(state: MenuState) -> list[Session]:
    """The agents that wait for their user, but for those whose question is open here; the longest waiting first."""
    asked = {(one.agent, one.session) for one in state.questions}
    waiting = (one for one in state.sessions if one.state is SessionState.WAITING)
    return [one for one in waiting if (one.agent, one.session) not in asked]


def waiting_number(state: MenuState) -> int:
    return len(state.questions) + len(waiting_sessions(state))


def session_text(one: Session) -> str:
    return agent_label(one.agent, one.project, one.session)


def _question(one: MenuQuestion) -> Item:
    key = child_id("questions/open", one.id)
    text = f"{clean(one.subject, 60)} · {agent_label(one.agent, one.project)}"
    if one.is_form:
        accept = click(f"{key}/answer", say("Answer…"), OpenPage(f"questions/{one.id}"))
    else:
        accept = click(f"{key}/allow", say("Allow"), AnswerQuestion(one.id, allow=True))
    deny = say("Decline") if one.is_form else say("Deny")
    return submenu(key, text, (accept, click(f"{key}/deny", deny, AnswerQuestion(one.id, allow=False))))
