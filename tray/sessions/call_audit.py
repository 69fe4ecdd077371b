"""Finds tool calls that an agent ran unjudged: no event came before them, or the call was denied.

Another hook, a mod or a plugin of the agent can answer an event before our line does; then no guard runs. The
agent's event after the call still comes. Each such call is a row `unjudged` of the journal, and each session has one
critical notification that counts them.
"""

from __future__ import annotations

import contextlib
import logging
import re
import secrets
import time
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from tray.agents.relay_table import ANSWERED_ALONE
from tray.clock import Clock
from tray.edit.backups import CONNECTIONS
from tray.engine.gates import COMPACTED
from tray.errors import StoreError
from tray.event_loop import Timer
from tray.language import count, say
from tray.model.decision import Decision, Record, Verdict
from tray.model.event import PROBE_PREFIX, Event, EventKind
from tray.notify.service import AlertService
from tray.paths import Paths
from tray.sessions.unjudged_calls import RowView
from tray.store.journal import Journal
from tray.store.switch import Switch
from tray.text import sanitise

DELAY = 2.0  # seconds by which the row of a one-shot engine may be late
CALLS, SESSIONS = 2048, 256  # at least so many are remembered; the journal knows older calls
MARGIN = 0.05  # seconds by which the time of a file may be early
SHOWN = 2  # calls that a notification names
WHAT_LIMIT = 60  # characters of each
CALL_ID = re.compile(r"[\w.:/-]{1,200}")  # a call with another id is left out
EXIT_CODE = re.compile(r"(?i)exit code -?\d")  # a failure that begins so comes from a process
NO_CALL_RUNS = frozenset({EventKind.SESSION_START, EventKind.TURN_END, EventKind.TURN_FAILED})
GOES_ON = frozenset({COMPACTED, "clear"})  # a session "starts" so while its subagents may have calls under way
AFTER_KINDS = frozenset({EventKind.TOOL_AFTER, EventKind.TOOL_FAILED})

K = TypeVar("K")
V = TypeVar("V")
log = logging.getLogger(__name__)

SessionKey = tuple[str, str]  # agent and session
CallKey = tuple[str, str, str]  # and the agent's id of the call


class _Tally(msgspec.Struct, eq=False):
    """The unjudged calls found in one session."""

    calls: int = 0
    denied: int = 0
    shown: list[str] = []  # the first ones, as the notification shows them


