"""A decision's page asks the hooks in force once more, in a real browser: then beside now, nothing sent or kept."""

from __future__ import annotations

import os
import threading

from chromium import Page
from desk import wait
from every import every
from msgspec.structs import replace
from web.browsing import DENYING, address, focus, keep, kept, problems_in_both_colours
from web.site import ROW, Site, status

from tray.approvals.callers.click_check import ClickObjection, ClickRejection


def decided(site: Site, page: Page, command: str) -> str:
    """Open the page of what was just decided; its id."""
    id = kept(site, command)
    page.go(address(site, f"/decisions/{id}"))
    return id


def pressed(page: Page) -> str:
    """Replay by keyboard alone; what the page then says of it."""
    focus(page, "Replay")
    page.key("Enter", 13, "\r")
    page.wait("!!document.querySelector('.comparison, [role=status].note')", "what came out")
    return str(page.run("document.querySelector('[aria-labelledby=replay]').innerText"))


def test_then_stands_beside_now_after_the_hook_has_changed(site: Site, page: Page) -> None:
    house = site.house
    house.hook("guard", on="tool_before", script="exit 0")
    decided(site, page, "mkfs /dev/sda")
    count = house.stores.journal.count()
    house.script("guard.sh", DENYING)
    state = house.state("guard")
    house.consent.approve(state.key, state.digest, "test")

    text = pressed(page)

    assert "Then no opinion, now denied." in text
    assert "no mkfs" in text
    assert '"permissionDecision": "deny"' in text
    assert "This was a test: it sent no notification and is not in the journal." in text
    assert page.run("document.activeElement.id") == "replay"  # where the result begins, for who cannot see it
    house.stores.journal.close()  # whatever waits is written down
    assert (house.stores.journal.count(), len(house.decisions)) == (count, 1)
    assert page.run("document.querySelector('.again button').innerText") == "Replay again"


def test_only_approved_bytes_run_in_a_replay_and_they_see_that_it_is_a_test(site: Site, page: Page) -> None:
    house, trace = site.house, site.house.root / "trace"
    house.hook("guard", on="tool_before", script=f'echo "approved $HOOKTRAY_TEST" >> {trace}')
    decided(site, page, "ls")
    house.script("guard.sh", f"echo edited >> {trace}")
    house.hook("new", on="tool_before", script=f"echo new >> {trace}", approved=False)
    trace.unlink()

    assert "The same as then: no opinion." in pressed(page)

    assert trace.read_text() == "approved 1\n"
    assert [house.state(one).state.value for one in ("guard", "new")] == ["changed", "pending"]


def test_a_secret_that_a_hook_says_is_masked_in_a_replay_too(site: Site, page: Page) -> None:
    secret = "ghp_" + "a1B2" * 9
    site.house.hook("guard", on="tool_before", script=f'echo "{secret}" >&2; exit 2')
    decided(site, page, "ls")

    assert "denied" in pressed(page)
    assert secret not in str(page.run("document.documentElement.outerHTML"))


def test_a_row_that_cannot_be_replayed_says_why(site: Site, page: Page) -> None:
    keep(site, replace(ROW, id="e" * 32, problem="the payload is not JSON"))
    page.go(address(site, f"/decisions/{'e' * 32}"))

    text = pressed(page)

    assert "Not possible: no hook could be asked about it: the payload is not JSON. Choose another decision." in text


def test_axe_finds_nothing_serious_in_a_replay(site: Site, page: Page) -> None:
    site.house.hook("guard", on="tool_before", script=DENYING)
    decided(site, page, "mkfs /dev/sda")
    pressed(page)

    assert problems_in_both_colours(page) == []


def test_two_replays_at_once_are_one_and_a_word(site: Site) -> None:
    begun, go_on = site.house.root / "begun", site.house.root / "go-on"
    os.mkfifo(go_on)
    house = site.house
    house.hook("guard", on="tool_before", script=f'[ -z "$HOOKTRAY_TEST" ] || {{ touch {begun}; read x < {go_on}; }}')
    form = f"id={kept(site)}"
    site.enter()
    answers: list[bytes] = []
    first = threading.Thread(target=lambda: answers.append(site.post("/replay", form)))
    first.start()
    try:
        wait(begun.exists, what="the first one runs its hook")
        second = site.post("/replay", form)
    finally:
        go_on.write_text("\n")
        first.join(20)

    assert b"another replay is still running" in second
    assert b"The same as then" in answers[0]


@every("form", ["", "id=", "id=../x", f"id={'0' * 32}", "id=a&id=b"])
def test_what_is_not_there_cannot_be_replayed(site: Site, form: str) -> None:
    site.enter()

    assert status(site.post("/replay", form)) == 404


def test_a_process_that_an_agent_started_replays_nothing(site: Site) -> None:
    form = f"id={kept(site)}"
    site.enter()
    site.finding = ClickRejection(ClickObjection.AGENT, "python3 (7) belongs to an agent or a hook")

    answer = site.post("/replay", form)

    assert status(answer) == 403
