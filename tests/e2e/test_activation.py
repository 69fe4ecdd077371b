"""The first event of an agent starts the tray, outside of the agent, and gets its answer from it."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from desk import Desk
from house import PRE_TOOL_USE
from live import Live
from plain import Plain
from user_manager import FakeUserManager

from tray.paths import locate

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is no systemd")


@pytest.fixture
def manager(plain: Plain) -> Iterator[FakeUserManager]:
    with contextlib.closing(FakeUserManager(plain)) as manager:
        yield manager


def waiting(plain: Plain) -> Live:
    """A home whose tray is not running, but waited for."""
    live = Live.fresh(plain, plain.folder)
    live.quit()
    live.cli_json("autostart", "on")
    return live


def relay(live: Live, call: str) -> None:
    payload = {**PRE_TOOL_USE, "tool_use_id": call}
    assert live.relay("claude-code", "PreToolUse", payload).returncode == 0


def test_an_event_starts_a_tray_that_decides_later_events_also_after_a_tray_ended(
    plain: Plain, manager: FakeUserManager
) -> None:
    """The first one may be judged by the one-shot engine, as a relay waits a moment only for a tray."""
    live = waiting(plain)
    assert manager.service is None

    relay(live, "toolu_1")
    plain.wait(live.is_running, what="the tray answers")
    relay(live, "toolu_2")
    first = manager.service
    assert first is not None
    assert b"isolated.py" in Path(f"/proc/{first.pid}/cmdline").read_bytes()
    assert len(live.wait_log(2)) == 2  # each once
    assert not live.log()[0]["offline"]

    first.terminate()
    assert first.wait(60) == 0
    manager.settle()
    assert manager.service is first  # no connection of the tray's own was left in the queue
    relay(live, "toolu_3")
    plain.wait(live.is_running, what="the tray answers again")

    assert manager.service is not first
    assert len(live.wait_log(3)) == 3


def test_a_tray_started_by_hand_takes_the_path_and_ends_the_waiting(plain: Plain, manager: FakeUserManager) -> None:
    live = waiting(plain)

    live.process = plain.start(live.argv("run"))
    plain.wait(lambda: manager.asked[-1] == "stop hooktray.socket", what="nothing waits any more")
    plain.wait(live.is_running, what="the tray answers")
    relay(live, "toolu_1")

    assert manager.service is None
    assert len(live.wait_log(1)) == 1


def test_quit_in_the_menu_ends_the_waiting(desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with contextlib.closing(FakeUserManager(Plain(tmp_path))) as manager:
        for name, value in manager.environment.items():
            monkeypatch.setitem(desk.environment, name, value)
        live = Live.fresh(desk, tmp_path)
        live.cli_json("autostart", "on")

        desk.click(["Quit"])

        assert live.process.wait(60) == 0
        assert manager.asked == ["daemon-reload", "enable hooktray.socket", "stop hooktray.socket"]


def test_systemds_own_program_passes_the_socket(plain: Plain) -> None:
    """systemd-socket-activate becomes the tray at the first connection."""
    live = Live.fresh(plain, plain.folder)
    live.quit()
    path = locate(str(live.home)).socket
    environment = [word for name, value in plain.environment.items() for word in ("-E", f"{name}={value}")]
    argv = live.argv("run")
    process = plain.start(["systemd-socket-activate", *environment, "-l", str(path), *argv])
    plain.wait(path.is_socket, what="it listens")
    path.chmod(0o600)

    relay(live, "toolu_1")
    plain.wait(live.is_running, what="the tray answers")
    relay(live, "toolu_2")

    assert len(live.wait_log(2)) == 2
    assert not live.log()[0]["offline"]
    assert process.poll() is None
