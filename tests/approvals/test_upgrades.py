"""Approvals by an earlier Hooktray: their copies go on, the same stays, one review approves the rest again."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import older
import pytest
from house import PRE_TOOL_USE, House
from live import Live
from plain import Plain

from tray.approvals.batch import render_batch, summary_lines
from tray.model.hook import ApprovalState, Failure
from tray.store import sessions

COVERAGE, FAILURE = "before_coverage", "before_failure"
CHANGED = {COVERAGE: ["logging", "loading", "open"], FAILURE: ["open"]}
PATH = "/usr/local/bin:/usr/bin:/bin"


def upgraded(folder: Path, version: str) -> House:
    older.restore(version, folder / "home")
    house = House(folder)
    house.catalog.refresh()
    house.consent.pin_earlier("noted at start")  # as the tray does
    house.catalog.refresh()
    return house


@pytest.fixture(params=[COVERAGE, FAILURE])
def version(request: pytest.FixtureRequest) -> str:
    """What made the approvals."""
    return str(request.param)


@pytest.fixture
def old(version: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    monkeypatch.setattr(sessions, "BUSY_TIMEOUT", 20.0)
    house = upgraded(tmp_path, version)
    yield house
    house.close()


def names(house: House, state: ApprovalState) -> list[str]:
    return [one.hook.name for one in house.catalog.states if one.state is state]


def verdict(house: House, word: str) -> str:
    answer = house.tool(f"echo {word}", environment={"PATH": PATH})
    return str(answer["hookSpecificOutput"]["permissionDecision"]) if answer else "silence"


def test_what_a_person_did_not_change_stays_approved_and_is_not_announced(old: House, version: str) -> None:
    changed = CHANGED[version]

    assert old.stores.ledger.state.tampered == ""
    assert names(old, ApprovalState.CHANGED) == changed
    assert len(names(old, ApprovalState.APPROVED)) == 9 - len(changed)
    assert sorted(one.hook.name for one in old.catalog.take_new()) == sorted(changed)


def test_the_old_copies_go_on_denying_until_they_are_approved_again(old: House, version: str) -> None:
    words = ("alone", "logging", "strict", "open", "plain")

    assert [verdict(old, word) for word in words] == ["deny"] * len(words)
    assert {one.status.value for one in old.decisions[-1][1].outcomes if one.hook != "loading"} == {"ok"}
    config = old.paths.config.parent
    assert len((config / "audit.log").read_text().splitlines()) == (1 if version == COVERAGE else 6)


def test_one_review_shows_what_changed_and_one_click_approves_it_again(old: House, version: str) -> None:
    batch = old.consent.batch
    shown = render_batch(batch, old.stores.copies, {})
    changed = CHANGED[version]
    assert [one.hook.name for one in batch.hooks] == changed
    assert summary_lines(batch)[0].startswith(f"{len(changed)} hook")
    assert "| -failure: allow\n| +failure: explicit allow" in shown
    assert ("REFUSED = 'loading'" in shown) == ("loading" in changed), "what is covered from now on is shown"

    old.consent.approve_batch(batch.digest, "tray")

    assert not old.consent.batch
    assert names(old, ApprovalState.CHANGED) == []
    assert [verdict(old, word) for word in ("alone", "logging", "loading", "open")] == ["deny"] * 4


def test_a_hook_without_failure_asks_when_it_fails_and_one_that_says_allow_does_so_once_approved(old: House) -> None:
    policies = {one.hook.name: one.hook.policy for one in old.stores.ledger.in_order()}
    assert policies["alone"] is policies["rule"] is policies["open"] is Failure.DEFAULT
    assert (policies["strict"], policies["plain"]) == (Failure.BLOCK, Failure.ALLOW)

    old.consent.approve_batch(old.consent.batch.digest, "tray")

    assert old.stores.ledger.state.approved[old.state("open").key].hook.policy is Failure.ALLOW


def test_a_hook_that_was_edited_as_well_has_a_review_of_its_own(tmp_path: Path) -> None:
    older.restore(COVERAGE, tmp_path / "home")
    script = tmp_path / "home" / "config" / "logging.sh"
    script.write_text(script.read_text() + "exit 0\n")
    house = House(tmp_path)
    house.catalog.refresh()

    assert names(house, ApprovalState.CHANGED) == CHANGED[COVERAGE]
    assert [one.hook.name for one in house.consent.batch.hooks] == ["loading", "open"]
    house.close()


def test_after_the_upgrade_another_failure_or_file_is_a_change_of_its_own(old: House) -> None:
    config = old.paths.config
    before = [one.hook.name for one in old.consent.batch.hooks]
    config.write_text(config.read_text().replace('"name": "alone",', '"name": "alone", "failure": "allow",'))

    assert old.state("alone").state is ApprovalState.CHANGED
    assert [one.hook.name for one in old.consent.batch.hooks] == before
    assert old.stores.ledger.state.approved[old.state("alone").key].hook.policy is Failure.DEFAULT


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[Plain]:
    place = Plain(tmp_path)
    yield place
    place.close()


@pytest.mark.skipif(sys.platform == "win32", reason="shell scripts")
def test_after_the_upgrade_a_real_tray_denies_by_the_old_copy_each_time(plain: Plain) -> None:
    older.restore(COVERAGE, plain.folder / "home")
    live = Live(plain, plain.folder / "home")
    live.start()
    payload = {**PRE_TOOL_USE, "tool_input": {"command": "logging"}}

    answers = [live.relay("claude-code", "PreToolUse", payload).stdout for _ in range(3)]

    assert [b"logging says no" in one and b'"deny"' in one for one in answers] == [True] * 3, answers
    assert [name for name, state in live.states().items() if state == "changed"] == CHANGED[COVERAGE]
