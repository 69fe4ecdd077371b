"""Builds the page; it costs nothing until it is opened."""

from __future__ import annotations

import contextlib
import os
import queue
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from tray.app.core import TrayCore
from tray.approvals.catalog import HookCatalog
from tray.approvals.controls import Controls
from tray.desktop.menu import ApplyConnection, ConnectAll, Item, ItemKind, OpenPage, SetVariable, SwitchHook, menu
from tray.desktop.menu_controller import MenuController
from tray.desktop.presenter import Presenter
from tray.doctor.agent_sites import agent_states, hooks_in_question
from tray.doctor.finding import Cause
from tray.engine.catalogs import ConfirmedSettings
from tray.engine.engines import build_engine
from tray.engine.ports import EngineOptions
from tray.engine.replay import ReplayComparison, compare
from tray.engine.stores import Stores
from tray.engine.trial import NullListener
from tray.engine.user_questions import UserQuestions
from tray.event_loop import LoopThread
from tray.execution.command import Hangup
from tray.model.decision import Record
from tray.model.form import Answers
from tray.model.session import Session
from tray.paths import Paths
from tray.store.stats import Statistics
from tray.threads import WorkQueue
from tray.web.page import WebPage
from tray.web.services import AgentConnection, BrowserClicks, ConnectOffer, PageServices, PageSetting

REFRESH_TIMEOUT = 2.0  # seconds that a page waits for a fresh look at the sources or the menu

SUBMENUS = (
    "alerts",
    "settings",
)  # of the menu, whose rows are the settings of the page; for all else that the menu has, the page has pages
NOTES = frozenset({"alerts/pack"})  # rows without a click that the page has, too: a sound pack and its licence
EXCLUDED = (SwitchHook, SetVariable, OpenPage)  # a hook is switched on its own page, and asks first

T = TypeVar("T")


def build_page(
    core: TrayCore,
    controls: Controls,
    loop: LoopThread,
    refresh: Callable[[], None],
    clicks: BrowserClicks,
    open_file: Callable[[Path], None],
    menu: Callable[[], tuple[Presenter, MenuController]],
    *,
    sessions: Callable[[], tuple[Session, ...]],
    go_to_session: Callable[[str, str], None],
) -> WebPage:
    """`menu` is called when the page needs it: the menu is built later."""
    paths, stores, catalog, work, questions = core.paths, core.stores, core.catalog, core.work, core.questions
    parts = PageServices(
        journal=stores.journal,
        statistics=Statistics(stores.database),
        catalog=catalog,
        copies=stores.copies,
        controls=controls,
        refresh=lambda: _run_on(work, refresh),
        clicks=clicks,
        replay=build_replay(paths, stores, catalog, core.stop_signal),
        settings=lambda: _run_on(work, lambda: choices(menu()[0])) or (),
        change_setting=lambda id, on: bool(_run_on(work, lambda: choose(*menu(), id, on))),
        connections=lambda: page_agents(paths, stores, catalog),
        offers=lambda: _run_on(work, lambda: offers(menu()[0])) or (),
        sessions=sessions,
        go_to_session=go_to_session,
        questions=lambda: questions.open,
        answer=lambda id, answers, channel: _answer(questions, id, answers, channel),
    )
    return WebPage(loop.loop, parts, paths.state, open_file, core.page_address)


def _answer(questions: UserQuestions, id: str, answers: Answers | None, channel: str) -> bool:
    if answers is None:
        return questions.answer(id, allow=False, channel=channel)
    return questions.answer_form(id, answers, channel=channel)


def build_replay(
    paths: Paths, stores: Stores, catalog: HookCatalog, stop_signal: Hangup | None
) -> Callable[[Record], ReplayComparison]:
    """Runs the hooks in force on a recorded event, in an engine that announces and records nothing.

    `stop_signal` becomes readable when the tray ends, and ends the hooks.
    """

    def replay(record: Record) -> ReplayComparison:
        listener = NullListener()
        options = EngineOptions(settings=ConfirmedSettings(paths, stores, catalog), stop_signal=stop_signal)
        engine = build_engine(stores, listener, listener, options, records=listener)
        return compare(engine, record, dict(os.environ))

    return replay


def page_agents(paths: Paths, stores: Stores, catalog: HookCatalog) -> dict[str, AgentConnection]:
    """The state of each agent's connection; nothing is sent."""
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


def choices(presenter: Presenter) -> tuple[PageSetting, ...]:
    """As they are now. On the presenter's thread."""
    return tuple(filter(None, map(_choice, _submenus(presenter))))


def offers(presenter: Presenter) -> tuple[ConnectOffer, ...]:
    """What connecting each agent that was found would write, with the row that does it. On the presenter's thread."""
    state = presenter.state(time.time())
    rows = {row.action: row for row in _rows(_submenus(presenter)) if row.action}
    found = []
    for one in state.agents:
        if one.connect and (row := rows.get(ApplyConnection(one.agent, one.connect.digest))):
            preview = one.connect
            found.append(
                ConnectOffer(id=row.id, text=row.label, summary=preview.summary, difference=preview.difference)
            )
    every = next((row for action, row in rows.items() if isinstance(action, ConnectAll)), None)
    return (*([ConnectOffer(id=every.id, text=every.label)] if every else []), *found)


def choose(presenter: Presenter, controller: MenuController, id: str, on: bool | None) -> bool:
    """Click a row, unless its tick is as it should be already; False without such a row. On their thread."""
    row = next(
        (row for row in _rows(_submenus(presenter)) if row.id == id and not isinstance(row.action, EXCLUDED)), None
    )
    if row is None or row.action is None:
        return False
    if row.kind is not ItemKind.CHECK or row.checked != on:
        controller.act(row.action)
    return True


def _submenus(presenter: Presenter) -> tuple[Item, ...]:
    return tuple(row for row in menu(presenter.state(time.time())) if row.id in SUBMENUS)


def _choice(row: Item) -> PageSetting | None:
    """None for what is only there to look at, or is elsewhere on the page."""
    if row.id in NOTES:
        return PageSetting(id=row.id, text=row.label, is_note=True)
    below = tuple(filter(None, map(_choice, row.children)))
    if isinstance(row.action, EXCLUDED) or not (row.action or below):
        return None
    return PageSetting(
        id=row.id, text=row.label, is_on=row.checked if row.kind is ItemKind.CHECK else None, settings=below
    )


def _rows(rows: tuple[Item, ...]) -> Iterator[Item]:
    for row in rows:
        yield row
        yield from _rows(row.children)
