"""What is confirmed on the page is exactly what was shown: once, for these bytes, and not for long."""

from __future__ import annotations

import re

import pytest
from every import every
from web.site import Site, status, token

from tray.approvals.controls import TERMINAL
from tray.approvals.review import hook_id
from tray.model.hook import ApprovalState
from tray.store.trial_results import TrialResults


@pytest.fixture
def entered(site: Site) -> Site:
    site.house.hook("guard", on="tool_before", script="exit 0", approved=False)
    site.enter()
    return site


def place(site: Site, act: str) -> str:
    return f"/confirm/{act}?of={hook_id(site.house.state('guard').key)}"


def question(site: Site, act: str) -> bytes:
    return site.get(place(site, act))


def test_an_approval_puts_in_force_what_was_shown(entered: Site) -> None:
    asked = question(entered, "approve")
    assert b"exit 0" in asked

    answer = entered.post("/confirm", f"token={token(asked)}")

    assert status(answer) == 303
    assert entered.house.state("guard").state is ApprovalState.APPROVED
    assert entered.house.stores.ledger.in_order()[0].channel == "page"


def test_a_passphrase_is_offered_and_set_and_another_may_be_typed_in_its_place(entered: Site) -> None:
    passphrase = entered.house.passphrase
    offered = entered.get("/confirm/passphrase")
    made = re.search(rb'<pre class="whole"[^>]*>([a-z ]+)</pre>', offered)
    assert made

    first = entered.post("/confirm", f"token={token(offered)}")
    took_first = passphrase.check(made[1].decode(), "a test")
    different = entered.confirm("/confirm/passphrase", "&own=one+two+three&again=one")
    second = entered.confirm("/confirm/passphrase", "&own=seven+quiet+bridges&again=seven+quiet+bridges")

    assert [status(one) for one in (first, different, second)] == [303, 409, 303]
    assert took_first
    assert passphrase.check("seven quiet bridges", "a test")
    entered.confirm("/confirm/forget")
    assert not passphrase.is_set


def test_a_confirmation_works_once(entered: Site) -> None:
    used = token(question(entered, "approve"))
    entered.post("/confirm", f"token={used}")
    entered.confirm(place(entered, "revoke"))

    again = entered.post("/confirm", f"token={used}")

    assert status(again) == 409
    assert entered.house.state("guard").state is ApprovalState.REVOKED


def test_bytes_that_changed_after_they_were_read_are_not_approved(entered: Site) -> None:
    asked = question(entered, "approve")
    entered.house.script("guard.sh", "exit 2")

    answer = entered.post("/confirm", f"token={token(asked)}")

    assert status(answer) == 409
    assert b"changed again since you looked" in answer
    assert entered.house.state("guard").state is ApprovalState.PENDING


@every("form", ["", "token=", "token=x", "token=x&token=y", "act=approve", "%00", "=" * 50])
def test_without_its_confirmation_nothing_is_done(entered: Site, form: str) -> None:
    question(entered, "approve")

    assert status(entered.post("/confirm", form)) == 409
    assert entered.house.state("guard").state is ApprovalState.PENDING


@every("act", ["approve", "revoke", "deny", "off", "pause", "allow", "nothing", ""])
def test_what_loosens_a_gate_is_not_done_at_once(entered: Site, act: str) -> None:
    assert status(entered.post("/do", f"act={act}")) == 404
    assert entered.controls.state.enabled


@every("path", ["revoke", "fly", "pause?of=ever", "approve?of=0000000000000000", ""])
def test_what_cannot_be_done_is_not_asked(entered: Site, path: str) -> None:
    assert status(entered.get(f"/confirm/{path}")) == 404


def test_a_hook_that_is_gone_is_kept_or_revoked(entered: Site) -> None:
    house = entered.house
    entered.confirm(place(entered, "approve"))
    house.configure({"hooks": []})
    assert b"Keep guard?" in question(entered, "deny")

    entered.confirm(place(entered, "approve"))

    assert [one.state for one in house.catalog.states] == []


def test_a_setting_that_loosens_a_gate_is_confirmed_like_a_hook(entered: Site) -> None:
    entered.house.configure({"without_tray": "allow"})
    setting = entered.house.catalog.settings()[0]
    assert b"without_tray: allow" in entered.get("/hooks")

    entered.confirm(f"/confirm/approve?of={hook_id(setting.key)}")

    assert entered.house.catalog.without_tray() == "allow"


def test_the_review_on_the_page_begins_with_what_is_not_covered(entered: Site) -> None:
    folder = entered.house.paths.config.parent
    (folder / "rules.json").write_text("[]")
    state = entered.house.hook(
        "rules", on="tool_before", script="exit 0", command="./rules.sh ./rules.json", approved=False
    )

    asked = entered.get(f"/confirm/approve?of={hook_id(state.key)}").decode()

    first, declared = asked.index("Not covered by an approval"), asked.index('<pre class="declared"')
    assert first < asked.index(f"{folder}/rules.json", first) < declared


