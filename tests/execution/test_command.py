"""Real little scripts, through every way that the runner has of starting, feeding, hearing and ending them."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
from desk import Overdue, wait
from every import every

if sys.platform == "win32":
    pytest.skip("processes of POSIX, and scripts of its shell", allow_module_level=True)

from tray.execution import process, process_posix, process_windows, streams
from tray.execution.background import BackgroundProcesses
from tray.execution.command import Job
from tray.execution.process import STDERR_LIMIT, STDOUT_LIMIT, HookTurn
from tray.model.decision import Result

Run = Callable[..., tuple[Result, ...]]
# How a process runs, and how its end is detected.
RUNNERS: Mapping[str, Run] = {"pidfd": process_posix.run, "threads": process_windows.run}
ENDS = pytest.mark.parametrize("bench", ["pidfd", "threads", "waiter"], indirect=True)
PATIENCE = 60.0  # seconds that a condition may take on a busy machine


def growing(seconds: float, enough: Callable[[], bool]) -> Iterator[float]:
    """Time-outs: so many seconds, and four times as many again where what was to happen in them has not."""
    while seconds < 2 * PATIENCE:
        yield seconds
        if enough():
            return
        seconds *= 4


def comes(condition: Callable[[], bool]) -> bool:
    """True if the condition becomes true in the time that a busy machine may take."""
    try:
        return wait(condition, PATIENCE)
    except Overdue:
        return False


@contextmanager
def once(condition: Callable[[], bool], act: Callable[[], None]) -> Iterator[None]:
    """Meanwhile, in a thread: wait for the condition, then act."""

    def wait_and_act() -> None:
        comes(condition)
        act()

    thread = threading.Thread(target=wait_and_act)
    thread.start()
    yield
    thread.join()


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def children() -> list[psutil.Process]:
    return [child for child in psutil.Process().children(recursive=True) if alive(child.pid)]


def busy() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("hook-")]


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - counts


class Started(HookTurn):
    """Keeps the processes that were started, and calls `work` for each."""

    def __init__(self, work: Callable[[], object] = tuple) -> None:
        self.pids: list[int] = []
        self._work = work

    def started(self, pid: int) -> None:
        self.pids.append(pid)
        self._work()


class BrokenTurn(HookTurn):
    """Fails where it is asked whether the job may start."""

    def starting(self) -> AbstractContextManager[bool]:
        raise KeyError("broken")


@dataclass
class Bench:
    """One way of running, and a folder for scripts and what they leave."""

    run: Run
    folder: Path
    background: BackgroundProcesses

    def job(self, line: str, **fields: Any) -> Job:
        return self.argv("/bin/sh", "-c", line, **fields)

    def argv(self, *argv: str, **fields: Any) -> Job:
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C"} | fields.pop("environment", {})
        return Job(argv=argv, cwd=str(self.folder), environment=environment, **fields)

    def all(self, *jobs: Job, within: float = PATIENCE, hangup: Any = None) -> tuple[Result, ...]:
        return self.run(jobs, time.monotonic() + within, hangup, background=self.background)

    def one(self, line: str, **fields: Any) -> Result:
        return self.all(self.job(line, **fields))[0]

    def script(self, name: str, text: str, mode: int = 0o755) -> str:
        path = self.folder / name
        path.write_text(text)
        path.chmod(mode)
        return str(path)

    def pids(self, name: str = "pids") -> list[int]:
        """The process numbers that a script wrote, one on each line."""
        path = self.folder / name
        return [int(word) for word in path.read_text().split()] if path.exists() else []


@pytest.fixture(autouse=True)
def _no_descriptor_stays_open() -> Iterator[None]:
    before = descriptors()  # threads and children are looked for after every test
    yield
    assert comes(lambda: descriptors() <= before), (before, descriptors())


@pytest.fixture(params=sorted(RUNNERS))
def bench(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    if request.param == "waiter":  # without a pidfd, a thread waits for the end
        monkeypatch.setattr(process_posix, "watch_exit", process_posix.ExitThread)
    background = BackgroundProcesses()
    yield Bench(RUNNERS.get(request.param, process_posix.run), tmp_path, background)
    background.close()


def python(text: str) -> str:
    return f"exec {sys.executable} -I -S -c '{text}'"


MEGABYTE = 1024 * 1024
ENDINGS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "success": (":", {"code": 0}),
    "exit 2": ("echo no >&2; exit 2", {"code": 2, "stderr": b"no\n"}),
    "exit 127": ("exit 127", {"code": 127}),
    "exit 255": ("exit 255", {"code": 255}),
    "a child's signal is the shell's exit code": ("sh -c 'kill -9 $$'; exit $?", {"code": 137}),
    "SIGKILL": ("kill -KILL $$", {"cause": "killed by signal 9 (SIGKILL)"}),
    "SIGPIPE": ("kill -PIPE $$", {"cause": "killed by signal 13 (SIGPIPE)"}),
    "SIGTERM": ("echo x; kill -TERM $$", {"cause": "killed by signal 15 (SIGTERM)", "stdout": b"x\n"}),
    "a signal without a name": ("kill -40 $$", {"cause": "killed by signal 40"}),
    "both outputs": ("echo o; echo e >&2", {"code": 0, "stdout": b"o\n", "stderr": b"e\n"}),
    "invalid UTF-8": (r"printf '\377\376\300'", {"code": 0, "stdout": b"\xff\xfe\xc0"}),
    "NUL and no newline": (r"printf 'a\000b'", {"code": 0, "stdout": b"a\0b"}),
    "closes its stdout and goes on": ("exec >&-; sleep 0.05; exit 5", {"code": 5}),
    "closes everything": ("exec <&- >&- 2>&-; sleep 0.05; exit 7", {"code": 7}),
    "stdout of exactly the limit": (f"head -c {STDOUT_LIMIT} /dev/zero", {"code": 0, "stdout": bytes(STDOUT_LIMIT)}),
    "stdout in many pieces": ("for i in 1 2 3; do echo $i; sleep 0.01; done", {"code": 0, "stdout": b"1\n2\n3\n"}),
    "stdout one byte over": (f"head -c {STDOUT_LIMIT + 1} /dev/zero", {"cause": f"stdout over {STDOUT_LIMIT} bytes"}),
    "a flood without end": ("yes", {"cause": f"stdout over {STDOUT_LIMIT} bytes"}),
    "much stderr is cut, not refused": (
        f"head -c {4 * MEGABYTE} /dev/zero >&2; exit 4",
        {"code": 4, "stderr": bytes(STDERR_LIMIT)},
    ),
}


@ENDS
@every("name", ENDINGS)
def test_an_ending_is_told_as_it_was(bench: Bench, name: str) -> None:
    line, expected = ENDINGS[name]

    result = bench.one(line, stdin=b"{}")

    assert result.timed_out is False
    assert result.ms > 0
    assert (result.code, result.cause) == (expected.get("code"), expected.get("cause", ""))
    for stream in ("stdout", "stderr"):
        assert stream not in expected or getattr(result, stream) == expected[stream]


@every("size", [0, 1, 65537, 10 * MEGABYTE])
def test_stdin_arrives_whole(bench: Bench, size: int) -> None:
    result = bench.one("wc -c; cat | wc -c", stdin=bytes(size))

    assert [int(word) for word in result.stdout.split()] == [size, 0]


@every("line", ["exit 3", "head -c 5 >/dev/null; exit 3", "exec <&-; sleep 0.05; exit 3"])
def test_a_hook_need_not_read_its_10_mb(bench: Bench, line: str) -> None:
    assert bench.one(line, stdin=bytes(10 * MEGABYTE)).code == 3


def test_10_mb_go_in_while_output_comes_out(bench: Bench) -> None:
    assert bench.one("tee /dev/stderr | head -c 1000", stdin=b"x" * 10 * MEGABYTE).stdout == b"x" * 1000


def test_a_flood_does_not_fill_our_memory(bench: Bench) -> None:
    before = psutil.Process().memory_info().rss

    bench.all(*[bench.job("yes") for _ in range(4)])

    assert psutil.Process().memory_info().rss - before < 64 * MEGABYTE


def test_a_hook_gets_its_environment_and_folder_and_no_more(bench: Bench) -> None:
    result = bench.one("pwd; env", environment={"A": "ä\n", "HOOK_SOURCE_DIR": "/x"})

    folder, *lines = result.stdout.decode().split("\n")
    assert folder == str(bench.folder)
    given = {line.partition("=")[0] for line in lines if "=" in line}
    assert given <= {"A", "HOOK_SOURCE_DIR", "PATH", "LC_ALL", "HOOKTRAY_RUN", "PWD", "OLDPWD", "_", "SHLVL"}
    assert "A=ä" in lines


def test_a_hook_inherits_none_of_our_descriptors(bench: Bench) -> None:
    with socket.socket() as ours:
        os.set_inheritable(ours.fileno(), True)
        result = bench.one("ls /proc/self/fd | wc -l")

    assert int(result.stdout) <= 4  # three streams, and the folder that ls reads


def test_a_hook_leads_a_session_of_its_own(bench: Bench) -> None:
    result = bench.one(python("import os; print(os.getpid() == os.getsid(0) == os.getpgid(0))"))

    assert result.stdout == b"True\n"


def test_a_hook_that_takes_too_long_is_ended(bench: Bench) -> None:
    for timeout in growing(0.2, lambda: bool(bench.pids())):
        result = bench.one("echo half; echo $$ > pids; sleep 60", timeout=timeout)

    assert result.timed_out
    assert (result.code, result.cause, result.stdout) == (None, f"timed out after {timeout:g} s", b"half\n")
    assert result.ms >= 1000 * timeout
    assert not alive(bench.pids()[0])


def test_a_hook_over_its_time_gets_sigterm_before_it_is_killed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "GRACE", PATIENCE)  # it ends by itself
    line = "trap 'echo bye > goodbye; exit 0' TERM; echo on > ready; while :; do sleep 0.01; done"

    for timeout in growing(0.3, (bench.folder / "ready").exists):
        result = bench.one(line, timeout=timeout)

    assert (result.timed_out, result.code) == (True, None)
    assert (bench.folder / "goodbye").exists()


SURVIVORS = {
    "ignores SIGTERM": "trap '' TERM; echo $$ >> pids; while :; do sleep 0.05; done",
    "stops itself": "echo $$ >> pids; kill -STOP $$",
    "has children": "for i in 1 2 3; do sleep 60 & echo $! >> pids; done; wait",
    "has deaf children": "sh -c 'trap \"\" TERM; echo $$ >> pids; while :; do sleep 0.05; done' & wait",
    "has a stopped child": "sh -c 'echo $$ >> pids; kill -STOP $$' & wait",
    "has a child in another session": "setsid sh -c 'echo $$ >> pids; exec sleep 60' & wait",
    "has an orphan in another session": "(setsid sh -c 'echo $$ >> pids; exec sleep 60' &) ; sleep 60",
    "has a child in another session without our mark": (
        "env -i PATH=$PATH setsid sh -c 'echo $$ >> pids; exec sleep 60' & wait"
    ),
    "has jobs in groups of their own": "bash -mc 'sleep 60 & echo $! >> pids; sleep 60 & echo $! >> pids; wait'",
    "ends at SIGTERM and leaves children that do not": (
        "sh -c 'trap \"\" TERM; echo $$ >> pids; while :; do sleep 0.05; done' & sleep 60"
    ),
    "has 50 children": "i=0; while [ $i -lt 50 ]; do sleep 60 & echo $! >> pids; i=$((i+1)); done; wait",
    "drips": "echo $$ >> pids; while :; do printf x; sleep 0.02; done",
    "does not read": "echo $$ >> pids; sleep 60",
}


def survivors(bench: Bench, **fields: Any) -> dict[str, Job]:
    """All of them, each writing the numbers of its processes into a file of its own."""
    return {
        name: bench.job(line.replace("pids", f"pids-{place}"), stdin=bytes(MEGABYTE), **fields)
        for place, (name, line) in enumerate(SURVIVORS.items())
    }


def remaining(bench: Bench) -> dict[str, list[int]]:
    """Which of the survivors' processes still live."""
    found = {name: [pid for pid in bench.pids(f"pids-{place}") if alive(pid)] for place, name in enumerate(SURVIVORS)}
    return {name: pids for name, pids in found.items() if pids}


