"""Where a first passphrase can be set, as a table of what the tray and the kernel show; and who holds a question."""

from __future__ import annotations

import contextlib
import socket
import sys
import threading
from collections.abc import Iterator

import pytest
from desk import wait
from house import House
from ipc.tray_parts import TrayParts

from tray.approvals.callers.person import Judgement, ProcessFacts, Proof
from tray.errors import HooktrayError
from tray.ipc import frames
from tray.ipc.connection import CallerTerminal
from tray.ipc.terminal import MAX_QUESTIONS, PassphraseChange, TerminalPrompt

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows who logged in")
SECRET = "seven quiet bridges"
ME = 1000
INIT = ProcessFacts(pid=1, parent=0, uid=0, name="systemd", is_system=True)
SSHD = ProcessFacts(pid=40, parent=1, uid=0, name="sshd", is_system=True)
LOGIN = ProcessFacts(pid=45, parent=1, uid=0, name="login", is_system=True)
SHELL = ProcessFacts(pid=60, parent=40, uid=ME, name="bash", is_system=True, origin="203.0.113.7 5 198.51.100.2 22")
DESK = (SHELL, INIT)
AWAY = (SHELL, SSHD, INIT)
CONSOLE = (SHELL, LOGIN, INIT)


class Prompt(TerminalPrompt):
    """Judges every caller the same way. `becomes` is its judgement after something was typed."""

    found = becomes = Judgement(Proof.PASSPHRASE)
    judged = 0

    def judge(self, pid: int) -> Judgement:
        self.judged += 1
        return self.found if self.judged == 1 else self.becomes


@contextlib.contextmanager
def typed(*lines: str) -> Iterator[CallerTerminal]:
    """A command whose user types these, one for each question, and then leaves."""
    ours, theirs = socket.socketpair()

    def serve() -> None:
        with theirs:
            for line in lines:
                if not (head := theirs.recv(frames.QUESTION_SIZE, socket.MSG_WAITALL)):
                    return
                theirs.recv(frames.question_size(head), socket.MSG_WAITALL)
                theirs.sendall(f"{line}\n".encode())

    user = threading.Thread(target=serve)
    user.start()
    with ours:
        yield CallerTerminal(ours)
    user.join()


def change(house: House, *, heard: bool = False, desktop: bool = False, lost: bool = False) -> PassphraseChange:
    tray = TrayParts()
    tray.heard_from_agents, tray.has_desktop, tray.is_state_lost = heard, desktop, lost
    return PassphraseChange(Prompt(tray, house.passphrase, timeout=5), house.controls(), tray)


@pytest.mark.parametrize(
    ("chain", "console", "tray", "local", "refused"),
    [
        (DESK, False, {}, False, ""),
        (DESK, False, {"desktop": True}, False, ""),
        (DESK, False, {"heard": True}, False, "an agent may type here, too"),
        (DESK, False, {"heard": True, "desktop": True}, False, "in the tray's menu"),
        (DESK, False, {"lost": True}, False, "approvals were lost"),
        (AWAY, False, {"heard": True}, False, ""),
        (AWAY, False, {"heard": True}, True, "may have logged in from this machine"),
        (AWAY, False, {"heard": True, "desktop": True}, False, "an agent may type here, too"),
        (AWAY, False, {"heard": True, "lost": True}, False, "approvals were lost"),
        (CONSOLE, True, {"heard": True, "lost": True}, False, ""),
        (CONSOLE, False, {"lost": True}, False, "approvals were lost"),
        (DESK, True, {"lost": True}, False, "own console"),
    ],
)
def test_a_first_passphrase_is_set_only_where_no_agent_can_have_typed_it(
    house: House,
    monkeypatch: pytest.MonkeyPatch,
    chain: tuple[ProcessFacts, ...],
    console: bool,
    tray: dict[str, bool],
    local: bool,
    refused: str,
) -> None:
    for name, value in {
        "process_chain": chain, "is_at_console": console, "own_addresses": frozenset(), "is_connected_to_root": local,
    }.items():  # fmt: skip
        monkeypatch.setattr(f"tray.ipc.terminal.{name}", lambda *_, value=value: value)

    if refused:
        with pytest.raises(HooktrayError) as error, typed() as terminal:
            change(house, **tray).change(0, terminal, forget=False)
        assert refused in f"{error.value.message} {error.value.hint}"
    else:
        with typed(SECRET, SECRET) as terminal:
            assert change(house, **tray).change(0, terminal, forget=False) == "The passphrase is set"
    assert house.passphrase.is_set is not bool(refused)


