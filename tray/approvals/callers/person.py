"""Which proof a request from a terminal needs: a pure judgement of what the kernel shows of its caller.

A caller below an agent or a hook is refused. Everybody else is let in: where only a person can have typed, the code
that the tray shows at the terminal is enough; everywhere else the passphrase is asked for. Only a terminal proves
nothing, since any program can make one and type into it, so whoever holds its other end is judged as well.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from enum import Enum
from pathlib import PurePath

from tray.agents.registry import inherited_variables, program_names
from tray.execution.known_agents import SHELLS
from tray.language import say
from tray.lazy_dataclass import dataclass
from tray.text.words import word_set

HOOK_VARIABLE = "HOOK_SOURCE_DIR"  # set by us for hooks
# Programs that draw a terminal for a person, and take nothing that another program types (without its desktop).
EMULATORS = word_set(
    "alacritty cool-retro-term deepin-terminal foot footclient gnome-terminal-server kgx lxterminal mate-terminal "
    "mlterm ptyxis-agent qterminal rxvt sakura st terminology urxvt xfce4-terminal xterm"
)
# Whoever may talk to one of these may type into everything it holds.
MULTIPLEXERS = word_set("abduco byobu dtach dvtm kitty konsole screen tmux wezterm-gui zellij")
# Let foreign code into a program of a desktop, before it has begun.
INJECTION_VARIABLES = word_set(
    "GI_TYPELIB_PATH GIO_EXTRA_MODULES GJS_PATH GTK3_MODULES GTK_MODULES GTK_PATH LD_AUDIT LD_LIBRARY_PATH "
    "LD_PRELOAD PERL5LIB PERL5OPT QML2_IMPORT_PATH QML_IMPORT_PATH QT_PLUGIN_PATH URXVT_PERL_LIB"
)
# Those of them that may name files without their folder, which the system's own folders then have.
NAME_VARIABLES = word_set("GTK3_MODULES GTK_MODULES LD_AUDIT LD_PRELOAD PERL5OPT")
SSH_SERVERS = frozenset({"sshd", "sshd-session"})
LOGIN_PROGRAMS = SSH_SERVERS | {"login"}


class Proof(Enum):
    """What shows that a person asks."""

    CLICK = "click"  # the click itself; at a terminal the code that the tray shows there
    PASSPHRASE = "passphrase"
    REFUSED = "refused"  # nothing would: an agent or a hook asks


@dataclass(frozen=True, slots=True)
class Judgement:
    """The proof that a caller must give, and why a click or the code is not enough; `remedy` is what to do here."""

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
    session: int = 0
    group: int = 0
    foreground: int = 0  # the group that its terminal listens to
    environment: frozenset[str] | None = frozenset()  # names; None = not shown to us
    injected: frozenset[str] = frozenset()  # variables that have it load files which the user can write
    is_system: bool = False  # its program's file belongs to the system and not to the user
    origin: str = ""  # SSH_CONNECTION: the address it came from and the one it came to


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllingTerminal:
    """The caller's controlling terminal."""

    path: str
    is_own_user: bool  # it belongs to the tray's own user
    is_console: bool = False  # the machine's own, which no program holds
    holders: tuple[tuple[ProcessFacts, ...], ...] = ()  # each who holds its other end, with those above


@dataclass(frozen=True, slots=True, kw_only=True)
class CallerFacts:
    """Everything that a judgement rests on. `caller` begins with the caller itself, then those above it."""

    uid: int
    caller: tuple[ProcessFacts, ...] = ()
    terminal: ControllingTerminal | None = None
    agent_pids: frozenset[int] = frozenset()  # of `caller` and the holders: those with a hook or an agent above
    terminal_agents: tuple[str, ...] = ()  # agents that sit at the same terminal
    addresses: frozenset[str] = frozenset()  # of this machine
    local_login: bool = False  # a program of the user's talks to a service of root's on this machine, as ssh would
    other_namespace: bool = False  # the caller sees other files or processes than the tray does