def written(bench: Bench) -> bool:
    return all(bench.pids(f"pids-{place}") for place in range(len(SURVIVORS)))


@pytest.mark.parametrize("whose", ["its own time", "the agent's time"])
def test_after_a_time_out_nothing_is_left(bench: Bench, whose: str) -> None:
    for limit in growing(1.5, lambda: written(bench)):
        for earlier in bench.folder.glob("pids-*"):
            earlier.unlink()
        own, agents = (limit, 3 * PATIENCE) if whose == "its own time" else (3 * PATIENCE, limit)

        results = bench.all(*survivors(bench, timeout=own).values(), within=agents)

        assert {(result.timed_out, result.code) for result in results} == {(True, None)}
        assert comes(lambda: not remaining(bench)), remaining(bench)
    assert written(bench)


@ENDS
def test_after_a_cancel_nothing_is_left(bench: Bench) -> None:
    ours, theirs = socket.socketpair()

    with ours, once(lambda: written(bench), theirs.close):
        results = bench.all(*survivors(bench).values(), hangup=ours)

    assert {(result.code, result.cause, result.timed_out) for result in results} == {(None, "cancelled", False)}
    assert comes(lambda: not remaining(bench)), remaining(bench)


def test_a_byte_from_the_agents_side_cancels_too(bench: Bench) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        turn = Started(lambda: theirs.send(b"x"))
        result = bench.all(bench.job("sleep 60", turn=turn), hangup=ours)[0]

    assert result.cause == "cancelled"


