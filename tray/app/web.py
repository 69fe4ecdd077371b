"""Builds the page; it costs nothing until it is opened."""

from __future__ import annotations

import contextlib
import os
import queue
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from tray.app import Stores, build_engine, confirmed_llm
from tray.app.page_settings import choices, choose, offers
from tray.approvals.callers.click_check import ClickRejection
from tray.approvals.catalog import HookCatalog
from tray.approvals.controls import Controls
from tray.desktop.menu_controller import MenuController
from tray.desktop.presenter import Presenter
from tray.engine.replay import ReplayComparison, compare
from tray.engine.trial import NullListener
from tray.engine.user_questions import UserQuestions
from tray.execution.command import Hangup
from tray.model.decision import Record
from tray.model.form import Answers
from tray.model.session import Session
from tray.paths import Paths
from tray.store.stats import Statistics
from tray.threads import LoopThread, WorkQueue
from tray.web.page import WebPage
from tray.web.services import AgentConnection, PageServices

REFRESH_TIMEOUT = 2.0  # seconds that a page waits for a fresh look at the sources or the menu

T = TypeVar("T")


def build_page(
    paths: Paths,
    stores: Stores,
    catalog: HookCatalog,
    controls: Controls,
    threads: tuple[LoopThread, WorkQueue],
    refresh: Callable[[], None],
    objection: Callable[[int], ClickRejection | None],
    confirm_browser: Callable[[Sequence[int], str], bool],
    open_file: Callable[[Path], None],
    stop_signal: Hangup,
    menu: Callable[[], tuple[Presenter, MenuController]],
    *,
    sessions: Callable[[], tuple[Session, ...]],
    go_to_session: Callable[[str, str], None],
    questions: UserQuestions,
) -> WebPage:
    """`shutdown` becomes readable when the tray ends, and ends a replay's hooks; `menu` is called late."""
    loop, work = threads
    parts = PageServices(
        journal=stores.journal,
        statistics=Statistics(stores.database),
        catalog=catalog,
        copies=stores.copies,
        controls=controls,
        refresh=lambda: _run_on(work, refresh),
        objection=objection,
        confirm_browser=confirm_browser,
        replay=build_replay(paths, stores, catalog, stop_signal),
        settings=lambda: _run_on(work, lambda: choices(menu()[0])) or (),
        change_setting=lambda id, on: bool(_run_on(work, lambda: choose(*menu(), id, on))),
        connections=lambda: page_agents(paths, stores, catalog),
        offers=lambda: _run_on(work, lambda: offers(menu()[0])) or (),
        sessions=sessions,
        go_to_session=go_to_session,
        questions=lambda: questions.open,
        answer=lambda id, answers, channel: _answer(questions, id, answers, channel),
    )
    return WebPage(loop.loop, parts, paths.state, open_file)


def _answer(questions: UserQuestions, id: str, answers: Answers | None, channel: str) -> bool:
    if answers is None:
        return questions.answer(id, allow=False, channel=channel)
    return questions.answer_form(id, answers, channel=channel)


def build_replay(
    paths: Paths, stores: Stores, catalog: HookCatalog, stop_signal: Hangup | None
) -> Callable[[Record], ReplayComparison]:
    """Runs the hooks in force on a recorded event, in an engine that announces and records nothing."""
    listener = NullListener()
    engine = build_engine(
        stores, listener, listener.spawn, None, llm=lambda: confirmed_llm(paths, stores), records=listener,
        stop_signal=stop_signal, exceptions=lambda: catalog.exceptions,
    )  # fmt: skip
    return lambda record: compare(engine, record, dict(os.environ))


def page_agents(paths: Paths, stores: Stores, catalog: HookCatalog) -> dict[str, AgentConnection]:
    """The state of each agent's connection; nothing is sent."""
    from tray.app.agent_sites import agent_states, hooks_in_question  # not needed to start
    from tray.app.checks.finding import Cause

    return {
        one.agent: AgentConnection(
            installed=one.installed,
            connected=one.connected,
            advice=one.advice,
            changed=tuple(finding.message for finding in one.changed),
            is_wanted=bool(one.changed) and all(finding.cause is Cause.ENTRY_WANTED for finding in one.changed),
        )
        for one in agent_states(paths, stores.journal, hooks_in_question(catalog))
    }


def _run_on(thread: WorkQueue, work: Callable[[], T]) -> T | None:
    """Run it on the thread of the menu and of the sources, and wait; None when that took too long."""
    done: queue.SimpleQueue[T] = queue.SimpleQueue()
    thread.post(lambda: done.put(work()))
    with contextlib.suppress(queue.Empty):
        return done.get(timeout=REFRESH_TIMEOUT)
    return None
