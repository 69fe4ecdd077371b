"""Which proof a command must give, and whose login may set a first passphrase, as tables of what the kernel shows."""

from __future__ import annotations

from approvals.callers.processes import CALLER, INIT, MARK, ME, SHELL, SSHD, seen
from every import every
from msgspec.structs import replace

from tray.approvals.callers.person import (
    ProcessFacts,
    Proof,
    find_origin,
    is_console_login,
    is_remote_login,
    judge_command,
)
from tray.execution.ancestry import Ancestor

HOLDER = seen(50, 1, "xfce4-terminal")
DESK = (CALLER, SHELL, HOLDER, INIT)

FROM_AWAY = "203.0.113.7 5000 198.51.100.2 22"
OWN = frozenset({"127.0.0.1", "198.51.100.2", "10.0.0.2"})
MINE = seen(41, 40, "sshd", environment=None, is_system=False)
LOGGED = replace(SHELL, parent=41, origin=FROM_AWAY)
GETTY = seen(45, 1, "login", uid=0, environment=None)


def ssh(origin: str) -> tuple[ProcessFacts, ...]:
    return (CALLER, replace(LOGGED, origin=origin), MINE, SSHD, INIT)


@every(
    ("chain", "pids", "reason"),
    [
        ((replace(CALLER, environment=MARK), SHELL, INIT), (), "CLAUDECODE is set"),
        ((replace(CALLER, environment=frozenset({"HOOK_SOURCE_DIR"})), SHELL, INIT), (), "HOOK_SOURCE_DIR is set"),
        (DESK, {70}, "python3.11 (70) belongs to an agent or a hook"),
        (DESK, {50}, "an agent or a hook"),
        ((CALLER, SHELL, seen(52, 1, "node", command=("node", "/usr/bin/claude")), INIT), (), "is an agent"),
        ((CALLER, SHELL, seen(80, 1, "goose"), INIT), (), "goose (80) is an agent"),
    ],
)
def test_below_an_agent_or_a_hook_a_command_is_refused_with_a_remedy(
    chain: tuple[ProcessFacts, ...], pids: set[int], reason: str
) -> None:
    found = judge_command(chain, pids)

    assert (found.proof, reason in found.reason) == (Proof.REFUSED, True), found
    assert found.remedy


def test_a_variable_of_an_agent_that_the_user_set_can_be_left_out() -> None:
    marked = judge_command((replace(CALLER, environment=frozenset({"CLAUDECODE", "AI_AGENT"})), *DESK[1:]), ())

    assert "env -u AI_AGENT -u CLAUDECODE hooktray" in marked.remedy


@every(
    ("chain", "reason"),
    [
        *((chain, "") for chain in (DESK, ssh(FROM_AWAY), (CALLER, SHELL, INIT))),
        ((), "does not show who asks"),
        ((CALLER, replace(SHELL, environment=MARK), INIT), "CLAUDECODE is set"),
        ((CALLER, replace(SHELL, command=("bash", "/home/me/bin/goose")), INIT), "has an agent's name"),
    ],
)
def test_a_caller_that_is_not_below_an_agent_or_may_be_one_must_enter_the_passphrase(
    chain: tuple[ProcessFacts, ...], reason: str
) -> None:
    found = judge_command(chain, ())

    assert (found.proof, bool(found.reason)) == (Proof.PASSPHRASE, bool(reason)), found
    assert reason in found.reason


def test_a_login_from_another_machine_is_known_by_its_address() -> None:
    assert is_remote_login(ssh(FROM_AWAY), OWN)
    assert is_remote_login(ssh("2001:db8::7 5000 2001:db8::1 22"), OWN)


OWN_ORIGINS = (
    *("", "127.0.0.1 5 127.0.0.1 22", "127.0.0.7 5 198.51.100.2 22", "::1 5 ::1 22", "10.0.0.2 5 198.51.100.2 22"),
    *("10.9.9.9 5 10.9.9.9 22", "::ffff:127.0.0.1 5 198.51.100.2 22", "fe80::1%eth0 5 fe80::1 22"),
)


@every(
    "chain",
    [
        DESK,
        *map(ssh, OWN_ORIGINS),
        (replace(CALLER, origin=FROM_AWAY), *ssh("127.0.0.1 5 127.0.0.1 22")[1:]),  # the caller says otherwise
        (CALLER, LOGGED, MINE, INIT),  # no sshd of root's
        (CALLER, LOGGED, replace(MINE, parent=39), INIT),
        (CALLER, LOGGED, replace(SSHD, uid=ME, is_system=False), INIT),
        (CALLER, replace(LOGGED, parent=1), replace(SSHD, pid=1, parent=0)),  # an orphan, where sshd is init
        (CALLER, LOGGED, replace(MINE, parent=1), replace(SSHD, pid=1, parent=0)),
        (CALLER, LOGGED, GETTY, INIT),
    ],
)
def test_no_other_process_passes_for_a_login_from_another_machine(chain: tuple[ProcessFacts, ...]) -> None:
    assert not is_remote_login(chain, OWN | {"fe80::1"})


@every(
    ("chain", "is_login"),
    [
        ((CALLER, replace(SHELL, parent=45), GETTY, INIT), True),
        (DESK, False),
        ((CALLER, INIT), False),
        (ssh(FROM_AWAY), False),
        ((CALLER, replace(SHELL, parent=45), replace(GETTY, uid=ME, is_system=False), INIT), False),
        ((CALLER, replace(SHELL, parent=45), replace(GETTY, uid=ME), INIT), False),
    ],
)
def test_a_login_at_the_console_is_known_by_the_systems_own_program(
    chain: tuple[ProcessFacts, ...], is_login: bool
) -> None:
    assert is_console_login(chain) is is_login


# ---- what a command knows by itself

SH = Ancestor(10, ("/bin/bash",))
SCRIPT = Ancestor(9, ("/bin/sh", "./setup.sh", "claude"))


@every("name", ["CLAUDECODE", "STARCHILD_SESSION_ID", "SHELLEY_CONVERSATION_ID", "HOOK_SOURCE_DIR"])
def test_what_agents_and_hooks_are_given_is_a_mark(name: str) -> None:
    assert find_origin(["PATH", name], [SH]) == f"an agent or a hook: {name} is set"


@every(
    "command",
    [
        ("claude",),
        ("/usr/local/bin/claude", "-p"),
        ("node", "/usr/lib/x-code.js"),
        ("/usr/bin/node", "--max-old-space-size=1"),
        ("/opt/py/bin/python3", "/opt/py/bin/hooktray", "--home", "/h", "run"),
        ("python3", "-I", "-m", "tray", "run", "--headless"),
        ("/py", "-I", "-m", "tray", "once", "claude-code"),
        ("/py", "-I", "-S", "/x/tray/isolated.py", "/x:/y", "once", "claude-code"),
        ("/py", "-I", "-S", "/x/tray/isolated.py", "/x:/y", "--home", "/h", "run"),
    ],
)
def test_an_agent_or_a_hooks_engine_above_is_found(command: tuple[str, ...]) -> None:
    found = find_origin((), [SH, SCRIPT, Ancestor(7, command), Ancestor(2, ("init",))])

    assert (found != "") is (command[0] != "/usr/bin/node")
    assert found == "" or "7" in found


def test_a_persons_own_scripts_pass() -> None:
    terminal = Ancestor(5, ("gnome-terminal-server",))
    editor = Ancestor(4, ("vi", "run"))
    other = Ancestor(3, ("docker", "run", "hooktray"))

    assert find_origin(["PATH", "HOME", "AIDER_MODEL"], [SH, SCRIPT, terminal, editor, other]) == ""
