"""The commands about agents: connect, disconnect and import-hooks, which show each change first, and agents."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated

from msgspec.structs import asdict, replace

from tray.agents.connection import Plan, Site
from tray.agents.registry import AGENTS
from tray.approvals.callers.person import find_origin
from tray.approvals.catalog import HookCatalog
from tray.approvals.checks import ImportCheck
from tray.cli.command_line import Argument, Json, Option
from tray.cli.tray_reports import ask_report
from tray.cli.views import print_agents, print_packages
from tray.connect import apply_connect, apply_disconnect, connectors, forget, hook_import
from tray.connect.summary import is_confirmed, summary
from tray.doctor import agent_sites
from tray.doctor.agent_status import check_line
from tray.doctor.reports import agents_report
from tray.edit.diff import diff
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


class AgentQuestion:
    """Asks the user before it writes agents' settings.

    `plan` returns the changes for an agent, `write` carries them out. Writing an empty plan removes notes that a
    crash left. Both raise HooktrayError.
    """

    def __init__(self, verb: str, done: str, plan: Callable[[str], Plan], write: Callable[[str, Plan], None]) -> None:
        self._verb, self._done = verb, done  # "Connect", "connected"
        self._plan, self._write = plan, write

    def settle(self, names: Sequence[str], *, dry_run: bool, yes: bool) -> None:
        """What is wrong with one agent's files keeps no other waiting; the errors are raised at the end."""
        plans: dict[str, Plan] = {}
        errors: list[HooktrayError] = []
        for name in names:
            with _collected(errors):
                plan = self._plan(name)
                if plan.changes:
                    plans[name] = plan
                    continue
                if not dry_run:
                    self._write(name, plan)
                print(f"{name}: already {self._done}; nothing to write.")
        if dry_run:
            for name, plan in plans.items():
                _show(name, plan)
                print(f"{name}: nothing was written (--dry-run).")
        elif plans:
            errors += self._ask(plans, yes=yes)
        for error in errors[:-1]:
            print(printable(f"hooktray: {error.message}\n  {error.hint}"), file=sys.stderr)
        if errors:
            raise errors[-1]

    def _ask(self, plans: dict[str, Plan], *, yes: bool) -> list[HooktrayError]:
        for name, plan in plans.items():
            print(printable(f"{name}: {summary(name, plan, Path.home())}"))
        names = ", ".join(plans)
        try:
            _require_user(names, yes=yes)
        except HooktrayError as error:
            return [error]
        if not yes and not is_confirmed(f"{self._verb} {names}", input, partial(_show_all, plans)):
            print("Nothing was written.")
            return []
        errors: list[HooktrayError] = []
        for name, plan in plans.items():
            with _collected(errors):
                self._write(name, plan)
                print(f"{name}: {self._done}.")
                _print_notes(name, plan)
        return errors


def _show_all(plans: Mapping[str, Plan]) -> None:
    for name, plan in plans.items():
        _show(name, plan)


def _show(name: str, plan: Plan) -> None:
    """The exact difference, and what the user should know."""
    for change in plan.changes:
        print(diff(change), end="")
    _print_notes(name, plan)


def _print_notes(name: str, plan: Plan) -> None:
    for note in plan.notes:
        print(printable(f"  {note}" if note.startswith("/") else f"{name}: {note}"))  # what is to be typed elsewhere


def refuse_agents(name: str) -> None:
    """Raises HooktrayError for an agent: only the user, or a script of theirs, decides which agent asks what."""
    if who := find_origin(os.environ, ancestors(os.getpid())):
        raise HooktrayError(
            f"{name}: this was started by {who}; nothing was written",
            hint="run it in a terminal of your own, outside of agents; --dry-run shows it here, too",
        )


def _require_user(names: str, *, yes: bool) -> None:
    """Raises HooktrayError if an agent runs this; without `yes`, also if no terminal can confirm."""
    refuse_agents(names)
    if not yes and not sys.stdin.isatty():
        raise HooktrayError(f"{names}: nobody is there to say yes", hint="look at --dry-run, then give --yes")


@contextmanager
def _collected(errors: list[HooktrayError]) -> Iterator[None]:
    try:
        yield
    except HooktrayError as error:
        errors.append(error)


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

    def plan(name: str) -> Plan:
        return connectors()[name].connect(site)

    def write(name: str, plan: Plan) -> None:
        installed_relay.prepare_to_connect(paths, name)
        apply_connect(site, name, plan)
        if not plan.changes:
            installed_relay.mend(paths, open_db(paths.database))
        check_line(site, name)

    AgentQuestion("Connect", "connected", plan, write).settle(names, dry_run=dry_run, yes=yes)


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

    def plan(name: str) -> Plan:
        plan = connectors()[name].disconnect(site)
        return replace(plan, notes=tuple(filter(None, (*plan.notes, hook_import.import_reminder(site, name)))))

    def write(name: str, plan: Plan) -> None:
        apply_disconnect(site, name, plan)
        installed_relay.update_after_disconnect(paths)
        if not scope and not workspace and not find_origin(os.environ, ancestors(os.getpid())):
            forget(site, name)  # the tray stops reporting entries that the user removed in an editor

    AgentQuestion("Disconnect", "disconnected", plan, write).settle(names, dry_run=dry_run, yes=yes)


def import_hooks(
    paths: Paths,
    agent: Annotated[str, Argument(metavar="AGENT", help="Whose hooks.")],
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
    stores = open_stores(paths)
    with closing(stores.journal):
        has_model = confirmed_llm(paths, stores) is not None
    plan = hook_import.import_hooks(site, name, ImportCheck(has_model=has_model))
    if not _apply(site, name, plan, undo=False, dry_run=dry_run, yes=yes):
        return
    # The moved hooks may need events of a connected agent for which no entry exists yet.
    site = agent_site(paths, "user", workspace)
    missing = connectors()[name].connect(site) if connectors()[name].relay_entries(site) else None
    if missing and missing.changes:
        apply_connect(site, name, missing)
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
        site = agent_site(paths, workspace=workspace)
        with closing(open_stores(paths).journal) as journal:
            report = agents_report(journal, site, trial=trial)
    if as_json:
        for one in (*report["agents"], *report["unsupported"]):
            print(json.dumps(one["row"], ensure_ascii=False))
    else:
        print_agents(report)
    if has_packages and as_json:
        for broken in AGENTS.packaged.broken:
            print(json.dumps({**asdict(broken), "supported": False}, ensure_ascii=False))
    elif has_packages:
        print_packages(AGENTS)


def agent_site(paths: Paths, scope: str = "", workspace: str = "") -> Site:
    """Everything that connectors look at; `agents` gives no scope and so finds all."""
    return agent_sites.site(paths, scope=scope, workspace=workspace, hooks=agent_sites.read_hooks(paths))


def _is_connected(site: Site, agent: str) -> bool:
    """What cannot be read may hold lines of ours: the refusal names the place."""
    try:
        return bool(connectors()[agent].disconnect(site).changes)
    except HooktrayError:
        return True


def _check_agents(agents: Sequence[str] | None) -> list[str]:
    for agent in agents or []:
        if agent not in connectors():
            raise HooktrayError(f"unknown agent `{agent}`", hint=suggest(agent, connectors()))
    return list(dict.fromkeys(agents or []))


def try_imported(site: Site, agent: str) -> None:
    """Run each imported hook that is approved already once on a test event; the others run when they are approved."""
    kept = open_stores(site.paths)
    with closing(kept.journal):
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
    _show(name, plan)
    if dry_run:
        print(f"{name}: nothing was written (--dry-run).")
        return False
    _require_user(name, yes=yes)
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
