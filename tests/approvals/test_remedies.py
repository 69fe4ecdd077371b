"""Each cause of a failure has one remedy, whoever shows it."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from every import every

from tray.approvals.remedies import HookFailure, find_failure, remedy, remedy_of
from tray.execution.environment import add_withheld
from tray.execution.process import STDOUT_LIMIT
from tray.execution.script import missing_program, start_error
from tray.language import say
from tray.model.decision import Gate, Outcome, Status
from tray.notify.policy import find_problem


def refused(tmp_path: Path, head: str, number: int) -> str:
    """What the system's refusal to start a script with this first line means."""
    script = tmp_path / "guard"
    script.write_text(head)
    return start_error((str(script),), str(tmp_path), OSError(number, os.strerror(number), str(script)))


def test_each_cause_that_is_written_here_has_the_row_that_is_meant(tmp_path: Path) -> None:
    causes = {
        missing_program(("/nowhere/tool",), "/"): HookFailure.PROGRAM,
        missing_program(("sh", "/nowhere/guard.sh"), "/"): HookFailure.SCRIPT,
        refused(tmp_path, "#!/no/such/python\n", errno.ENOENT): HookFailure.INTERPRETER,
        refused(tmp_path, "echo\n", errno.ENOEXEC): HookFailure.INTERPRETER_LINE,
        refused(tmp_path, "echo\n", errno.EACCES): HookFailure.MODE,
        "exit 127: the command was not found": HookFailure.PROGRAM_OF_SCRIPT,
        "interpreter not executable: '/bin/x', named by guard": HookFailure.INTERPRETER_MODE,
        "/bin/x is another program than when guard was approved": HookFailure.PROGRAM_REPLACED,
        "timed out after 3 s": HookFailure.TIME,
        f"stdout over {STDOUT_LIMIT} bytes": HookFailure.SIZE,
        "output is not JSON": HookFailure.OUTPUT,
        "the approved copy of guard.sh was altered": HookFailure.COPY,
        "the address is not allowed": HookFailure.ADDRESS,
        Gate.BUSY.value: HookFailure.BUSY,
    }

    assert {cause: find_failure(cause) for cause in causes} == causes
    assert find_failure("exit 9") is None
    assert remedy("exit 9", "guard") == ""
    withheld = add_withheld("exit 127", b"API_KEY: unbound", ["API_KEY"])
    assert remedy(withheld, "guard").startswith("`hooktray approve"), "before any other remedy"


def test_every_failure_has_its_row_and_a_remedy_in_each_language(monkeypatch: pytest.MonkeyPatch) -> None:
    english = {failure: remedy_of(failure) for failure in HookFailure}
    monkeypatch.setenv("LANGUAGE", "zh_CN")

    assert [failure for failure in HookFailure if say(failure.remedy) == failure.remedy] == [HookFailure.MODE]
    assert all(english.values())


@every("cause", ["not found: ./x", "timed out after 3 s", "not executable: /my hooks/x.sh", "exit 127"])
def test_the_notification_has_the_same_remedy_as_the_doctor(cause: str) -> None:
    problem = find_problem(Outcome(hook="guard", status=Status.FAILED, cause=cause))

    assert problem is not None
    assert problem.remedy == remedy(cause, "guard", say("its file"))
