"""Hooks that would run twice: approved here, and run by the connected agent itself out of its own settings file."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path

from tray.agents.registry import AGENTS
from tray.approvals.catalog import HookState
from tray.connect import connectors
from tray.doctor.agent_sites import reading_site
from tray.edit.backups import CONNECTIONS, Backups
from tray.edit.file_changes import read_state
from tray.errors import PACKAGE_ERRORS, HooktrayError
from tray.model.hook import ApprovalState, Hook
from tray.paths import Paths


def native_hooks(paths: Paths, states: Iterable[HookState]) -> frozenset[str]:
    """Returns the keys of the approved hooks that their own connected agent runs.

    A hook whose file changed since its approval is not among them: its approved copy goes on guarding.
    """
    approved = [one for one in states if one.state is ApprovalState.APPROVED and one.digest == one.approved]
    files = {agent: _connected_files(paths, agent) for agent in {one.hook.source.kind for one in approved}}
    return frozenset(one.key for one in approved if _is_run(paths, one.hook, files[one.hook.source.kind]))


def _connected_files(paths: Paths, agent: str) -> tuple[Path, ...]:
    """Returns the agent's files that have our entries, if it is known which hooks the agent runs itself."""
    known, found = AGENTS.get(agent), []
    if known is not None and known.runs_own is not None:
        for one in Backups(paths.state / CONNECTIONS).of_agent(agent):
            with contextlib.suppress(HooktrayError):
                if connectors()[agent].contents(one.path, read_state(one.path)):
                    found.append(one.path)
    return tuple(found)


def _is_run(paths: Paths, hook: Hook, connected: tuple[Path, ...]) -> bool:
    runs_own = AGENTS[hook.source.kind].runs_own if connected else None
    try:
        return runs_own is not None and runs_own()(reading_site(paths), hook, connected)
    except HooktrayError:  # the agent cannot read the file, either
        return False
    except PACKAGE_ERRORS as error:
        AGENTS.failure(hook.source.kind, "runs_own", error)
        return False
