"""What came out: verdicts, one hook's Outcome, the merged Decision, and the Answer an agent gets."""

from __future__ import annotations

import enum
from collections.abc import Mapping

import msgspec


class Verdict(enum.IntEnum):
    """Ordered by strictness: the strictest of many wins. Abstain is not allow.

    UNJUDGED is never a hook's answer: it marks a row about a call that ran and that no hook judged.
    """

    UNJUDGED = -1
    ABSTAIN = 0
    ALLOW = 1
    ASK = 2
    DENY = 3

    def __init__(self, _: int) -> None:
        self.word = self.name.lower()


class Status(enum.StrEnum):
    OK = "ok"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    SKIPPED = "skipped"


class Gate(enum.StrEnum):
    """Why a hook that matched did not run."""

    SWITCH_OFF = "switch off"
    PAUSED = "paused"
    DISABLED = "disabled"
    NESTED = "nested"  # the event comes from below this very hook
    TOO_DEEP = "nested too deep"  # below so many hooks that none is asked
    LOOP_CAP = "loop cap"
    ONCE = "once"  # it had its turn in this session
    DUPLICATE = "duplicate"  # the same handler is asked already
    BUSY = "busy"


class SkipReason(enum.StrEnum):
    """Why no hook was asked about an event that another agent sent by this command; its row's reason."""

    NOT_SUPPORTED = "not supported yet"
    NOT_UNDERSTOOD = "not understood"


class Target(enum.StrEnum):
    """What a rewrite replaces, as a whole."""

    INPUT = "input"  # a tool's input: a mapping in the agent's own keys
    OUTPUT = "output"
    PROMPT = "prompt"
    MESSAGE = "message"
    ANSWER = "answer"  # what the agent asked its hooks for: a worktree's path, a form's answers


class Rewrite(msgspec.Struct, frozen=True, kw_only=True):
    """A whole replacement, never a patch: the agent uses `value` instead."""

    target: Target
    value: object


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What a hook's process left behind, before anyone gives it a meaning.

    `code` is None when there was no ordinary exit; then `cause` has the reason ("timed out", "killed by signal 9",
    "cancelled", "not found: …", "stdout over 1048576 bytes"). Output is bytes, as the process wrote it.
    """

    code: int | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    cause: str = ""
    timed_out: bool = False
    ms: float = 0.0
    signal: int = 0  # the signal that ended it, unless we sent that

    @property
    def started(self) -> bool:
        """Whether there was a process at all; time is counted from its start."""
        return self.code is not None or self.ms > 0


class HookOutput(msgspec.Struct, frozen=True, kw_only=True):
    """The output of one hook, parsed in its own dialect. `problem` set = the hook failed, and nothing else counts."""

    verdict: Verdict = Verdict.ABSTAIN
    reason: str = ""
    rewrite: Rewrite | None = None
    context: str = ""
    notes: tuple[str, ...] = ()  # for the human only
    stop: str | None = None  # the agent must stop altogether; the text is the reason
    retry: bool = False
    extra: tuple[tuple[str, object], ...] = ()  # an agent's own answer fields without a canonical word
    warning: str = ""  # its output was no answer, in a dialect where that means abstain; shown to the user
    adjustment: str = ""  # what of its output did not count, beside an answer that does
    read_as: str = ""  # the other format in whose words the hook refused
    plain: bool = False  # its plain text is the answer that the event asks for
    problem: str = ""


NO_OUTPUT = HookOutput()


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """One hook's turn for one event."""

    hook: str
    status: Status
    output: HookOutput = NO_OUTPUT
    cause: str = ""  # why it failed, timed out or was skipped
    gate: Gate | None = None
    ms: float = 0.0
    limit: float = 0.0  # seconds it had; 0 = it was not timed
    stderr: str = ""
    let_through: bool = False  # it failed, the user could not be asked, and that was its only objection


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    """The one merged answer for an event. `adjustments` lists what became stricter, was dropped or conflicted."""

    verdict: Verdict = Verdict.ABSTAIN
    reason: str = ""
    rewrite: Rewrite | None = None
    context: str = ""
    notes: tuple[str, ...] = ()
    stop: str | None = None
    retry: bool = False
    extra: tuple[tuple[str, object], ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    adjustments: tuple[str, ...] = ()
    hook_times: tuple[float, float] | None = None  # when its hooks began and ended, on the monotonic clock
    ask_user: bool = False  # the user is to be asked at the desktop: not yet fitted to what the event can carry


NO_OPINION = Decision()  # no hook had an opinion


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What the relay writes: the agent's own stdout, stderr and exit code."""

    stdout: bytes = b""
    stderr: bytes = b""
    code: int = 0


EMPTY_ANSWER = Answer()


RAN_BESIDE = "ran beside the answer, which was given without waiting"  # an adjustment


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the journal, already redacted: event, decision and answer."""

    id: str
    at: float  # seconds since the epoch
    agent: str
    session: str
    project: str
    event: str  # native name
    kind: str
    verdict: Verdict
    reason: str
    ms: float
    hooks: tuple[Mapping[str, object], ...] = ()  # name status verdict reason ms
    rewrites: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    adjustments: tuple[str, ...] = ()
    problem: str = ""
    payload: str = ""
    digest: str = ""  # SHA-256 of the exact payload
    masked: int = 0
    answer: Mapping[str, object] = {}
    offline: bool = False
    alerted: str = ""  # "sent", "held", "failed"; "" when no alert was due
    test: bool = False  # of `hooktray test`
    cwd: str = ""
    ledger: int = 0  # the last row of the ledger when its hooks were chosen
    wait_ms: float = 0.0  # of `ms`, until the first hook could start
    hooks_ms: float = 0.0  # of `ms`, while hooks ran
    masks: tuple[Mapping[str, object], ...] = ()  # place kind fingerprint; also of what is not in the payload
    tool: str = ""  # as the agent calls it
    subject: str = ""  # what the call did, or what else the event is about

    @property
    def skip_reason(self) -> SkipReason | None:
        """Why no hook was asked, where the caller is the reason."""
        if self.verdict is not Verdict.ABSTAIN or self.hooks or self.reason not in SkipReason.__members__.values():
            return None
        return SkipReason(self.reason)

    @property
    def ran_beside(self) -> bool:
        """Whether it is about hooks that no answer waited for; the event itself has another row."""
        return RAN_BESIDE in self.adjustments

    @property
    def via_agent(self) -> str:
        """The agent whose relay command was run, where another agent ran it."""
        return str(self.answer.get("line", ""))

    @property
    def label(self) -> str:
        """What it is shown as, everywhere: unjudged, deny, ask, trouble (a hook failed), rewrite, allow or
        abstain."""
        if self.verdict in {Verdict.UNJUDGED, Verdict.DENY, Verdict.ASK}:
            return self.verdict.word
        if self.problem or any(hook.get("status") in {Status.FAILED, Status.TIMED_OUT} for hook in self.hooks):
            return "trouble"
        return "rewrite" if self.rewrites else self.verdict.word
