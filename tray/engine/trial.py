"""One approved hook against a payload, without an agent: what `hooktray test --hook` and doctor ask for."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec
from msgspec.structs import replace

from tray.agents import wire
from tray.agents.protocol import fit, parse, render
from tray.agents.protocol import sample as own_sample
from tray.engine.merge import merge
from tray.engine.pipeline import Engine
from tray.engine.plan import EventSearch, matches
from tray.engine.ports import EngineOptions
from tray.engine.sentence import plain_reason, tool_text
from tray.engine.stores import Stores
from tray.errors import HooktrayError
from tray.language import phrase, say
from tray.model.decision import Answer, Decision, Outcome, Record, Status, Verdict
from tray.model.event import Event, RelayRequest
from tray.model.hook import Hook
from tray.store.ledger import ApprovedHook
from tray.text import first_line

RESULTS = (
    *(verdict.word for verdict in Verdict if verdict >= Verdict.ABSTAIN),
    "failed",
)  # the outcomes that a trial can expect
FAILED = (Status.FAILED, Status.TIMED_OUT)


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it, and what the agent would have been answered."""

    hook: str
    outcome: Outcome
    decision: Decision
    answer: Answer

    @property
    def result(self) -> str:
        """The verdict, or why there is none: a hook that failed has none, whatever its policy makes of that."""
        if self.outcome.status in FAILED:
            return "failed"
        return "skipped" if self.outcome.gate else self.outcome.output.verdict.word


# What a hook did with its test event: a harmless one, and one made for its own matchers.
SENTENCES: Mapping[str, tuple[str, str]] = {
    "deny": (phrase("It refused this harmless event: {what}"), phrase("It refused its test event: {what}")),
    "ask": (phrase("It asks about this harmless event: {what}"), phrase("It asks about its test event: {what}")),
    "allow": (phrase("It allowed its test event: {what}"),) * 2,
    "rewrite": (phrase("It rewrote its test event: {what}"),) * 2,
}
OTHER_FORMAT = phrase(
    "It answers in the format of {format}: write `dialect: {format}` in {source} if it is written for that agent"
)
OTHER_SHAPE = phrase("Have it print its answer as one JSON object and nothing beside it, in the words of {format}")


def describe(tried: Trial, hook: Hook, event: Event) -> str:
    """Returns what the hook did with its test event, and its reason; "" if it had no opinion or did not answer."""
    output = tried.outcome.output
    done = "rewrite" if tried.result == "abstain" and output.rewrite else tried.result
    if done not in SENTENCES:
        return ""
    asked_for = bool(hook.match.pattern or hook.match.condition)
    what = say(SENTENCES[done][asked_for], what=tool_text(event))
    reason = "" if output.warning else first_line(plain_reason(output.reason))
    return f"{what}: {reason}" if reason else what


def advice(tried: Trial, hook: Hook) -> str:
    """Returns what to do about a refusal that the hook's own format does not read; "" for other answers."""
    read_as = tried.outcome.output.read_as
    if not read_as:
        return ""
    text = OTHER_SHAPE if read_as == hook.dialect else OTHER_FORMAT
    return say(text, format=read_as, source=hook.source)


class NullListener:
    """Listener and record sink of a trial: ignores all of it, for it did not happen."""

    def arrived(self, event: Event, *, answered: bool) -> None: ...
    def decided(self, event: Event, decision: Decision, record: Record) -> None: ...
    def status_shown(self, turn: str, text: str) -> None: ...
    def status_hidden(self, turn: str) -> None: ...
    def append(self, record: Record, *, commit: bool) -> object: ...

    def spawn(self, work: Callable[[], object]) -> bool:
        return False


def silent_engine(stores: Stores, options: EngineOptions) -> Engine:
    """Returns an engine that announces and records nothing."""
    listener = NullListener()
    return Engine(stores, listener, listener, options, records=listener)


def sample(agent: str, name: str, cwd: str) -> bytes:
    """The dialect's own sample, of the caller's folder: hooks start where an event is, and that has to be there.

    Raises HooktrayError for an event without one.
    """
    try:
        body = own_sample(agent, name)
    except KeyError:
        raise HooktrayError(f"{agent} has no sample of `{name}`", hint="give a payload: --payload FILE") from None
    there = parse(RelayRequest(agent=agent, event=name, id="test", body=body)).cwd
    if not there or not cwd:
        return body
    moved = _relocated(wire.mapping(body), there, cwd)
    return wire.dumps_line(moved) if body.endswith(b"\n") else wire.dumps(moved)


def _relocated(value: object, there: str, here: str) -> object:
    """The value with the folder, and what is named below it, in another place."""
    if isinstance(value, dict):
        return {key: _relocated(inner, there, here) for key, inner in value.items()}
    if isinstance(value, list):
        return [_relocated(inner, there, here) for inner in value]
    if value == there:
        return here
    if isinstance(value, str) and value.startswith(f"{there}/"):
        return here.rstrip("/") + value.removeprefix(there)
    return value


def synthetic_event(
    agent: str, name: str, body: bytes | None = None, *, environment: Mapping[str, str], cwd: str
) -> Event:
    """An event that did not happen, with this payload or a sample. Raises HooktrayError."""
    body = sample(agent, name, cwd) if body is None else body
    event = parse(RelayRequest(agent=agent, event=name, id="test", body=body, cwd=cwd, environment=environment))
    if event.name != name:
        raise HooktrayError(f"the payload is of `{event.name}`, not of `{name}`", hint=f"test `{event.name}`")
    return replace(event, test=True)


def is_matched(approved: ApprovedHook, event: Event) -> bool:
    """Whether the hook's `tool:` and `matcher:` let it be asked. Raises HooktrayError when its event is another."""
    match, search = approved.hook.match, EventSearch(event)
    if not matches(replace(match, tool="", pattern=""), event, search):
        whose = f" of {', '.join(match.agents)}" if match.agents else ""
        raise HooktrayError(
            f"{approved.hook.name} is never asked on {event.name} of {event.agent}",
            hint=f"it is declared for `{match.event}`{whose}; a project's hook is asked below its project alone",
        )
    return matches(match, event, search)


def unmatched(approved: ApprovedHook, event: Event) -> Trial:
    """A hook whose matchers keep it out: it has no opinion, and does not run."""
    cause = "not asked: its `tool:` or `matcher:` does not fit this payload"
    return _trial(event, Outcome(hook=approved.hook.name, status=Status.SKIPPED, cause=cause))


def run(engine: Engine, approved: ApprovedHook, event: Event) -> Trial:
    """Ask this one hook by its approved copy, whatever its matchers say."""
    return _trial(event, engine.trial(event, approved))


def _trial(event: Event, outcome: Outcome) -> Trial:
    decision = fit(event, merge([outcome]))
    return Trial(hook=outcome.hook, outcome=outcome, decision=decision, answer=render(event, decision))
