"""Where the PATH of an approval comes from."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from every import every

from tray.approvals import search_path
from tray.approvals.search_path import SearchPath, login_path, terminal_path

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no login shell")


class LoginShell:
    """A login shell that notes when it is asked."""

    def __init__(self, path: str) -> None:
        self.path, self.asked = path, 0

    def login_path(self, environment: Mapping[str, str]) -> str:
        self.asked += 1
        return self.path


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> LoginShell:
    """The login shell that a SearchPath asks."""
    shell = LoginShell("/opt/login:/usr/bin")
    monkeypatch.setattr(search_path, "login_path", shell.login_path)
    return shell


@every(
    ("environment", "event", "path", "asked"),
    [
        ({"PATH": "/bin"}, "/opt/agent:/bin", "/opt/agent:/bin", 0),
        ({"PATH": "/usr/bin:/own"}, "", "/opt/login:/usr/bin:/own", 1),  # Hooktray's own path comes last
        ({"PATH": "/usr/bin:/own", "TERM": "xterm"}, "", "/usr/bin:/own", 0),  # a terminal has the login shell's path
    ],
)
def test_the_path_of_the_last_event_comes_before_that_of_the_login_shell(
    shell: LoginShell, environment: dict[str, str], event: str, path: str, asked: int
) -> None:
    shell.asked = 0
    search = SearchPath(environment)

    assert search.saw_event(event) is bool(event)
    assert search.current() == search.current() == path
    assert shell.asked == asked
    assert not search.saw_event(event)


def test_a_login_shell_says_its_path_whatever_else_it_prints(tmp_path: Path) -> None:
    (tmp_path / ".bash_profile").write_text('echo welcome; export PATH="/opt/nvm/bin:$PATH"\n')

    found = login_path({"SHELL": "/bin/bash", "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"})

    assert found.split(":")[0] == "/opt/nvm/bin"


@pytest.mark.parametrize("shell", ["", "bash", "/nowhere/bash", "/usr/bin/python3"])
def test_no_other_program_is_asked(tmp_path: Path, shell: str) -> None:
    assert login_path({"SHELL": shell, "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}) == ""


@pytest.mark.skipif(sys.platform != "linux", reason="it is read from /proc")
def test_the_path_of_a_terminals_command_is_that_of_its_process() -> None:
    environment = {**os.environ, "PATH": f"/opt/terminal:{os.environ['PATH']}"}
    with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"ready\n")
        process.stdin.flush()
        process.stdout.readline()  # it runs, so that its environment is its own

        assert terminal_path(process.pid).startswith("/opt/terminal:")
        process.stdin.close()
    assert terminal_path(process.pid) == ""
