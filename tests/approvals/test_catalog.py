from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from pathlib import Path

import pytest
from house import House

from tray.approvals.catalog import REMOVED, HookCatalog
from tray.approvals.review import review
from tray.errors import HooktrayError
from tray.model.hook import ApprovalState
from tray.store.copies import Copies

OTHER = "#!/bin/sh\nother\n"


def edit(house: House, name: str, text: str = OTHER) -> None:
    (house.paths.config.parent / f"{name}.sh").write_text(text)


def fresh_catalog(house: House) -> HookCatalog:
    return HookCatalog(house.paths, house.stores.ledger, house.stores.copies)


def test_a_new_hook_waits_and_is_announced_once(house: House) -> None:
    house.script("guard.sh", "exit 0")
    house.paths.config.write_text("hooks: [{event: tool_before, command: ./guard.sh}]")

    house.catalog.refresh()
    house.catalog.refresh()  # somebody else looked, too: the news is still there for who tells it
    assert [one.hook.name for one in house.catalog.take_new()] == ["guard"]
    assert house.catalog.take_new() == ()
    assert house.state("guard").state is ApprovalState.PENDING


def test_an_edit_is_noticed_and_an_undone_edit_is_approved_again(house: House) -> None:
    state = house.hook("guard", on="tool_before", script="exit 0")
    path = house.paths.config.parent / "guard.sh"
    original = path.read_text()

    edit(house, "guard")
    assert house.state("guard").state is ApprovalState.CHANGED
    path.write_text(original)

    assert house.state("guard").state is ApprovalState.APPROVED
    assert house.state("guard").digest == state.digest


def test_only_what_was_shown_can_be_approved(house: House) -> None:
    state = house.hook("guard", on="tool_before", script="exit 0", approved=False)
    edit(house, "guard", "#!/bin/sh\nevil\n")

    with pytest.raises(HooktrayError, match="changed again"):
        house.consent.approve(state.key, state.digest, "test")

    assert house.stores.ledger.in_order() == ()


def test_a_denied_change_leaves_the_approved_copy_in_force_and_nags_no_more(house: House) -> None:
    approved = house.hook("guard", on="tool_before", script="exit 0")
    edit(house, "guard")
    changed = house.state("guard")

    house.consent.deny(changed.key, changed.digest, "test")

    assert house.state("guard").state is ApprovalState.APPROVED
    assert "denied" in house.state("guard").health
    assert [one.digest for one in house.stores.ledger.in_order()] == [approved.digest]


@pytest.mark.parametrize("state", [ApprovalState.DENIED, ApprovalState.REVOKED])
def test_a_denied_or_revoked_hook_does_not_run_and_asks_again_only_after_a_change(
    house: House, state: ApprovalState
) -> None:
    one = house.hook("guard", on="tool_before", script="exit 0", approved=state is ApprovalState.REVOKED)
    if state is ApprovalState.DENIED:
        house.consent.deny(one.key, one.digest, "test")
    else:
        house.consent.revoke(one.key, "test")

    assert house.state("guard").state is state
    assert house.stores.ledger.in_order() == ()
    edit(house, "guard")
    assert house.state("guard").state is ApprovalState.PENDING
    with pytest.raises(HooktrayError, match="not approved"):
        house.consent.revoke(one.key, "test")


def test_a_removed_entry_stays_in_force_until_a_person_accepts_it(house: House) -> None:
    house.hook("guard", on="tool_before", script="exit 0")
    house.configure({"hooks": []})
    removed = house.state("guard")

    assert (removed.state, removed.digest) == (ApprovalState.CHANGED, REMOVED)
    assert len(house.stores.ledger.in_order()) == 1

    house.consent.approve(removed.key, REMOVED, "test")

    assert house.stores.ledger.in_order() == ()
    assert house.catalog.states == ()


def test_a_broken_file_leaves_the_last_good_one_and_says_where_it_broke(house: House) -> None:
    house.hook("guard", on="tool_before", script="exit 0")

    house.configure("hooks:\n  - event: tool_befor\n    command: ./x\n")

    assert house.state("guard").state is ApprovalState.APPROVED
    assert f"{house.paths.config}:2:5" in house.catalog.configuration.problem
    assert "tool_before" in house.catalog.configuration.problem


def test_the_first_refresh_sees_what_was_edited_since_the_file_was_read(house: House) -> None:
    house.hook("guard", on="tool_before", script="exit 0")
    fresh = fresh_catalog(house)
    fresh.read_configuration()
    house.hook("second", on="tool_before", script="exit 0", approved=False)
    fresh.refresh()

    states = [(one.hook.name, one.state) for one in fresh.states]
    assert states == [("guard", ApprovalState.APPROVED), ("second", ApprovalState.PENDING)]


