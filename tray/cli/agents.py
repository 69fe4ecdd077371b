"""The commands about agents: connect, disconnect and import-hooks, which show each change first, and agents."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import Annotated

from msgspec.structs import asdict, replace

from tray.agents.connection import Plan, Site
from tray.agents.registry import AGENTS
from tray.approvals.callers.person import find_origin
from tray.approvals.catalog import HookCatalog
from tray.approvals.checks import ImportCheck
from tray.cli.agent_question import AgentQuestion, refuse_agents, show
from tray.cli.command_line import Argument, Json, Option
from tray.cli.tray_reports import ask_report
from tray.cli.views import print_agents, print_packages
from tray.connect import apply_connect, apply_disconnect, connectors, forget, hook_import
from tray.doctor import agent_sites
from tray.doctor.agent_status import check_line
from tray.doctor.reports import AgentsReport, agents_report
from tray.engine.approval_trials import imported_from, run_trial
from tray.engine.catalogs import confirmed_llm
from tray.engine.stores import open_stores
from tray.errors import HooktrayError
from tray.execution.ancestry import ancestors
from tray.installation import installed_relay
from tray.model.hook import ApprovalState
from tray.paths import Paths
from tray.store.db import open_db
from tray.strict.document import suggest
from tray.text import printable

Agents = Annotated[list[str] | None, Argument(metavar="AGENT", help="Which agents; none: one question for all.")]
Scope = Annotated[
    str,
    Option(
        "--scope",
        metavar="user|project|local",
        help="Whose settings: of Claude Code any of them, of Copilot CLI the user's or the project's. Default: the "
        "user's, and those of other folders that lead here.",
    ),
]
Workspace = Annotated[str, Option("--workspace", metavar="DIR", help="Starchild's; default: here, else ~/workspace.")]
DryRun = Annotated[bool, Option("--dry-run", help="Only show what would be written.")]
Yes = Annotated[bool, Option("--yes", "-y", help="Write without asking.")]


class ConnectQuestion(AgentQuestion):
    verb, done = "Connect", "connected"

    def __init__(self, site: Site) -> None:
        self._site = site

    def plan(self, name: str) -> Plan:
        return connectors()[name].connect(self._site)

    def write(self, name: str, plan: Plan) -> None:
        paths = self._site.paths
        installed_relay.prepare_to_connect(paths, name)
        apply_connect(self._site, name, plan)
        if not plan.changes:
            installed_relay.mend(paths, open_db(paths.database))
        check_line(self._site, name)


class DisconnectQuestion(AgentQuestion):
    """With `forgets`, the tray stops reporting entries that the user removed in an editor."""

    verb, done = "Disconnect", "disconnected"

    def __init__(self, site: Site, *, forgets: bool) -> None:
        self._site, self._forgets = site, forgets

    def plan(self, name: str) -> Plan:
        plan = connectors()[name].disconnect(self._site)
        return replace(plan, notes=tuple(filter(None, (*plan.notes, hook_import.import_reminder(self._site, name)))))

    def write(self, name: str, plan: Plan) -> None:
        apply_disconnect(self._site, name, plan)
        installed_relay.update_after_disconnect(self._site.paths)
        if self._forgets and not find_origin(os.environ, ancestors(os.getpid())):
            forget(self._site, name)


def connect(
    paths: Paths,
    agents: Agents = None,
    scope: Scope = "",
    workspace: Workspace = "",
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    site = agent_site(paths, scope, workspace)
    names = _check_agents(agents) or [name for name, one in connectors().items() if one.is_installed(site)]
    if not names:
        raise HooktrayError("no agent was found here", hint=f"name one: {', '.join(connectors())}")
    ConnectQuestion(site).settle(names, dry_run=dry_run, yes=yes)


def disconnect(
    paths: Paths,
    agents: Agents = None,
    scope: Scope = "",
    workspace: Workspace = "",
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    site = agent_site(paths, scope, workspace)
    names = _check_agents(agents) or [name for name in connectors() if _is_connected(site, name)]
    if not names:
        print("No agent is connected.")
    DisconnectQuestion(site, forgets=not scope and not workspace).settle(names, dry_run=dry_run, yes=yes)


AgentName = Annotated[str, Argument(metavar="AGENT", help="Whose hooks.")]


def import_hooks(
    paths: Paths,
    agent: AgentName,
    undo: Annotated[bool, Option("--undo", help="Put imported hooks back into the agent's settings.")] = False,
    workspace: Workspace = "",
    dry_run: DryRun = False,
    yes: Yes = False,
) -> None:
    site = agent_site(paths, "user", workspace)
    name = _check_agents([agent])[0]
    if undo:
        plan = hook_import.undo_import(site, name)
        _apply(site, name, plan, undo=True, dry_run=dry_run, yes=yes)
        return
    plan = hook_import.import_hooks(site, name, ImportCheck(has_model=_has_model(paths)))
    if _apply(site, name, plan, undo=False, dry_run=dry_run, yes=yes):
        _connect_imported(paths, name, workspace)
        try_imported(site, name)


def list_agents(
    paths: Paths,
    as_json: Json = False,
    trial: Annotated[bool, Option("--try", help="Send an event of ours through each agent's own line.")] = False,
    workspace: Workspace = "",
) -> None:
    report = None if trial else ask_report(paths, "agents", workspace=workspace)
    has_packages = not report  # the tray leaves those of packages to us
    if not report:
        report = _read_agents(paths, workspace, trial=trial)
    if as_json:
        for one in (*report["agents"], *report["unsupported"]):
            print(json.dumps(one["row"], ensure_ascii=False))
    else:
        print_agents(report)
    if has_packages:
        _print_packages(as_json=as_json)


def _read_agents(paths: Paths, workspace: str, *, trial: bool) -> AgentsReport:
    site = agent_site(paths, workspace=workspace)
    journal = open_stores(site.paths).journal
    try:
        return agents_report(journal, site, trial=trial)
    finally:
        journal.close()


def _print_packages(*, as_json: bool) -> None:
    if not as_json:
        print_packages(AGENTS)
        return
    for broken in AGENTS.broken:
        print(json.dumps({**asdict(broken), "supported": False}, ensure_ascii=False))


def agent_site(paths: Paths, scope: str = "", workspace: str = "") -> Site:
    """Everything that connectors look at; `agents` gives no scope and so finds all."""
    return agent_sites.site(paths, scope=scope, workspace=workspace, hooks=agent_sites.read_hooks(paths))


def _is_connected(site: Site, agent: str) -> bool:
    """What cannot be read may hold lines of ours: the refusal names the place."""
    try:
        return bool(connectors()[agent].disconnect(site).changes)
    except HooktrayError:
        return True


def _has_model(paths: Paths) -> bool:
    """Whether hooks that ask a model can run here."""
    stores = open_stores(paths)
    try:
        return confirmed_llm(paths, stores) is not None
    finally:
        stores.journal.close()


def _connect_imported(paths: Paths, agent: str, workspace: str) -> None:
    """The moved hooks may need events of a connected agent for which no entry exists yet."""
    site = agent_site(paths, "user", workspace)
    plan = connectors()[agent].connect(site) if connectors()[agent].relay_entries(site) else None
    if plan and plan.changes:
        apply_connect(site, agent, plan)


def _check_agents(agents: Sequence[str] | None) -> list[str]:
    for agent in agents or []:
        if agent not in connectors():
            raise HooktrayError(f"unknown agent `{agent}`", hint=suggest(agent, connectors()))
    return list(dict.fromkeys(agents or []))


def try_imported(site: Site, agent: str) -> None:
    """Run each imported hook that is approved already once on a test event; the others run when they are approved."""
    kept = open_stores(site.paths)
    try:
        found = HookCatalog(site.paths, kept.ledger, kept.copies)
        found.refresh()
        ours = [
            one for one in found.states if imported_from(one.hook) == agent and one.state is ApprovalState.APPROVED
        ]
        failures = [
            failure
            for one in ours
            if (failure := run_trial(site.paths, kept, kept.ledger.state.approved[one.key]).failure)
        ]
    finally:
        kept.journal.close()
    for failure in failures:
        print(printable(f"{agent}: {failure.hook} failed its test run: {failure.cause}\n  {failure.remedy}"))
    if ours and not failures:
        are = "is" if len(ours) == 1 else "are"
        print(f"{agent}: {len(ours)} of them {are} approved already and passed a test run.")


def _apply(site: Site, name: str, plan: Plan, *, undo: bool, dry_run: bool, yes: bool) -> bool:
    """Show, ask, write, report it; whether it was written."""
    word, write = ("put back", apply_disconnect) if undo else ("imported", apply_connect)
    if not plan.changes:
        if not dry_run:
            write(site, name, plan)  # our notes about what is over go, where a crash left them
        print(f"{name}: already {word}; nothing to write.")
        return False
    show(name, plan)
    if dry_run:
        print(f"{name}: nothing was written (--dry-run).")
        return False
    refuse_agents(name)
    if not yes and not sys.stdin.isatty():
        raise HooktrayError(f"{name}: nobody is there to say yes", hint="look at --dry-run, then give --yes")
    if not yes and not _is_confirmed(name, plan):
        print(f"{name}: nothing was written.")
        return False
    write(site, name, plan)
    print(f"{name}: {word}.")
    return True


def _is_confirmed(name: str, plan: Plan) -> bool:
    """Ask until the answer is yes or no; nothing means no. The difference may be long: its summary is repeated."""
    first = plan.changes[0]
    where = str(first.display_path or first.path) if len(plan.changes) == 1 else f"{len(plan.changes)} files"
    print(printable(f"{name}: this is all that changes, in {where}."))
    while (answer := input(f"Write this for {name}? [y/N]: ").strip().lower()) not in ("y", "yes", "", "n", "no"):
        pass
    return answer in ("y", "yes")
