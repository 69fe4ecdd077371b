"""Reads the words of `approve EVENT HOOK`, which commands and `/hooks` share."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from tray.agents.protocol import is_known_event
from tray.agents.registry import AGENTS
from tray.model.event import EventKind

EVENT_KINDS = frozenset(kind.value for kind in EventKind)


def split_event(words: Sequence[str], *, is_shell: bool = False) -> tuple[str, str]:
    """The event and the hook of `approve EVENT HOOK`; the event is "" where the first word is none.

    `is_shell`: a shell has split the words, so those of a command line are quoted again.
    """
    join = shlex.join if is_shell else " ".join
    first, *rest = words or ("",)
    if rest and (first in EVENT_KINDS or any(is_known_event(agent, first) for agent in AGENTS)):
        return first, rest[0] if len(rest) == 1 else join(rest)
    return "", first if not rest else join(words)
