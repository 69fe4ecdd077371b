"""The agents' wire formats, bytes to values and back; `fit` reduces a decision to what an event can carry. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

import msgspec
from msgspec.structs import replace

from tray.agents import patches, wire
from tray.agents.agent import Payload
from tray.agents.registry import AGENTS
from tray.errors import PACKAGE_ERRORS, AgentError
from tray.model.decision import EMPTY_ANSWER, NO_OPINION, Answer, Decision, Target, Verdict
from tray.model.event import (
    STOP_KINDS,
    UNKNOWN_EVENT,
    AgentEvents,
    Capability,
    Event,
    EventKind,
    EventSpec,
    RelayRequest,
    Sender,
)
from tray.model.form import Answers, Form
from tray.model.hook import GATING_KINDS

NO_TOOL = "payload names no tool"
NO_ALIASES: Mapping[str, str] = {}
SPEC_CACHE_SIZE = 1024  # of events whose specs are remembered; names come from outside
TARGETS = {
    Target.INPUT: Capability.REWRITE_INPUT,
    Target.OUTPUT: Capability.REWRITE_OUTPUT,
    Target.PROMPT: Capability.REWRITE_PROMPT,
    Target.MESSAGE: Capability.REWRITE_MESSAGE,
    Target.ANSWER: Capability.REWRITE_ANSWER,
}
TARGET_WORDS = {
    Target.INPUT: "a tool's input",
    Target.OUTPUT: "a tool's output",
    Target.PROMPT: "a prompt",
    Target.MESSAGE: "a message",
    Target.ANSWER: "an answer",
}
VERDICTS = {Verdict.ALLOW: Capability.ALLOW, Verdict.ASK: Capability.ASK, Verdict.DENY: Capability.DENY}


def parse(request: RelayRequest, ledger: int = 0, payload: Payload | None = None) -> Event:
    """The event of a request. Never raises: the event's `problem` is what is wrong with the input.

    `payload` is the result of `parse_payload`, if the caller has it already.
    """
    agent = AGENTS.find(request.agent)
    name, problem = request.event or (agent.unnamed_event if agent else ""), request.problem
    if agent is None:
        problem = f"unknown agent {request.agent[:40]!r}; known agents: {', '.join(AGENTS)}"
    elif payload is None and not problem:
        try:
            payload = parse_payload(request)
        except ValueError as error:
            problem = str(error)
    if agent is None or payload is None or problem:
        event = _failed_event(request, problem, name)
    else:
        try:
            name = agent.protocol.event_name(payload) or name
            event = agent.protocol.parse(request, name, payload)
        except PACKAGE_ERRORS as error:
            event = _failed_event(request, AGENTS.failure(agent.id, "parse", error).message, name)
    problem = event.problem
    if event.kind is EventKind.TOOL_BEFORE and event.tool is None and not problem:
        problem = NO_TOOL  # every guard of the event is asked, as in the relay
    event_spec = spec(event.agent, event.name)
    return replace(event, spec=event_spec, sender=agent, problem=problem, ledger=ledger, parent=request.parent)


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


def _failed_event(request: RelayRequest, problem: str, name: str) -> Event:
    return Event(
        **wire.request_fields(request, {}),
        name=name,
        kind=spec(request.agent, name).kind,
        cwd=request.cwd,
        problem=problem,
    )


@lru_cache(maxsize=SPEC_CACHE_SIZE)
def spec(agent: str, name: str) -> EventSpec:
    known = AGENTS.find(agent)
    return wire.spec(known.events, name or known.unnamed_event) if known else UNKNOWN_EVENT


def is_gating(agents: Sequence[str], event: str) -> bool:
    """Whether a hook on this event, which may be a native one of these agents, can refuse a tool call."""
    return not GATING_KINDS.isdisjoint({event, *(spec(agent, event).kind for agent in agents)})


class SupportedEvents(msgspec.Struct, frozen=True, kw_only=True):
    """The events of a supported agent. `aliases` has other names of some events, each with the name in its table."""

    agent: str
    names: Collection[str]
    aliases: Mapping[str, str]

    def spec(self, name: str) -> EventSpec | None:
        """Returns None if the agent has no such event."""
        found = spec(self.agent, self.aliases.get(name, name))
        return None if found is UNKNOWN_EVENT else found


def agent_events(agent: str, aliases: Mapping[str, str] = NO_ALIASES) -> AgentEvents:
    return SupportedEvents(agent=agent, names=(*AGENTS[agent].events, *aliases), aliases=aliases)


def is_known_event(agent: str, name: str) -> bool:
    """Whether this is an event of the agent; `slash/files` is one of Shelley's though no table names it."""
    return spec(agent, name) is not UNKNOWN_EVENT


