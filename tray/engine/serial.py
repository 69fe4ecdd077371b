"""Whose turn it is: all hooks start together; those of a sequential source run one after another (decision 11)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tray.agents.registry import hook_rules
from tray.execution.request_job import AnyJob
from tray.model.decision import Outcome, Status, Verdict
from tray.store.ledger import ApprovedHook


def ready(waiting: Mapping[int, AnyJob], hooks: Sequence[ApprovedHook]) -> dict[int, AnyJob]:
    """The jobs that may start now: of each sequential source the first that waits, and everything else."""
    taken: set[str] = set()
    jobs = {}
    for index, job in waiting.items():
        source = _queue_key(hooks[index])
        if source not in taken:
            jobs[index] = job
        if source:
            taken.add(source)
    return jobs


def cancelled_after_deny(
    waiting: Mapping[int, AnyJob], hooks: Sequence[ApprovedHook], outcomes: Mapping[int, Outcome]
) -> dict[int, Outcome]:
    """The hooks that are not asked any more, because one before them in their source denied."""
    denied = {_queue_key(hooks[index]) for index, one in outcomes.items() if one.output.verdict is Verdict.DENY}
    denied.discard("")
    cause = "an earlier hook of its plugin denied"
    return {
        index: Outcome(hook=hooks[index].hook.name, status=Status.SKIPPED, cause=cause)
        for index in waiting
        if _queue_key(hooks[index]) in denied
    }


def _queue_key(one: ApprovedHook) -> str:
    """The queue that a hook stands in; "" when it waits for nobody."""
    return one.hook.source.path if hook_rules(one.hook.match.format).sequential else ""
