"""Announces what agents do and what hooks decide: turns each event into its alerts. One thread calls it."""

from __future__ import annotations

import hashlib
import json
import math
import re
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import msgspec
from msgspec.structs import replace

from tray.agents import tools
from tray.approvals.remedies import HookFailure, find_failure
from tray.clock import Clock
from tray.engine.ports import FREQUENT_KINDS
from tray.engine.turns import END_KINDS, WORK_KINDS, Turns
from tray.engine.user_questions import QuestionResult, Resolution, UserQuestion
from tray.event_loop import Timer
from tray.language import phrase
from tray.model.decision import NO_OPINION, Decision, Outcome, Record, Status
from tray.model.event import Event, EventKind
from tray.notify.alert import BODY_LIMIT, Alert, AlertClass, Button, SettingsInForce, rules
from tray.notify.own_alerts import AlertSink, OwnAlerts
from tray.notify.policy import (
    HookProblem,
    alerts,
    find_problem,
    question,
    question_closed,
    question_key,
    unanswerable,
)
from tray.recent import Recent
from tray.store.journal import Journal
from tray.text import sanitise

# Alerts of an event by itself, before any hook ran.
ON_ARRIVAL = frozenset({AlertClass.TURN_END, AlertClass.SESSION_END, AlertClass.NEEDS_YOU, AlertClass.INFORMATION})
# Of no interest where no user sits before the agent. All other classes are announced in any case (decision 39).
BEFORE_A_USER = ON_ARRIVAL | {AlertClass.NOTE, AlertClass.REWRITTEN}
PATIENCE = 1.0  # seconds before a request for permission is announced
# Those that say which of a project's sessions it is.
NAMED = frozenset({AlertClass.TURN_END, AlertClass.SESSION_END, AlertClass.NEEDS_YOU, AlertClass.ASKED})
NAME_LIMIT = 40  # characters
NEEDS_USER = frozenset({AlertClass.NEEDS_YOU, AlertClass.ASKED})
CLOSE_REASONS = {
    Resolution.ELSEWHERE: phrase("answered elsewhere"),
    Resolution.AGENT_GONE: phrase("the agent no longer waits"),
    Resolution.TIMED_OUT: phrase("nobody answered in time"),
    Resolution.QUIT: phrase("Hooktray quit"),
}
MEMORY_LIMIT = 512  # events and problems that are remembered
HOUR = 3600.0  # seconds in which the same problem of a hook is announced once
WINDOW = 5.0  # seconds between two reports of one event
REPORTS = 64  # remembered; with more, an event may be announced twice
DIGITS = re.compile("[0-9]+")


class SessionNames(Protocol):
    """The part of SessionTracker that is used here."""

    def name(self, agent: str, session: str) -> str: ...
    def is_headless(self, agent: str, session: str) -> bool: ...


class FocusableSessions(Protocol):
    """The part of SessionFocus that is used here."""

    def can_focus(self, agent: str, session: str) -> bool: ...


