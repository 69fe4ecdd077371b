"""The end of an event: its answer in the agent's words, the row of it, and the news of it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from tray.dialects import Payload, neutral, render
from tray.engine.account import account, timed
from tray.engine.ears import OFTEN, After, Ears, Rows, at_once
from tray.engine.heard import heard
from tray.engine.loops import Loops
from tray.engine.scopes import Scopes
from tray.model.decision import SILENCE, Answer, Decision, Verdict
from tray.model.event import Event, Knock

log = logging.getLogger(__name__)


class Closing:
    """What every event comes to, whichever way it went."""

    def __init__(self, *, rows: Rows, ears: Ears, loops: Loops, scopes: Scopes, offline: bool) -> None:
        self._rows = rows
        self._ears = ears
        self._loops = loops
        self._scopes = scopes
        self._offline = offline

    def finish(
        self,
        event: Event,
        decision: Decision,
        started: float,
        after: After = at_once,
        told: Callable[[], Decision] | None = None,
    ) -> Answer:
        """Render, write down, tell the others; only an answer that refuses or rewrites waits for that (law 7).

        `told` has what is written down and told where that is more than the answer depends on.
        """
        answer = SILENCE if event.told else render(event, decision)
        at, ms = _times(started)
        commit = decision.verdict > Verdict.ALLOW or decision.stop is not None or decision.rewrite is not None
        self._loops.ended(event, decision)
        self._scopes.heard(event, decision)

        def tell() -> None:
            try:
                said = told() if told else decision
                record = account(event, said, answer, at=at, ms=ms, offline=self._offline)
                record = timed(record, said, started)
                self._rows.append(record, commit=commit)
                self._ears.decided(event, said, record)
            except Exception:  # our bookkeeping; the answer stands
                log.exception("%s of %s could not be written down", event.name, event.agent)

        if commit:
            tell()
        elif event.kind in OFTEN:
            after(tell)
        else:
            after(tell, soon=True)
        return answer

    def finish_fast(
        self,
        knock: Knock,
        payload: Payload | None,
        ledger: int,
        started: float,
        after: After,
        told: Callable[[Event], Decision],
    ) -> Answer:
        """The same on the fast path: what exactly the event was is worked out once the answer has left."""
        answer = neutral(knock.agent, knock.event, knock.body)
        at, ms = _times(started)

        def tell() -> None:
            try:
                event = heard(knock, ledger, payload)
                said = told(event)
                record = account(event, said, answer, at=at, ms=ms, offline=self._offline)
                self._rows.append(record, commit=False)
                self._ears.decided(event, said, record)
            except Exception:  # our bookkeeping; the answer stands
                log.exception("%s of %s could not be written down", knock.event, knock.agent)

        after(tell)
        return answer


def _times(started: float) -> tuple[float, float]:
    """When the event came in, in seconds of the clock, and how many milliseconds ago that is."""
    seconds = time.monotonic() - started
    return time.time() - seconds, seconds * 1000