def neutral(agent: Sender | None, name: str, body: bytes) -> Answer:
    """The answer that changes nothing, for no opinion and for our own failures."""
    if agent is None:
        return EMPTY_ANSWER
    try:
        return agent.protocol.neutral(name, body)
    except PACKAGE_ERRORS as error:
        AGENTS.failure(agent.id, "neutral", error)
        return EMPTY_ANSWER


def is_only_verdict(decision: Decision) -> bool:
    """Whether it has a verdict with its reason only, and nothing else that an event may not be able to carry."""
    return decision.stop is None and not (decision.rewrite or decision.context or decision.retry or decision.extra)


def fit(event: Event, decision: Decision) -> Decision:
    """What of a decision this event can carry (law 2). Fitting twice changes nothing more."""
    can, extras = event.spec.can, event.spec.extras
    if event.problem:  # of an event that we could not read, nothing but a refusal or a question can be answered
        can, extras = can & (Capability.ASK | Capability.DENY), ()
    if is_only_verdict(decision) and (decision.verdict is Verdict.ABSTAIN or VERDICTS[decision.verdict] in can):
        return decision
    return Fit(event, can, extras, _rewrite_problem(event, decision))(decision)


def _rewrite_problem(event: Event, decision: Decision) -> str:
    sender = event.sender
    if sender is None or decision.rewrite is None:
        return ""
    is_input = decision.rewrite.target is Target.INPUT
    if event.tool and is_input and patches.lost(event.tool.input, decision.rewrite.value):
        return "changes one file of a patch"
    try:
        return sender.protocol.rewrite_problem(event, decision)
    except PACKAGE_ERRORS as error:
        AGENTS.failure(sender.id, "rewrite_problem", error)
        return "its package fails on"


def goes_on(event: Event, decision: Decision) -> bool:
    """Whether an agent that was about to stop goes on: it was refused, or reminded of something."""
    if decision.stop is not None:
        return False
    return decision.verdict is Verdict.DENY or (bool(decision.context) and event.kind in STOP_KINDS)


def unanswered(event: Event, decision: Decision, error: AgentError) -> Decision:
    """What is left of a decision that the agent's package failed to render."""
    left = Fit(event, Capability.NOTHING)(decision)
    return replace(left, adjustments=(*left.adjustments, error.message))


def render(event: Event, decision: Decision) -> Answer:
    """The decision in the agent's own format, fitted first to what the event can carry.

    Raises AgentError when the code of an agent's package fails.
    """
    sender = event.sender
    if sender is None:
        return EMPTY_ANSWER
    try:
        if decision is NO_OPINION or event.spec.observe_only:
            return sender.protocol.neutral(event.name, event.body)
        is_silent = decision.verdict is Verdict.ABSTAIN and not decision.notes and is_only_verdict(decision)
        fitted = fit(event, decision)
        if is_silent or (event.problem and fitted.verdict < Verdict.ASK):
            return sender.protocol.neutral(event.name, event.body)
        return sender.protocol.render(event, fitted)
    except PACKAGE_ERRORS as error:
        raise AGENTS.failure(sender.id, "render", error) from error


def sample(agent: str, name: str) -> bytes:
    """Returns a synthetic payload, as JSON. Raises KeyError if the event has none, AgentError if a package fails."""
    try:
        return AGENTS[agent].protocol.sample(name)
    except KeyError:
        raise
    except PACKAGE_ERRORS as error:
        raise AGENTS.failure(agent, "sample", error) from error


def form(event: Event) -> Form | None:
    """The questions that the agent puts to its user with this event, if an answer of ours can answer them."""
    forms = event.sender.forms if event.sender else None
    try:
        return forms.read(event) if forms else None
    except PACKAGE_ERRORS as error:  # the user answers in the agent
        AGENTS.failure(event.agent, "forms.read", error)
        return None


