"""The state folder is taken away under a running tray: no guarded call goes on, and the user is notified."""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from guarded import DENY, GUARD, PRE_TOOL_USE, approved, at_once, delete, guarded
from live import Live
from plain import Plain

from tray.doctor.agent_sites import site
from tray.errors import IpcError
from tray.ipc.client import send_request
from tray.ipc.health import parse_health
from tray.paths import locate

ROUNDS = 2


def state(live: Live) -> Path:
    return live.home / "state"


def problem(live: Live) -> dict[str, Any]:
    """What the tray reports to `hooktray status`, once it reports anything."""

    def reported() -> dict[str, Any] | None:
        try:
            found = parse_health(send_request(locate(str(live.home)).socket, {"op": "health"}))["problems"]
        except IpcError:
            return None
        return dict(found[0]) if found else None

    return live.place.wait(reported, 60, "the tray reports what happened")


def status(live: Live) -> str:
    done = live.place.run(live.argv("status"), timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def denies(live: Live) -> bool:
    return b'"deny"' in live.relay("claude-code", "PreToolUse", PRE_TOOL_USE).stdout


def asks(live: Live) -> bool:
    return b'"ask"' in live.relay("claude-code", "PreToolUse", PRE_TOOL_USE).stdout


def replace(folder: Path) -> None:
    """Put a copy in the folder's place, as after a backup was restored."""
    shutil.copytree(folder, folder.with_name("copy"), ignore=shutil.ignore_patterns("tray.sock"))
    put_the_copy_in_place(folder)


def put_the_copy_in_place(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))
    folder.with_name("copy").rename(folder)


def delete_all_above(folder: Path) -> None:
    delete(folder.parent)


def move_what_is_above(folder: Path) -> None:
    folder.parent.rename(folder.parent.with_name("elsewhere"))


def delete_the_database(folder: Path) -> None:
    (folder / "hooktray.db").unlink()


def delete_the_socket(folder: Path) -> None:
    (folder / "tray.sock").unlink()


WAYS: dict[Callable[[Path], None], str] = {
    delete: "deleted",
    replace: "replaced",
    delete_all_above: "deleted",
    move_what_is_above: "moved",
    delete_the_database: "database",
}


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__.replace("_", " "))
def test_no_guarded_call_goes_on_after_the_state_folder_was_taken_away(
    plain: Plain, tmp_path: Path, way: Callable[[Path], None]
) -> None:
    live = guarded(plain, tmp_path)
    assert denies(live)
    live.wait_log(1)

    at_once(live, way)

    plain.wait(lambda: problem(live)["solved"], 60, "the problem is solved")  # an attempt that fails is repeated
    found = problem(live)
    assert (found["problem"], found["cause"]) == ("state_folder", WAYS[way])
    assert asks(live)
    assert [row["offline"] for row in live.wait_log(1)] == [False], "the tray judged"
    assert live.states() == ({"guard": "pending"} if live.config.exists() else {})
    assert found["text"] in status(live)
    assert state(live).stat().st_mode & 0o777 == 0o700
    assert live.quit() == 0
    assert asks(live), "the one-shot engine finds all it needs in the new folder"


def test_a_running_tray_notices_again_and_again(plain: Plain, tmp_path: Path) -> None:
    live = guarded(plain, tmp_path)

    for number in range(1, 4):
        before = problem(live)["at"] if number > 1 else 0.0
        at_once(live, delete)
        plain.wait(lambda before=before: problem(live)["at"] > before, what=f"deletion {number}")  # type: ignore[misc]

    assert asks(live)
    assert live.states() == {"guard": "pending"}


def test_the_approvals_of_the_deleted_folder_are_given_again_by_one_review(plain: Plain, tmp_path: Path) -> None:
    live = guarded(plain, tmp_path)
    at_once(live, delete)
    plain.wait(lambda: problem(live)["solved"], 60, "it is made anew")
    assert live.quit() == 0

    approved(live)
    live.start()

    assert denies(live)
    assert live.states() == {"guard": "approved"}


def test_without_its_record_disconnect_removes_hooktrays_lines(plain: Plain, tmp_path: Path) -> None:
    settings = tmp_path / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"model": "x"}\n')
    live = guarded(plain, tmp_path)
    live.connect("claude-code")

    at_once(live, delete)
    assert problem(live)["solved"]
    agents = {row["agent"]: row["connected"] for row in live.rows("agents")}
    done = live.cli("disconnect", "claude-code", "--yes")

    assert agents["claude-code"]
    assert done.returncode == 0, done.stderr
    assert json.loads(settings.read_text()) == {"model": "x"}


