"""Judges which proof the request of a process needs, from values that show what the system knows about it.

Below an agent or a hook everything is refused. Elsewhere the user clicks, or types the passphrase at a terminal. Any
program can make a terminal and type into it, so the kind of terminal proves nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from enum import Enum
from pathlib import PurePath

import msgspec

from tray.agents.registry import inherited_variables, program_names
from tray.execution.ancestry import Ancestor, is_command
from tray.execution.isolation import is_isolated
from tray.execution.known_agents import SHELLS
from tray.language import say
from tray.text.words import word_set

HOOK_VARIABLE = "HOOK_SOURCE_DIR"  # set by Hooktray for hooks
SSH_SERVERS = word_set("sshd sshd-session")
INTERPRETERS = frozenset({"bun", "deno", "node"})  # of agents that are scripts
LOGIN_PROGRAMS = SSH_SERVERS | {"login"}


class Proof(Enum):
    """What shows that the user asks."""

    CLICK = "click"  # the click itself
    PASSPHRASE = "passphrase"
    REFUSED = "refused"  # no proof is enough: an agent or a hook asks


class Judgement(msgspec.Struct, frozen=True):
    """The proof that a caller must give, and why no weaker one is enough. `remedy` is what the user can do."""

    proof: Proof
    reason: str = ""
    remedy: str = ""


class ProcessFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One process, as the kernel shows it."""

    pid: int
    parent: int
    uid: int
    name: str  # of its program's file, else what it calls itself
    command: tuple[str, ...] = ()  # its command line
    environment: frozenset[str] | None = frozenset()  # names; None = hidden
    injected: frozenset[str] = frozenset()  # variables that make it load files which the user can write
    is_system: bool = False  # its program's file belongs to the system and not to the user
    origin: str = ""  # SSH_CONNECTION: the address it came from and the one it came to


def judge_command(chain: Sequence[ProcessFacts], agent_pids: Collection[int]) -> Judgement:
    """Returns the proof that a command needs, which is at least the passphrase.

    `chain` is the caller and the processes above it. PASSPHRASE has a reason if an agent above cannot be ruled out.
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
    """Returns which process of the chain is an agent or a hook, or "". `agent_pids` are at or below a known one."""
    for one in chain:
        if one.pid in agent_pids:
            return say("{who} belongs to an agent or a hook", who=process_label(one))
        if not _is_shell(one) and _names(one) & program_names():
            return say("{who} is an agent", who=process_label(one))
    return ""


def find_trace(chain: Sequence[ProcessFacts]) -> str:
    """Returns what looks like an agent but may be the user's: a variable of the session or a script's name; or ""."""
    for one in chain:
        if marks := _marks(one):
            return say("{who} was started by an agent: {name} is set", who=process_label(one), name=marks[0])
        if _is_shell(one) and _names(one) & program_names():
            return say("{who} has an agent's name", who=process_label(one))
    return ""


def find_hidden(chain: Sequence[ProcessFacts], uid: int) -> str:
    """Returns which process hides its environment, or "". A login and privileged programs of the system may."""
    ours = (one for one in chain if one.uid == uid and one.pid != 1 and not one.is_system)
    found = next((one for one in ours if one.environment is None), None)
    if found is None or _is_login(found, chain):
        return ""
    return say("{who} hides what it is", who=process_label(found))


def is_console_login(chain: Sequence[ProcessFacts]) -> bool:
    """True if the system's own `login` is above the caller. A process that left its login has init above it."""
    return any(one.name == "login" and _is_login(one, chain) for one in chain)


def is_remote_login(chain: Sequence[ProcessFacts], addresses: Collection[str]) -> bool:
    """True if the caller logged in over SSH from another machine. `addresses` are those of this one."""
    origins = {one.origin for one in chain if one.origin}
    is_login = any(one.name in SSH_SERVERS and _is_login(one, chain) for one in chain)
    for origin in origins:
        client, *_, server = [*origin.split(), "", ""][:3]
        client = client.partition("%")[0].removeprefix("::ffff:")
        if client in ("", "::1", server) or client.startswith("127.") or client in addresses:
            return False
    return is_login and bool(origins)


def find_origin(environment: Iterable[str], ancestors_of: Iterable[Ancestor]) -> str:
    """Returns which agent or hook is behind a command, or "". `environment` has the names of its variables.

    A command can judge this without the tray, which judges more strictly. A script of the user's own passes.
    """
    marks = sorted({HOOK_VARIABLE, *inherited_variables()}.intersection(environment))
    if marks:
        return f"an agent or a hook: {marks[0]} is set"
    return next((origin for one in ancestors_of if (origin := _origin_of(one))), "")


def process_label(one: ProcessFacts) -> str:
    return f"{one.name} ({one.pid})"


def _marks(one: ProcessFacts) -> list[str]:
    """Returns the variables of agents and hooks in its environment."""
    return sorted((one.environment or frozenset()) & {HOOK_VARIABLE, *inherited_variables()})


def _names(one: ProcessFacts) -> set[str]:
    return {PurePath(word).name for word in one.command[:2]} | {one.name}


def _is_shell(one: ProcessFacts) -> bool:
    """True for a shell of the system, whose name and script prove little."""
    return one.is_system and one.name in SHELLS


def _is_login(one: ProcessFacts, chain: Sequence[ProcessFacts]) -> bool:
    """True for a login program of root, or for the user's half of it directly below that of root, not below init."""
    if one.name not in LOGIN_PROGRAMS or one.pid == 1:  # below init is whatever was left behind
        return False
    if one.uid == 0:
        return one.is_system
    above = next((other for other in chain if other.pid == one.parent), None)
    return above is not None and above.uid == 0 and _is_login(above, chain)


def _origin_of(one: Ancestor) -> str:
    if is_isolated(one.command, "once") or is_command(one.command, "run"):
        return f"a hook, below {PurePath(one.command[0]).name} ({one.pid})"
    names = [PurePath(word).name.removesuffix(".exe") for word in one.command[:2]]
    name = names[0] if names else ""
    if name in INTERPRETERS and len(names) > 1:
        name = PurePath(names[1]).stem
    return f"{name} ({one.pid})" if name in program_names() else ""
