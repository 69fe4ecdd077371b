"""What one hook has to do for one event, made ready to run, and what came of it in the hook's own words."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tray.dialects import DIALECTS
from tray.dialects.x_code_hooks import of_plugin
from tray.engine import output
from tray.engine.approval.covering import Covering
from tray.engine.approval.placeholders import running
from tray.engine.question import answered
from tray.engine.runners.environment import clean
from tray.engine.runners.errand import Errand, Work
from tray.engine.runners.process import Job, May
from tray.engine.runners.script import unopened
from tray.engine.runners.span import Span
from tray.model.decision import Reading, Result
from tray.model.event import TEST, Event
from tray.model.hook import Command, Hook, Http, Prompt

if TYPE_CHECKING:  # reading YAML is none of the business of `once`
    from tray.settings import Llm

AGENT_TIME = 60.0  # seconds that an agent hook has at most

USER_PACKAGES = "PYTHONUSERBASE"  # in a hook's `env:` it lets Python load the packages of that folder


class Works:
    """Makes work of approved hooks. `llm` is the model that a person confirmed, if any."""

    def __init__(self, covering: Covering, llm: Callable[[], Llm | None]) -> None:
        self._covering = covering
        self._llm = llm

    def work(self, event: Event, hook: Hook, digest: str, may: May) -> Work:
        """The process, request or question of this hook. Raises HooktrayError when it cannot be."""
        action = hook.action
        if isinstance(action, Http):
            return _request(event, hook, action, may)
        if isinstance(action, Prompt):
            return _question(event, hook, action, self._llm(), may)
        assert isinstance(action, Command)
        return self._job(event, hook, action, digest, may)

    def _job(self, event: Event, hook: Hook, command: Command, digest: str, may: May) -> Job:
        dialect = DIALECTS[hook.dialect]
        own = {"HOOK_SOURCE_DIR": command.folder, "PYTHONDONTWRITEBYTECODE": "1"}  # nothing joins the approved copy
        if USER_PACKAGES not in hook.env:
            own["PYTHONNOUSERSITE"] = "1"  # Python would run whatever an agent leaves in that folder
        places = running(command, self._covering.copy(digest, command.plugin), event.cwd)
        said = dialect.environment(event)
        if event.test:
            own[TEST] = "1"
        if command.storage:
            Path(command.storage).mkdir(parents=True, exist_ok=True)
        extra = {**said, **(places if command.shell or command.plugin else {}), **own}
        stdin = dialect.stdin(event)
        if command.owner and hook.dialect == "x-code":
            stdin = of_plugin(stdin, command.owner, places.get("pluginDir") or command.root)
        return Job(
            argv=self._covering.argv(hook, digest, {**said, **places} if command.format else {}),
            cwd=_folder(event, hook),
            environment=clean(event.environment, wanted=hook.env, extra=extra).environment,
            stdin=stdin,
            timeout=hook.timeout,
            background=hook.background,
            may=may,
        )


def _folder(event: Event, hook: Hook) -> str:
    """An agent's own hooks start where it would start them, as their relative paths mean that; others in `cwd`."""
    own = event.place if hook.match.format == event.agent else ""
    there = (folder for folder in (own, event.cwd) if os.path.isdir(folder))  # noqa: PTH112 - Path raises for some
    return next(there, "") or str(Path.home())


def _request(event: Event, hook: Hook, action: Http, may: May) -> Errand:
    def ask(span: Span) -> Result:
        from tray.engine.posting import post  # urllib3 is none of a command hook's business

        return post(event, hook, action, span)

    return Errand(ask=ask, timeout=hook.timeout, may=may)


def _question(event: Event, hook: Hook, action: Prompt, llm: Llm | None, may: May) -> Errand:
    def ask(span: Span) -> Result:
        from tray.engine.asking import ask_model  # the openai library takes half a second

        return ask_model(event, hook, action, llm, span)

    return Errand(ask=ask, timeout=min(hook.timeout, AGENT_TIME) if action.agent else hook.timeout, may=may)


def read(event: Event, hook: Hook, result: Result) -> Reading:
    """What the hook said. CPython that has not found its script says nothing, though it ends with 2."""
    if isinstance(hook.action, Prompt):
        return answered(event, hook, hook.action, result)
    if result.code == 2 and not result.stdout and isinstance(hook.action, Command):
        said = result.stderr.decode("utf-8", "replace").strip()
        if unopened(hook.action.line, said):
            return Reading(problem=said)
    return output.read(event, hook, result)
