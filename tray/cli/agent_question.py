"""The one question of `connect` and `disconnect`: a summary for each agent, and the difference for who wants it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

from tray.agents.connection import Plan
from tray.approvals.callers.person import find_origin
from tray.connect.summary import is_confirmed, summary
from tray.edit.diff import diff
from tray.errors import HooktrayError
from tray.execution.ancestry import ancestors
from tray.text import printable


class AgentQuestion:
    """Asks the user before it writes agents' settings. A subclass makes the plans and carries them out."""

    verb: ClassVar[str]  # "Connect"
    done: ClassVar[str]  # "connected"

    def plan(self, name: str) -> Plan:
        """Returns what would be written for this agent. Raises HooktrayError."""
        raise NotImplementedError

    def write(self, name: str, plan: Plan) -> None:
        """Carry out the plan; an empty one still removes notes that a crash left. Raises HooktrayError."""
        raise NotImplementedError

    def settle(self, names: Sequence[str], *, dry_run: bool, yes: bool) -> None:
        """What is wrong with one agent's files keeps no other waiting; the errors are raised at the end."""
        plans: dict[str, Plan] = {}
        errors: list[HooktrayError] = []
        for name in names:
            with _collected(errors):
                plan = self.plan(name)
                if plan.changes:
                    plans[name] = plan
                    continue
                if not dry_run:
                    self.write(name, plan)
                print(f"{name}: already {self.done}; nothing to write.")
        if plans:
            errors += self._dry_run(plans) if dry_run else self._ask(plans, yes=yes)
        for error in errors[:-1]:
            print(printable(f"hooktray: {error.message}\n  {error.hint}"), file=sys.stderr)
        if errors:
            raise errors[-1]

    def _dry_run(self, plans: dict[str, Plan]) -> list[HooktrayError]:
        for name, plan in plans.items():
            show(name, plan)
            print(f"{name}: nothing was written (--dry-run).")
        return []

    def _ask(self, plans: dict[str, Plan], *, yes: bool) -> list[HooktrayError]:
        for name, plan in plans.items():
            print(printable(f"{name}: {summary(name, plan, Path.home())}"))
        names = ", ".join(plans)
        try:
            refuse_agents(names)
            if not yes and not sys.stdin.isatty():
                raise HooktrayError(f"{names}: nobody is there to say yes", hint="look at --dry-run, then give --yes")
        except HooktrayError as error:
            return [error]
        if not yes and not self._is_confirmed(plans):
            print("Nothing was written.")
            return []
        errors: list[HooktrayError] = []
        for name, plan in plans.items():
            with _collected(errors):
                self.write(name, plan)
                print(f"{name}: {self.done}.")
                _print_notes(name, plan)
        return errors

    def _is_confirmed(self, plans: dict[str, Plan]) -> bool:
        def show_all() -> None:
            for name, plan in plans.items():
                show(name, plan)

        return is_confirmed(f"{self.verb} {', '.join(plans)}", input, show_all)


def show(name: str, plan: Plan) -> None:
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


@contextmanager
def _collected(errors: list[HooktrayError]) -> Iterator[None]:
    try:
        yield
    except HooktrayError as error:
        errors.append(error)