def test_a_database_with_other_approvals_that_is_put_in_place_does_not_count(plain: Plain, tmp_path: Path) -> None:
    other = Live.fresh(plain, tmp_path / "other", configuration=GUARD, starts=False)
    other.script("guard.sh", DENY)
    approved(other)
    live = Live.fresh(plain, tmp_path / "mine", configuration=GUARD, starts=False)
    live.script("guard.sh", DENY)
    live.start()

    shutil.copytree(state(other), state(live).with_name("copy"))
    at_once(live, put_the_copy_in_place)

    found = problem(live)
    assert (found["cause"], found["solved"]) == ("replaced", True)
    assert live.states() == {"guard": "pending"}
    (kept,) = state(live).glob("hooktray.db.replaced-*[0-9]")
    assert kept.name in found["text"]


# ---- two trays


def alive(*trays: subprocess.Popen[bytes]) -> list[subprocess.Popen[bytes]]:
    return [one for one in trays if one.poll() is None]


def one_answers(live: Live, *trays: subprocess.Popen[bytes]) -> None:
    """Exactly one of them lives, and it denies."""
    live.place.wait(lambda: len(alive(*trays)) == 1 and live.is_running(), 60, "one tray lives and answers")
    live.process = alive(*trays)[0]
    assert [one.returncode for one in trays if one is not live.process] == [0]


def test_a_second_run_while_the_folder_is_deleted_leaves_one_tray(plain: Plain, tmp_path: Path) -> None:
    live = guarded(plain, tmp_path)
    first = live.process

    for _ in range(ROUNDS):
        delete(state(live))
        second = plain.start(live.argv("run"))
        one_answers(live, first, second)
        assert live.process is first

    plain.wait(lambda: asks(live), what="the lost guard asks")
    assert live.states() == {"guard": "pending"}
    plain.wait(lambda: problem(live)["solved"], 60, "the problem is solved")


def test_two_trays_never_remain_even_without_the_lock_beside_the_folder(plain: Plain, tmp_path: Path) -> None:
    live = guarded(plain, tmp_path)

    for number in range(2 * ROUNDS):
        first, folder = live.process, state(live)
        if number % 2:
            second = plain.start(live.argv("run"))
        (live.home / "state.lock").unlink(missing_ok=True)
        delete(folder)
        if not number % 2:
            second = plain.start(live.argv("run"))
        one_answers(live, first, second)

    said = (tmp_path / "output").read_text()
    assert "Traceback" not in said
    assert said.count("Another tray runs for") + said.count("is already running for") == 2 * ROUNDS


# ---- when it cannot be made anew


def test_on_a_full_disk_the_tray_lives_on_and_succeeds_once_there_is_room(plain: Plain, tmp_path: Path) -> None:
    live = guarded(plain, tmp_path)
    process = psutil.Process(live.process.pid)
    before = process.rlimit(resource.RLIMIT_FSIZE)
    process.rlimit(resource.RLIMIT_FSIZE, (30_000, before[1]))  # bytes of a file, at most

    at_once(live, delete)

    found = problem(live)
    assert found["solved"] is False
    assert "cannot be made anew" in found["text"]
    assert asks(live) or denies(live), "meanwhile"
    process.rlimit(resource.RLIMIT_FSIZE, before)
    plain.wait(lambda: problem(live)["solved"], 60, "there is room again")
    assert asks(live)


def test_status_as_json_has_a_list_of_problems_which_is_empty_at_first(plain: Plain, tmp_path: Path) -> None:
    live = Live.fresh(plain, tmp_path)

    before = plain.run(live.argv("status", "--json"), timeout=120)
    delete_the_socket(state(live))
    found = problem(live)
    after = plain.run(live.argv("status", "--json"), timeout=120)

    assert json.loads(before.stdout)["problems"] == []
    assert json.loads(after.stdout)["problems"] == [found]


def test_looking_at_the_agents_does_not_make_the_folder_anew(tmp_path: Path) -> None:
    """The tray looks all the time; made by that, a folder that was moved away would count as replaced."""
    paths = locate(str(tmp_path / "home"))

    site(paths)

    assert not paths.state.exists()
