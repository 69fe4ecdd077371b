"""A guard: an approved hook that can refuse a tool call, as the relay knows it when nothing else can judge."""

from __future__ import annotations

from tray.lazy_dataclass import dataclass
from tray.model.event import EventKind
from tray.model.hook import Failure

GATING_KINDS = frozenset({EventKind.PERMISSION_REQUEST, EventKind.TOOL_BEFORE})  # a failed hook there does not allow


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """One agent's event that approved hooks guard. All names are the agent's own.

    `names` are the tools that the hooks can match; with `is_exception`, the only tools that they cannot match.
    `failure` ALLOW: the call goes on unjudged, since the agent cannot ask, and the relay notes it. `hooks` are the
    names of the hooks.
    """

    agent: str
    event: str
    failure: Failure
    names: tuple[str, ...] = ()
    is_exception: bool = False
    hooks: tuple[str, ...] = ()
