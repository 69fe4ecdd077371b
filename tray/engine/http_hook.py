"""HTTP hooks: the event as a POST in the hook's own dialect, and what an answer means to that dialect."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from tray import __version__
from tray.addresses import endpoint
from tray.agents import lenient
from tray.agents.registry import AGENTS, hook_rules
from tray.errors import HooktrayError
from tray.execution.http_client import HttpRequest, send
from tray.execution.request_job import Deadline
from tray.model.decision import Result
from tray.model.event import Event
from tray.model.hook import Hook, Http

VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
CONTROL = re.compile(r"[^\t\x20-\x7e]")


def post(event: Event, hook: Hook, action: Http, deadline: Deadline) -> Result:
    """What the server answers to one hook's event. Raises HooktrayError."""
    reply = send(_request(event, hook, action), deadline)
    if 300 <= reply.status < 400:
        return Result(cause=f"answered {reply.status}: redirects are not followed")
    if not 200 <= reply.status < 300:
        return Result(cause=f"answered {reply.status}")
    if hook_rules(hook.dialect).json_over_http and (text := lenient.text(reply.body)):
        try:
            lenient.mapping(text, ())
        except ValueError as error:
            return Result(cause=f"answered {reply.status} with what is {error}")
    return Result(code=0, stdout=reply.body)


def _request(event: Event, hook: Hook, action: Http) -> HttpRequest:
    try:
        end = endpoint(action.url)
    except ValueError as error:
        raise HooktrayError(f"its URL: {error}") from error
    body = AGENTS[hook.dialect].protocol.stdin(event).removesuffix(b"\n")
    kind = "application/json" if body.startswith((b"{", b"[")) else "text/plain; charset=utf-8"
    usual = {
        "Accept": "application/json, text/plain, */*",
        "Content-Type": kind,
        "User-Agent": f"hooktray/{__version__}",
    }
    own = {name: _filled(name, value, event.environment, hook.env) for name, value in action.headers}
    named = {name.lower() for name in own}
    headers = {name: value for name, value in usual.items() if name.lower() not in named} | own
    return HttpRequest(endpoint=end, body=body, headers=headers, local=end.host_port in action.allow_local)


def _filled(name: str, text: str, environment: Mapping[str, str], wanted: Collection[str]) -> str:
    """A header's value with the variables put in that the hook lists; any other is empty.

    Those that a process must not get (`GIT_…`, `LD_…`) are meant to change programs; here they are text.
    """
    listed = {each: environment.get(each, "") for each in wanted}
    value = VARIABLE.sub(lambda found: listed.get(found[1] or found[2], ""), text)
    if CONTROL.search(value):
        raise HooktrayError(f"the header {name} would hold a sign that no header can")
    return value
