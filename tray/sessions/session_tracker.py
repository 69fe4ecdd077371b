"""The sessions of all agents as they are now: what each does, what people call it, and where it runs."""

from __future__ import annotations

import contextlib
import logging
import os
import time
from functools import lru_cache
from operator import attrgetter
from pathlib import Path
from typing import Protocol

from msgspec.structs import replace

from tray.clock import Clock
from tray.engine.ports import FREQUENT_KINDS, RecordSink
from tray.engine.record import make_record
from tray.engine.session_states import state_after
from tray.engine.turns import is_usage_limit, with_reset
from tray.errors import HooktrayError, StoreError
from tray.execution.known_agents import KnownAgents
from tray.execution.process_place import command_of, is_alive, processes_from
from tray.files import file_head
from tray.language import say
from tray.model.decision import EMPTY_ANSWER, Decision, Record, Verdict
from tray.model.event import Event, EventKind
from tray.model.place import Place, read_place
from tray.model.session import Session, SessionState, by_urgency
from tray.recent import Recent
from tray.store.sessions import SessionRows
from tray.text import first_line, redact, sanitise

KEPT_ENDED = 3600.0  # seconds that a session is shown after its end
KEPT_SILENT = 86400.0  # seconds without a change of its state, with no process that shows that it lives
MAX_SESSIONS = 256
NAME_LIMIT = 60  # characters
WORDS_LIMIT = 100  # characters of an agent's text about its usage limit
ID_LIMIT = 200  # characters, as in the journal
HEAD_LIMIT = 4096  # bytes of a repository's HEAD
BRANCH = "ref: refs/heads/"
# Their title is that of the message, not of the session.
OWN_TITLES = frozenset({EventKind.ELICITATION, EventKind.NOTIFICATION})

log = logging.getLogger(__name__)

Key = tuple[str, str]


class SessionView(Protocol):
    """Icon and menu, which show how many sessions wait."""

    def show(self) -> None: ...


