"""Counts system calls with `strace`: those of a relay, and those of a tray for one event."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import dropwhile
from pathlib import Path

from counts.scene import COMMANDS, ENVIRONMENT, EVENTS, LONG, ZERO_MATCH, Tray, payload

# How often these are made depends on the scheduler, the allocator or the machine, and not on what the program does.
LEFT_OUT = {
    **dict.fromkeys(("futex", "sched_yield"), "threads wait for each other, and for the interpreter"),
    **dict.fromkeys(("poll", "ppoll", "restart_syscall", "clock_nanosleep"), "who is woken early waits again"),
    **dict.fromkeys(("mmap", "munmap", "mremap", "mprotect", "brk", "madvise"), "the allocator asks for memory"),
    **dict.fromkeys(("clock_gettime", "gettimeofday"), "most machines tell the time without a system call"),
}
LINE = re.compile(r"(?P<thread>\d+) +(?P<at>\d+\.\d+) (?:(?P<name>\w+)\(|<\.\.\. \w+ resumed>)(?P<rest>.*)")
STARTED = re.compile(r"parent_tid=\[(\d+)\]")  # what a new thread is started with, and no process


@dataclass(frozen=True, slots=True)
class Call:
    thread: int
    at: float  # seconds since 1970
    name: str  # "" in the second of two lines about one call
    rest: str  # arguments and result


def measure(started: Tray, trace: Path) -> dict[str, int]:
    """For each kind of event the one with the fewest: whatever else a busy machine causes comes on top."""
    threads = {int(task.name) for task in Path(f"/proc/{started.pid}/task").iterdir()}
    times = {kind: [_event(started, kind) for _ in range(EVENTS)] for kind in COMMANDS}
    calls = counted(of_tray(read(trace), threads))
    return {kind: min(len(_between(calls, *span)) for span in spans) for kind, spans in times.items()}


def measure_relays(started: Tray, trace: Path) -> dict[str, int]:
    """The same for each relay, for an event that no hook matches."""
    native = [_relay(trace, started.relay()) for _ in range(EVENTS)]
    portable = [_relay(trace, started.portable_relay()) for _ in range(EVENTS)]
    return {
        "C": min(len(without_looks(counted(calls))) for calls in native),
        "Python": min(len(without_looks(counted(_of_its_own(calls)))) for calls in portable),
    }


def strace(trace: Path, program: str = "strace") -> list[str]:
    """The words that go before a command; RuntimeError if nothing can be traced, as nothing can be counted then."""
    words = _strace(trace, program)
    try:
        tried = subprocess.run([*words, "true"], env=ENVIRONMENT, capture_output=True, text=True, timeout=LONG)
    except FileNotFoundError:
        raise RuntimeError(f"{program} is not installed: tests/all installs it") from None
    if tried.returncode:
        raise RuntimeError(
            f"{program} cannot trace a process here: {tried.stderr.strip()}. It needs the right to use ptrace; a"
            " container gets that right with `--cap-add SYS_PTRACE`."
        )
    return words


def _strace(trace: Path, program: str = "strace") -> list[str]:
    return [program, "-f", "-qq", "-ttt", "-o", str(trace)]


def read(trace: Path) -> list[Call]:
    found = filter(None, map(LINE.match, trace.read_text(errors="replace").splitlines()))
    return [Call(int(one["thread"]), float(one["at"]), one["name"] or "", one["rest"]) for one in found]


def of_tray(calls: Iterable[Call], threads: Iterable[int]) -> list[Call]:
    """Those of the tray's own threads, the later ones too; `strace` follows the processes of hooks as well."""
    own, found = set(threads), []
    for call in calls:
        if call.thread in own:
            own.update(map(int, STARTED.findall(call.rest)))
            found.append(call)
    return found


def counted(calls: Iterable[Call]) -> list[Call]:
    return [call for call in calls if call.name and call.name not in LEFT_OUT]


def _event(started: Tray, kind: str) -> tuple[float, float]:
    """When it began and when it was over."""
    begun = time.time()
    started.ask(kind)
    started.settle()
    return begun, time.time()


def _between(calls: Iterable[Call], begun: float, over: float) -> list[Call]:
    return [call for call in calls if begun <= call.at <= over]


def _relay(trace: Path, argv: Sequence[str]) -> list[Call]:
    whole = [*_strace(trace), *argv]
    done = subprocess.run(
        whole, input=payload(ZERO_MATCH), env=ENVIRONMENT, capture_output=True, timeout=LONG, check=True
    )
    assert (done.stdout, done.stderr) == (b"", b""), f"{' '.join(whole)}: {done}"
    return read(trace)


def _of_its_own(calls: Iterable[Call]) -> list[Call]:
    """From its first look at its stdin on: before that Python starts, which takes other calls in each build."""
    return list(dropwhile(lambda call: not (call.name == "poll" and call.rest.startswith("[{fd=0,")), calls))


def without_looks(calls: Iterable[Call]) -> list[Call]:
    """Without the looks for an answer: a relay looks again until it is there, however long the tray takes."""
    return [call for call in calls if not (call.name == "recvfrom" and "MSG_PEEK" in call.rest)]
