"""Approvals that were lost with the database guard on until a person has reviewed them: a real tray, a real relay."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
from desk import wait
from e2e.installed import DENY, LONG, Installed
from house import PRE_TOOL_USE, House
from plain import Plain
from torture.losses import Loss, database_deleted, database_garbled, first_row_altered, state_deleted
from torture.trays import RELAYS, Asked, Unwatched, verdict
from user_controls import user_controls

from tray.approvals.catalog import HookCatalog
from tray.edit.backups import CONNECTIONS
from tray.engine.own_answers import LOST_NAME
from tray.engine.stores import open_stores

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="shell scripts")

TOOLS = ("Write", "Bash", "Read")
AS_GUARDED = ["deny", "ask", "silence"]  # `failure: block`, the default, and no guard
BY_THE_HOOKS = ["deny", "deny", "silence"]
UNGUARDED = ["silence"] * 3


class Tray(Installed):
    """Guarded and connected."""

    def verdicts(self) -> list[str]:
        return [self.verdict(tool) for tool in TOOLS]

    def decide(self, approve: tuple[str, ...] = (), deny: tuple[str, ...] = ()) -> None:
        """What the user does while no tray runs; without names, approves all of each source."""
        stores = open_stores(self.paths, create=True)
        catalog = HookCatalog(self.paths, stores.ledger, stores.copies)
        catalog.refresh()
        consent = user_controls(stores, catalog)
        if not (approve or deny):
            for batch in consent.batches:
                consent.approve_batch(batch.digest, "test")
        for one in catalog.states:
            if one.hook.name in approve:
                consent.approve(one.key, one.digest, "test")
            if one.hook.name in deny:
                consent.deny(one.key, one.digest, "test")
        stores.journal.close()

    def by_the_tray(self) -> list[str]:
        """The hooks of the rows that the tray wrote, the last row first."""
        return [one["name"] for row in self.live.log()[:3] for one in row["hooks"]]


@pytest.fixture
def tray(house: House, plain: Plain) -> Tray:
    found = Tray(house, plain)
    house.close()
    found.connect()
    wait(lambda: found.guarded, what="the guards are in the table")
    assert found.verdicts() == BY_THE_HOOKS
    return found


@pytest.mark.parametrize("lose", [database_garbled, first_row_altered])
def test_after_a_loss_calls_are_guarded_with_and_without_a_tray_until_the_review(tray: Tray, lose: Loss) -> None:
    tray.live.quit()
    lose(tray.paths.state)

    tray.live.start()

    assert tray.verdicts() == AS_GUARDED
    wait(lambda: tray.by_the_tray() == [LOST_NAME, LOST_NAME], what="the tray judged, not the relay without it")
    tray.live.kill()
    assert tray.verdicts() == AS_GUARDED, "the relay left alone"
    tray.live.start()
    assert tray.verdicts() == AS_GUARDED, "after another start"

    tray.live.quit()
    tray.decide()
    tray.live.start()

    assert tray.verdicts() == BY_THE_HOOKS
    wait(lambda: tray.live.states() == dict.fromkeys(("default", "strict"), "approved"), what="approved again")


def test_without_any_other_record_the_relays_table_guards_until_the_user_decides(tray: Tray) -> None:
    tray.live.quit()
    state_deleted(tray.paths.state)
    assert tray.verdicts() == AS_GUARDED, "no tray"

    tray.live.start()

    assert tray.verdicts() == AS_GUARDED
    tray.live.quit()
    assert tray.verdicts() == AS_GUARDED, "no tray again"
    tray.decide(approve=("default", "strict"))
    tray.live.start()
    assert tray.verdicts() == BY_THE_HOOKS
    assert tray.live.states() == dict.fromkeys(("default", "strict"), "approved")


@pytest.mark.parametrize(("lost", "is_running"), [("", True), ("connections", False)])
def test_the_entries_of_agents_are_recorded_again(tray: Tray, lost: str, is_running: bool) -> None:
    records = tray.paths.state / CONNECTIONS
    before = sorted(file.name for file in records.iterdir())
    if not is_running:
        tray.live.quit()
    shutil.rmtree(tray.paths.state / lost, ignore_errors=True)  # the tray may write a new file meanwhile
    if not is_running:
        tray.live.start()

    wait(lambda: records.is_dir() and sorted(file.name for file in records.glob("*.json")) == before, what="records")
    settings = tray.plain.folder / ".claude" / "settings.json"
    document = json.loads(settings.read_text())
    del document["hooks"]["PreToolUse"]
    settings.write_text(json.dumps(document))

    wait(lambda: "puts them back" in tray.live.rows("status")[0]["agents"][0]["remedy"], what="the entry is missed")


def test_a_tray_that_the_system_tells_nothing_notices_at_the_next_event(tmp_path: Path) -> None:
    unwatched = Unwatched(tmp_path / "unwatched", lambda house: house.hook("guard", on="tool_before", script=DENY))
    try:
        database_deleted(unwatched.paths.state)
        call = Asked(unwatched, RELAYS["portable"], "PreToolUse", json.dumps(PRE_TOOL_USE).encode())

        assert verdict(*call.answer()) in ("deny", "ask")
        wait(unwatched.paths.database.exists, what="the database is made anew")
    finally:
        unwatched.stop()


def test_each_hook_guards_on_until_it_is_decided_by_itself(tray: Tray) -> None:
    tray.live.quit()
    database_deleted(tray.paths.state)
    tray.decide(approve=("default",))

    tray.live.start()
    assert tray.verdicts() == ["deny", "deny", "silence"]
    wait(lambda: sorted(tray.by_the_tray()) == ["default", LOST_NAME], what="one by the hook, one by the loss")
    tray.live.quit()
    assert tray.verdicts() == ["deny", "deny", "silence"], "without a tray"
    tray.decide(deny=("strict",))
    tray.live.start()

    wait(lambda: tray.verdicts() == ["silence", "deny", "silence"], what="all hooks are decided")


def test_when_each_lost_hook_was_denied_nothing_is_guarded(tray: Tray) -> None:
    tray.live.quit()
    database_garbled(tray.paths.state)

    tray.live.start()
    assert tray.verdicts() == AS_GUARDED
    tray.live.quit()
    tray.decide(deny=("default", "strict"))
    tray.live.start()

    wait(lambda: not tray.guarded, what="the guards are gone from the table")
    assert tray.verdicts() == UNGUARDED


def test_connecting_after_a_loss_removes_no_guard(tray: Tray) -> None:
    tray.live.quit()
    first_row_altered(tray.paths.state)

    done = tray.plain.run(tray.live.argv("connect", "claude-code", "--yes"), timeout=LONG)

    assert done.returncode == 0, done.stderr
    assert tray.guarded
    assert tray.verdicts() == AS_GUARDED


def test_without_guards_in_the_table_nothing_is_asked_about(tray: Tray) -> None:
    tray.live.quit()
    tray.switch.set_enabled(False, "test")
    tray.live.start()
    wait(lambda: not tray.guarded, what="hooks are off")
    tray.live.quit()
    database_deleted(tray.paths.state)

    tray.live.start()

    assert tray.verdicts() == UNGUARDED
