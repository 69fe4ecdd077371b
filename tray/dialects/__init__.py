"""The agents' wire formats: bytes to values and back, pure; fit() makes an answer that can be carried."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Protocol

from tray.dialects import claude_code, shelley, starchild, wire, x_code
from tray.dialects.fitting import Fit
from tray.model.decision import EMPTY_ANSWER, NO_OPINION, Answer, Decision, HookOutput, Result, Verdict
from tray.model.event import AgentEvents, Capability, Event, EventSpec, RelayRequest, Tool

Payload = Mapping[str, Any]


class Dialect(Protocol):
    """What each module of this package offers.

    Towards the agent: `event_name` is the agent's own name of a payload's event ("" when the payload has none),
    `session` its session, `tool` the tool call that it is about, if any; `parse` reads a request, `render` writes a
    fitted decision, `neutral` is the answer when nobody had an opinion or we failed, `rewrite_problem` says why a
    rewrite of a kind that the event takes cannot be carried all the same ("" when it can).
    Towards a hook written in this dialect, for any agent's event: `hook_event_name` is the event's name for the hook,
    `stdin` and `environment` are its input, `read` reads what its process left behind; `DEFAULT_CAN` is all that the
    hook can answer to an event that its own agent does not have. `sample` is a synthetic payload; KeyError for an
    event without one.
    """

    EVENTS: Mapping[str, EventSpec]
    DEFAULT_CAN: Capability

    def event_name(self, payload: Mapping[str, Any]) -> str: ...
    def session(self, request: RelayRequest, payload: Mapping[str, Any]) -> str: ...
    def tool(self, name: str, payload: Mapping[str, Any]) -> Tool | None: ...
    def parse(self, request: RelayRequest, name: str, payload: Mapping[str, Any]) -> Event: ...
    def render(self, event: Event, decision: Decision) -> Answer: ...
    def neutral(self, name: str, body: bytes) -> Answer: ...
    def rewrite_problem(self, event: Event, decision: Decision) -> str: ...
    def hook_event_name(self, event: Event) -> str: ...
    def stdin(self, event: Event) -> bytes: ...
    def environment(self, event: Event) -> Mapping[str, str]: ...
    def read(self, event: Event, result: Result) -> HookOutput: ...
    def sample(self, name: str) -> bytes: ...


SPEC_CACHE_SIZE = 1024  # of events whose specs are remembered; names come from outside

DIALECTS: dict[str, Dialect] = {
    "claude-code": claude_code,
    "shelley": shelley,
    "starchild": starchild,
    "x-code": x_code,
}


def parse(request: RelayRequest, ledger: int = 0, payload: Payload | None = None) -> Event:
    """The event of a request. Never raises: what is wrong with the input is the event's `problem`.

    `payload` is what `parse_payload` made of it, where that was done already.
    """
    event = _parsed(request, payload)
    if ledger:  # nobody has seen it yet, so it may be written to; `replace` would take longer than all the rest here
        object.__setattr__(event, "ledger", ledger)
    return event


def _parsed(request: RelayRequest, payload: Payload | None) -> Event:
    dialect = DIALECTS.get(request.agent)
    if dialect is None:
        return _failed_event(request, f"unknown agent {request.agent[:40]!r}; known agents: {', '.join(DIALECTS)}")
    if request.problem:
        return _failed_event(request, request.problem)
    try:
        payload = parse_payload(request) if payload is None else payload
    except ValueError as error:
        return _failed_event(request, str(error))
    return dialect.parse(request, dialect.event_name(payload) or request.event, payload)


def parse_payload(request: RelayRequest) -> Payload:
    """The fields of a request's payload. Raises ValueError.

    A plain event's text is under `prompt`, so that matchers find it like any other.
    """
    if spec(request.agent, request.event).plain:
        return {"prompt": _plain(request.body)}
    try:
        return wire.mapping(request.body)
    except ValueError as error:
        raise ValueError(f"payload is {error}" if request.body.strip() else "empty payload") from None


def _plain(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise ValueError(f"payload is not UTF-8: byte {error.start} cannot be read") from None


def _failed_event(request: RelayRequest, problem: str) -> Event:
    return Event(
        **wire.request_fields(request, {}),
        name=request.event,
        kind=spec(request.agent, request.event).kind,
        cwd=request.cwd,
        problem=problem,
    )


@lru_cache(maxsize=SPEC_CACHE_SIZE)
def spec(agent: str, name: str) -> EventSpec:
    dialect = DIALECTS.get(agent)
    return wire.spec(dialect.EVENTS, name) if dialect else wire.UNKNOWN_EVENT


def agent_events(agent: str) -> AgentEvents:
    """The events of one of DIALECTS."""
    return AgentEvents(
        agent=agent,
        names=DIALECTS[agent].EVENTS,
        spec=lambda name: spec(agent, name) if is_known_event(agent, name) else None,
    )


def is_known_event(agent: str, name: str) -> bool:
    """Whether this is an event of the agent; `slash/files` is one of Shelley's though no table names it."""
    return spec(agent, name) is not wire.UNKNOWN_EVENT


def neutral(agent: str, name: str, body: bytes) -> Answer:
    """The answer that changes nothing: for when nobody had an opinion, or we failed."""
    dialect = DIALECTS.get(agent)
    return dialect.neutral(name, body) if dialect else EMPTY_ANSWER


def fit(event: Event, decision: Decision) -> Decision:
    """What of a decision this event can carry (law 2). Fitting twice changes nothing more."""
    if decision.silent:
        return decision
    dialect = DIALECTS.get(event.agent)
    if dialect is None:
        return Fit(f"{event.name or 'an event'} of {event.agent}", Capability.NOTHING)(decision)
    event_spec = spec(event.agent, event.name)
    # Of an event that we could not read, nothing but a refusal can be said.
    can, extras = (event_spec.can & Capability.DENY, ()) if event.problem else (event_spec.can, event_spec.extras)
    fit_event = Fit(
        subject=f"{event.name} of {event.agent}",
        can=can,
        rewrite_problem=dialect.rewrite_problem(event, decision),
        after_the_fact=event_spec.after_the_fact,
        extras=extras,
    )
    return fit_event(decision)


def render(event: Event, decision: Decision) -> Answer:
    """The agent's own words for a decision; whatever it cannot carry is fitted first."""
    dialect = DIALECTS.get(event.agent)
    if dialect is None or decision is NO_OPINION or decision.silent or spec(event.agent, event.name).observe_only:
        return neutral(event.agent, event.name, event.body)
    fitted = fit(event, decision)
    if event.problem and fitted.verdict is not Verdict.DENY:
        return neutral(event.agent, event.name, event.body)
    return dialect.render(event, fitted)
