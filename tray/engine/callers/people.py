"""Whether a request comes from a person at a terminal: a pure judgement of what the kernel shows of its caller.

A terminal alone proves nothing: any program can make one and type into it. So whoever holds its other end is judged
as well as the caller, and what cannot be seen is no person.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from tray.language import say


def names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Set by agents for what they run, and not by people for themselves; HOOK_SOURCE_DIR is what we set for hooks.
MARKERS = names(
    "AI_AGENT AMP_THREAD_ID CLAUDECODE CLAUDE_CODE_ENTRYPOINT CLAUDE_PROJECT_DIR CLINE_ACTIVE "
    "CODEX_SANDBOX CODEX_SANDBOX_NETWORK_DISABLED CODEX_THREAD_ID COPILOT_AGENT_SESSION_ID CURSOR_AGENT "
    "GEMINI_CLI GOOSE_TERMINAL HOOK_SOURCE_DIR OPENCODE OPENCODE_CLIENT QWEN_CODE SHELLEY_CONVERSATION_ID "
    "STARCHILD_SESSION_ID X_CODE_PLUGIN_ROOT"
)
AGENTS = names(
    "aider amp claude cline codex copilot crush cursor-agent droid gemini goose opencode qwen shelley starchild "
    "x-code xc xcode-cli"
)
# Programs that draw a terminal for a person, and take nothing that another program types (without its desktop).
EMULATORS = names(
    "alacritty cool-retro-term deepin-terminal foot footclient gnome-terminal-server kgx lxterminal mate-terminal "
    "mlterm ptyxis-agent qterminal rxvt sakura st terminology urxvt xfce4-terminal xterm"
)
# Whoever may talk to one of these may type into everything it holds.
MULTIPLEXERS = names("abduco byobu dtach dvtm kitty konsole screen tmux wezterm-gui zellij")
# Let somebody else's code into a program of a desktop, before it has begun.
INJECTIONS = names(
    "GI_TYPELIB_PATH GIO_EXTRA_MODULES GJS_PATH GTK3_MODULES GTK_MODULES GTK_PATH LD_AUDIT LD_LIBRARY_PATH "
    "LD_PRELOAD PERL5LIB PERL5OPT QML2_IMPORT_PATH QML_IMPORT_PATH QT_PLUGIN_PATH URXVT_PERL_LIB"
)
SSH = frozenset({"sshd", "sshd-session"})
LOGINS = SSH | {"login"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One process, as the kernel shows it."""

    pid: int
    parent: int
    uid: int
    name: str  # of its program's file, else what it calls itself
    words: tuple[str, ...] = ()  # its command line
    session: int = 0
    group: int = 0
    foreground: int = 0  # the group that its terminal listens to
    environment: frozenset[str] | None = frozenset()  # names; None = not shown to us
    system: bool = False  # its program's file belongs to the system and not to the user
    origin: str = ""  # SSH_CONNECTION: the address it came from and the one it came to


