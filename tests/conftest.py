"""What every test lives with: a home of its own, no leaked thread, no leaked process."""

from __future__ import annotations

import contextlib
import gc
import itertools
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import psutil
import pytest
import rerun
from house import House
from hypothesis import HealthCheck, settings
from plain import Plain

from tray.store import sessions

if sys.platform == "linux":  # elsewhere its libraries are not installed, and no test that needs it runs
    from desk.fixtures import desk, shared_desk

    __all__ = ["desk", "shared_desk"]

# No deadline of its own, and no complaint about slow data: machines differ, and no test is about time. Loading a
# profile here also imports hypothesis early; its plugin's late import, deep in a summary, trips over CPython issue
# 106905.
settings.register_profile("hooktray", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("hooktray")

# A run in the background may ignore these, and then so does every process that a test starts.
for _number, _usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, signal.SIG_DFL)):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _usual)
if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

LISTS_CHILDREN = Path(f"/proc/self/task/{os.getpid()}/children").exists()  # on Linux
KEPT = ("PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "VIRTUAL_ENV", "CI")
if sys.platform == "win32":  # without these it starts no program and has no place for files
    KEPT += ("COMSPEC", "PATHEXT", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "WINDIR")


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One home after the other. pytest would read all earlier ones for each: thousands of tests pay for that."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in itertools.count())


@pytest.fixture(scope="session", autouse=True)
def own_environment() -> Iterator[None]:
    """Removes the developer's variables, once for all tests, because each variable takes time in every test."""
    with pytest.MonkeyPatch.context() as patch:
        clear(patch)
        yield


def clear(patch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name not in KEPT and not name.startswith("PYTEST_"):
            patch.delenv(name)


@pytest.fixture(autouse=True)
def own_home(homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sets an empty HOME and removes variables that an earlier test left."""
    home = next(homes)
    home.mkdir()
    clear(monkeypatch)
    monkeypatch.setenv("USERPROFILE" if sys.platform == "win32" else "HOME", str(home))
    return home


def pytest_make_parametrize_id(val: object) -> str | None:
    """A long text is named by its beginning: pytest puts it into a variable, and Windows takes 32 KB at most."""
    return f"{val[:60]!r}..." if isinstance(val, (str, bytes)) and len(val) > 200 else None


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Nothing of what is collected is ever garbage, so nothing looks for any in it, now or while the tests run."""
    gc.disable()
    yield
    gc.enable()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)  # before xdist reads the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """There is one desk: its tests bear its mark, and with several workers all of them go to the same one.

    So do those with a sound server of their own: two of them under load at once have left a recorder standing still.
    They are the longest group, so they come first: begun last, they would leave the other workers idle in the end.
    Whatever else has a name with `shared_` is made once for its module, too.
    """
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        if {"desk", "shared_desk"} & fixtures:
            item.add_marker(pytest.mark.desktop)
        if {"desk", "recording"} & fixtures:
            item.add_marker(pytest.mark.xdist_group("desk"))
        for name in sorted(fixtures - {"shared_desk"}):
            if name.startswith("shared_"):
                item.add_marker(pytest.mark.xdist_group(f"{item.path.stem} {name}"))
    items.sort(key=_turn)
    rerun.note(items)


def _turn(item: pytest.Item) -> int:
    group = item.get_closest_marker("xdist_group")
    return 2 if group is None else int(group.args != ("desk",))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """With NO_SKIPS, as in CI, a skip is a failure, but where somebody else's program could not be fetched."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = rerun.forbidden_skips(reporter)
    if reporter is not None and skipped and session.exitstatus == 0:
        reporter.write_line(f"{skipped} tests were skipped, and none may be.", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    """The whole engine on real files, which gives up no mark of a session because the disk is slow."""
    monkeypatch.setattr(sessions, "BUSY_TIMEOUT", 20.0)
    house = House(tmp_path)
    yield house
    house.close()


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[Plain]:
    """A place for trays without a desktop."""
    with contextlib.closing(Plain(tmp_path)) as plain:
        yield plain


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """Threads and child processes that a test starts end with it."""
    threads = set(threading.enumerate())
    children = _children()
    yield
    deadline = time.monotonic() + 20
    while (left := (_new_threads(threads), _new_children(children))) != ([], []) and time.monotonic() < deadline:
        threading.Event().wait(0.01)
    new_threads, new_children = left
    assert not new_threads, "threads were left running"
    assert not new_children, "processes were left running"


def _new_threads(before: set[threading.Thread]) -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread not in before and thread.is_alive()]


def _new_children(before: set[psutil.Process]) -> list[psutil.Process]:
    return [child for child in _children() if child not in before and _lives(child)]


def _lives(child: psutil.Process) -> bool:
    try:
        return child.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:  # it ended while we looked
        return False


def _children() -> set[psutil.Process]:
    """All processes below ours. Most tests have none, which the kernel says at once."""
    if not LISTS_CHILDREN:
        return set(psutil.Process().children(recursive=True))
    return _below(os.getpid(), _by_parent()) if _has_children() else set()


def _has_children() -> bool:
    """Makes no Path for each thread, because this runs twice for each test."""
    for thread in os.listdir("/proc/self/task"):  # noqa: PTH208
        with (
            contextlib.suppress(FileNotFoundError, ProcessLookupError),  # the thread has ended
            open(f"/proc/self/task/{thread}/children", "rb", buffering=0) as file,  # noqa: PTH123
        ):
            if file.read(1):
                return True
    return False


def _below(parent: int, by_parent: Mapping[int, list[int]]) -> set[psutil.Process]:
    found: set[psutil.Process] = set()
    for pid in by_parent.get(parent, ()):
        with contextlib.suppress(psutil.NoSuchProcess):  # it has ended; what it started may live
            found.add(psutil.Process(pid))
        found |= _below(pid, by_parent)
    return found


def _by_parent() -> dict[int, list[int]]:
    """Every process of this machine. psutil takes five times as long; the desk's worker looks for each test."""
    found: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):  # noqa: PTH208 - a Path for each would take longer than its file
        if entry.isdecimal():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                with open(f"/proc/{entry}/stat", "rb", buffering=0) as file:  # noqa: PTH123
                    fields = file.read(4096).rpartition(b")")[2].split()
                found.setdefault(int(fields[1]), []).append(int(entry))
    return found
