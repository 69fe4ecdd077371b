"""Whatever order people connect, import and undo in, an unedited settings file gets its own bytes back."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from connect.sites import OPERATIONS, Person, tree
from connect.variants import CLAUDE, STARCHILD
from every import every

from tray.errors import HooktrayError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="lines for a POSIX shell")

ORDERS = (
    "import undo",
    "connect disconnect",
    "import connect undo disconnect",
    "import connect disconnect undo",
    "connect import undo disconnect",
    "connect import disconnect undo",
    "connect import reconnect undo disconnect",
    "import connect reconnect disconnect undo",
    "connect import disconnect connect undo disconnect",
    "import connect undo import undo disconnect",
    "connect import undo reconnect import disconnect undo",
)
FILES = {
    "claude-code": (".claude/settings.json", CLAUDE),
    "starchild": ("workspace/config/shell_hooks.yaml", STARCHILD),
}
NOT_RUN = {name for name in CLAUDE if "comments" in name}  # Claude Code ignores such a file, so nothing moves
# Each layout in some of the orders, each order with layouts of both agents.
CASES = [
    (agent, name, ORDERS[number % 4 :: 4])
    for agent, (_, variants) in FILES.items()
    for number, name in enumerate(variants)
]


@every("name", sorted(NOT_RUN))
def test_nothing_moves_out_of_a_file_that_the_agent_ignores(tmp_path: Path, name: str) -> None:
    person = Person(tmp_path / name)
    file = person.home / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_bytes(CLAUDE[name])

    with pytest.raises(HooktrayError, match="runs none of its hooks as it stands"):
        person.import_hooks()

    assert file.read_bytes() == CLAUDE[name]


@every(("agent", "name", "orders"), CASES, ids=str)
def test_every_order_gives_the_same_bytes_back(tmp_path: Path, agent: str, name: str, orders: Sequence[str]) -> None:
    wrong = {
        order: found for order in orders if (found := after(tmp_path / agent / name / order, agent, name, order))
    }

    assert wrong == {}


def after(root: Path, agent: str, name: str, order: str) -> str:
    """What is different at the end; "" for nothing."""
    place, variants = FILES[agent]
    person = Person(root, agent)
    file = person.home / place
    file.parent.mkdir(parents=True)
    file.write_bytes(variants[name])
    before = tree(person.home), tree(person.site.paths.config.parent)
    for step in order.split():
        if step not in ("import", "undo") or name not in NOT_RUN:
            OPERATIONS[step](person)
    found = tree(person.home), tree(person.site.paths.config.parent)
    return "" if found == before else f"{file.read_bytes() if file.exists() else sorted(found[0])!r}"
