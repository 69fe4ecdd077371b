"""The fast path: of most events no hook is asked, or hooks are off, and their agents need not wait for more.

The payload alone shows whether that is so. To announce and to record it takes the whole event, and waits until the
answer has left. Any other event goes through the whole pipeline.
"""

from __future__ import annotations

import logging
import time
from functools import lru_cache
from typing import NamedTuple

from tray.agents.agent import Payload
from tray.agents.protocol import SPEC_CACHE_SIZE
from tray.agents.registry import AGENTS
from tray.agents.tools import canonical
from tray.engine import scopes, slash_command
from tray.engine.async_output import AsyncOutput
from tray.engine.lost_approvals import LostApprovals
from tray.engine.ports import FREQUENT_KINDS, EngineListener
from tray.engine.user_questions import UserQuestions
from tray.model.decision import Gate
from tray.model.event import TEST_VARIABLE, EventKind, RelayRequest
from tray.protection.self_protection import Protection
from tray.store.ledger import LedgerState
from tray.store.switch import Switch

FAST_KINDS = FREQUENT_KINDS - slash_command.KINDS


class FastPathResult(NamedTuple):
    """Whether a request takes the fast path. `fast`: no hook, rule, question or saved output applies to it."""

    fast: bool = False
    gate: Gate | None = None  # what keeps the hooks from running that would be asked


NOT_FAST = FastPathResult()

log = logging.getLogger(__name__)


class FastPath:
    """Looks at requests: is the answer neutral, whatever else is in this one?"""

    def __init__(
        self,
        *,
        switch: Switch,
        protection: Protection,
        async_output: AsyncOutput,
        questions: UserQuestions,
        listener: EngineListener,
        lost: LostApprovals,
    ) -> None:
        self._lost = lost
        self._listener = listener
        self._switch = switch
        self._protection = protection
        self._async_output = async_output
        self._questions = questions

    def check(self, request: RelayRequest, ledger: LedgerState, payload: Payload | None) -> FastPathResult:
        """NOT_FAST after a fault, or for a payload that cannot be read: the whole pipeline handles both."""
        try:
            return NOT_FAST if payload is None else self._check(request, ledger, payload)
        except Exception:
            log.exception("whether %s of %s may take the fast path", request.event, request.agent)
            return NOT_FAST

    def _check(self, request: RelayRequest, ledger: LedgerState, payload: Payload) -> FastPathResult:
        kind = _kind(request.agent, request.event)
        if (
            kind is None
            or self._questions.pending
            or self._listener.awaits_turn_end
            or TEST_VARIABLE in request.environment
            or self._lost.may_guard(request.agent, request.event)
        ):
            return NOT_FAST
        gate = None
        if ledger.candidates(request.agent, kind, request.event):
            gate = self._switch.gate(time.time())  # without the session, which is not known yet
            if gate is None:
                return NOT_FAST
        protocol = AGENTS[request.agent].protocol
        if protocol.event_name(payload) not in ("", request.event) or self._async_output.may_have(
            request.agent, protocol.session(request, payload)
        ):
            return NOT_FAST
        if kind is EventKind.TOOL_BEFORE:
            tool = protocol.tool(request.event, payload)
            if tool is not None and (
                canonical(request.agent, tool.name) == scopes.TOOL
                or self._protection.applies(request.agent, tool, request.cwd, request.environment)
            ):
                return NOT_FAST
        return FastPathResult(fast=True, gate=gate)


@lru_cache(SPEC_CACHE_SIZE)
def _kind(agent: str, name: str) -> EventKind | None:
    """The kind of an event that may take the fast path; None for any other."""
    known = AGENTS.get(agent)
    if known is None or name not in known.events:
        return None
    event_spec = known.events[name]
    return event_spec.kind if event_spec.kind in FAST_KINDS and not event_spec.plain else None
