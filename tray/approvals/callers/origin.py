"""Whether a command was started by an agent or a hook, as far as a command can know without asking the tray.

It keeps honest programs honest: the tray's own judgement is stricter, and an agent's tool calls are
judged before they run. A script of the user's own has neither mark nor agent above it, and passes.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath

from tray.agents.registry import inherited_variables, program_names
from tray.approvals.callers.person import HOOK_VARIABLE
from tray.execution.ancestry import Ancestor, is_command
from tray.execution.isolation import is_isolated

INTERPRETERS = frozenset({"bun", "deno", "node"})  # of agents that are scripts


def find_origin(environment: Iterable[str], ancestors_of: Iterable[Ancestor]) -> str:
    """Returns which agent or hook is behind a command, or "". `environment` has the names of its variables."""
    marks = sorted({HOOK_VARIABLE, *inherited_variables()}.intersection(environment))
    if marks:
        return f"an agent or a hook: {marks[0]} is set"
    return next((origin for one in ancestors_of if (origin := _origin_of(one))), "")


def _origin_of(one: Ancestor) -> str:
    if is_isolated(one.command, "once") or is_command(one.command, "run"):
        return f"a hook, below {PurePath(one.command[0]).name} ({one.pid})"
    names = [PurePath(word).name.removesuffix(".exe") for word in one.command[:2]]
    name = names[0] if names else ""
    if name in INTERPRETERS and len(names) > 1:
        name = PurePath(names[1]).stem
    return f"{name} ({one.pid})" if name in program_names() else ""