def test_the_review_shows_the_text_that_would_be_approved_and_what_changed(house: House) -> None:
    house.hook("guard", on="tool_before", script="echo before", matcher="rm", failure="block")
    edit(house, "guard", '#!/bin/sh\necho after "$MY_TOKEN"\n')
    hook = {"name": "guard", "event": "tool_before", "command": "./guard.sh", "matcher": "never"}
    house.configure({"hooks": [hook]})
    state = house.state("guard")
    edit(house, "guard", "#!/bin/sh\necho later\n")

    text = review(state, house.stores.copies, {"MY_TOKEN": "x", "OTHER_TOKEN": "y"})

    shown = ("echo after", "| -echo before", "| -matcher: rm\n", "| +matcher: never\n", "| -failure: block\n")
    assert [part for part in (*shown, state.digest) if part not in text] == []
    assert "echo later" not in text
    assert "MY_TOKEN" in text.splitlines()[-1], "a variable that the script will not get"
    assert "OTHER_TOKEN" not in text


def test_the_review_shows_the_files_even_when_their_copy_is_gone(house: House) -> None:
    state = house.hook("guard", on="tool_before", script="exit 7 # $API_TOKEN", approved=False)
    shown = review(state, house.stores.copies, {})
    house.stores.copies.prune(set())

    assert not (house.stores.copies.folder / state.digest).exists()
    assert "| exit 7" in shown
    assert review(state, house.stores.copies, {}) == shown


class RefreshedMeanwhile(Copies):
    """A refresh begins once it is decided which copies are removed."""

    catalog: HookCatalog

    def prune(self, wanted: Collection[str]) -> None:
        self.refresh = threading.Thread(target=self.catalog.refresh)
        self.refresh.start()
        self.refresh.join(0.5)  # it has ended if nothing makes it wait
        super().prune(wanted)


def test_a_copy_that_a_refresh_saves_while_others_are_removed_stays(house: House) -> None:
    copies = RefreshedMeanwhile(house.stores.copies.folder)
    copies.catalog = HookCatalog(house.paths, house.stores.ledger, copies)
    house.script("guard.sh", "exit 0")
    house.paths.config.write_text("hooks: [{event: tool_before, command: ./guard.sh}]")

    copies.catalog.prune()
    copies.refresh.join()

    assert copies.check(copies.catalog.states[0].digest).files


def test_a_hook_put_above_an_approved_one_of_the_same_name_does_not_take_its_place(house: House) -> None:
    house.script("guard.sh", "exit 0")
    (house.paths.config.parent / "x").mkdir()
    house.script("x/guard.sh", "exit 1")
    house.configure("hooks: [{event: tool_before, command: ./guard.sh}]")
    guard = house.state("guard")
    house.consent.approve(guard.key, guard.digest, "test")

    house.configure("hooks: [{event: tool_before, command: ./x/guard.sh}, {event: tool_before, command: ./guard.sh}]")

    states = {one.hook.name: (one.hook.action.line, one.state) for one in house.catalog.states}  # type: ignore[union-attr]
    assert states == {
        "guard": ("./guard.sh", ApprovalState.APPROVED),
        "guard-2": ("./x/guard.sh", ApprovalState.PENDING),
    }


def test_an_entry_that_breaks_its_own_inspection_takes_no_other_down(house: House) -> None:
    house.hook("guard", on="tool_before", script="exit 0")
    house.configure(
        {
            "hooks": [
                {"name": "guard", "event": "tool_before", "command": "./guard.sh"},
                {"event": "tool_before", "command": "sh -c '" + "x" * 5000 + "'"},
                {"name": "bad", "event": "tool_before", "command": "./guard.sh", "files": ["a/**b"]},
            ]
        }
    )

    assert house.state("guard").state is ApprovalState.APPROVED
    assert house.state("bad").digest == ""


def test_a_setting_that_loosens_a_gate_counts_only_once_confirmed(house: House) -> None:
    house.configure("without_tray: allow")
    (setting,) = house.catalog.settings()

    assert house.catalog.without_tray() == "once"
    house.consent.confirm(setting.key, setting.digest, "test", accept=True)

    assert house.catalog.without_tray() == "allow"


def test_a_hook_can_be_found_by_name_command_or_the_start_of_its_digest(house: House) -> None:
    state = house.hook("guard", on="tool_before", script="exit 0")

    for word in ("guard", "./guard.sh", state.digest[:8]):
        assert [one.key for one in house.catalog.find(word)] == [state.key]
    assert house.catalog.find("nobody") == []