def judge_terminal(facts: CallerFacts) -> Judgement:
    """Which proof a request from this caller needs."""
    if reason := _agent_reason(facts):
        return Judgement(Proof.REFUSED, reason, _refusal_remedy(facts))
    reason = next((reason for check in CHECKS if (reason := check(facts))), "")
    return Judgement(Proof.PASSPHRASE, reason) if reason else Judgement(Proof.CLICK)


def _agent_reason(facts: CallerFacts) -> str:
    """Why the caller, or the terminal that it sits at, is an agent's or a hook's."""
    if reason := find_agent(facts.caller, facts.agent_pids):
        return reason
    if marks := _marks(facts.caller):
        return say("{who} was started by an agent: {name} is set", who=process_label(facts.caller[0]), name=marks[0])
    holders = facts.terminal.holders if facts.terminal else ()
    return next((reason for chain in holders if (reason := find_agent(chain, facts.agent_pids))), "")


def _marks(chain: Sequence[ProcessFacts]) -> list[str]:
    """The variables of agents and hooks that the first process was started with."""
    environment = chain[0].environment if chain else None
    return sorted((environment or frozenset()) & {HOOK_VARIABLE, *inherited_variables()})


def _refusal_remedy(facts: CallerFacts) -> str:
    """A mark may be left over, or be the user's own: without it, the passphrase decides."""
    marks = _marks(facts.caller)
    if not marks or find_agent(facts.caller, facts.agent_pids):
        return say("run it in a terminal that no agent has opened, or use the tray's menu")
    unset = " ".join(f"-u {name}" for name in marks)
    return say("if you set it yourself, run `env {unset} hooktray …`", unset=unset)


def _check_visible(facts: CallerFacts) -> str:
    if not facts.caller:
        return say("the system does not show who asks")
    return say("the caller lives in a container of its own") if facts.other_namespace else ""


def find_agent(chain: Sequence[ProcessFacts], agent_pids: Collection[int]) -> str:
    """Who of a process and those above it is an agent or a hook; `agent_pids` are below one that we know."""
    for one in chain:
        if one.pid in agent_pids:
            return say("{who} belongs to an agent or a hook", who=process_label(one))
        if not _is_shell(one) and _names(one) & program_names():
            return say("{who} is an agent", who=process_label(one))
    return ""


def find_trace(chain: Sequence[ProcessFacts]) -> str:
    """What looks like an agent, and may be the user's own doing: a variable in the session, a script's name."""
    for one in chain:
        if marks := _marks((one,)):
            return say("{who} was started by an agent: {name} is set", who=process_label(one), name=marks[0])
        if _is_shell(one) and _names(one) & program_names():
            return say("{who} is called like an agent", who=process_label(one))
    return ""


def _names(one: ProcessFacts) -> set[str]:
    return {PurePath(word).name for word in one.command[:2]} | {one.name}


def _is_shell(one: ProcessFacts) -> bool:
    """A shell of the system's: its own name, or its script's, proves little."""
    return one.is_system and one.name in SHELLS


def _check_trace(facts: CallerFacts) -> str:
    chains = (facts.caller, *(facts.terminal.holders if facts.terminal else ()))
    return next((reason for chain in chains if (reason := find_trace(chain))), "")


def _check_environment(facts: CallerFacts) -> str:
    """A process can hide its environment and its files; only a login, which the system itself started, may."""
    return find_hidden(facts.caller, facts.uid)


def find_hidden(chain: Sequence[ProcessFacts], uid: int) -> str:
    """Who of them does not show what it was started with; the system hides its own privileged programs."""
    ours = (one for one in chain if one.uid == uid and one.pid != 1 and not one.is_system)
    found = next((one for one in ours if one.environment is None), None)
    if found is None or _is_login(found, chain):
        return ""
    return say("{who} hides what it is", who=process_label(found))


def _check_foreground(facts: CallerFacts) -> str:
    if facts.terminal is None:
        return say("it has no terminal")
    if not facts.terminal.is_own_user:
        return say("{place} belongs to another user", place=facts.terminal.path)
    caller = facts.caller[0]
    return "" if caller.group == caller.foreground else say("it runs in the background of its terminal")


