"""Puts the tray's face together: what the menu shows, and what its rows do."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

from tray.app import Stores
from tray.app.agents import Agents
from tray.app.alerting import Alerting
from tray.app.offering import Wiring
from tray.app.recovery import Recovery
from tray.app.wiring import heard
from tray.desktop.autostart import autostart
from tray.desktop.extras import Extras
from tray.desktop.face import Face
from tray.desktop.hand import Hand
from tray.desktop.menu import Question, Telling
from tray.engine.approval.controls import Controls
from tray.engine.approval.roster import Roster
from tray.engine.questions import Question as Asked
from tray.paths import Paths


def face(
    paths: Paths,
    kept: Stores,
    roster: Roster,
    controls: Controls,
    alerting: Alerting,
    *,
    soon: Callable[[Callable[[], None]], None],
    open_file: Callable[[Path], None],
    open_page: Callable[[str], object],
    trouble: Callable[[], Collection[str]],
    spawn: Callable[[Callable[[], object]], object],
    examine: Callable[[], object],
    incident: Callable[[], str],
    show_incident: Callable[[], None],
    quit: Callable[[], object],
    recovery: Recovery,
) -> tuple[Face, Hand]:
    """What the user sees, and what a click does. Whoever supplies more for the menu adds it to `extras`."""
    agents = Agents(
        Wiring(paths, heard(kept.journal), open_file, lambda session: bool(kept.journal.recent(1, session=session))),
        spawn=spawn,
        changed=lambda: soon(shown.show),
        tell=lambda title, text: soon(lambda: alerting.herald.tell(title, text)),
    )
    extras = Extras(
        telling=lambda: _telling(alerting),
        trouble=lambda: len(trouble()),
        lost=lambda: kept.journal.dropped,
        questions=lambda: tuple(_question(one) for one in alerting.open),
        answer=alerting.answer,
        snooze=alerting.snooze,
        wake=alerting.wake,
        heed_quiet=alerting.heed_quiet,
        show_held=alerting.show_held,
        login=autostart(paths),
        open_configuration=partial(open_file, paths.config),
        open_page=lambda: open_page(""),
        open_decision=open_page,
        doctor=examine,
        incident=incident,
        show_incident=show_incident,
        damage=lambda: recovery.headline,
        review_batch=recovery.show,
        agents=agents,
        quit=quit,
    )
    shown = Face(controls=controls, roster=roster, recent=kept.journal.recent(10), soon=soon, extras=extras)
    hand = Hand(
        face=shown,
        controls=controls,
        roster=roster,
        copies=kept.copies,
        reviews=paths.state / "reviews",
        tell=alerting.herald.tell,
        open_file=open_file,
        extras=extras,
    )
    return shown, hand


def _telling(alerting: Alerting) -> Telling:
    return Telling(
        snoozable=True,
        snoozed_until=alerting.snoozed_until,
        quiet=alerting.quiet,
        quiet_heeded=alerting.quiet_heeded,
        held=alerting.held,
    )


def _question(one: Asked) -> Question:
    event = one.event
    what = event.tool.name if event.tool and event.tool.name else event.kind.replace("_", " ").capitalize()
    return Question(id=one.id, agent=event.agent, project=event.project, what=what)