class SessionTracker:
    """Used by one thread, but for `sessions` and `find`.

    `view` is set before the queue runs anything. It is drawn when the number of waiting sessions changes, as the next
    refresh may be far off. `journal` gets a row about an event whose environment names a place in an unknown form.
    """

    view: SessionView

    def __init__(self, rows: SessionRows, agents: KnownAgents, journal: RecordSink, *, clock: Clock = time) -> None:
        self._rows = rows
        self._agents = agents
        self._journal = journal
        self._clock = clock
        self._sessions: dict[Key, Session] = {}
        self._parents: dict[Key, int] = {}  # of the relays from which the places were read
        self._headless: set[Key] = set()  # before these no user sits
        self._arrived: Recent[str, None] = Recent(MAX_SESSIONS)  # events that were counted on arrival

    def load(self) -> None:
        """What an earlier tray knew. Sessions whose agents have ended since are done."""
        with contextlib.suppress(StoreError):
            self._sessions = {(one.agent, one.session): one for one in self._rows.all()}
        for one in tuple(self._sessions.values()):
            if not one.ended and one.place.processes and not is_alive(one.place.processes[0]):
                has_failed = one.state is SessionState.FAILED
                self._put(replace(one, ended=True, state=one.state if has_failed else SessionState.DONE))
        self._prune()

    @property
    def sessions(self) -> tuple[Session, ...]:
        """All that are shown: what waits for its user first."""
        return tuple(sorted(self._sessions.copy().values(), key=by_urgency))

    def get(self, agent: str, session: str) -> Session | None:
        return self._sessions.get((agent, session_id(session)))

    def name(self, agent: str, session: str) -> str:
        """By which people know it; "" when nothing names it."""
        found = self.get(agent, session)
        return found.name if found else ""

    def is_headless(self, agent: str, session: str) -> bool:
        """Whether it has no user who waits for its end."""
        return (agent, session_id(session)) in self._headless

    def find(self, words: str) -> Session:
        """The session whose id begins with this, or that waits the longest for "". Raises HooktrayError."""
        found = [one for one in self.sessions if one.session.startswith(words)]
        exact = [one for one in found if one.session == words]
        if len(exact) == 1 or (found and not words) or len(found) == 1:
            return (exact or found)[0]
        if not found:
            why = say("no session begins with `{name}`", name=sanitise(words, 60)) if words else say("no session yet")
            raise HooktrayError(why, hint=say("`hooktray sessions` shows all"))
        names = ", ".join(one.session for one in found[:5])
        raise HooktrayError(
            say("`{name}` is more than one session", name=sanitise(words, 60)),
            hint=say("say which: {names}", names=names),
        )

    def arrived(self, event: Event) -> None:
        """An event that is answered already: its hooks may run for long."""
        self._arrived[event.id] = None
        self._observe(event, Decision())

    def decided(self, event: Event, decision: Decision) -> None:
        """Most are a step of a session that works: they change nothing unless they ask or come from elsewhere."""
        if event.id in self._arrived:
            del self._arrived[event.id]
            return
        key = (event.agent, session_id(event.session))
        known = self._sessions.get(key)
        is_step = event.kind in FREQUENT_KINDS and decision.verdict is not Verdict.ASK and not event.title
        is_there = not event.parent or event.parent == self._parents.get(key)
        if known is None or known.state is not SessionState.WORKING or known.ended or not is_step or not is_there:
            self._observe(event, decision)

    def asked(self, event: Event) -> None:
        """A question about this event is open on the desktop."""
        known = self._sessions.get((event.agent, session_id(event.session)))
        if known is None:
            self._observe(event, Decision(verdict=Verdict.ASK))
        elif known.state is not SessionState.WAITING:
            self._put(replace(known, state=SessionState.WAITING, since=self._clock.time()))

    def _observe(self, event: Event, decision: Decision) -> None:
        if not event.session or event.test or event.depth or event.skip_reason is not None:
            return
        key = (event.agent, session_id(event.session))
        known = self._sessions.get(key)
        after = self._after(known, event, decision) if known else self._first(key, event, decision)
        if event.parent and self._parents.get(key) != event.parent:
            after = replace(after, place=self._place(key, event, after.place))
        if after is not known and after != known:
            self._put(after)

    def _first(self, key: Key, event: Event, decision: Decision) -> Session:
        state = self._state(key, event, decision, SessionState.DONE)
        limit = _usage_limit(event, state)
        begun = Session(agent=key[0], session=key[1], state=state, since=self._clock.time(), usage_limit=limit)
        return _named(begun, event)

    def _after(self, before: Session, event: Event, decision: Decision) -> Session:
        """The same object where nothing changed, which is so for most events."""
        key, ended = (before.agent, before.session), event.kind is EventKind.SESSION_END
        ended = ended or (before.ended and event.kind is EventKind.OTHER)  # some send an event after the end
        state = self._state(key, event, decision, before.state)
        after, limit = before, _usage_limit(event, state, before.usage_limit)
        if state is not before.state or ended != before.ended or limit != before.usage_limit:
            since = before.since if state is before.state else self._clock.time()
            after = replace(before, state=state, since=since, ended=ended, usage_limit=limit)
        return _named(after, event) if event.kind is EventKind.PROMPT or event.title else after

    def _state(self, key: Key, event: Event, decision: Decision, before: SessionState) -> SessionState:
        """A session without a user waits for none: its agent answers its own questions."""
        state = state_after(event, decision, before)
        is_unasked = state is SessionState.WAITING and key in self._headless
        return SessionState.WORKING if is_unasked else state

    def _place(self, key: Key, event: Event, before: Place) -> Place:
        """Read anew when another process sends: a session can be resumed somewhere else."""
        self._parents[key] = event.parent
        process = self._agents.process_behind(event.parent)
        self._headless.discard(key)
        if event.sender and event.sender.is_headless(event.environment, command_of(process) if process else ()):
            self._headless.add(key)
        if before.processes and before.processes[0].pid == process:
            return before
        place, dropped = read_place(event.environment, processes_from(process) if process else ())
        if dropped:
            self._journal.append(dropped_place(event, dropped), commit=False)
        return place

    def _put(self, session: Session) -> None:
        before = self._sessions.get((session.agent, session.session))
        self._sessions[session.agent, session.session] = session
        if len(self._sessions) > MAX_SESSIONS or session.ended:
            self._prune()
        try:
            self._rows.put(session)
        except StoreError as error:  # the tray goes on with what it has in memory
            log.warning("a session could not be written down: %s", error.message)
        if _waits(before) is not _waits(session):
            self.view.show()

    def _prune(self) -> None:
        """Forget sessions that ended, and those without an event for long."""
        now = self._clock.time()
        old = [
            one
            for one in self._sessions.values()
            if now - one.since > (KEPT_ENDED if one.ended else KEPT_SILENT)
            and (one.ended or not one.place.processes or not is_alive(one.place.processes[0]))
        ]
        kept = sorted(self._sessions.values(), key=attrgetter("since"))
        old += [one for one in kept[: max(len(kept) - MAX_SESSIONS, 0)] if one not in old]
        for one in old:
            self._sessions.pop((one.agent, one.session), None)
            self._parents.pop((one.agent, one.session), None)
            self._headless.discard((one.agent, one.session))
        if old:
            with contextlib.suppress(StoreError):
                self._rows.remove(tuple(old))


