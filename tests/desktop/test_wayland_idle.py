"""How long nobody used a Wayland desktop, from compositors that report it by each of the two protocols."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from desk import wait
from desktops.wayland import FakeInput, Pointer
from servers import answering_socket

from desktop.focus.compositors import Compositor, running_kwin, running_sway
from desktop.focus.terminals import LONG
from tray.desktop.wayland_idle import IdleWatch, reports_idle
from tray.event_loop import LoopThread

STEP = 1.0  # seconds


@pytest.fixture
def loop() -> Iterator[LoopThread]:
    thread = LoopThread()
    yield thread
    thread.close()


def watched(compositor: Compositor, loop: LoopThread, touch: Callable[[], object]) -> bool:
    """Whether it is seen that nobody is there, and then that somebody is."""
    watch = IdleWatch(loop.loop, compositor.environment, STEP)
    before = watch.seconds()
    wait(lambda: (watch.seconds() or 0.0) > 2 * STEP, what="the user is idle")

    def is_back() -> bool:
        touch()
        return watch.seconds() == 0.0

    wait(is_back, what="the user is active")
    return before is None and reports_idle(compositor.environment)


@pytest.mark.skipif(shutil.which("kwin_wayland") is None, reason="KWin for Wayland is not installed")
def test_kwin_reports_it(loop: LoopThread) -> None:
    with running_kwin() as compositor, closing(FakeInput(Path(compositor.environment["WAYLAND_DISPLAY"]))) as fake:
        assert watched(compositor, loop, lambda: fake.move(1, 1))


@pytest.mark.skipif(shutil.which("sway") is None, reason="sway is not installed")
def test_sway_reports_it_by_the_earlier_protocol(loop: LoopThread) -> None:
    with running_sway() as compositor:
        path = Path(compositor.environment["WAYLAND_DISPLAY"])
        with closing(Pointer(path, (1280, 720))) as pointer:
            assert watched(compositor, loop, lambda: pointer.point(9, 9))


def test_without_a_compositor_nothing_is_known(loop: LoopThread, tmp_path: Path) -> None:
    for environment in ({}, {"WAYLAND_DISPLAY": "none", "XDG_RUNTIME_DIR": str(tmp_path)}):
        assert IdleWatch(loop.loop, environment).seconds() is None
        assert not reports_idle(environment)


@pytest.mark.parametrize("answer", [b"", b"\0" * 8, b"\1\0\0\0\0\0\4\0", b"\1\0\0\0\0\0\x10\0aaaabbbb", b"\xff" * 99])
def test_what_no_compositor_says_is_no_idle_time(loop: LoopThread, tmp_path: Path, answer: bytes) -> None:
    """It answers nonsense and hangs up."""
    with answering_socket(tmp_path / "w", answer, LONG) as asked:
        watch = IdleWatch(loop.loop, {"WAYLAND_DISPLAY": str(tmp_path / "w")}, STEP)
        watch.start()
        assert asked.wait(LONG)
        wait(lambda: watch._task is not None and watch._task.done(), what="the watch gives up")

    assert watch.seconds() is None
