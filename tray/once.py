"""The one-shot engine: answers one event when the tray is not there, by the same gates and the same ledger.

To the relay (`--framed`) it answers in one frame, so that half an answer or a stray word is never taken for one.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import signal
import sqlite3
import stat
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from tray import __version__
from tray.agents import protocol, wire
from tray.agents.protocol import spec
from tray.agents.recognition import neutral, recognise
from tray.engine.guards_in_force import is_in_force, strict, table_guards
from tray.engine.merge import merge
from tray.engine.own_answers import LostApprovals
from tray.engine.pipeline import Engine
from tray.engine.ports import EngineOptions, Execution
from tray.engine.stores import Stores, open_stores
from tray.errors import HooktrayError
from tray.execution.ancestry import ancestors
from tray.ipc.frames import encode_answer
from tray.language import say
from tray.model.decision import Answer, Decision, Record
from tray.model.event import PAYLOAD_LIMIT, Event, EventKind, RelayRequest, probe_answer
from tray.model.hook import GATING_KINDS, Failure, Guard
from tray.paths import Paths, locate
from tray.store.db import OFFLINE_BUSY_TIMEOUT, Database, LostError, open_db
from tray.store.journal import OFFLINE_MARK, Journal
from tray.store.lost_guards import LostGuards
from tray.store.writer import Committed
from tray.threads import run_logged

if TYPE_CHECKING:
    from types import FrameType

    from tray.settings import Llm


PATH_OPTIONS = ("--config", "--state", "--logs")
NO_TRAY = 0.2  # seconds: a relay that lost more time has reached a tray, which starts or hangs
PRESENT_KINDS = frozenset({EventKind.PROMPT, EventKind.SESSION_START})  # the user looks at the agent then
NOTICE, NOTICE_INTERVAL = "notice-without-tray", 86400.0  # a file in the state folder; seconds
LOG_LIMIT = 4 * 1024 * 1024  # bytes; the tray, which would begin a new file, is not there

log = logging.getLogger(__name__)


class OneShotArguments(msgspec.Struct, frozen=True, kw_only=True):
    """`once [PATHS] [--id ID] [--spent MS] [--framed] AGENT [EVENT]`, as relay.conf and the relay write it.

    PATHS: `--home DIR`, or what relay.conf has: `--config FILE --state DIR --logs DIR`.
    """

    agent: str
    event: str
    id: str
    elapsed: float  # seconds that the relay lost before it came here
    paths: Paths
    framed: bool  # the answer is for the relay, not for the agent itself


class RelayPipe:
    """The pipe to the relay: it polls as hung up once the agent has ended that."""

    def fileno(self) -> int:
        return 1


class LogFile:
    """Appends to the tray's log file while that is small; the agent's screen shows none of it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, text: str) -> None:
        with contextlib.suppress(OSError), self._path.open("a", encoding="utf-8", errors="replace") as file:
            if file.tell() < LOG_LIMIT:
                file.write(text)


class OneShotListener:
    """Keeps what is left to do once the answer is out.

    It announces nothing. A file that it leaves after the rows makes a running tray read them
    (sessions/offline_rows.py).
    """

    def __init__(self, paths: Paths) -> None:
        self.paths = paths
        self.deferred: list[Callable[[], object]] = []
        self.rows: list[Record] = []
        self.journal: Journal | None = None
        # Its reader stays open: each close would write SQLite's log into the database.
        self.database: Database | None = None

    def append(self, record: Record, *, commit: bool) -> object:
        """A blocking or rewriting answer waits a moment for its row (law 7); other rows come after the answer."""
        if self.journal is None:
            return None
        if not commit or self.journal.append_now(record, wait=0.05) is not Committed.DONE:
            self.rows.append(record)
        return None

    def spawn(self, work: Callable[[], object]) -> bool:
        self.deferred.append(work)
        return True

    def write_rows(self) -> None:
        while self.rows and self.journal:
            if self.journal.append_now(self.rows.pop(0), wait=1.0) is not Committed.DONE:
                self.journal.count_dropped()
        if self.journal and (self.paths.socket.exists() or self.paths.address.exists()):
            with contextlib.suppress(OSError):  # a full disk: the next start of the tray reads the rows
                (self.paths.state / OFFLINE_MARK).touch()

    def open_reader(self, database: Database) -> None:
        self.database = database
        with contextlib.suppress(sqlite3.Error):  # the next read raises it again
            database.open_reader()

    def release(self) -> None:
        """Before a fork: a child has the connections of its parent, and none of their locks."""
        if self.database is not None:
            self.database.close_reader()

    def run_deferred(self) -> None:
        """Run the hooks that the agent does not wait for, then write their rows."""
        run_logged((*self.deferred, self.write_rows), "what the agent does not wait for failed")

    def arrived(self, event: Event, *, answered: bool) -> None:
        """Ignored: only the tray has alerts."""

    def decided(self, event: Event, decision: Decision, record: Record) -> None:
        """Ignored: only the tray has alerts."""

    def status_shown(self, turn: str, text: str) -> None:
        """Ignored: only the tray has alerts."""

    def status_hidden(self, turn: str) -> None:
        """Ignored: only the tray has alerts."""