@pytest.mark.parametrize(("act", "granted"), [("allow", ["done"]), ("dismiss", [])])
def test_what_the_command_line_asked_for_is_allowed_or_dismissed(entered: Site, act: str, granted: list[str]) -> None:
    done: list[str] = []
    entered.controls.add_request("Pause hooks for 30 minutes", "process 7", lambda: done.append("done"))
    assert b"Pause hooks for 30 minutes" in entered.get("/hooks")

    entered.confirm(f"/confirm/{act}?of=1")

    assert done == granted
    assert entered.controls.requests == ()


def test_what_was_done_at_a_terminal_is_undone(entered: Site) -> None:
    entered.controls.set_enabled(False, TERMINAL)
    assert b"Done at" in entered.get("/hooks")
    assert "Undo “Hooks are off”?".encode() in entered.get("/confirm/allow?of=1")

    entered.confirm("/confirm/allow?of=1")

    assert entered.controls.state.enabled


def test_imported_hooks_are_shown_whole_and_approved_by_one_confirmation(site: Site) -> None:
    site.house.hook("guard", on="tool_before", script="echo 'no <b>' >&2; exit 2")
    site.house.hook("newcomer", on="tool_before", script="exit 0", approved=False)
    (one,) = site.house.stores.ledger.in_order()
    site.house.stores.ledger.undo(site.house.stores.ledger.state.version, "test")
    site.house.catalog.refresh()
    site.house.catalog.imported = {one.hook.key: one}
    site.enter()
    assert b"1 hook waits with exactly the imported content" in site.get("/hooks")

    asked = site.get("/confirm/batch")
    answer = site.post("/confirm", f"token={token(asked)}")

    assert b"no &lt;b&gt;" in asked
    assert b"newcomer" not in asked
    assert status(answer) == 303
    (again,) = site.house.stores.ledger.in_order()
    assert (again.hook.name, again.digest, again.channel) == ("guard", one.digest, "page")
    assert status(site.get("/confirm/batch")) == 404


def test_what_is_read_is_denied_from_the_same_page(entered: Site) -> None:
    asked = question(entered, "approve").decode()
    approve, deny = re.findall(r'name="token" value="([^"]+)"', asked)
    assert approve != deny

    answer = entered.post("/confirm", f"token={deny}")

    assert status(answer) == 303
    assert entered.house.state("guard").state is ApprovalState.DENIED


def test_all_hooks_of_a_file_are_approved_after_one_review(entered: Site) -> None:
    house = entered.house
    house.hook("second", on="tool_before", script="echo second", approved=False)
    listed = entered.get("/hooks").decode()
    assert f"2 hooks of {house.paths.config} wait for you." in listed
    (place,) = re.findall(r'href="(/confirm/batch\?of=\w+)"', listed)

    asked = entered.get(place)
    answer = entered.post("/confirm", f"token={token(asked)}")

    assert b"exit 0" in asked
    assert b"echo second" in asked
    assert status(answer) == 303
    assert {one.hook.name for one in house.stores.ledger.in_order()} == {"guard", "second"}
    assert status(entered.get(place)) == 404


def test_a_variable_is_let_through_and_withheld_again(site: Site) -> None:
    house = site.house
    house.hook("guard", on="tool_before", script="echo $MY_TOKEN")
    site.enter()
    page = f"/hooks/{hook_id(house.state('guard').key)}"
    of = f"of={hook_id(house.state('guard').key)}"
    assert b"The hook names it and does not get it." in site.get(page)

    assert status(site.confirm(f"/confirm/grant?{of}&variable=MY_TOKEN")) == 303
    assert house.stores.ledger.in_order()[0].granted == ("MY_TOKEN",)
    assert b"You let it through." in site.get(page)
    site.confirm(f"/confirm/withhold?{of}&variable=MY_TOKEN")
    assert house.stores.ledger.in_order()[0].granted == ()


def test_a_variable_that_cannot_be_permitted_has_no_confirmation(site: Site) -> None:
    site.house.hook("guard", on="tool_before", script="exit 0")
    site.enter()
    of = hook_id(site.house.state("guard").key)

    for path in ("grant?variable=LD_PRELOAD", "grant?variable=a%20b", "withhold?variable=MY_TOKEN"):
        assert b'name="token"' not in site.get(f"/confirm/{path}&of={of}"), path


def test_an_approval_whose_test_run_failed_is_undone_on_the_hooks_page(site: Site) -> None:
    house = site.house
    house.hook("guard", on="tool_before", script="exit 7")
    one = house.stores.ledger.in_order()[0]
    TrialResults(house.paths.state).record(one.hook.key, one.digest, "exit 7", "chmod +x guard.sh")
    site.enter()
    page = site.get(f"/hooks/{hook_id(one.hook.key)}")
    assert b"its test run failed: exit 7; chmod +x guard.sh" in page
    assert b"Undo the approval" in page

    site.confirm(place(site, "undo"))

    assert house.state("guard").state is ApprovalState.PENDING