@ENDS
def test_what_was_over_before_a_cancel_keeps_its_result(bench: Bench) -> None:
    ours, theirs = socket.socketpair()
    over = threading.Event()

    with ours, once(over.is_set, theirs.close):
        results = bench.all(bench.job("echo done", on_end=over.set), bench.job("yes >&2"), hangup=ours)

    assert (results[0].code, results[0].stdout) == (0, b"done\n")
    assert results[1].cause == "cancelled"


def test_a_process_whose_end_is_never_told_delays_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    silent, open_ = socket.socketpair()
    job = Job(argv=("/bin/sh", "-c", "exec sleep 60"), cwd=str(tmp_path), timeout=0.2)

    monkeypatch.setattr(process_posix, "watch_exit", lambda child: silent)

    with open_:
        end = time.monotonic() + PATIENCE
        result = process_posix.run([job], end, None)[0]

    assert (result.code, result.timed_out, result.cause) == (None, True, "timed out after 0.2 s")


def test_a_hook_whose_end_was_not_reported_keeps_its_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = socket.socketpair()
    silent, open_ = socket.socketpair()
    monkeypatch.setattr(process_posix, "watch_exit", lambda child: silent)
    turn = Started()
    job = Job(argv=("/bin/sh", "-c", "echo done"), cwd=str(tmp_path), turn=turn)

    with ours, open_, once(lambda: bool(turn.pids) and not alive(turn.pids[0]), theirs.close):
        end = time.monotonic() + PATIENCE
        result = process_posix.run([job], end, ours)[0]

    assert (result.code, result.stdout) == (0, b"done\n")


