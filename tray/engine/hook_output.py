"""Reads what a hook printed: its answer in its own format, or the problem with it."""

from __future__ import annotations

from msgspec.structs import replace

from tray.agents import lenient, refusals
from tray.agents.agent import Agent
from tray.agents.registry import AGENTS, hook_rules
from tray.engine.merge import REASON_LIMIT
from tray.engine.prompt_text import parse_reply
from tray.execution.script import UNOPENED, interpreter_error, is_unopened_script
from tray.model.decision import NO_OUTPUT, HookOutput, Result, Verdict
from tray.model.event import STOP_KINDS, Capability, Event
from tray.model.hook import OWN_SOURCE, Command, Failure, Hook, Prompt
from tray.text import redact, sanitise

QUOTED = 60  # characters of the output that a reason quotes
REDACTED_LENGTH = 2000  # characters to redact before the cut to QUOTED: a secret is recognised by what follows
BROKEN_PROGRAM = "it refuses by the exit 2 of a broken program: {}"
REPLIED = (0, 2)  # exit codes with which a hook may have answered
DROPPED = "the call goes on, because {1} does not read its answer: {0}"
MISPLACED = "it wrote a refusal to stderr and ended with 0: print it to stdout, or end with 2"
IGNORED = "its answer is the last line of its output; the lines before it were ignored"


def parse_output(event: Event, hook: Hook, result: Result) -> HookOutput:
    """The hook's answer in its dialect; a refusal or question on the last line counts after any other text.

    An allow or a rewrite there does not count: some other program may have printed it. CPython that has not found its
    script has failed, although it ends with 2.
    """
    if isinstance(hook.action, Prompt):
        return parse_reply(event, hook, hook.action, result)
    if result.code == 2 and isinstance(hook.action, Command):
        return _exited_2(event, hook, hook.action, result)
    return _parse(event, hook, result)


def _exited_2(event: Event, hook: Hook, command: Command, result: Result) -> HookOutput:
    """Reads an output with exit 2: a refusal, with a warning for the user if stderr shows a broken program."""
    error = ""
    if b":" in result.stderr or b" line " in result.stderr:  # every error of a program contains one of these
        stderr = result.stderr.decode("utf-8", "replace").strip()
        if not result.stdout and UNOPENED in result.stderr and is_unopened_script(command.line, stderr):
            return HookOutput(problem=stderr)
        error = interpreter_error(stderr)
    output = _parse(event, hook, result)
    if output.verdict is not Verdict.DENY:
        return output
    if not output.reason and result.stdout and not result.stdout.lstrip().startswith(b"{"):
        output = replace(output, reason=result.stdout.decode("utf-8", "replace").strip()[-REASON_LIMIT:])
    return replace(output, warning=BROKEN_PROGRAM.format(error)) if error and not output.warning else output


def _parse(event: Event, hook: Hook, result: Result) -> HookOutput:
    known = AGENTS.find(hook.dialect)
    assert known is not None  # it was when the hook was started
    output = known.protocol.read(event, result)
    if output.context and event.kind in STOP_KINDS and not hook_rules(hook.dialect).context_at_stop:
        # The format does not know context at a stop: an agent would go on because of it.
        output = replace(output, context="", adjustment=output.adjustment or "its context at a stop was dropped")
    if output.verdict is Verdict.DENY or result.cause or result.code is None:
        return output
    if last := lenient.last_object(result.stdout):
        answer = known.protocol.read(event, replace(result, stdout=last.encode()))
        if answer.verdict > max(output.verdict, Verdict.ALLOW) or answer.stop is not None:
            verdict = answer.verdict if answer.verdict > Verdict.ALLOW else Verdict.ABSTAIN
            return HookOutput(  # only its ask, deny or stop
                verdict=verdict, reason=answer.reason, stop=answer.stop, notes=answer.notes, adjustment=IGNORED
            )
    if Capability.DENY not in event.spec.can:  # the event cannot be refused
        return output
    output = _with_refusal(event, hook, known, result, output)
    if hook.failure is Failure.BLOCK and result.code == 0 and not output.problem and output.verdict < Verdict.ASK:
        return _require_answer(hook, result, output)
    return output


def _with_refusal(event: Event, hook: Hook, known: Agent, result: Result, output: HookOutput) -> HookOutput:
    """Adds a refusal that the hook's format does not read: it counts for hooktray.yaml; other hooks get a warning.

    If a hooktray.yaml hook prints an object that is not an answer in its format, it fails, whatever `failure:` is.
    """
    if result.code not in REPLIED or output.plain or output.stop is not None:
        return output
    if not result.stdout.strip():
        return _with_misplaced_refusal(event, hook, known, result, output)
    is_ours, is_unused = hook.source.kind == OWN_SOURCE, replace(output, warning="", notes=()) == NO_OUTPUT
    found = refusals.find(event, known, result.stdout, is_unused=is_unused)
    if found is not None and not is_ours:
        if output.problem or output.verdict >= max(found.verdict, Verdict.ASK):
            return output
        return replace(output, warning=DROPPED.format(found.problem or found.adjustment, known.id))
    if found is not None and (found.problem or found.verdict > output.verdict):
        return found if not (found.problem and output.problem) else output
    if not is_ours or not is_unused or output.notes:
        return output
    problem = refusals.unknown_keys(event, known, result.stdout)
    return HookOutput(problem=problem) if problem else output


def _with_misplaced_refusal(event: Event, hook: Hook, known: Agent, result: Result, output: HookOutput) -> HookOutput:
    """Adds a problem or a warning if stderr is a refusal in the hook's own format: with exit 0 it does not count."""
    stderr = result.stderr.strip()
    if result.code != 0 or output.problem or not stderr.startswith(b"{"):
        return output
    try:
        keys = lenient.loads(lenient.text(stderr), python=True).keys()
    except ValueError:
        return output
    answer = known.protocol.read(event, replace(result, stdout=stderr, stderr=b""))
    if answer.verdict <= Verdict.ALLOW or not keys <= (known.answers.keys or frozenset()):  # other keys: a log line
        return output
    return HookOutput(problem=MISPLACED) if hook.source.kind == OWN_SOURCE else replace(output, warning=MISPLACED)


def _require_answer(hook: Hook, result: Result, output: HookOutput) -> HookOutput:
    """With `failure: block`, turns text into a failure unless the event or the hook's own format asks for text."""
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