class OneShotOptions(msgspec.Struct, frozen=True):
    """What differs without a tray: the model's key is in the agent's environment, and the user gets a note."""

    call: OneShotArguments
    stores: Stores
    environment: Mapping[str, str]
    exceptions: tuple[str, ...] = ()

    def llm(self) -> Llm | None:
        """The model that the user confirmed, with the key that its setting names, and nothing else of the agent's."""
        from tray.engine.catalogs import confirmed_llm  # YAML, which most events do not need

        llm = confirmed_llm(self.call.paths, self.stores)
        if llm is not None and llm.api_key_env in self.environment:
            os.environ[llm.api_key_env] = self.environment[llm.api_key_env]
        return llm

    def note(self, event: Event) -> str:
        """Once a day the user reads at the agent that every event takes longer without the tray."""
        call = self.call
        if event.kind not in PRESENT_KINDS or call.elapsed > NO_TRAY or not self.stores.switch.state().enabled:
            return ""
        notice, now = call.paths.state / NOTICE, time.time()
        try:
            if notice.exists() and 0 <= now - notice.stat().st_mtime < NOTICE_INTERVAL:
                return ""
            notice.touch()
        except OSError:
            return ""  # what cannot be remembered would be shown at every event
        return say(
            "Hooktray: the tray is not running, so each event takes longer. Start it with `hooktray run`;"
            " `hooktray autostart on` has the system start it"
        )


def main(argv: Sequence[str], environment: Mapping[str, str]) -> int:
    """The answer, and its exit code unless it is framed. Our own failure is the neutral answer (law 11).

    But a relay that asks about a tool call gets no answer then, and exit code 1: the guards in its table decide.
    `environment` is the agent's, which hooks get; our own process has little of it.
    """
    call, body = parse(argv), b""
    listener = OneShotListener(call.paths)
    signal.signal(signal.SIGTERM, _end)
    try:
        _log_to(call.paths.logs / "hooktray.log")
        body = sys.stdin.buffer.read()
        answer = _answer(call, body, environment, listener)
    except SystemExit:  # ended, maybe while a hook was being started, which is not registered anywhere yet
        _end_children()
        raise
    except Exception as error:  # the last place that can answer
        if isinstance(error, HooktrayError):  # no database yet, not Hooktray's, or a new one
            log.warning("%r %r: %s", call.agent, call.event, error.message)
        else:
            log.exception("%r %r", call.agent, call.event)
        if _may_be_guarded(call, body, environment):
            return 1
        answer = neutral(call.agent, call.event, body, environment)
    with contextlib.suppress(OSError):  # the agent has closed its end
        _write(answer, framed=call.framed)
    listener.write_rows()
    listener.release()
    if listener.deferred:
        _detach(listener)
    return 0 if call.framed else answer.code


def _end(number: int, frame: FrameType | None) -> None:
    """End hooks that run, too."""
    sys.exit(128 + number)


def _may_be_guarded(call: OneShotArguments, body: bytes, environment: Mapping[str, str]) -> bool:
    """Whether a relay asks about a tool call of an agent that can be guarded."""
    if not call.framed:
        return False
    try:
        caller = recognise(call.agent, call.event, wire.mapping(body), environment)
    except ValueError:
        caller = None
    if caller is None:
        return spec(call.agent, call.event).kind in GATING_KINDS
    return caller.skip_reason is None and spec(caller.agent, caller.event).kind in GATING_KINDS


def parse(argv: Sequence[str]) -> OneShotArguments:
    words: list[str] = []
    options, framed = dict.fromkeys(("--home", *PATH_OPTIONS, "--id", "--spent"), ""), False
    rest = iter(argv)
    for word in rest:
        if word in options:
            options[word] = next(rest, "")
        elif word == "--framed" and not words:
            framed = True
        else:
            words.append(word)
    agent, event = (*words, "", "")[:2]
    return OneShotArguments(
        agent=agent,
        event=event,
        id=options["--id"] or os.urandom(16).hex(),
        elapsed=_seconds(options["--spent"]),
        paths=_paths(options),
        framed=framed,
    )


def _seconds(milliseconds: str) -> float:
    return int(milliseconds) / 1000 if len(milliseconds) < 10 and milliseconds.isdecimal() else 0.0


def _paths(options: Mapping[str, str]) -> Paths:
    """Never by the agent's environment where relay.conf, which the tray wrote, has it."""
    given = {word.removeprefix("--"): Path(options[word]) for word in PATH_OPTIONS if options[word]}
    return Paths(**given) if len(given) == len(PATH_OPTIONS) else replace(locate(options["--home"] or None), **given)