def answered(event: Event, decision: Decision, answers: Answers) -> Decision:
    """The decision with the user's answers to the event's form. A tool's input counts only with an allow.

    It stays as it was when the code of an agent's package fails: the user is asked by the agent.
    """
    assert event.sender is not None
    assert event.sender.forms is not None
    try:
        rewrite = event.sender.forms.fill(event, answers)
    except PACKAGE_ERRORS as error:
        AGENTS.failure(event.agent, "forms.fill", error)
        return decision
    verdict = Verdict.ALLOW if rewrite.target is Target.INPUT else Verdict.ABSTAIN
    return replace(decision, verdict=verdict, rewrite=rewrite)


class Fit(msgspec.Struct, frozen=True):
    """Law 2: what an event cannot carry becomes stricter, never looser, with an adjustment."""

    event: Event
    can: Capability
    extras: tuple[str, ...] = ()
    rewrite_problem: str = ""  # why it cannot carry this rewrite; "" = the rewrite itself is fine

    @property
    def subject(self) -> str:
        return f"{self.event.name or 'an event'} of {self.event.agent}"  # "PreToolUse of x-code"

    def __call__(self, decision: Decision) -> Decision:
        """The order matters: what becomes a refusal first makes the later steps moot."""
        return self._extra(self._context(self._retry(self._verdict(self._rewrite(self._stop(decision))))))

    def _stop(self, decision: Decision) -> Decision:
        if decision.stop is None or Capability.STOP in self.can:
            return decision
        if Capability.DENY not in self.can:
            return self._adjusted(replace(decision, stop=None), "stop the agent: dropped")
        reason = decision.reason if decision.verdict is Verdict.DENY else ""
        denied = replace(decision, stop=None, verdict=Verdict.DENY, reason=reason or decision.stop)
        return self._adjusted(denied, "stop the agent: made deny")

    def _rewrite(self, decision: Decision) -> Decision:
        if decision.rewrite is None:
            return decision
        refused = decision.verdict is Verdict.DENY and Capability.DENY in self.can
        if refused and not self.event.spec.after_the_fact:  # else it has happened, and a rewrite counts beside it
            return replace(decision, rewrite=None)  # moot beside a refusal
        problem = self._rewrite_problem(decision.rewrite.target)
        if not problem:
            return decision
        without_rewrite = replace(decision, rewrite=None)
        if Capability.DENY not in self.can or self.event.spec.feedback_only:  # the refusal would withhold nothing
            return self._adjusted(without_rewrite, f"{problem}: dropped")
        why = f"A hook's rewrite cannot be carried: {self.subject} cannot {problem}"
        reason = f"{decision.reason}\n{why}" if refused and decision.reason else why
        return self._adjusted(replace(without_rewrite, verdict=Verdict.DENY, reason=reason), f"{problem}: made deny")

    def _rewrite_problem(self, target: Target) -> str:
        if TARGETS[target] not in self.can:
            return f"rewrite {TARGET_WORDS[target]}"
        return f"carry the rewrite, which {self.rewrite_problem}" if self.rewrite_problem else ""

    def _verdict(self, decision: Decision) -> Decision:
        verdict = decision.verdict
        if verdict is Verdict.ABSTAIN or VERDICTS[verdict] in self.can:
            return decision
        if verdict is Verdict.ASK and Capability.DENY in self.can:
            rewrite = decision.rewrite if self.event.spec.after_the_fact else None
            return self._adjusted(replace(decision, verdict=Verdict.DENY, rewrite=rewrite), "ask: made deny")
        silent = replace(decision, verdict=Verdict.ABSTAIN, reason="")
        return self._adjusted(silent, f"{verdict.word}: nothing was said")

    def _retry(self, decision: Decision) -> Decision:
        if not decision.retry or Capability.RETRY in self.can:
            return decision
        return self._adjusted(replace(decision, retry=False), "ask for a retry: dropped")

    def _context(self, decision: Decision) -> Decision:
        if not decision.context or Capability.CONTEXT in self.can:
            return decision
        return self._adjusted(replace(decision, context=""), "take context: dropped")

    def _extra(self, decision: Decision) -> Decision:
        kept = tuple((name, value) for name, value in decision.extra if name in self.extras)
        dropped = [name for name, _ in decision.extra if name not in self.extras]
        if not dropped:
            return decision
        return self._adjusted(replace(decision, extra=kept), f"take {', '.join(dropped)}: dropped")

    def _adjusted(self, decision: Decision, limit: str) -> Decision:
        return replace(decision, adjustments=(*decision.adjustments, f"{self.subject} cannot {limit}"))
