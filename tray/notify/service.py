"""Turns engine events and user actions into alerts. One thread calls it."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol

from msgspec.structs import replace

from tray.agents.registry import display_name
from tray.approvals.catalog import HookState
from tray.approvals.guarded_settings import FILE, GuardedSetting
from tray.clock import Clock
from tray.engine.ports import FREQUENT_KINDS
from tray.engine.user_questions import QuestionResult, Resolution, UserQuestion
from tray.event_loop import Timer
from tray.language import count, phrase
from tray.model.decision import NO_OPINION, Decision, Record, Verdict
from tray.model.event import Event, EventKind
from tray.model.hook import ApprovalState
from tray.notify.alert import NO_RULES, SettingsInForce, rules
from tray.notify.dedup import TURN_KINDS, ReportDedup, TurnDedup
from tray.notify.hook_problems import HookProblem, ProblemTracker
from tray.notify.policy import (
    BODY_LIMIT,
    Alert,
    AlertClass,
    Button,
    Rules,
    alarm,
    alerts,
    approval_pending,
    config_broken,
    entries_changed,
    hook_changed,
    information,
    may_have_alerts,
    question,
    question_closed,
    question_key,
    setting_waiting,
    source_problems,
    switched,
    trial_failed,
    unanswerable,
    unjudged,
    unsupported_agent,
)
from tray.notify.push.push_queue import PushQueue
from tray.notify.turn_work import WORK_KINDS, TurnWork
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
MISSED_LIMIT = 3  # events that one notification names
NEEDS_USER = frozenset({AlertClass.NEEDS_YOU, AlertClass.ASKED})
CLOSE_REASONS = {
    Resolution.ELSEWHERE: phrase("answered elsewhere"),
    Resolution.AGENT_GONE: phrase("the agent no longer waits"),
    Resolution.TIMED_OUT: phrase("nobody answered in time"),
    Resolution.QUIT: phrase("Hooktray quit"),
}
MEMORY_LIMIT = 512  # events whose hooks still run and whose own alert was already sent


class AlertSink(Protocol):
    """The part of AlertGate that is used here."""

    def announce(self, alerts: tuple[Alert, ...], record: str = "", /) -> None: ...
    def withdraw(self, keys: tuple[str, ...]) -> None: ...


class SessionNames(Protocol):
    """The part of SessionTracker that is used here."""

    def name(self, agent: str, session: str) -> str: ...
    def is_headless(self, agent: str, session: str) -> bool: ...


class FocusableSessions(Protocol):
    """The part of SessionFocus that is used here."""

    def can_focus(self, agent: str, session: str) -> bool: ...


class AlertService:
    """Turns what happened into alerts, by the user's rules."""

    def __init__(
        self,
        gate: AlertSink,
        settings: SettingsInForce,
        *,
        notices: Journal,
        sessions: SessionNames,
        places: FocusableSessions,
        push: PushQueue,
        timer: Timer,
        clock: Clock = time,
    ) -> None:
        """`push` gets the same alerts as `gate`, after it. `timer` runs work on the caller's thread."""
        self._gate = gate
        self._settings = settings
        self._notices = notices
        self._sessions = sessions
        self._places = places
        self._push = push
        self._timer = timer
        self._patient: dict[tuple[str, str], str] = {}  # sessions whose request is not announced yet, with its event
        self._turn_ends = TurnDedup(clock)
        self._reports = ReportDedup(clock)
        self._work = TurnWork(clock)
        self._problems = ProblemTracker(clock)
        self._announced_early: dict[str, None] = {}
        self._requested: dict[str, Callable[[str], None]] = {}  # what waits for the end of an event's hooks
        self._waiting_alerts: dict[tuple[str, str], tuple[str, ...]] = {}  # of each session that needs the user
        self._warned: frozenset[str] = frozenset()
        self._waiting: dict[str, str] = {}  # hooks and settings that wait -> their alert
        self._questions: dict[str, Event] = {}  # open questions
        self._unsupported: set[str] = set()  # agents that the user has been notified of
        self._answered_by_user: dict[str, None] = {}  # events that the user has answered

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
            self._work.observe(event)
        _remember(self._announced_early, event.id)
        made = self._event_alerts(event, Decision(), ())
        self._announce_event(event, [alert for alert in made if alert.cls in ON_ARRIVAL], event.id)

    def decided(self, event: Event, decision: Decision, record: Record) -> None:
        is_early = event.id in self._announced_early
        if event.kind in WORK_KINDS and not is_early:
            self._work.observe(event)
        if decision is NO_OPINION and event.kind in FREQUENT_KINDS and not event.problem and not is_early:
            session, place = (event.agent, event.session), (event.agent, event.session or event.cwd)
            if not (session in self._waiting_alerts or session in self._patient or place in self._turn_ends.ended):
                return  # a step that no hook objects to, in a session of which nothing is on the screen
        if event.skip_reason is not None:
            self._notify_once(record)
            return
        problems = self._problems.fresh(decision.outcomes) if decision.outcomes else ()
        if not is_early and not event.answered:
            self._announce_event(event, self._event_alerts(event, decision, problems, record), record.id)
            return
        self._announced_early.pop(event.id, None)
        made = [alert for alert in self._alerts(event, decision, problems, record) if alert.cls not in ON_ARRIVAL]
        self._announce(self._with_place(event, self._reports.fresh(event, made)), record.id)
        if show := self._requested.pop(event.id, None):
            show(event.id)

    def question_opened(self, one: UserQuestion) -> None:
        """A question is open; it stays on the screen until it is not."""
        self._questions[one.id] = one.event
        ours = self._rules(one.event.project)
        asked = question(one, ours, show_input=self._settings.current.show_input)
        self._announce(self._with_place(one.event, [asked]))

    def question_closed(self, one: UserQuestion, result: QuestionResult) -> None:
        """Withdraw it, so that the user does not press a button in vain."""
        self._questions.pop(one.id, None)
        self._gate.withdraw((question_key(one.id),))
        if result.by_user:
            _remember(self._answered_by_user, one.event.id)
        else:
            ours, reason = self._rules(one.event.project), CLOSE_REASONS[result.resolution]
            self._announce([question_closed(one.event, one.id, reason, ours)])

    def hook_waiting(self, state: HookState) -> None:
        """A hook newly waits for approval."""
        hook, ours = state.hook, self._rules()
        if state.state is ApprovalState.CHANGED:
            alert = hook_changed(hook.name, ours, key=state.key, digest=state.digest)
        else:
            alert = approval_pending(hook.name, hook.match.event, state.digest, ours, key=state.key)
        self._waiting[state.key] = alert.key
        self._announce([alert])

    def setting_waiting(self, setting: GuardedSetting) -> None:
        """A setting waits for its confirmation; announced once for each value."""
        if setting.id not in self._waiting:
            alert = setting_waiting(setting.text, self._rules(), about=setting.key)
            self._waiting[setting.id] = alert.key
            self._announce([alert])

    def withdraw_except(self, waiting: Collection[str]) -> None:
        """Only the hooks and settings with these keys still wait: the alerts of the others are withdrawn."""
        stale = [key for key in self._waiting if key not in waiting]
        if stale:
            self._gate.withdraw(tuple(self._waiting.pop(key) for key in stale))

    def switched(self, text: str, channel: str, undo: str = "") -> None:
        ours = NO_RULES if channel == FILE else self._rules()  # an edit cannot silence its own notification
        self._announce([switched(text, channel, ours, undo=undo)])

    def trial_failed(self, hook: str, cause: str, remedy: str, undo: str) -> None:
        """A hook failed when it was tried after its approval; `undo` is the key of its undo."""
        self._announce([trial_failed(hook, cause, remedy, self._rules(), undo=undo)])

    def config_broken(self, problem: str) -> None:
        self._announce([config_broken(problem, self._rules())])

    def source_warnings(self, warnings: Sequence[str]) -> None:
        """All problems of the sources at present; what was announced once is not announced again."""
        fresh = [warning for warning in warnings if warning not in self._warned]
        self._warned = frozenset(warnings)
        if fresh:
            self._announce([source_problems(fresh, self._rules())])

    def summarize_offline(self, rows: Sequence[Record]) -> None:
        """What the one-shot engine decided while the tray was not running, summed up."""
        text = count(
            "{n} event was answered while the tray was not running",
            "{n} events were answered while the tray was not running",
            len(rows),
        )
        self._summarize(rows, text, rows)

    def summarize_missed(self, rows: Sequence[Record]) -> None:
        """Sum up what it decided while the tray was busy; only events that may have raised an alert are counted."""
        missed = [row for row in rows if may_have_alerts(row)]
        text = count(
            "{n} event was answered without the tray, which was busy",
            "{n} events were answered without the tray, which was busy",
            len(missed),
        )
        names = list(dict.fromkeys(f"{display_name(row.agent)} {row.event}" for row in missed))
        shown = names[:MISSED_LIMIT] + ["…"] * (len(names) > MISSED_LIMIT)
        self._summarize(missed, f"{text}: {', '.join(shown)}", rows)

    def _summarize(self, counted: Sequence[Record], text: str, rows: Sequence[Record]) -> None:
        for record in rows:
            self._notify_once(record)
        if counted:
            denied = sum(record.verdict.word == "deny" for record in counted)
            more = (count("{n} of them was denied", "{n} of them were denied", denied),) if denied else ()
            self.inform("", " · ".join((text, *more)))
        self._announce_let_through(rows)

    def _announce_let_through(self, rows: Sequence[Record]) -> None:
        """Guards that failed without the tray at agents that cannot ask: one critical alert for all of them."""
        calls = [record for record in rows if record.verdict < Verdict.ASK and _let_through(record)]
        if not calls:
            return
        last = calls[-1]
        hook = _let_through(last)[-1]
        title = count(
            "A guard failed without the tray, and {n} call was not stopped",
            "Guards failed without the tray, and {n} calls were not stopped",
            len(calls),
        )
        body = f"{hook.get('name', '')} · {display_name(last.agent)} · {hook.get('cause', '')}"
        self.alarm(title, body)

    def _notify_once(self, record: Record) -> None:
        """An unsupported agent ran a hook command of ours: the user is notified once of each such agent."""
        if record.skip_reason is None or record.test or record.agent in self._unsupported:
            return
        self._unsupported.add(record.agent)
        if self._notices.is_first(record.agent):
            agent, line = display_name(record.agent), display_name(record.via_agent)
            self._announce([unsupported_agent(agent, line, record.skip_reason, self._rules())], record.id)

    def inform(self, title: str, text: str) -> None:
        self._announce([information(f"{title} · {text}" if title and text else title or text, self._rules())])

    def alarm(self, title: str, text: str, *, about: str = "") -> str:
        """Announce at once, as critical, what may have taken guards away; returns the alert's key."""
        alert = alarm(title, text, about=about)
        self._announce([alert])
        return alert.key

    @property
    def shows_input(self) -> bool:
        """True if notifications show the tool's input."""
        return self._settings.current.show_input

    def unjudged(self, title: str, text: str, row: Record) -> None:
        """Announce calls that ran unjudged; `row` is the last. The session's next one replaces this one."""
        self._announce([unjudged(title, text, row, self._rules(row.project))], row.id)

    def entries_changed(self, agent: str, text: str, digest: str, *, critical: bool, wanted: bool = False) -> str:
        """Announce that an agent no longer asks Hooktray as `connect` wrote; returns the alert's key."""
        name = display_name(agent)
        alert = entries_changed(agent, name, text, digest, self._rules(), critical=critical, wanted=wanted)
        self._announce([alert])
        return alert.key

    def withdraw(self, key: str) -> None:
        """Withdraw an alert whose cause is gone."""
        self._gate.withdraw((key,))

    def _rules(self, project: str = "") -> Rules:
        return rules(self._settings.current, project)

    def _alerts(
        self, event: Event, decision: Decision, problems: Sequence[HookProblem], record: Record | None = None
    ) -> list[Alert]:
        """Without what the user knows already: their own answer, and a prompt that is open here as a question."""
        settings = self._settings.current
        ours = rules(settings, event.project) if settings.projects else settings.alerts
        made = list(alerts(event, decision, ours, show_input=settings.show_input, problems=problems, record=record))
        if self._answered_by_user.pop(event.id, 0) is None:
            made = [alert for alert in made if alert.cls not in (AlertClass.BLOCKED, AlertClass.ASKED)]
        if event.kind is EventKind.NOTIFICATION and event.topic == "permission_prompt" and self._has_question(event):
            made = [alert for alert in made if alert.cls is not AlertClass.NEEDS_YOU]
        return made

    def _has_question(self, event: Event) -> bool:
        return any((one.agent, one.session) == (event.agent, event.session) for one in self._questions.values())

    def _event_alerts(
        self, event: Event, decision: Decision, problems: Sequence[HookProblem], record: Record | None = None
    ) -> list[Alert]:
        """The event's alerts, without an end that was announced already, and without the end of a short turn."""
        made = self._alerts(event, decision, problems, record)
        counts = event.kind in TURN_KINDS or (event.agent, event.session or event.cwd) in self._turn_ends.ended
        if counts and not self._turn_ends.is_new(event, decision):
            return [alert for alert in made if alert.cls not in (AlertClass.TURN_END, AlertClass.SESSION_END)]
        ends = made and any(alert.cls is AlertClass.TURN_END for alert in made)
        if ends and self._turn_ends.is_short(event, self._settings.current.min_turn_seconds):
            return [alert for alert in made if alert.cls is not AlertClass.TURN_END]
        return made

    def _announce_event(self, event: Event, made: Sequence[Alert], record: str) -> None:
        """Announce it; and withdraw what the session needed the user for before: it has gone on since."""
        made = self._wanted(event, made) if made else made
        if made:
            fresh = self._reports.fresh(event, made)
            if not fresh:
                return  # another line has reported it, and its announcement counts
            made = self._with_place(event, self._with_work(event, fresh))
        session = (event.agent, event.session)
        stale = self._waiting_alerts.pop(session, ())
        needs = tuple(alert.key for alert in made if alert.cls in NEEDS_USER) if made else ()
        if needs:
            self._waiting_alerts[session] = needs
        elif stale:
            self._gate.withdraw(stale)
        self._patient.pop(session, None)
        if event.kind is EventKind.PERMISSION_REQUEST and needs and event.session:
            self._announce_patiently(event, made, record)
        elif made:
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

    def _with_work(self, event: Event, made: Sequence[Alert]) -> Sequence[Alert]:
        """The end of a turn, with what was done in it."""
        if not any(one.cls is AlertClass.TURN_END for one in made):
            return made
        done = self._work.summary(event)
        if not done:
            return made
        room = BODY_LIMIT - len(done) - 3
        return [
            replace(one, body=f"{sanitise(one.body, room)} · {done}") if one.cls is AlertClass.TURN_END else one
            for one in made
        ]

    def _wanted(self, event: Event, made: Sequence[Alert]) -> Sequence[Alert]:
        """Without what only interests a user who sits before the session; what guards did is always announced."""
        if self._settings.current.notify_headless or not self._sessions.is_headless(event.agent, event.session):
            return made
        wanted = [one for one in made if one.cls not in BEFORE_A_USER]
        ours = self._rules(event.project)
        return [unanswerable(event, one, ours) if one.cls is AlertClass.ASKED else one for one in wanted]

    def _with_place(self, event: Event, made: Sequence[Alert]) -> list[Alert]:
        """With the button that leads to the session; an agent with an address of its own is better reached there."""
        made = self._with_name(event, made)
        if not made or not event.session or event.url or not self._places.can_focus(event.agent, event.session):
            return list(made)
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

    def _announce(self, made: Sequence[Alert], record: str = "") -> None:
        due = tuple(alert for alert in made if alert.notify or alert.sound)
        if due:
            self._gate.announce(due, record)
            self._push.push(due, record)


def _let_through(record: Record) -> list[Mapping[str, object]]:
    return [hook for hook in record.hooks if hook.get("let_through")]


def _remember(memory: dict[str, None], id: str) -> None:
    memory[id] = None
    if len(memory) > MEMORY_LIMIT:
        memory.pop(next(iter(memory)))


def _with_go(alert: Alert) -> tuple[Button, ...]:
    """Behind the answers to a question: GNOME draws no more than three buttons."""
    return (*alert.buttons, Button.GO) if alert.is_question else (Button.GO, *alert.buttons)
