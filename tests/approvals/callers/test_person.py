"""Which proof a person at a terminal must give, as a table of what the kernel may show."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from every import every

from tray.approvals.callers.person import CallerFacts, ControllingTerminal, ProcessFacts, Proof, judge_terminal

ME = 1000


def seen(pid: int, parent: int, name: str, **more: Any) -> ProcessFacts:
    return ProcessFacts(**{"pid": pid, "parent": parent, "uid": ME, "name": name, "is_system": True, **more})


INIT = seen(1, 0, "systemd", uid=0, environment=None)
EMULATOR = seen(50, 1, "xfce4-terminal")
SHELL = seen(60, 50, "bash", session=60)
CALLER = seen(70, 60, "python3.11", command=("python", "-m", "tray", "off"), session=60, group=70, foreground=70)
HELD = ControllingTerminal(path="/dev/pts/3", is_own_user=True, holders=((EMULATOR, INIT),))
DESK = CallerFacts(uid=ME, caller=(CALLER, SHELL, EMULATOR, INIT), terminal=HELD)

ROOTS = seen(40, 1, "sshd", uid=0, environment=None)
MINE = seen(41, 40, "sshd", environment=None, is_system=False)
LOGGED = replace(SHELL, parent=41, origin="203.0.113.7 5000 198.51.100.2 22")
SSH = CallerFacts(uid=ME, caller=(CALLER, LOGGED, MINE, ROOTS, INIT), terminal=replace(HELD, holders=()))

GETTY = seen(45, 1, "login", uid=0, environment=None)
CONSOLE = CallerFacts(
    uid=ME,
    caller=(CALLER, replace(SHELL, parent=45), GETTY, INIT),
    terminal=ControllingTerminal(path="/dev/tty1", is_own_user=True, is_console=True),
)


def holding(one: ProcessFacts, *above: ProcessFacts) -> CallerFacts:
    """The desk, with another program in the emulator's place."""
    caller = (CALLER, replace(SHELL, parent=one.pid), one, *above, INIT)
    return CallerFacts(uid=ME, caller=caller, terminal=replace(HELD, holders=((one, *above, INIT),)))


def calling(**more: Any) -> CallerFacts:
    return replace(DESK, caller=(replace(CALLER, **more), SHELL, EMULATOR, INIT))


@pytest.mark.parametrize("facts", [DESK, SSH, CONSOLE], ids=["desktop", "ssh", "console"])
def test_a_person_at_a_known_terminal_types_the_code(facts: CallerFacts) -> None:
    assert judge_terminal(facts).proof is Proof.CLICK


@every(
    ("facts", "reason"),
    [
        (calling(environment=frozenset({"CLAUDECODE"})), "CLAUDECODE is set"),
        (replace(DESK, agent_pids=frozenset({70})), "an agent or a hook"),
        (replace(DESK, agent_pids=frozenset({50})), "an agent or a hook"),
        (holding(seen(51, 52, "xterm"), seen(52, 1, "node", command=("node", "/usr/bin/claude"))), "is an agent"),
        (
            replace(DESK, terminal=replace(HELD, holders=((seen(80, 1, "goose"), INIT),))),
            "goose (80) is an agent",
        ),
    ],
)
def test_an_agent_is_refused_and_told_a_way(facts: CallerFacts, reason: str) -> None:
    found = judge_terminal(facts)

    assert (found.proof, reason in found.reason) == (Proof.REFUSED, True), found
    assert found.remedy


def test_a_variable_of_an_agent_that_the_user_set_can_be_left_out() -> None:
    marked = judge_terminal(calling(environment=frozenset({"CLAUDECODE", "AI_AGENT"})))

    assert "env -u AI_AGENT -u CLAUDECODE hooktray" in marked.remedy
    assert judge_terminal(calling(environment=frozenset())).proof is Proof.CLICK


@every(
    ("facts", "reason"),
    [
        (CallerFacts(uid=ME), "does not show who asks"),
        (replace(DESK, other_namespace=True), "container"),
        (replace(DESK, terminal=None), "no terminal"),
        (replace(DESK, terminal=replace(HELD, is_own_user=False)), "another user"),
        (replace(DESK, terminal=replace(HELD, holders=())), "who holds the other end"),
        (calling(group=71), "background"),
        (calling(session=99), "lost its first process"),
        (calling(environment=None, is_system=False), "hides what it is"),
        (replace(DESK, terminal_agents=("node (9)",)), "sits at the same terminal: node (9)"),
        (holding(seen(51, 1, "python3.11")), "not a terminal that we know"),
        (holding(seen(51, 1, "script")), "not a terminal that we know"),
        (holding(seen(51, 1, "expect")), "not a terminal that we know"),
        (holding(seen(51, 1, "tmux")), "lets every program of yours type"),
        (holding(seen(51, 1, "screen")), "lets every program of yours type"),
        (holding(seen(51, 1, "xterm", is_system=False)), "not a terminal that we know"),
        (holding(seen(51, 1, "xterm", injected=frozenset({"LD_PRELOAD"}))), "code that is not its own"),
        (holding(seen(51, 52, "xterm"), seen(52, 1, "sh", environment=frozenset({"AI_AGENT"}))), "AI_AGENT is set"),
        (holding(seen(51, 1, "sshd", environment=None, is_system=False)), "not a terminal that we know"),
        (
            replace(DESK, terminal=replace(HELD, holders=((EMULATOR, INIT), (seen(80, 1, "socat"), INIT)))),
            "held by socat",
        ),
        (
            replace(DESK, caller=(CALLER, replace(SHELL, parent=55), seen(55, 50, "python3"), EMULATOR, INIT)),
            "does not hold the terminal",
        ),
        (replace(SSH, caller=(CALLER, LOGGED, MINE, INIT)), "who holds the other end"),
        (
            replace(SSH, caller=(CALLER, replace(LOGGED, origin="127.0.0.1 5 127.0.0.1 22"), MINE, ROOTS, INIT)),
            "this machine itself",
        ),
        (
            replace(SSH, caller=(CALLER, replace(LOGGED, origin="10.0.0.2 5 10.0.0.2 22"), MINE, ROOTS, INIT)),
            "this machine itself",
        ),
        (replace(SSH, addresses=frozenset({"203.0.113.7", "198.51.100.2"})), "this machine itself"),
        (replace(SSH, local_login=True), "maybe it logged in from this machine"),
        (
            replace(SSH, caller=(CALLER, replace(LOGGED, origin="::ffff:127.0.0.1 5 ::1 22"), MINE, ROOTS, INIT)),
            "this machine itself",
        ),
        (replace(SSH, caller=(CALLER, replace(LOGGED, origin=""), MINE, ROOTS, INIT)), "from where it logged in"),
    ],
)
def test_everybody_else_types_the_passphrase_and_the_reason_says_why(facts: CallerFacts, reason: str) -> None:
    found = judge_terminal(facts)

    assert (found.proof, reason in found.reason) == (Proof.PASSPHRASE, True), found