class CallAudit:
    """All methods but `arrived` run on one thread, the work queue's, after the answers.

    Calls are known by the agent's own id, so agents whose ids are not known to stay the same are left out. The calls
    of a session count from the first event at which no call can be under way: the event of an earlier call may have
    come while no tray ran.
    """

    def __init__(
        self,
        paths: Paths,
        journal: Journal,
        switch: Switch,
        alerts: AlertService,
        *,
        timer: Timer,
        view: RowView,
        clock: Clock = time,
    ) -> None:
        self._entries, self._answered_alone = paths.state / CONNECTIONS, paths.state / ANSWERED_ALONE
        self._answered_alone_at = 0.0
        self._journal, self._switch, self._alerts = journal, switch, alerts
        self._timer, self._view, self._clock = timer, view, clock
        self._dropped, self._dropped_at = journal.dropped, 0.0
        self._judged: dict[CallKey, Verdict] = {}  # UNJUDGED: already reported
        self._since: dict[SessionKey, float] = {}  # since when the calls of a session count; 0 = not now
        self._tallies: dict[SessionKey, _Tally] = {}
        self.unseen = 0  # calls found since the last `acknowledge`

    def acknowledge(self) -> None:
        """Reset the count: the user has seen the calls."""
        self.unseen = 0

    def arrived(self, event: Event) -> None:
        """Note a call before its hooks are asked, in any thread: the agent may go on before they have answered."""
        if event.tool is not None:
            self._judged.setdefault((event.agent, event.session, event.tool.call), Verdict.ABSTAIN)

    def decided(self, event: Event, decision: Decision, record: Record) -> None:
        """Note the decision about a call before it ran, or examine a call that ran."""
        if event.test or event.answered or event.skip_reason is not None:
            return
        session, kind = (event.agent, event.session), event.kind
        switch = self._switch.current
        if event.problem or session not in self._since or kind in NO_CALL_RUNS or switch.pauses or not switch.enabled:
            self._note_session(session, event)
        if event.tool is None:
            return
        key = (*session, event.tool.call)
        if kind is EventKind.TOOL_BEFORE:
            self._judged[key] = decision.verdict
            if not event.tool.call:
                self._since[session] = 0.0
            if len(self._judged) > 2 * CALLS:
                _trim(self._judged, CALLS)
        elif kind in AFTER_KINDS and self._judged.get(key) in (None, Verdict.DENY):
            since = self._since.get(session)
            if since and _is_audited(event) and self._has_run(key, event):
                self._timer.after(DELAY, partial(self._examine, key, event, record, since))

    def _note_session(self, session: SessionKey, event: Event) -> None:
        """A prompt counts only as the first event of its session, because it may be typed in the middle of a turn."""
        if event.problem:  # its call and session are unknown
            self._since.update((one, 0.0) for one in tuple(self._since) if one[0] == event.agent)
            return
        known = self._since.get(session)
        is_first_prompt = known is None and event.kind is EventKind.PROMPT
        ends = event.kind in NO_CALL_RUNS and event.topic not in GOES_ON
        if (is_first_prompt or ends) and not event.subagent:
            self._since[session] = self._clock.time()
        elif known is None or self._switch.gate(self._clock.time(), event.session, event.agent) is not None:
            self._since[session] = 0.0
        if len(self._since) > 2 * SESSIONS:
            _trim(self._since, SESSIONS)

    def _has_run(self, key: CallKey, event: Event) -> bool:
        """True if the call ran unjudged as far as memory shows. A call that failed may never have begun."""
        verdict, tool = self._judged.get(key), event.tool
        if tool is None or verdict not in (None, Verdict.DENY):
            return False
        if event.kind is EventKind.TOOL_AFTER and not tool.failed:
            return True
        return verdict is None and isinstance(tool.output, str) and EXIT_CODE.match(tool.output) is not None

    def _examine(self, key: CallKey, event: Event, record: Record, since: float) -> None:
        """Look again, now also into the journal, and report a call that was not judged."""
        if not self._has_run(key, event) or self._last_gap() + MARGIN >= since:
            return
        if key not in self._judged and (verdict := self._read_verdict(key, record)) is not None:
            self._judged[key] = verdict
        if self._has_run(key, event):
            is_denied = key in self._judged
            self._judged[key] = Verdict.UNJUDGED
            self._report(record, is_denied=is_denied)

    def _read_verdict(self, key: CallKey, record: Record) -> Verdict | None:
        try:
            return self._journal.call_verdict(record.agent, record.session, key[2])
        except StoreError as error:
            log.warning("whether a call was judged cannot be read: %s", error)
            return Verdict.ABSTAIN

    def _last_gap(self) -> float:
        """Returns the last time at which an event may have come without a record of it.

        That is when entries were written into an agent's settings, a relay answered by its table, or rows could not
        be written.
        """
        if (dropped := self._journal.dropped) != self._dropped:
            self._dropped, self._dropped_at = dropped, self._clock.time()
        if at := _time(self._answered_alone):
            self._answered_alone_at = at
            with contextlib.suppress(OSError):
                self._answered_alone.unlink()
        return max(self._dropped_at, self._answered_alone_at, _time(self._entries))

    def _report(self, record: Record, *, is_denied: bool) -> None:
        reason = say("denied, and it ran all the same") if is_denied else say("it ran, and no hook saw it before")
        row = replace(
            record, id=secrets.token_hex(16), verdict=Verdict.UNJUDGED, reason=reason, hooks=(), rewrites=(),
            notes=(), adjustments=(), answer={}, alerted="", wait_ms=0.0, hooks_ms=0.0,
        )  # fmt: skip
        log.warning("%s: %s: %s", row.agent, row.tool, reason)
        self._journal.append(row, commit=True)
        tally = self._tallies.setdefault((record.agent, record.session), _Tally())
        if len(self._tallies) > 2 * SESSIONS:
            _trim(self._tallies, SESSIONS)
        tally.calls += 1
        tally.denied += is_denied
        if len(tally.shown) < SHOWN:
            is_shown = row.subject and self._alerts.shows_input
            tally.shown.append(f"`{sanitise(row.subject, WHAT_LIMIT)}`" if is_shown else row.tool)
        self.unseen += 1
        title = f"{row.agent} · {row.project}" if row.project else row.agent
        self._alerts.unjudged(title, _text(row.agent, tally), row)
        self._view.publish_offline([row])


def _is_audited(event: Event) -> bool:
    sender, tool = event.sender, event.tool
    if sender is None or not sender.keeps_call_ids or event.session.startswith(PROBE_PREFIX):
        return False
    return bool(event.session) and tool is not None and CALL_ID.fullmatch(tool.call) is not None


def _time(path: Path) -> float:
    """Returns the time of the last change; 0 if the file does not exist."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _text(agent: str, tally: _Tally) -> str:
    if tally.denied == tally.calls:
        what = count(
            "{agent} ran {n} command although a hook denied it",
            "{agent} ran {n} commands although a hook denied them",
            tally.calls,
            agent=agent,
        )
    else:
        what = count(
            "{agent} ran {n} command that no hook saw",
            "{agent} ran {n} commands that no hook saw",
            tally.calls,
            agent=agent,
        )
    more = " …" if tally.calls > len(tally.shown) else ""
    return f"{what}: {', '.join(tally.shown)}{more} · " + say("`hooktray doctor` shows what can be behind it")


def _trim(memory: dict[K, V], limit: int) -> None:
    """Remove all but the last entries. Another thread may add some."""
    for key in tuple(memory)[:-limit]:
        memory.pop(key, None)
