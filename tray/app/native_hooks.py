"""Hooks that would run twice: approved here, and run by the connected agent itself out of its own settings file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tray.agents.registry import hook_rules
from tray.approvals.catalog import HookState
from tray.connect import connectors
from tray.edit.backups import CONNECTIONS, Backups
from tray.edit.file_changes import read_state, resolve_links
from tray.errors import HooktrayError
from tray.model.hook import ApprovalState
from tray.paths import Paths


def native_hooks(paths: Paths, states: Iterable[HookState]) -> frozenset[str]:
    """The keys of the approved hooks that their own agent runs, of a file with entries of ours.

    A hook whose file was changed since its approval is not among them: its approved copy goes on guarding.
    """
    approved = [one for one in states if one.state is ApprovalState.APPROVED and one.digest == one.approved]
    agents = {one.hook.source.kind for one in approved if hook_rules(one.hook.source.kind).runs_own}
    files = {agent: _connected_files(paths, agent) for agent in agents}
    return frozenset(one.key for one in approved if _is_run(one, files.get(one.hook.source.kind, ())))


def _connected_files(paths: Paths, agent: str) -> tuple[Path, ...]:
    """The settings files that have entries of ours."""
    backups = Backups(paths.state / CONNECTIONS).of_agent(agent)
    return tuple(one.path for one in backups if _has_entries(agent, one.path))


def _has_entries(agent: str, path: Path) -> bool:
    try:
        return bool(connectors()[agent].contents(path, read_state(path)))
    except HooktrayError:
        return False


def _is_run(one: HookState, files: Iterable[Path]) -> bool:
    """Whether it is in one of these files, or in a skill or subagent beside one."""
    path, match = resolve_links(Path(one.hook.source.path)), one.hook.match
    is_frontmatter = bool(match.skill or match.subagent)
    return any(path == file or (is_frontmatter and path.is_relative_to(file.parent)) for file in files)
