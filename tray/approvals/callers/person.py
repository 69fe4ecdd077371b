"""Which proof the request of a process needs: a pure judgement of what the system shows of it.

Below an agent or a hook everything is refused. Everybody else clicks, or types the passphrase at a terminal. Any
program can make a terminal and type into it, so what kind of terminal it is proves nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from enum import Enum
from pathlib import PurePath

from tray.agents.registry import inherited_variables, program_names
from tray.execution.known_agents import SHELLS
from tray.language import say
from tray.lazy_dataclass import dataclass
from tray.text.words import word_set

HOOK_VARIABLE = "HOOK_SOURCE_DIR"  # set by Hooktray for hooks
SSH_SERVERS = word_set("sshd sshd-session")
LOGIN_PROGRAMS = SSH_SERVERS | {"login"}


class Proof(Enum):
    """What shows that the user asks."""

    CLICK = "click"  # the click itself
    PASSPHRASE = "passphrase"
    REFUSED = "refused"  # nothing would: an agent or a hook asks


@dataclass(frozen=True, slots=True)
class Judgement:
    """The proof that a caller must give, and why nothing less is enough; `remedy` is what to do here."""

    proof: Proof
    reason: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessFacts:
    """One process, as the kernel shows it."""

    pid: int
    parent: int
    uid: int
    name: str  # of its program's file, else what it calls itself
    command: tuple[str, ...] = ()  # its command line
    environment: frozenset[str] | None = frozenset()  # names; None = hidden
    injected: frozenset[str] = frozenset()  # variables that have it load files which the user can write
    is_system: bool = False  # its program's file belongs to the system and not to the user
    origin: str = ""  # SSH_CONNECTION: the address it came from and the one it came to


def judge_command(chain: Sequence[ProcessFacts], agent_pids: Collection[int]) -> Judgement:
    """Which proof a command needs: never less than the passphrase.

    `chain` is the caller and those above it. A reason beside PASSPHRASE: an agent above it cannot be ruled out.
    """
    if not chain:
        return Judgement(Proof.PASSPHRASE, say("the system does not show who asks"))
    if reason := find_agent(chain, agent_pids):
        return Judgement(Proof.REFUSED, reason, say("run it in a terminal that no agent has opened"))
    if marks := _marks(chain[0]):  # may be left over, or be the user's own: without it, the passphrase decides
        unset = " ".join(f"-u {name}" for name in marks)
        remedy = say("if you set it yourself, run `env {unset} hooktray …`", unset=unset)
        return Judgement(Proof.REFUSED, find_trace(chain[:1]), remedy)
    return Judgement(Proof.PASSPHRASE, find_trace(chain))


def find_agent(chain: Sequence[ProcessFacts], agent_pids: Collection[int]) -> str:
    """Who of a process and those above it is an agent or a hook; `agent_pids` are below one that is known."""
    for one in chain:
        if one.pid in agent_pids:
            return say("{who} belongs to an agent or a hook", who=process_label(one))
        if not _is_shell(one) and _names(one) & program_names():
            return say("{who} is an agent", who=process_label(one))
    return ""


def find_trace(chain: Sequence[ProcessFacts]) -> str:
    """What looks like an agent, and may be the user's own doing: a variable in the session, a script's name."""
    for one in chain:
        if marks := _marks(one):
            return say("{who} was started by an agent: {name} is set", who=process_label(one), name=marks[0])
        if _is_shell(one) and _names(one) & program_names():
            return say("{who} is called like an agent", who=process_label(one))
    return ""


def find_hidden(chain: Sequence[ProcessFacts], uid: int) -> str:
    """Who of them does not show what it was started with; a login and the system's privileged programs may."""
    ours = (one for one in chain if one.uid == uid and one.pid != 1 and not one.is_system)
    found = next((one for one in ours if one.environment is None), None)
    if found is None or _is_login(found, chain):
        return ""
    return say("{who} hides what it is", who=process_label(found))


def find_injection(one: ProcessFacts) -> str:
    """Why a program of the system's may not be doing what its file does."""
    return say("{who} runs with code that is not its own", who=process_label(one)) if one.injected else ""


def is_console_login(chain: Sequence[ProcessFacts]) -> bool:
    """Whether the system's own `login` is above: a process that has left its login has init above it."""
    return any(one.name == "login" and _is_login(one, chain) for one in chain)


def is_remote_login(chain: Sequence[ProcessFacts], addresses: Collection[str]) -> bool:
    """Whether it logged in over SSH from another machine than this one, which has these addresses."""
    origins = {one.origin for one in chain if one.origin}
    is_login = any(one.name in SSH_SERVERS and _is_login(one, chain) for one in chain)
    return is_login and bool(origins) and not any(_is_local(origin, addresses) for origin in origins)


def process_label(one: ProcessFacts) -> str:
    return f"{one.name} ({one.pid})"


def _marks(one: ProcessFacts) -> list[str]:
    """The variables of agents and hooks that it was started with."""
    return sorted((one.environment or frozenset()) & {HOOK_VARIABLE, *inherited_variables()})


def _names(one: ProcessFacts) -> set[str]:
    return {PurePath(word).name for word in one.command[:2]} | {one.name}


def _is_shell(one: ProcessFacts) -> bool:
    """A shell of the system's: its own name, or its script's, proves little."""
    return one.is_system and one.name in SHELLS


def _is_login(one: ProcessFacts, chain: Sequence[ProcessFacts]) -> bool:
    """A login of the system's own: root's, or the user's half of it, below root's and not merely below init."""
    if one.name not in LOGIN_PROGRAMS or one.pid == 1:  # below init is whatever was left behind
        return False
    if one.uid == 0:
        return one.is_system
    above = next((other for other in chain if other.pid == one.parent), None)
    return above is not None and above.uid == 0 and _is_login(above, chain)


def _is_local(origin: str, addresses: Collection[str]) -> bool:
    client, *_, server = [*origin.split(), "", ""][:3]
    client = client.partition("%")[0].removeprefix("::ffff:")
    return client in ("", "::1", server) or client.startswith("127.") or client in addresses