class AlertService(OwnAlerts):
    """Turns what happened into alerts, by the user's rules."""

    def __init__(
        self,
        gate: AlertSink,
        settings: SettingsInForce,
        *,
        notices: Journal,
        sessions: SessionNames,
        places: FocusableSessions,
        timer: Timer,
        clock: Clock = time,
    ) -> None:
        """`timer` runs work on the caller's thread."""
        super().__init__(gate, settings, notices)
        self._sessions, self._places, self._timer = sessions, places, timer
        self._patient: dict[tuple[str, str], str] = {}  # sessions whose request is not announced yet, with its event
        self._turns = Turns(clock)
        self._reports = ReportDedup(clock)
        self._problems = ProblemTracker(clock)
        self._announced_early: Recent[str, None] = Recent(MEMORY_LIMIT)  # events whose hooks still run
        self._requested: dict[str, Callable[[str], None]] = {}  # what waits for the end of an event's hooks
        self._needs_user: dict[tuple[str, str], tuple[str, ...]] = {}  # waiting sessions -> their alerts
        self._questions: dict[str, Event] = {}  # open questions
        self._answered_by_user: Recent[str, None] = Recent(MEMORY_LIMIT)  # events that the user has answered

    @property
    def hook_problems(self) -> tuple[HookProblem, ...]:
        """The hooks that had a problem when they last ran."""
        return self._problems.current

    def is_running(self, id: str) -> bool:
        """Whether hooks of an event that was announced already still run."""
        return id in self._announced_early

    def when_ended(self, id: str, work: Callable[[str], None]) -> None:
        """Call `work` with the event's id once its hooks have ended; only the last request counts."""
        self._requested = {id: work}

    def arrived(self, event: Event) -> None:
        """An event that waits for no answer is announced at once, however long its hooks will take."""
        if event.kind in WORK_KINDS:
            self._turns.observe(event)
        self._announced_early[event.id] = None
        made = self._state_alerts(event, Decision(), ())
        self._announce_state(event, [alert for alert in made if alert.cls in ON_ARRIVAL], event.id)

    def decided(self, event: Event, decision: Decision, record: Record) -> None:
        is_early = event.id in self._announced_early
        if event.kind in WORK_KINDS and not is_early:
            self._turns.observe(event)
        if decision is NO_OPINION and event.kind in FREQUENT_KINDS and not event.problem and not is_early:
            session = (event.agent, event.session)
            if not (session in self._needs_user or session in self._patient or self._turns.has_ended(event)):
                return  # a step that no hook objects to, in a session of which nothing is on the screen
        if event.skip_reason is not None:
            self._report_unsupported(record)
            return
        problems = self._problems.fresh(decision.outcomes) if decision.outcomes else ()
        if not is_early and not event.answered:
            self._announce_state(event, self._state_alerts(event, decision, problems, record), record.id)
            return
        self._announced_early.pop(event.id, None)
        made = [alert for alert in self._alerts(event, decision, problems, record) if alert.cls not in ON_ARRIVAL]
        self._announce(self._with_place(event, self._reports.fresh(event, made)), record.id)
        if show := self._requested.pop(event.id, None):
            show(event.id)

    def question_opened(self, one: UserQuestion) -> None:
        """A question is open; it stays on the screen until it is not."""
        self._questions[one.id] = one.event
        ours = rules(self._settings.current, one.event.project)
        self._announce(self._with_place(one.event, [question(one, ours, show_input=self.shows_input)]))

    def question_closed(self, one: UserQuestion, result: QuestionResult) -> None:
        """Withdraw it, so that the user does not press a button in vain."""
        self._questions.pop(one.id, None)
        self._gate.withdraw((question_key(one.id),))
        if result.by_user:
            self._answered_by_user[one.event.id] = None
        else:
            ours, reason = rules(self._settings.current, one.event.project), CLOSE_REASONS[result.resolution]
            self._announce([question_closed(one.event, one.id, reason, ours)])

    # ---- which alerts

    def _alerts(
        self, event: Event, decision: Decision, problems: Sequence[HookProblem], record: Record | None = None
    ) -> list[Alert]:
        """Without what the user knows already: their own answer, and a prompt that is open here as a question."""
        settings = self._settings.current
        ours = rules(settings, event.project) if settings.projects else settings.alerts
        made = list(alerts(event, decision, ours, show_input=settings.show_input, problems=problems, record=record))
        if self._answered_by_user.pop(event.id, 0) is None:
            made = [alert for alert in made if alert.cls not in (AlertClass.BLOCKED, AlertClass.ASKED)]
        if event.kind is EventKind.NOTIFICATION and event.topic == "permission_prompt":
            session = (event.agent, event.session)
            if any((one.agent, one.session) == session for one in self._questions.values()):
                made = [alert for alert in made if alert.cls is not AlertClass.NEEDS_YOU]
        return made

    def _state_alerts(
        self, event: Event, decision: Decision, problems: Sequence[HookProblem], record: Record | None = None
    ) -> list[Alert]:
        """The event's alerts, without an end that was announced already, and without the end of a short turn."""
        made = self._alerts(event, decision, problems, record)
        counts = event.kind in END_KINDS or self._turns.has_ended(event)
        if counts and not self._turns.is_new_end(event, decision):
            return [alert for alert in made if alert.cls not in (AlertClass.TURN_END, AlertClass.SESSION_END)]
        ends = made and any(alert.cls is AlertClass.TURN_END for alert in made)
        if ends and self._turns.is_short(event, self._settings.current.min_turn_seconds):
            return [alert for alert in made if alert.cls is not AlertClass.TURN_END]
        return made

    def _wanted(self, event: Event, made: Sequence[Alert]) -> Sequence[Alert]:
        """Without what only interests a user who sits before the session; what guards did is always announced."""
        if self._settings.current.notify_headless or not self._sessions.is_headless(event.agent, event.session):
            return made
        wanted = [one for one in made if one.cls not in BEFORE_A_USER]
        ours = rules(self._settings.current, event.project)
        return [unanswerable(event, one, ours) if one.cls is AlertClass.ASKED else one for one in wanted]

    # ---- when, and with what more

    def _announce_state(self, event: Event, made: Sequence[Alert], record: str) -> None:
        """Announce it; and withdraw what the session needed the user for before: it has gone on since."""
        made = self._wanted(event, made) if made else made
        if made:
            fresh = self._reports.fresh(event, made)
            if not fresh:
                return  # another line has reported it, and its announcement counts
            made = self._with_place(event, self._with_work(event, fresh))
        session = (event.agent, event.session)
        stale = self._needs_user.pop(session, ())
        needs = tuple(alert.key for alert in made if alert.cls in NEEDS_USER) if made else ()
        if needs:
            self._needs_user[session] = needs
        elif stale:
            self._gate.withdraw(stale)
        self._patient.pop(session, None)
        if event.kind is EventKind.PERMISSION_REQUEST and needs and event.session:
            self._announce_patiently(event, made, record)
        else:
            self._announce(made, record)

    def _announce_patiently(self, event: Event, made: Sequence[Alert], record: str) -> None:
        """An agent may answer its own request: only when its session has not gone on is it announced."""
        session = (event.agent, event.session)
        self._patient[session] = event.id

        def announce() -> None:
            if self._patient.get(session) == event.id:
                del self._patient[session]
                self._announce(made, record)

        self._timer.after(PATIENCE, announce)

    def _announce(self, made: Sequence[Alert], record: str = "") -> None:
        if made:
            self._gate.announce(tuple(made), record)

    def _with_work(self, event: Event, made: Sequence[Alert]) -> Sequence[Alert]:
        """The end of a turn, with what was done in it."""
        done = self._turns.summary(event) if any(one.cls is AlertClass.TURN_END for one in made) else ""
        if not done:
            return made
        room = BODY_LIMIT - len(done) - 3
        return [
            replace(one, body=f"{sanitise(one.body, room)} · {done}") if one.cls is AlertClass.TURN_END else one
            for one in made
        ]

    def _with_place(self, event: Event, made: Sequence[Alert]) -> Sequence[Alert]:
        """With the button that leads to the session; an agent with an address of its own is better reached there."""
        made = self._with_name(event, made)
        if not made or not event.session or event.url or not self._places.can_focus(event.agent, event.session):
            return made
        return [replace(one, agent=event.agent, session=event.session, buttons=_with_go(one)) for one in made]

    def _with_name(self, event: Event, made: Sequence[Alert]) -> Sequence[Alert]:
        """The session's name in front, as a project may have several of them; not where the title has it already."""
        if not event.session or not any(one.cls in NAMED for one in made):
            return made
        name = sanitise(self._sessions.name(event.agent, event.session), NAME_LIMIT)
        if not name or name == sanitise(event.project, NAME_LIMIT):
            return made
        room = BODY_LIMIT - len(name) - 3
        return [
            replace(one, body=f"{name} · {sanitise(one.body, room)}") if one.cls in NAMED else one for one in made
        ]


