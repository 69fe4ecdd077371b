"""What one event takes is counted: unlike its time, that is the same on every machine, however busy it is."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from counts import system_calls
from counts.budgets import BUDGETS, ELSEWHERE, PYTHON, TOLERANCE, measure, problem

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="strace and /proc"),
    pytest.mark.xdist_group("counts"),  # one worker: all is measured once
]
NAME = next(iter(BUDGETS))


@pytest.fixture(scope="module")
def counts() -> dict[str, int]:
    return measure()


@pytest.mark.parametrize("name", BUDGETS)
def test_an_event_takes_what_its_budget_allows(counts: dict[str, int], name: str) -> None:
    assert problem(name, counts[name]) == ""


def test_every_count_has_a_budget(counts: dict[str, int]) -> None:
    assert counts.keys() == BUDGETS.keys()


def test_only_a_count_above_its_budget_is_a_problem_that_names_the_cure() -> None:
    budget = BUDGETS[NAME]
    most = int(budget * (1 + TOLERANCE))

    assert [problem(NAME, count, PYTHON) for count in (0, budget, most)] == ["", "", ""]
    assert f"{most + 1}, the budget is {budget}" in problem(NAME, most + 1, PYTHON)


def test_with_another_python_only_a_count_far_above_its_budget_is_a_problem() -> None:
    budget = BUDGETS[NAME]
    most = int(budget * (1 + ELSEWHERE))

    assert [problem(NAME, count, "3.13") for count in (budget // 2, budget, most)] == ["", "", ""]
    assert problem(NAME, most + 1, "3.13") != ""


TRACE = """\
10 1.000000 recvfrom(3,  <unfinished ...>
11 1.100000 futex(0x7f, FUTEX_WAKE_PRIVATE, 1) = 1
10 1.200000 <... recvfrom resumed>"x", 1, 0, NULL, NULL) = 1
10 1.300000 clone3({flags=CLONE_VM|CLONE_THREAD, exit_signal=0} => {parent_tid=[12]}, 88) = 12
12 1.400000 close(4) = 0
10 1.500000 vfork( <unfinished ...>
13 1.600000 execve("/bin/sh", ["sh"], 0x7ff /* 3 vars */) = 0
10 1.700000 <... vfork resumed>) = 13
13 1.800000 close(5) = 0
"""


def test_a_call_counts_once_and_only_if_a_thread_of_the_tray_makes_it(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    trace.write_text(TRACE)

    found = system_calls.counted(system_calls.of_tray(system_calls.read(trace), {10, 11}))

    assert [(call.thread, call.name) for call in found] == [
        (10, "recvfrom"), (10, "clone3"), (12, "close"), (10, "vfork"),
    ]  # fmt: skip


LOOKS = """\
10 1.000000 connect(3, {sa_family=AF_UNIX, sun_path="/home/tray.sock"}, 110) = 0
10 1.100000 recvfrom(3, 0x7ff, 1, MSG_PEEK|MSG_DONTWAIT, NULL, NULL) = -1 EAGAIN (Resource temporarily unavailable)
10 1.200000 writev(3, [{iov_base="HKT1E", iov_len=5}], 1) = 5
10 1.300000 recvfrom(3, 0x7ff, 1, MSG_PEEK|MSG_DONTWAIT, NULL, NULL) = -1 EAGAIN (Resource temporarily unavailable)
10 1.400000 recvfrom(3, 0x7ff, 1, MSG_PEEK|MSG_DONTWAIT, NULL, NULL) = -1 EAGAIN (Resource temporarily unavailable)
10 1.500000 recvfrom(3, "A", 1, MSG_PEEK|MSG_DONTWAIT, NULL, NULL) = 1
10 1.600000 recvfrom(3, "A", 4096, 0, NULL, NULL) = 1
"""


def test_however_often_a_relay_looks_for_its_answer_the_count_is_the_same(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    trace.write_text(LOOKS)

    found = system_calls.without_looks(system_calls.counted(system_calls.read(trace)))

    assert [call.name for call in found] == ["connect", "writev", "recvfrom"]


def test_where_nothing_can_be_traced_the_counts_fail_and_name_the_cause(tmp_path: Path) -> None:
    refused = tmp_path / "strace"
    refused.write_text("#!/bin/sh\necho 'ptrace: Operation not permitted' >&2; exit 1\n")
    refused.chmod(0o755)

    with pytest.raises(RuntimeError, match=r"ptrace: Operation not permitted.*SYS_PTRACE"):
        system_calls.strace(tmp_path / "trace", str(refused))
    with pytest.raises(RuntimeError, match="is not installed"):
        system_calls.strace(tmp_path / "trace", str(tmp_path / "none"))