@dataclass(frozen=True, slots=True, kw_only=True)
class Terminal:
    """The caller's controlling terminal."""

    path: str
    ours: bool  # it belongs to the tray's own user
    console: bool = False  # the machine's own, which nobody holds
    holders: tuple[tuple[Seen, ...], ...] = ()  # each who holds its other end, with those above


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Everything that a judgement rests on. `caller` begins with the caller itself, then those above it."""

    uid: int
    caller: tuple[Seen, ...] = ()
    terminal: Terminal | None = None
    known: frozenset[int] = frozenset()  # the processes of `caller` and of the holders with a hook or an agent above
    beside: tuple[str, ...] = ()  # agents that sit at the same terminal
    addresses: frozenset[str] = frozenset()  # of this machine
    looped: bool = False  # a program of the user's talks to a service of root's on this machine, as ssh would
    elsewhere: bool = False  # the caller sees other files or processes than the tray does


def judge(scene: Scene) -> str:
    """Why this is not a person at a terminal; "" when it is, as far as anybody can see."""
    return next((reason for check in CHECKS if (reason := check(scene))), "")


def _visible(scene: Scene) -> str:
    if not scene.caller:
        return say("the system does not show who asks")
    return say("the caller lives in a container of its own") if scene.elsewhere else ""


def _no_agent(scene: Scene) -> str:
    return from_agent(scene.caller, scene.known)


def from_agent(chain: Sequence[Seen], known: Collection[int]) -> str:
    """Who of a process and those above it is an agent or a hook, or was started by one; `known` are their numbers."""
    return next((reason for one in chain if (reason := _agent(one, known))), "")


def _agent(one: Seen, known: Collection[int]) -> str:
    if one.pid in known:
        return say("{who} belongs to an agent or a hook", who=called(one))
    spoken = {PurePath(word).name for word in one.words[:2]} | {one.name}
    if spoken & AGENTS:
        return say("{who} is an agent", who=called(one))
    marks = sorted((one.environment or frozenset()) & MARKERS)
    return say("{who} was started by an agent: {name} is set", who=called(one), name=marks[0]) if marks else ""


def _seen_through(scene: Scene) -> str:
    """A process can hide its environment and its files; only a login, which the system itself started, may."""
    return hidden(scene.caller, scene.uid)


def hidden(chain: Sequence[Seen], uid: int) -> str:
    """Who of them does not show what it was started with."""
    ours = (one for one in chain if one.uid == uid and one.pid != 1)
    found = next((one for one in ours if one.environment is None), None)
    if found is None or _login(found, chain):
        return ""
    return say("{who} hides what it is", who=called(found))


def _at_terminal(scene: Scene) -> str:
    if scene.terminal is None:
        return say("it has no terminal")
    if not scene.terminal.ours:
        return say("{place} belongs to another user", place=scene.terminal.path)
    caller = scene.caller[0]
    return "" if caller.group == caller.foreground else say("it runs in the background of its terminal")


def _alone(scene: Scene) -> str:
    return say("an agent sits at the same terminal: {who}", who=scene.beside[0]) if scene.beside else ""


def _led(scene: Scene) -> str:
    """The session begins with a shell whose parent holds the terminal, or logged the user in."""
    leader = next((one for one in scene.caller if one.pid == one.session), None)
    if leader is None or leader.session != scene.caller[0].session:
        return say("its session has lost its first process")
    above = next((one for one in scene.caller if one.pid == leader.parent), None)
    if above is None:
        return say("the system does not show who began its session")
    holders = scene.terminal.holders if scene.terminal else ()
    if _login(above, scene.caller) or any(above.pid == chain[0].pid for chain in holders):
        return ""
    return say("its session was begun by {who}, which does not hold the terminal", who=called(above))


def _held(scene: Scene) -> str:
    terminal = scene.terminal
    assert terminal is not None
    if terminal.console:
        return ""
    if not terminal.holders:
        return "" if _logged_in(scene) else say("the system does not show who holds the other end of its terminal")
    return next((reason for chain in terminal.holders if (reason := _holder(chain, scene))), "")


def _holder(chain: tuple[Seen, ...], scene: Scene) -> str:
    one = chain[0]
    if _login(one, chain):
        return ""
    if one.name in MULTIPLEXERS:
        return say(
            "{who} lets every program of yours type into its terminals; use one outside of it", who=called(one)
        )
    if one.name not in EMULATORS or not one.system:
        return say(
            "the other end of its terminal is held by {who}, which is no terminal that we know", who=called(one)
        )
    return tampered(one) or from_agent(chain, scene.known)


def tampered(one: Seen) -> str:
    """Why a program of the system's may not be doing what its file says."""
    if one.environment is None or one.environment & INJECTIONS:
        return say("{who} runs with code that is not its own", who=called(one))
    return ""


def _from_afar(scene: Scene) -> str:
    """Whoever can log in from this very machine needs no person for it; from where must be seen."""
    holders = scene.terminal.holders if scene.terminal else ()
    is_remote = any(one.name in SSH for chain in (scene.caller, *holders) for one in chain)
    origins = {one.origin for one in scene.caller if one.origin}
    if is_remote and not origins:
        return say("it does not show from where it logged in: log in once more, without cleaning its environment")
    if any(_is_near(origin, scene.addresses) for origin in origins):
        return say("it logged in from this machine itself")
    if is_remote and scene.looped:
        return say(
            "maybe it logged in from this machine itself: a program of yours talks to a service of root's here"
        )
    return ""


def _is_near(origin: str, addresses: Collection[str]) -> bool:
    client, *_, server = [*origin.split(), "", ""][:3]
    client = client.partition("%")[0].removeprefix("::ffff:")
    return client in ("", "::1", server) or client.startswith("127.") or client in addresses


def _logged_in(scene: Scene) -> bool:
    return any(_login(one, scene.caller) for one in scene.caller)


def _login(one: Seen, chain: Sequence[Seen]) -> bool:
    """A login of the system's own: root's, or the user's half of it, below root's and not merely below init."""
    if one.name not in LOGINS:
        return False
    if one.uid == 0 and one.system:
        return True
    above = next((other for other in chain if other.pid == one.parent), None)
    return above is not None and above.uid == 0 and above.pid != 1 and above.name in LOGINS and above.system


def called(one: Seen) -> str:
    return f"{one.name} ({one.pid})"


CHECKS: tuple[Callable[[Scene], str], ...] = (
    _visible,
    _no_agent,
    _at_terminal,
    _alone,
    _held,
    _led,
    _seen_through,
    _from_afar,
)