def _check_terminal_agents(facts: CallerFacts) -> str:
    agents = facts.terminal_agents
    return say("an agent sits at the same terminal: {who}", who=agents[0]) if agents else ""


def _check_session_leader(facts: CallerFacts) -> str:
    """The session begins with a shell whose parent holds the terminal, or logged the user in."""
    leader = next((one for one in facts.caller if one.pid == one.session), None)
    if leader is None or leader.session != facts.caller[0].session:
        return say("its session has lost its first process")
    above = next((one for one in facts.caller if one.pid == leader.parent), None)
    if above is None:
        return say("the system does not show who began its session")
    holders = facts.terminal.holders if facts.terminal else ()
    if _is_login(above, facts.caller) or any(above.pid == chain[0].pid for chain in holders):
        return ""
    return say("its session was begun by {who}, which does not hold the terminal", who=process_label(above))


def _check_pty_holder(facts: CallerFacts) -> str:
    terminal = facts.terminal
    assert terminal is not None
    if terminal.is_console:
        return ""
    if not terminal.holders:
        return "" if _has_login(facts) else say("the system does not show who holds the other end of its terminal")
    return next((reason for chain in terminal.holders if (reason := _check_holder(chain))), "")


def _check_holder(chain: tuple[ProcessFacts, ...]) -> str:
    one = chain[0]
    if _is_login(one, chain):
        return ""
    if one.name in MULTIPLEXERS:
        return say("{who} lets every program of yours type into its terminals", who=process_label(one))
    if one.name not in EMULATORS or not one.is_system:
        return say(
            "the other end of its terminal is held by {who}, which is not a terminal that we know",
            who=process_label(one),
        )
    return find_injection(one)


def find_injection(one: ProcessFacts) -> str:
    """Why a program of the system's may not be doing what its file does."""
    if one.injected:
        return say("{who} runs with code that is not its own", who=process_label(one))
    return ""


def _check_remote_login(facts: CallerFacts) -> str:
    """Whoever can log in from this very machine needs no person for it; from where must be seen."""
    holders = facts.terminal.holders if facts.terminal else ()
    is_remote = any(one.name in SSH_SERVERS for chain in (facts.caller, *holders) for one in chain)
    origins = {one.origin for one in facts.caller if one.origin}
    if is_remote and not origins:
        return say("it does not show from where it logged in: log in once more, without cleaning its environment")
    if any(_is_local_address(origin, facts.addresses) for origin in origins):
        return say("it logged in from this machine itself")
    if is_remote and facts.local_login:
        return say(
            "maybe it logged in from this machine itself: a program of yours talks to a service of root's here"
        )
    return ""


def _is_local_address(origin: str, addresses: Collection[str]) -> bool:
    client, *_, server = [*origin.split(), "", ""][:3]
    client = client.partition("%")[0].removeprefix("::ffff:")
    return client in ("", "::1", server) or client.startswith("127.") or client in addresses


def _has_login(facts: CallerFacts) -> bool:
    return any(_is_login(one, facts.caller) for one in facts.caller)


def _is_login(one: ProcessFacts, chain: Sequence[ProcessFacts]) -> bool:
    """A login of the system's own: root's, or the user's half of it, below root's and not merely below init."""
    if one.name not in LOGIN_PROGRAMS:
        return False
    if one.uid == 0 and one.is_system:
        return True
    above = next((other for other in chain if other.pid == one.parent), None)
    return (
        above is not None and above.uid == 0 and above.pid != 1 and above.name in LOGIN_PROGRAMS and above.is_system
    )


def process_label(one: ProcessFacts) -> str:
    return f"{one.name} ({one.pid})"


CHECKS: tuple[Callable[[CallerFacts], str], ...] = (
    _check_visible,
    _check_trace,
    _check_foreground,
    _check_terminal_agents,
    _check_pty_holder,
    _check_session_leader,
    _check_environment,
    _check_remote_login,
)
