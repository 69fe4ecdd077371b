"""What a hook's output means beyond its dialect: an answer after other text, and text instead of an answer."""

from __future__ import annotations

from tray.agents import lenient
from tray.agents.protocol import spec
from tray.agents.registry import AGENTS, hook_rules
from tray.lazy_dataclass import replace
from tray.model.decision import HookOutput, Result, Verdict
from tray.model.event import STOP_KINDS, Capability, Event
from tray.model.hook import Failure, Hook
from tray.text import redact, sanitise

QUOTED = 60  # characters of the output that a reason quotes
REDACTED_LENGTH = 2000  # characters from which they are taken: a secret at their end is known by what follows
OWN_SOURCE = "hooktray"  # the source whose hooks have to answer, whatever text means in their dialect
IGNORED = "its answer is the last line of its output; the lines before it were ignored"


def parse_output(event: Event, hook: Hook, result: Result) -> HookOutput:
    """The hook's answer in its dialect; a refusal or question on the last line counts after any other text.

    An allow or a rewrite there does not count: some other program may have printed it.
    """
    output = _heard(event, hook, AGENTS[hook.dialect].protocol.read(event, result))
    if output.verdict is Verdict.DENY or result.cause or result.code is None:
        return output
    if last := lenient.last_object(result.stdout):
        answer = AGENTS[hook.dialect].protocol.read(event, replace(result, stdout=last.encode()))
        if answer.verdict > max(output.verdict, Verdict.ALLOW) or answer.stop is not None:
            return _refusal(answer)
    refusable = Capability.DENY in spec(event.agent, event.name).can  # else there is nothing to block
    if refusable and hook.failure is Failure.BLOCK and result.code == 0 and not output.problem:
        return _require_answer(hook, result, output)
    return output


def _heard(event: Event, hook: Hook, output: HookOutput) -> HookOutput:
    """Without context at a stop, where a format does not know that: an agent would go on because of it."""
    if not output.context or event.kind not in STOP_KINDS or hook_rules(hook.dialect).context_at_stop:
        return output
    return replace(output, context="", adjustment=output.adjustment or "its context at a stop was dropped")


def _refusal(answer: HookOutput) -> HookOutput:
    """Only what is strict in it."""
    verdict = answer.verdict if answer.verdict > Verdict.ALLOW else Verdict.ABSTAIN
    return HookOutput(verdict=verdict, reason=answer.reason, stop=answer.stop, notes=answer.notes, adjustment=IGNORED)


def _require_answer(hook: Hook, result: Result, output: HookOutput) -> HookOutput:
    """With `failure: block` text is a failure, unless it is what the event or the hook's own format asks for."""
    text = lenient.text(result.stdout, lenient.PYTHON)
    is_ours, is_object = hook.source.kind == OWN_SOURCE, lenient.is_object(text)
    if not text or output.plain or (is_object and not (is_ours and output.warning)):
        return output
    if not is_ours and (hook_rules(hook.dialect).text_counts or not output.warning):
        return output
    quoted = sanitise(redact(sanitise(text[:REDACTED_LENGTH], REDACTED_LENGTH)).text, QUOTED)
    return HookOutput(
        problem=f'it printed "{quoted}" and no answer: have it print one JSON object, or nothing for no opinion,'
        " and everything else to stderr"
    )
