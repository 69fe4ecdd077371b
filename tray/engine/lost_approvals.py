"""The tray's own answer to calls that lost approvals guard (app/guards_in_force.py): as the relay's table says it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tray.model.decision import HookOutput, Outcome, Status, Verdict
from tray.model.event import Event
from tray.model.hook import Failure, Guard

NAME = "lost approvals"
REASON = (
    "Hooktray lost its approvals, and a hook that was approved guards this call. A person reviews them in the tray's"
    " menu under Approvals, or with `hooktray list`."
)
CAUSE = "Hooktray lost its approvals, and a hook that was approved guards this call"
ADJUSTMENT = "the agent cannot ask: the call went on"


class LostApprovals:
    """Judges tool calls by the guards that `load` returns, which are none unless approvals were lost."""

    def __init__(self, load: Callable[[], Sequence[Guard]] = tuple) -> None:
        self._load = load

    def judge(self, event: Event) -> Outcome | None:
        """The outcome for this event; None when no lost approval guards it.

        Where the agent cannot ask, the call goes on as that of a hook that failed: it is journalled and announced.
        """
        guards = self._load()
        if not guards:
            return None
        found = [guard for guard in guards if (guard.agent, guard.event) == (event.agent, event.name)]
        failures = {guard.failure for guard in found if _covers(guard, event)}
        if failures == {Failure.ALLOW}:
            output = HookOutput(problem=CAUSE, adjustment=ADJUSTMENT)
            return Outcome(hook=NAME, status=Status.FAILED, output=output, cause=CAUSE, let_through=True)
        if not failures:
            return None
        verdict = Verdict.DENY if Failure.BLOCK in failures else Verdict.ASK
        return Outcome(hook=NAME, status=Status.OK, output=HookOutput(verdict=verdict, reason=REASON))


def _covers(guard: Guard, event: Event) -> bool:
    """A call whose tool cannot be read counts as guarded."""
    return event.tool is None or (event.tool.name in guard.names) is not guard.is_exception