@pytest.mark.parametrize("refused", ["before", "meanwhile"])
def test_an_agent_above_is_refused_also_if_it_appears_while_something_is_typed(house: House, refused: str) -> None:
    house.passphrase.set(SECRET, "page")
    prompt = Prompt(TrayParts(), house.passphrase, timeout=5)
    prompt.becomes = Judgement(Proof.REFUSED, "an agent", "elsewhere")
    if refused == "before":
        prompt.found = prompt.becomes
    changes = PassphraseChange(prompt, house.controls(), TrayParts())

    with pytest.raises(HooktrayError, match=r"an agent|nothing was changed"), typed(SECRET) as terminal:
        changes.change(0, terminal, forget=True)
    assert house.passphrase.is_set
    prompt.judged = 1
    with typed(SECRET) as terminal:
        assert not prompt.confirm(0, terminal, "Switch hooks off?")


def test_changing_or_forgetting_a_passphrase_requires_the_old_one(house: House) -> None:
    house.passphrase.set(SECRET, "page")
    other = "eight loud harbours"

    with pytest.raises(HooktrayError, match="nothing was changed"), typed(other) as terminal:
        change(house, heard=True).change(0, terminal, forget=True)
    with typed(SECRET, other, other) as terminal:
        assert change(house, heard=True).change(0, terminal, forget=False) == "The passphrase is changed"
    assert house.passphrase.check(other, "page")
    with typed(other) as terminal:
        assert change(house, heard=True).change(0, terminal, forget=True) == "The passphrase is forgotten"
    assert not house.passphrase.is_set


def test_one_that_is_set_elsewhere_meanwhile_is_not_replaced(house: House) -> None:
    class Meanwhile(Prompt):
        def judge(self, pid: int) -> Judgement:
            if self.judged:
                house.passphrase.set(SECRET, "page")
            return super().judge(pid)

    tray = TrayParts()
    changes = PassphraseChange(Meanwhile(tray, house.passphrase, timeout=5), house.controls(), tray)

    other = "eight loud harbours"
    with pytest.raises(HooktrayError, match="nothing was changed"), typed(other, other) as terminal:
        changes.change(0, terminal, forget=False)
    assert house.passphrase.check(SECRET, "page")


@pytest.mark.parametrize(
    ("lines", "forget", "said"),
    [
        (["too short"], False, "has at least 12 characters"),
        ([SECRET, "eight loud harbours"], False, "the two entries differ"),
        ([], True, "no passphrase is set"),
    ],
)
def test_a_new_passphrase_must_be_long_enough_and_typed_twice_and_forgetting_requires_one(
    house: House, lines: list[str], forget: bool, said: str
) -> None:
    with pytest.raises(HooktrayError) as error, typed(*lines) as terminal:
        change(house).change(0, terminal, forget=forget)
    assert said in f"{error.value.message} {error.value.hint}"
    assert not house.passphrase.is_set


def test_only_the_right_passphrase_of_a_caller_that_waits_confirms(house: House) -> None:
    house.passphrase.set(SECRET, "page")
    prompt = TerminalPrompt(TrayParts(), house.passphrase, timeout=5)
    for lines, is_right in (((SECRET,), True), (("a wild guess",), False), (("",), False), ((), False)):
        with typed(*lines) as terminal:
            assert prompt.confirm(0, terminal, "Switch hooks off?") is is_right, lines


def test_a_caller_that_types_nothing_is_given_up_and_another_question_waits_meanwhile(house: House) -> None:
    house.passphrase.set(SECRET, "page")
    prompt = TerminalPrompt(TrayParts(), house.passphrase, timeout=0.5)
    ours, theirs = socket.socketpair()
    found: list[bool] = []
    with ours, theirs:
        first = threading.Thread(target=lambda: found.append(prompt.confirm(0, CallerTerminal(ours), "Off?")))
        first.start()
        wait(lambda: theirs.recv(1), 20, "it is asked")
        with pytest.raises(HooktrayError, match="another question is open"):
            prompt.confirm(0, CallerTerminal(ours), "Off?")
        theirs.sendall(b"half a line")
        first.join(20)

    assert found == [False]


def test_no_more_than_a_few_questions_are_open_at_once(house: House) -> None:
    prompt = TerminalPrompt(TrayParts(), house.passphrase)
    with contextlib.ExitStack() as open_ones, typed() as terminal:
        for pid in range(MAX_QUESTIONS):
            open_ones.enter_context(prompt.dialogue(-pid, terminal))
        with pytest.raises(HooktrayError, match="another question is open"):
            open_ones.enter_context(prompt.dialogue(-MAX_QUESTIONS, terminal))
