"""What `hooktray list` shows: every hook with its state, and the lines to paste for those that wait."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import TypedDict

from tray.approvals.catalog import HookCatalog, HookState, command_or_url
from tray.approvals.review import describe_action
from tray.doctor.state_incident import loss_notice
from tray.engine.stores import Stores, open_stores
from tray.model.hook import ApprovalState
from tray.paths import Paths
from tray.text import sanitise


class ConfigurationRow(TypedDict):
    """What is wrong with the settings; `problem` is "" when they are in force as written."""

    problem: str
    warnings: Sequence[str]


class HookRow(TypedDict):
    """A hook as `hooktray list --json` shows it."""

    name: str
    event: str
    agents: Sequence[str]
    source: str
    state: str
    enabled: bool
    health: str
    remedy: str | None
    runs: str
    digest: str
    approved: str | None


class ListReport(ConfigurationRow):
    rows: Sequence[HookRow]
    enabled: bool
    loss: str
    waiting: Sequence[str]  # the lines to paste


def read_hooks(paths: Paths) -> ListReport:
    """The report where no tray answers. Raises StoreError."""
    stores = open_stores(paths)
    return list_report(stores, HookCatalog(paths, stores.ledger, stores.copies))


def list_report(stores: Stores, catalog: HookCatalog) -> ListReport:
    """Every hook, and the lines to paste for those that wait."""
    catalog.refresh()
    return {
        "rows": hook_rows(catalog),
        "enabled": stores.switch.state().enabled,
        "loss": loss_notice(stores),
        "waiting": list(_waiting_lines(catalog)),
        **configuration_row(catalog),
    }


def configuration_row(catalog: HookCatalog) -> ConfigurationRow:
    return {"problem": catalog.configuration.problem, "warnings": catalog.configuration.warnings}


def hook_rows(catalog: HookCatalog) -> list[HookRow]:
    """One row per hook, in order."""
    return [
        {
            "name": one.hook.name,
            "event": one.hook.match.event,
            "agents": list(one.hook.match.agents),
            "source": str(one.hook.source),
            "state": one.state.value,
            "enabled": one.hook.enabled,
            "health": one.health or "ok",
            "remedy": one.remedy or None,
            "runs": describe_action(one.hook.action),
            "digest": one.digest,
            "approved": one.approved or None,
        }
        for one in catalog.states
    ]


def _waiting_lines(catalog: HookCatalog) -> Iterator[str]:
    """The line to paste for each hook and each setting that waits."""
    for one in catalog.states:
        if one.state is ApprovalState.PENDING and one.digest:
            name = shlex.quote(_hook_name(one, catalog))
            yield f"To ask for approval: hooktray approve {one.hook.match.event} {name}"
    for setting in catalog.settings():
        if setting.waiting:
            yield (
                f"`{sanitise(setting.text, 300)}` counts once it is confirmed. To ask for that: "
                f"hooktray approve {shlex.quote(setting.key.removeprefix('setting:'))}"
            )


def _hook_name(one: HookState, catalog: HookCatalog) -> str:
    """Returns a word that names only this hook: its command or URL, else its name, digest or key.

    It skips words with control characters, which a hook from a foreign source may contain.
    """
    words = (command_or_url(one.hook), one.hook.name, one.digest[:12])
    usable = (word for word in words if word and _is_plain(word) and _is_unambiguous(word, one, catalog))
    return next(usable, sanitise(one.key, 300))


def _is_plain(word: str) -> bool:
    return sanitise(word, 300) == word and not word.startswith("-")


def _is_unambiguous(word: str, one: HookState, catalog: HookCatalog) -> bool:
    return [other for other in catalog.find(word) if other.hook.match.event == one.hook.match.event] == [one]
