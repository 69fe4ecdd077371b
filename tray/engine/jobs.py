"""Builds the job of one hook for one event, and reads its output: also an answer after other text, or none."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from tray.agents import lenient
from tray.agents.agent import Agent
from tray.agents.placeholders import runtime_values
from tray.agents.protocol import spec
from tray.agents.registry import AGENTS, hook_rules
from tray.engine.prompt_text import parse_reply
from tray.errors import HooktrayError
from tray.execution.environment import USER_PACKAGES, clean
from tray.execution.hook_runs import HookPlace, HookRuns
from tray.execution.process import Job, StartGate
from tray.execution.request_deadline import Deadline
from tray.execution.script import is_unopened_script
from tray.lazy_dataclass import replace
from tray.model.decision import HookOutput, Result, Verdict
from tray.model.event import STOP_KINDS, TEST_VARIABLE, Capability, Event
from tray.model.hook import Command, Failure, Hook, Http, Prompt
from tray.store.ledger import ApprovedHook
from tray.text import redact, sanitise

if TYPE_CHECKING:  # reading YAML is none of the business of `once`
    from tray.approvals.command_resolver import CommandResolver
    from tray.execution.request_job import AnyJob, RequestJob
    from tray.settings import Llm
    from tray.store.copies import Copies

AGENT_TIMEOUT = 60.0  # seconds that an agent hook has at most

QUOTED = 60  # characters of the output that a reason quotes
REDACTED_LENGTH = 2000  # characters from which they are taken: a secret at their end is known by what follows
OWN_SOURCE = "hooktray"  # the source whose hooks have to answer, whatever text means in their dialect
IGNORED = "its answer is the last line of its output; the lines before it were ignored"


class JobBuilder:
    """Builds the jobs of approved hooks. `llm` is the model that a person confirmed, if any."""

    def __init__(self, copies: Copies, llm: Callable[[], Llm | None], runs: HookRuns) -> None:
        self._copies = copies
        self._llm = llm
        self._runs = runs

    @cached_property
    def _resolver(self) -> CommandResolver:
        """The one-shot engine imports it for a command hook only: that takes as long as a rule does in all."""
        from tray.approvals.command_resolver import CommandResolver

        return CommandResolver(self._copies)

    def build(self, event: Event, approved: ApprovedHook, start_gate: StartGate) -> AnyJob:
        """The process, request or question of this hook. Raises HooktrayError when it cannot be."""
        hook = replace(approved.hook, env=approved.env) if approved.granted else approved.hook
        known = AGENTS.find(hook.dialect)
        if known is None:
            raise HooktrayError(f"it is written for {hook.dialect}, an agent that is not known here any more")
        action = hook.action
        if isinstance(action, Http):
            return _request(event, hook, action, start_gate)
        if isinstance(action, Prompt):
            return _question(event, hook, action, self._llm(), start_gate)
        assert isinstance(action, Command)
        return self._job(event, hook, known, approved, action, start_gate)

    def with_originals(self, approved: ApprovedHook, cause: str) -> str:
        """Agents and users know their own files, and nothing of our copies."""
        return self._copies.with_originals(approved.digest, cause)

    def _job(
        self, event: Event, hook: Hook, known: Agent, approved: ApprovedHook, command: Command, start_gate: StartGate
    ) -> Job:
        from tray.approvals.program_pins import hook_path  # as the resolver

        digest, pins = approved.digest, approved.pins
        own = {"HOOK_SOURCE_DIR": command.folder, "PYTHONDONTWRITEBYTECODE": "1"}  # nothing joins the approved copy
        if USER_PACKAGES not in hook.env:
            own["PYTHONNOUSERSITE"] = "1"  # Python would run whatever an agent leaves in that folder
        if pins and (path := hook_path(pins, event.environment.get("PATH", ""))):
            own["PATH"] = path
        values: Mapping[str, str] = {}
        if command.format:
            values = runtime_values(command, self._resolver.copy(digest, command.plugin), event.cwd)
        variables = known.protocol.environment(event)
        if event.test:
            own[TEST_VARIABLE] = "1"
        if command.storage:
            Path(command.storage).mkdir(parents=True, exist_ok=True)
        extra = {**variables, **(values if command.shell or command.plugin else {}), **own}
        stdin = known.protocol.stdin(event)
        if command.owner and known.rules.plugin_input:
            folder = values.get(known.rules.placeholders.plugin) or command.root
            stdin = known.rules.plugin_input(stdin, command.owner, folder)
        line = self._resolver.command_line(hook, digest, {**variables, **values} if command.format else {}, pins)
        return Job(
            argv=line.argv,
            script=line.script,
            cwd=_folder(event, hook),
            environment=clean(event.environment, wanted=hook.env, extra=extra).environment,
            stdin=stdin,
            timeout=hook.timeout,
            background=hook.background_seconds,
            on_start=partial(self._runs.add, hook.key, HookPlace(event.above, event.depth)),
            on_exit=self._runs.end,
            start_gate=start_gate,
        )


def _folder(event: Event, hook: Hook) -> str:
    """An agent's own hooks start where it would start them, as their relative paths mean that; others in `cwd`."""
    own = event.hook_folder if hook.match.format == event.agent else ""
    for folder in (own, event.cwd):
        if os.path.isdir(folder):  # noqa: PTH112 - Path raises for some
            return folder
    return str(Path.home())


def _request(event: Event, hook: Hook, action: Http, start_gate: StartGate) -> RequestJob:
    def ask(deadline: Deadline) -> Result:
        from tray.engine.http_hook import post  # urllib3 is none of a command hook's business

        return post(event, hook, action, deadline)

    from tray.execution.request_job import RequestJob

    return RequestJob(ask=ask, timeout=hook.timeout, start_gate=start_gate)


def _question(event: Event, hook: Hook, action: Prompt, llm: Llm | None, start_gate: StartGate) -> RequestJob:
    def ask(deadline: Deadline) -> Result:
        from tray.engine.prompt_hook import ask_model  # imported when a hook first asks a model

        return ask_model(event, hook, action, llm, deadline)

    from tray.execution.request_job import RequestJob

    return RequestJob(
        ask=ask, timeout=min(hook.timeout, AGENT_TIMEOUT) if action.agent else hook.timeout, start_gate=start_gate
    )


def parse_result(event: Event, hook: Hook, result: Result) -> HookOutput:
    """The hook's output. CPython that has not found its script has no verdict, though it ends with 2."""
    if isinstance(hook.action, Prompt):
        return parse_reply(event, hook, hook.action, result)
    if result.code == 2 and not result.stdout and isinstance(hook.action, Command):
        stderr = result.stderr.decode("utf-8", "replace").strip()
        if is_unopened_script(hook.action.line, stderr):
            return HookOutput(problem=stderr)
    return parse_output(event, hook, result)


def parse_output(event: Event, hook: Hook, result: Result) -> HookOutput:
    """The hook's answer in its dialect; a refusal or question on the last line counts after any other text.

    An allow or a rewrite there does not count: some other program may have printed it.
    """
    known = AGENTS.find(hook.dialect)
    assert known is not None  # it was when the job was built
    output = _heard(event, hook, known.protocol.read(event, result))
    if output.verdict is Verdict.DENY or result.cause or result.code is None:
        return output
    if last := lenient.last_object(result.stdout):
        answer = known.protocol.read(event, replace(result, stdout=last.encode()))
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