def _with_go(alert: Alert) -> tuple[Button, ...]:
    """Behind the answers to a question: GNOME draws no more than three buttons."""
    return (*alert.buttons, Button.GO) if alert.is_question else (Button.GO, *alert.buttons)


class _Report(msgspec.Struct, frozen=True):
    """One event with what was announced for it."""

    id: str
    line: str  # the agent in the command
    at: float
    alerts: frozenset[tuple[str, str, str]]


class ReportDedup:
    """Recognises an event that two of an agent's lines report, so it is announced once. One thread uses it."""

    def __init__(self, clock: Clock = time) -> None:
        self._clock = clock
        self._reports: Recent[str, _Report] = Recent(REPORTS)  # by what happened

    def fresh(self, event: Event, alerts: Sequence[Alert]) -> list[Alert]:
        """Those of the event's alerts that were not announced for the same event of another line."""
        if not alerts:
            return []
        digest, now = _digest(event), self._clock.time()
        before = self._reports.get(digest)
        if before and before.id != event.id and before.line != event.via_agent and now - before.at < WINDOW:
            return [alert for alert in alerts if _content(alert) not in before.alerts]
        known = before.alerts if before and before.id == event.id else frozenset()
        self._reports[digest] = _Report(event.id, event.via_agent, now, known | {*map(_content, alerts)})
        return list(alerts)


def _content(alert: Alert) -> tuple[str, str, str]:
    return (alert.cls.value, alert.title, alert.body)


def _digest(event: Event) -> str:
    """What happened, without what differs between two reports of it: their forms, times and ids."""
    call = event.tool and tools.canonical_call(event.agent, event.tool)
    what = (event.agent, event.session or event.cwd, event.kind.value, event.topic, event.prompt, event.message, call)
    return hashlib.sha256(json.dumps(what, sort_keys=True, default=str).encode()).hexdigest()


class ProblemTracker:
    """Remembers which problems of hooks were announced, and which hooks had one when they last ran."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._announced: Recent[tuple[str, str], float] = Recent(MEMORY_LIMIT)
        self._current: Recent[str, HookProblem] = Recent(MEMORY_LIMIT)

    @property
    def current(self) -> tuple[HookProblem, ...]:
        """Of every hook that has a problem, the last one."""
        return tuple(self._current.values())

    def fresh(self, outcomes: Iterable[Outcome]) -> list[HookProblem]:
        """The problems of these outcomes that are to be announced now."""
        found = []
        for outcome in outcomes:
            if outcome.status is Status.SKIPPED and not outcome.output.warning:
                continue
            one = find_problem(outcome)
            if one is None:
                self._current.pop(outcome.hook, None)
                continue
            self._current[outcome.hook] = one
            if self._is_new(one):
                found.append(one)
        return found

    def _is_new(self, one: HookProblem) -> bool:
        """The same cause with another number in it is the same. What let a call through is always announced."""
        if one.let_through:
            return True
        now, is_shared = self._clock.time(), find_failure(one.cause) is HookFailure.NO_MODEL  # in none of the hooks
        key = ("" if is_shared else one.hook, f"{one.cls}:{DIGITS.sub('#', one.cause)[:80]}")
        if now - self._announced.get(key, now - HOUR) < HOUR:
            return False
        self._announced[key] = math.inf if is_shared else now
        return True