def _answer(call: OneShotArguments, body: bytes, environment: Mapping[str, str], listener: OneShotListener) -> Answer:
    if probed := probe_answer(body):  # whatever the approvals are like: it asks whether the line gets here
        return Answer(stdout=probed)
    started = time.monotonic()
    paths = call.paths
    try:
        database = open_db(paths.database, create=False, busy=OFFLINE_BUSY_TIMEOUT)
        listener.open_reader(database)
        stores = open_stores(paths, database=database, offline=True)
        _require_approvals(paths, stores)
    except LostError as error:
        refusal = _deny_lost(call, body, environment)
        if refusal is None:
            raise
        log.warning("%r %r: %s", call.agent, call.event, error.message)
        return refusal
    committed = stores.journal.answer_of(call.id, digest=hashlib.sha256(body).hexdigest())
    if committed is not None:
        return committed  # the tray decided, wrote it down, and died before it could answer
    listener.journal = stores.journal
    own = OneShotOptions(call, stores, environment)
    options = EngineOptions(settings=own, offline=True, lost=LostApprovals(_lost_guards(stores)), notes=own)
    engine = Engine(stores, listener, listener, options, records=listener)
    begun = engine.begin(_relay_request(call, body, environment), elapsed=call.elapsed + time.monotonic() - started)
    answer = begun.run(_relay_pipe(call)) if isinstance(begun, Execution) else begun
    if answer is not None and not isinstance(answer, Answer):
        answer = answer.answer()  # without the tray no person can be asked
    assert answer is not None  # only a tray that quits gives no answer
    return answer


def _require_approvals(paths: Paths, stores: Stores) -> None:
    """Raises LostError if the relay's table has guards but no approval counts: the database was replaced."""
    if not stores.ledger.state.approved and table_guards(paths):
        raise LostError(
            f"{paths.database}: has no approvals, but {paths.relay_table} has guards",
            hint="start the tray, `hooktray run`: it writes the table again",
        )


def _lost_guards(stores: Stores) -> Sequence[Guard]:
    """Returns what lost approvals guard, except for hooks that were approved since."""
    guarded = LostGuards(stores.database).load()
    return tuple(guard for guard in guarded if not is_in_force(guard, stores.ledger.state))


def _deny_lost(call: OneShotArguments, body: bytes, environment: Mapping[str, str]) -> Answer | None:
    """Returns the denial of a guarded call if the agent cannot ask, else None: the relay answers it."""
    event = protocol.parse(_relay_request(call, body, environment))
    lets_go_on = (guard for guard in table_guards(call.paths) if guard.failure is Failure.ALLOW)
    outcome = LostApprovals(strict(lets_go_on)).judge(event)
    return protocol.render(event, protocol.fit(event, merge([outcome]))) if outcome else None


def _relay_pipe(call: OneShotArguments) -> RelayPipe | None:
    """The pipe whose end cancels the hooks. Windows cannot wait for a pipe; without `--framed` no relay waits."""
    if sys.platform == "win32" or not call.framed:
        return None
    return RelayPipe() if stat.S_ISFIFO(os.fstat(1).st_mode) else None


def _relay_request(call: OneShotArguments, body: bytes, environment: Mapping[str, str]) -> RelayRequest:
    relay = os.getppid()
    parent = next(iter(ancestors(relay)), None)
    size = len(body)
    problem = f"payload of {size} bytes is over the limit of {PAYLOAD_LIMIT}" if size > PAYLOAD_LIMIT else ""
    return RelayRequest(
        agent=call.agent,
        event=call.event,
        id=call.id,
        body=b"" if problem else body,
        cwd=_cwd(),
        environment=environment,
        pid=relay,
        parent=parent.pid if parent else 0,
        problem=problem,
    )


def _cwd() -> str:
    try:
        return str(Path.cwd())
    except OSError:
        return ""  # the folder is gone


def _log_to(path: Path) -> None:
    logging.raiseExceptions = False  # a line that cannot be written is not worth a traceback on the agent's screen
    handler = logging.StreamHandler(LogFile(path))
    handler.setFormatter(logging.Formatter(f"%(asctime)s %(levelname)s hooktray {__version__} once: %(message)s"))
    logging.root.addHandler(handler)


def _write(answer: Answer, *, framed: bool) -> None:
    if framed:
        answer = Answer(stdout=encode_answer(answer))
    for stream, content in ((sys.stdout, answer.stdout), (sys.stderr, answer.stderr)):
        stream.buffer.write(content)
        stream.flush()


def _end_children() -> None:
    import psutil

    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            child.kill()


def _detach(listener: OneShotListener) -> None:
    """The agent has its answer: let go of it, and run the other hooks in a process of our own."""
    if sys.platform == "win32":
        listener.run_deferred()  # no fork there: the agent's own time limit holds for these hooks
        return
    if os.fork():
        return
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    try:
        listener.run_deferred()
    finally:
        os._exit(0)