def _waits(session: Session | None) -> bool:
    return session is not None and session.state is SessionState.WAITING


def dropped_place(event: Event, names: tuple[str, ...]) -> Record:
    """The journal's row about variables that name a place in a form that is not understood."""
    text = f"{', '.join(names)}: not of the form that names a place, so it is not used"
    row = replace(event, id=os.urandom(16).hex(), kind=EventKind.OTHER, body=b"")
    decision = Decision(adjustments=(text,))
    return make_record(row, decision, EMPTY_ANSWER, at=time.time(), ms=0.0, offline=False)


@lru_cache(MAX_SESSIONS)  # it is asked of every event
def session_id(text: str) -> str:
    """The agent's name for it, as the disk and the screen may have it."""
    return sanitise(redact(text[: 4 * ID_LIMIT]).text, ID_LIMIT)


def _usage_limit(event: Event, state: SessionState, before: str = "") -> str:
    """The limit that holds its session up: until it goes on."""
    if state is not SessionState.FAILED:
        return ""
    if event.kind is not EventKind.TURN_FAILED or event.subagent:
        return before
    if not is_usage_limit(event):
        return ""
    words = first_line(redact(with_reset(event.message)).text, WORDS_LIMIT)
    return sanitise(words, WORDS_LIMIT) or say("Usage limit reached")


def _named(session: Session, event: Event) -> Session:
    """With what this event has for people: the agent's title, else the first prompt; and the project."""
    project = session.project or sanitise(redact(event.project).text, NAME_LIMIT)
    title = "" if event.kind in OWN_TITLES else sanitise(redact(event.title).text, NAME_LIMIT)
    if title:
        return replace(session, project=project, name=title)
    is_first = event.kind is EventKind.PROMPT and event.prompt and not session.name
    return replace(session, project=project, name=_first_words(event) if is_first else session.name)


def _first_words(event: Event) -> str:
    words = first_line(redact(event.prompt[: 8 * NAME_LIMIT]).text, NAME_LIMIT)
    return sanitise(" · ".join(part for part in (git_branch(event.cwd), words) if part), NAME_LIMIT)


def git_branch(folder: str) -> str:
    """The branch that is checked out in the repository above this folder; "" for none."""
    try:
        place = Path(folder)
        if not folder or not place.is_absolute():
            return ""
        found = next((one / ".git" for one in (place, *place.parents) if (one / ".git").exists()), None)
        if found is None:
            return ""
        if found.is_file():  # of a worktree: it names the folder
            found = found.parent / _head(found).removeprefix("gitdir:").strip()
        head = _head(found / "HEAD")
    except (OSError, ValueError):
        return ""
    return sanitise(head.removeprefix(BRANCH).strip(), NAME_LIMIT) if head.startswith(BRANCH) else ""


def _head(path: Path) -> str:
    return file_head(path, HEAD_LIMIT).decode("utf-8", "replace")
