"""The end of an event: its answer in the agent's words, the row of it, and the news of it."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from tray.dialects import Payload, neutral, render
from tray.dialects.callers import Caller
from tray.engine.account import account, timed
from tray.engine.ears import OFTEN, After, Ears, Rows, at_once
from tray.engine.heard import heard, of_foreign
from tray.engine.loops import Loops
from tray.engine.scopes import Scopes
from tray.model.decision import NOTHING, SILENCE, Answer, Decision, Outcome, Verdict
from tray.model.event import Event, Knock

HANDED_BACK = "the tray quit before the hooks had ended and gave no answer: the relay asks the one-shot engine"
GIVEN_UP = "the agent stopped waiting while the tray quit, and got no answer"

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
        told: Callable[[Event], Decision] | None = None,
    ) -> Answer:
        """Render, write down, tell the others; only an answer that refuses or rewrites waits for that (law 7).

        `told` has what is written down and told where that is more than the answer depends on.
        """
        answer = SILENCE if event.told else render(event, decision)
        commit = decision.verdict > Verdict.ALLOW or decision.stop is not None or decision.rewrite is not None
        what = f"{event.name} of {event.agent}"
        tell = self._telling(what, lambda: event, told or (lambda _: decision), answer, started, commit=commit)
        self._loops.ended(event, decision)
        self._scopes.heard(event, decision)
        if commit:
            tell()
        elif event.kind in OFTEN:
            after(tell)
        else:
            after(tell, soon=True)
        return answer

    def hand_back(self, event: Event, outcomes: Sequence[Outcome], started: float, *, is_gone: bool) -> None:
        """Write down that the tray gave no answer, because it quits or because the agent stopped waiting meanwhile.

        The one-shot engine writes its answer under the event's own id.
        """
        reason = GIVEN_UP if is_gone else HANDED_BACK
        row = replace(event, id=os.urandom(16).hex())
        remark = f"the row of its answer, if there is one, begins with {event.id[:8]}"
        decision = Decision(reason=reason, outcomes=tuple(outcomes), remarks=(remark,))
        seconds = time.monotonic() - started
        try:
            record = account(
                row, decision, SILENCE, at=time.time() - seconds, ms=seconds * 1000, offline=self._offline
            )
            record = replace(record, reason=reason, answer={})
            self._rows.append(record, commit=False)
        except Exception:  # our bookkeeping; the relay falls back in any case
            log.exception("%s of %s could not be written down", event.name, event.agent)

    def finish_fast(
        self,
        knock: Knock,
        payload: Payload | None,
        ledger: int,
        started: float,
        after: After,
        told: Callable[[Event], Decision] | None,
    ) -> Answer:
        """The same on the fast path: what exactly the event was is worked out once the answer has left."""
        answer = neutral(knock.agent, knock.event, knock.body)
        what = f"{knock.event} of {knock.agent}"
        event = partial(heard, knock, ledger, payload)
        after(self._telling(what, event, told or (lambda _: NOTHING), answer, started, commit=False))
        return answer

    def finish_unasked(
        self,
        knock: Knock,
        caller: Caller,
        payload: Payload | None,
        ledger: int,
        started: float,
        after: After,
    ) -> Answer:
        """Give an agent whose protocol is not here its own neutral answer, and write the reason into the row."""
        event = of_foreign(knock, caller, ledger, payload or {})
        decision = Decision(reason=caller.unasked or "")
        what = f"{event.name} of {event.agent}"
        after(self._telling(what, lambda: event, lambda _: decision, caller.answer, started, commit=False), soon=True)
        return caller.answer

    def _telling(
        self,
        what: str,
        event: Callable[[], Event],
        told: Callable[[Event], Decision],
        answer: Answer,
        started: float,
        *,
        commit: bool,
    ) -> Callable[[], None]:
        """What writes the event down and tells the others, whenever that is done; its times are those of now."""
        seconds = time.monotonic() - started
        at, ms = time.time() - seconds, seconds * 1000

        def tell() -> None:
            try:
                one = event()
                said = told(one)
                record = account(one, said, answer, at=at, ms=ms, offline=self._offline)
                record = timed(record, said, started)
                self._rows.append(record, commit=commit)
                self._ears.decided(one, said, record)
            except Exception:  # our bookkeeping; the answer stands
                log.exception("%s could not be written down", what)

        return tell
