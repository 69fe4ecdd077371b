"""T22: the tray is killed in the middle of a call: the one-shot engine answers whole and in time."""

from __future__ import annotations

import itertools
import json
import signal
from collections.abc import Callable
from pathlib import Path

from desk import wait
from house import PRE_TOOL_USE, House

from torture.frame import Tally
from torture.trays import LONG, RELAYS, Asked, Tray

TITLE = "kill -9 of the tray in the middle of a call"
BUDGET = 20.0  # seconds that an answer may take here; Claude Code itself waits ten minutes
LARGE = 200_000  # characters of a reason that no socket holds at once
# The hook says no with a long reason. For a "hold" it leaves a sign and stays, and the sign, until it is let go.
GUARD = f"""
said=$(cat)
case $said in
*hold*) : >"$HOLD/$$"; until [ -e "$HOLD/let-go" ]; do sleep 0.05; done; rm "$HOLD/$$";;
esac
printf '{{"decision": "block", "reason": "'; head -c {LARGE} /dev/zero | tr '\\0' n; printf '"}}'
"""
Kill = Callable[[Tray, list[Asked]], object]


def torture(tally: Tally) -> None:
    hold = tally.folder / "hold"
    hold.mkdir()
    guard = GUARD.replace("$HOLD", str(hold))
    tray = Tray(tally.folder / "t", lambda house: _fill(house, guard))
    killer = Killer(tally, tray, hold)
    try:
        for _ in range(tally.many(1, 100)):
            for point in list(killer.points)[: tally.many(4, 5)]:  # a random moment shows nothing in few rounds
                killer.round(point)
        killer.rows()
        killer.other_policy()
        tally.control("a relay that takes what it has got for an answer", not _whole(killer.half))
    finally:
        tray.stop()


def _fill(house: House, guard: str) -> None:
    house.hook("guard", on="tool_before", tool="Bash", script=guard, timeout=90)


class Killer:
    """Shoots the tray at one of five points, with a call of each relay on its way, and looks at what they say."""

    def __init__(self, tally: Tally, tray: Tray, hold: Path) -> None:
        self._tally, self._tray, self._hold = tally, tray, hold
        self._numbers = itertools.count()
        self._sessions: list[str] = []
        self._slowest = 0.0
        self.half = b""
        self.points: dict[str, tuple[str, Kill]] = {
            "before it accepts": ("ls", self._before_accept),
            "while the payload is sent": ("x" * 3_000_000, self._before_accept),
            "while the hook runs": ("hold", self._while_it_runs),
            "once the row is written": ("ls", self._mid_reply),
            "at any moment": ("ls", self._at_any_moment),
        }

    def round(self, point: str) -> None:
        command, kill = self.points[point]
        let_go = self._hold / "let-go"
        wait(lambda: set(self._hold.iterdir()) <= {let_go}, LONG, "the hooks of the round before have gone")
        let_go.unlink(missing_ok=True)
        calls = {}
        stopped = kill == self._before_accept
        if stopped:
            self._tray.signal(signal.SIGSTOP)
        for name, relay in RELAYS.items():
            calls[name] = self._call(relay, command)
        kill(self._tray, list(calls.values()))
        for name, call in calls.items():
            self._judge(f"{point}, {name}", call)
        self._tray.start()

    def _call(self, relay: list[str], command: str) -> Asked:
        session = f"s{next(self._numbers)}"
        self._sessions.append(session)
        payload = PRE_TOOL_USE | {"session_id": session, "tool_input": {"command": command}}
        return Asked(self._tray, relay, "PreToolUse", json.dumps(payload).encode())

    def _judge(self, what: str, call: Asked) -> None:
        code, said = call.answer()
        self._tally.attack(f"{what}: exit {code}, {len(said)} bytes", code == 0 and _whole(said))
        self._tally.attack(f"{what}: {call.seconds:.1f} s", call.seconds < BUDGET, faults=0)
        self._slowest = max(self._slowest, call.seconds)
        self.half = said[: len(said) // 2]

    def rows(self) -> None:
        """Every call has its row, and once the tray is back nothing of `once` is left unread."""
        rows = self._tray.rows()
        offline = [row["session"] for row in rows if row["offline"]]
        for session in self._sessions:
            self._tally.keep(f"row of {session}", any(row["session"] == session for row in rows))
        self._tally.attack(f"{len(offline)} rows by the one-shot engine", len(offline) > 0, faults=0)
        calls = len(self._sessions)
        said = f"{calls} calls, {len(offline)} decided by the one-shot engine, the slowest {self._slowest:.1f} s"
        self._tally.measured.append(said)

    def other_policy(self) -> None:
        """`without_tray: allow`: silence, at once, whatever the hook would have said."""
        self._tray.kill()
        self._tray.paths.relay_conf.write_text("without_tray=allow\n")
        for name, relay in RELAYS.items():
            code, said = self._call(relay, "ls").answer()
            self._tally.attack(f"without_tray: allow, {name}: exit {code}, {said[:80]!r}", (code, said) == (0, b""))

    # ---- the five points

    def _before_accept(self, tray: Tray, calls: list[Asked]) -> None:
        """The tray was stopped beforehand: they connect, or have sent as much as the socket takes."""
        tray.kill()

    def _while_it_runs(self, tray: Tray, calls: list[Asked]) -> None:
        wait(lambda: len(list(self._hold.iterdir())) >= len(calls), LONG, "the hooks run")
        tray.kill()
        (self._hold / "let-go").touch()

    def _mid_reply(self, tray: Tray, calls: list[Asked]) -> None:
        """The relays are stopped, so that the tray stays in the middle of its answer."""
        for call in calls:
            call.process.send_signal(signal.SIGSTOP)
        wait(lambda: self._written() or self._unasked(calls), LONG, "the rows are there")
        tray.kill()
        for call in calls:
            call.process.send_signal(signal.SIGCONT)

    def _at_any_moment(self, tray: Tray, calls: list[Asked]) -> None:
        tray.kill()

    def _written(self) -> bool:
        there = {row["session"] for row in self._tray.rows("session")}
        return there.issuperset(self._sessions[-len(RELAYS) :])

    def _unasked(self, calls: list[Asked]) -> bool:
        """A relay that was stopped too early is let on for a moment: it has not sent its frame yet."""
        for call in calls:
            call.process.send_signal(signal.SIGCONT)
            call.process.send_signal(signal.SIGSTOP)
        return False


def _whole(said: bytes) -> bool:
    """The refusal, with every letter of its reason."""
    try:
        specific = json.loads(said)["hookSpecificOutput"]
    except (ValueError, KeyError):
        return False
    return specific["permissionDecision"] == "deny" and str(specific["permissionDecisionReason"]).count("n") >= LARGE