def test_requests_are_put_once_and_granted_once(house: House) -> None:
    granted: list[str] = []
    first = house.consent.add_request("Switch hooks off", "process 1", lambda: granted.append("off"))
    again = house.consent.add_request("Switch hooks off", "process 2", lambda: granted.append("off"))

    assert first is again
    house.consent.resolve(first.id, accept=True)
    house.consent.resolve(first.id, accept=True)

    assert granted == ["off"]
    assert house.consent.requests == ()


DENY = 'cat >/dev/null; echo \'{"decision": "block", "reason": "no"}\''
GUARD = {
    "name": "guard", "event": "tool_before", "agent": ["claude-code"], "tool": "Bash", "matcher": "ls",
    "command": "./guard.sh", "timeout": 10, "failure": "block",
}  # fmt: skip
WEAKER: dict[str, dict[str, object] | None] = {
    "its entry deleted": None,
    "another event": {"event": "turn_end"},
    "another agent": {"agent": ["shelley"]},
    "a narrower tool": {"tool": "Write"},
    "a narrower matcher": {"matcher": "no-such-word"},
    "a failure that allows": {"failure": "allow"},
    "no time": {"timeout": 0.01},
    "switched off": {"enabled": False},
    "once in a session": {"once": True},
    "beside the answer": {"event": "tool_after"},
    "another command": {"command": "true"},
    "another name": {"name": "other"},
    "another dialect": {"dialect": "x-code"},
    "fewer files": {"files": []},
    "more variables": {"env": ["X_TOKEN"]},
}


TAKEN_AWAY: dict[str, Callable[[House], object]] = {
    "its script deleted": lambda house: (house.paths.config.parent / "guard.sh").unlink(),
    "its script emptied": lambda house: edit(house, "guard", ""),
    "its file deleted": lambda house: house.paths.config.unlink(),
}


@pytest.mark.parametrize("how", [*WEAKER, *TAKEN_AWAY])
def test_a_guard_weakened_in_its_files_runs_as_approved_until_the_user_decides(house: House, how: str) -> None:
    house.script("guard.sh", DENY)
    (house.paths.config.parent / "rules.txt").write_text("rm")
    guard = GUARD | {"files": ["rules.txt"]}
    house.configure({"hooks": [guard]})
    approved = house.state("guard")
    house.consent.approve(approved.key, approved.digest, "test")

    if how in WEAKER:
        more = WEAKER[how]
        house.configure({"hooks": [] if more is None else [guard | more]})
    else:
        TAKEN_AWAY[how](house)
        house.catalog.refresh()

    assert house.tool("ls")["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert how == "its file deleted" or house.state("guard").state is ApprovalState.CHANGED
    (kept,) = house.stores.ledger.in_order()
    assert (kept.hook.failure.value, kept.hook.timeout, kept.digest) == ("block", 10, approved.digest)


def test_an_approval_is_one_row_with_the_path_and_what_it_does_not_cover(house: House) -> None:
    rules = house.paths.config.parent / "rules.json"
    rules.write_text("[]")
    before = house.stores.ledger.state.version

    house.hook("guard", on="tool_before", script="exit 0", command="./guard.sh ./rules.json")

    (approved,) = house.stores.ledger.load().ordered
    assert house.stores.ledger.state.version == before + 1
    assert approved.search_path == house.catalog.search.current()
    assert approved.uncovered == house.stores.ledger.state.uncovered == (str(rules),)
    assert approved.hook.definition == house.state("guard").hook.definition


def test_a_hook_that_is_taken_out_stays_before_those_of_later_sources(house: House, tmp_path: Path) -> None:
    settings = tmp_path / "settings.json"
    settings.write_text('{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}')
    rules = [{"name": name, "event": "turn_end", "command": "true"} for name in ("a", "b")]
    sources = [{"claude-code": str(settings)}]
    house.configure({"hooks": rules, "sources": sources})
    for one in reversed(house.catalog.states):
        house.consent.approve(one.key, one.digest, "test")

    house.configure({"hooks": rules[:1], "sources": sources})

    assert [one.hook.name for one in house.stores.ledger.in_order()] == ["a", "b", "true"]


def test_a_damaged_copy_is_restored_at_the_next_refresh_or_reported(house: House) -> None:
    state = house.hook("guard", on="tool_before", script="exit 0")
    healths = []
    for _ in range(2):
        for file in (one for one in house.stores.copies.folder.rglob("*") if one.is_file()):
            file.chmod(0o700)
            file.write_text("evil")
        healths.append(house.state("guard").health)
        edit(house, "guard")  # so that the files differ from what was approved

    assert healths[0] == ""
    assert state.digest[:8] in healths[1]