def test_when_the_agent_has_already_gone_nothing_is_started(bench: Bench) -> None:
    ours, theirs = socket.socketpair()
    theirs.close()

    with ours:
        results = bench.all(bench.job("echo > started"), bench.job("echo > started"), hangup=ours)

    assert [result.cause for result in results] == ["cancelled", "cancelled"]
    assert not (bench.folder / "started").exists()


def test_when_the_deadline_has_passed_nothing_is_started(bench: Bench) -> None:
    result = bench.all(bench.job("echo > started"), within=-1)[0]

    assert (result.timed_out, result.code, result.cause) == (True, None, "timed out before it could start")
    assert not (bench.folder / "started").exists()


def test_the_agents_deadline_comes_before_the_hooks_own(bench: Bench) -> None:
    end = time.monotonic() + 0.3

    result = bench.run([bench.job("trap '' TERM; sleep 60", timeout=60)], end, None, background=bench.background)[0]

    assert result.timed_out
    assert result.cause.endswith("the agent waits no longer")
    assert time.monotonic() >= end


def test_a_grandchild_that_holds_the_pipes_delays_nobody(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "DRAIN_TIMEOUT", 300.0)  # whoever waits for the pipes waits that long
    started = time.monotonic()

    result = bench.one("sleep 300 & echo $! > pids; echo done")

    assert time.monotonic() - started < 60
    assert (result.code, result.stdout) == (0, b"done\n")
    assert alive(bench.pids()[0])


def test_a_grandchild_that_floods_the_pipe_is_not_waited_for(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "DRAIN_TIMEOUT", 300.0)
    started = time.monotonic()

    result = bench.one("sh -c 'echo $$ > pids; while :; do sleep 0.01; echo noise; done' & echo done")

    assert time.monotonic() - started < 60
    assert result.code == 0
    assert result.stdout.startswith(b"done\n") or b"done\n" in result.stdout


def test_a_background_child_is_ended_when_its_time_is_over(bench: Bench) -> None:
    child = "sh -c 'trap \"\" TERM; echo $$ > pids; while :; do sleep 0.05; done'"
    bench.one(f"{child} & until [ -s pids ]; do sleep 0.01; done", background=0.3)

    assert comes(lambda: not alive(bench.pids()[0]))
    assert comes(lambda: "hook-background" not in busy())


@pytest.mark.parametrize(("start", "background"), [("", 0), ("setsid ", 0), ("", 60)])
def test_a_clean_exit_leaves_no_process_without_background_time_or_a_watcher(
    bench: Bench, start: str, background: float
) -> None:
    job = bench.job(f"{start}sleep 600 & echo $! > pids; sleep 0.1", background=background)

    (result,) = bench.run(
        [job], time.monotonic() + PATIENCE, None, background=None if background else bench.background
    )

    assert result.code == 0
    assert comes(lambda: not alive(bench.pids()[0]))


def test_eight_hooks_run_at_the_same_time_and_answer_in_their_order(bench: Bench) -> None:
    meet = "touch here{0}; while [ $(ls | grep -c here) -lt 8 ]; do sleep 0.01; done; exit {0}"

    results = bench.all(*[bench.job(meet.format(number)) for number in range(8)])

    assert [result.code for result in results] == list(range(8))


def test_one_hook_that_fails_takes_no_other_with_it(bench: Bench) -> None:
    jobs = [bench.job("exit 2"), bench.argv("/no/such"), bench.job("sleep 60", timeout=0.1), bench.job("sleep 0.3")]

    results = bench.all(*jobs)

    assert [result.code for result in results] == [2, None, None, 0]
    assert [bool(result.cause) for result in results] == [False, True, True, False]


def test_the_caller_hears_of_each_process(bench: Bench) -> None:
    turn = Started()
    jobs = (bench.job("echo $$", turn=turn), bench.argv("/no/such", turn=turn), bench.job("echo $$", turn=turn))

    results = bench.all(*jobs)

    assert [int(result.stdout) for result in results if result.stdout] == turn.pids


def test_an_error_in_the_caller_leaves_no_process(bench: Bench) -> None:
    others = set(children())

    with pytest.raises(KeyError):
        bench.all(bench.job("sleep 60"), bench.job("sleep 60", turn=BrokenTurn()))

    assert not set(children()) - others


def test_the_end_of_a_failed_start_needs_no_further_thread(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(process_windows, "HangupWatch", refuse)
    others, (ours, theirs) = set(children()), socket.socketpair()

    with ours, theirs, pytest.raises(KeyError):
        bench.all(bench.job("sleep 60"), bench.job("sleep 60", turn=BrokenTurn()), hangup=ours)

    assert not set(children()) - others


def test_events_in_eight_threads_do_not_disturb_each_other(bench: Bench) -> None:
    answers: dict[int, list[bytes]] = {}

    def ask(number: int) -> None:
        answers[number] = [bench.one("cat", stdin=b"%d-%d" % (number, turn)).stdout for turn in range(5)]

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert answers == {number: [b"%d-%d" % (number, turn) for turn in range(5)] for number in range(8)}


def test_a_hook_can_be_interrupted_by_its_own_signals(bench: Bench) -> None:
    """A shell started by us must not inherit ignored signals: `trap` cannot undo those."""
    result = bench.one("trap 'exit 8' PIPE; kill -PIPE $$; exit 1")

    assert result.code == 8
    assert signal.getsignal(signal.SIGPIPE) == signal.SIG_IGN
