"""Every way by which people come that was looked at: which proof each needs. None is refused without a way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from every import every

from tray.approvals.callers.click_check import (
    BROWSER_CHECKS,
    HOST_CHECKS,
    ClickFacts,
    ClickRejection,
    find_objection,
)
from tray.approvals.callers.person import (
    CallerFacts,
    ControllingTerminal,
    Judgement,
    ProcessFacts,
    Proof,
    judge_terminal,
)

ME = 1000
MARK = frozenset({"CLAUDECODE"})
CLICK, PASSPHRASE, REFUSED = Proof.CLICK, Proof.PASSPHRASE, Proof.REFUSED


def seen(pid: int, parent: int, name: str, **more: Any) -> ProcessFacts:
    return ProcessFacts(**{"pid": pid, "parent": parent, "uid": ME, "name": name, "is_system": True, **more})


INIT = seen(1, 0, "systemd", uid=0, environment=None)
SHELL = seen(60, 50, "bash", session=60)
CALLER = seen(70, 60, "python3.12", command=("python", "-m", "tray", "off"), session=60, group=70, foreground=70)
ROOT_SSHD = seen(40, 1, "sshd", uid=0, environment=None)
MY_SSHD = seen(41, 40, "sshd", environment=None, is_system=False)
FROM_AWAY = "203.0.113.7 5000 198.51.100.2 22"


@dataclass(frozen=True)
class Scene:
    """What a program's judgement comes to, and what the user is then shown to do."""

    judge: Callable[[], Judgement]


def terminal(name: str, *above: ProcessFacts, beside: tuple[str, ...] = (), **more: Any) -> Scene:
    """A shell in a terminal that this program holds."""
    holder = seen(50, above[0].pid if above else 1, name, **more)
    held = ControllingTerminal(path="/dev/pts/3", is_own_user=True, holders=((holder, *above, INIT),))
    facts = CallerFacts(uid=ME, caller=(CALLER, SHELL, holder, *above, INIT), terminal=held, terminal_agents=beside)
    return Scene(lambda: judge_terminal(facts))


def called(caller: ProcessFacts, *above: ProcessFacts, **more: Any) -> Scene:
    """A caller in a known terminal."""
    holder = seen(50, 1, "gnome-terminal-server")
    held = ControllingTerminal(path="/dev/pts/3", is_own_user=True, holders=((holder, INIT),))
    chain = (caller, *(above or (SHELL,)), holder, INIT)
    facts = replace(CallerFacts(uid=ME, caller=chain, terminal=held), **more)
    return Scene(lambda: judge_terminal(facts))


def ssh(origin: str = FROM_AWAY, *, local: bool = False, addresses: tuple[str, ...] = ()) -> Scene:
    shell = replace(SHELL, parent=41, origin=origin)
    facts = CallerFacts(
        uid=ME,
        caller=(CALLER, shell, MY_SSHD, ROOT_SSHD, INIT),
        terminal=ControllingTerminal(path="/dev/pts/3", is_own_user=True),
        local_login=local,
        addresses=frozenset(addresses),
    )
    return Scene(lambda: judge_terminal(facts))


def page(name: str, *above: ProcessFacts, pids: tuple[int, ...] = (), **more: Any) -> Scene:
    one = seen(50, above[0].pid if above else 1, name, **more)

    def judge() -> Judgement:
        facts = ClickFacts(chain=(one, *above, INIT), uid=ME, is_agents=bool(pids))
        return judgement(find_objection(facts, BROWSER_CHECKS))

    return Scene(judge)


def panel(name: str, *above: ProcessFacts, first: bool = False, pids: tuple[int, ...] = (), **more: Any) -> Scene:
    """A tray host that started after an agent."""
    one = seen(50, above[0].pid if above else 1, name, **more)
    facts = ClickFacts(chain=(one, *above, INIT), uid=ME, is_agents=bool(pids), predates_agents=first)
    return Scene(lambda: judgement(find_objection(facts, HOST_CHECKS)))


def judgement(found: ClickRejection | None) -> Judgement:
    return Judgement(found.proof, found.detail, found.objection.remedy) if found else Judgement(CLICK)


SWAY = seen(45, 1, "sway", environment=None)  # root's file with a capability: the kernel hides it
CLAUDE = seen(45, 1, "node", command=("node", "/usr/bin/claude"))
HOME: dict[str, Any] = {"is_system": False}

TERMINALS: dict[str, tuple[Scene, Proof]] = {
    "GNOME Terminal": (terminal("gnome-terminal-server"), CLICK),
    "GNOME Console": (terminal("kgx"), CLICK),
    "Ptyxis": (terminal("ptyxis-agent"), CLICK),
    "Xfce Terminal": (terminal("xfce4-terminal"), CLICK),
    "foot": (terminal("foot"), CLICK),
    "Alacritty of the distribution": (terminal("alacritty"), CLICK),
    "Alacritty from ~/.cargo/bin": (terminal("alacritty", **HOME), PASSPHRASE),
    "Ghostty": (terminal("ghostty"), PASSPHRASE),
    "kitty": (terminal("kitty"), PASSPHRASE),
    "Konsole": (terminal("konsole"), PASSPHRASE),
    "Yakuake": (terminal("yakuake"), PASSPHRASE),
    "WezTerm": (terminal("wezterm-gui"), PASSPHRASE),
    "Tilix": (terminal("tilix"), PASSPHRASE),
    "Terminator": (terminal("python3.12", command=("python3", "/usr/bin/terminator")), PASSPHRASE),
    "Guake": (terminal("python3.12", command=("python3", "/usr/bin/guake")), PASSPHRASE),
    "Tilda": (terminal("tilda"), PASSPHRASE),
    "COSMIC Terminal": (terminal("cosmic-term"), PASSPHRASE),
    "Ptyxis as a Flatpak": (terminal("ptyxis-agent", **HOME), PASSPHRASE),
    "Deepin Terminal": (terminal("deepin-terminal"), CLICK),
    "elementary Terminal": (terminal("io.elementary.terminal"), PASSPHRASE),
    "Warp": (terminal("warp"), PASSPHRASE),
    "Black Box": (terminal("blackbox"), PASSPHRASE),
    "Rio": (terminal("rio"), PASSPHRASE),
    "Xfce Terminal by exo-open": (terminal("xfce4-terminal", seen(45, 1, "exo-open")), CLICK),
    "LXTerminal": (terminal("lxterminal"), CLICK),
    "MATE Terminal": (terminal("mate-terminal"), CLICK),
    "QTerminal": (terminal("qterminal"), CLICK),
    "VS Code": (terminal("code", seen(45, 1, "code")), PASSPHRASE),
    "Cursor as an AppImage": (terminal("cursor", **HOME), PASSPHRASE),
    "an IDE of JetBrains": (terminal("java", **HOME), PASSPHRASE),
    "Zed": (terminal("zed-editor", **HOME), PASSPHRASE),
    "tmux": (terminal("tmux"), PASSPHRASE),
    "Zellij": (terminal("zellij"), PASSPHRASE),
    "mosh": (terminal("mosh-server"), PASSPHRASE),
    "vterm in Emacs": (terminal("emacs"), PASSPHRASE),
    ":terminal in Neovim": (terminal("nvim"), PASSPHRASE),
    "script(1)": (terminal("script", seen(45, 1, "bash")), PASSPHRASE),
    "asciinema": (terminal("python3.12", command=("python3", "/usr/bin/asciinema")), PASSPHRASE),
    "the host's shell in distrobox": (called(CALLER, other_namespace=True), PASSPHRASE),
    "a dev container": (Scene(lambda: judge_terminal(CallerFacts(uid=ME, other_namespace=True))), PASSPHRASE),
    "WSL": (terminal("init", uid=0), PASSPHRASE),
    "Crostini": (terminal("vshd", uid=0), PASSPHRASE),
    "CUDA in LD_LIBRARY_PATH": (terminal("gnome-terminal-server", environment=frozenset({"LD_LIBRARY_PATH"})), CLICK),
    "modules of GTK": (terminal("gnome-terminal-server", environment=frozenset({"GTK_MODULES"})), CLICK),
    "NixOS with GNOME": (terminal("kgx", environment=frozenset({"GIO_EXTRA_MODULES"})), CLICK),
    "NixOS with KDE": (terminal("alacritty", injected=frozenset({"QT_PLUGIN_PATH"})), PASSPHRASE),
    "local::lib in the home": (terminal("xfce4-terminal", injected=frozenset({"PERL5LIB"})), PASSPHRASE),
    "a library of Steam's in the home": (terminal("xfce4-terminal", injected=frozenset({"LD_PRELOAD"})), PASSPHRASE),
    "an agent is suspended in the same tab": (terminal("xfce4-terminal", beside=("claude (4711)",)), PASSPHRASE),
    "an agent's variable in the session": (called(replace(CALLER, environment=MARK)), REFUSED),
    "an agent's variable in the session, left out": (called(CALLER, replace(SHELL, environment=MARK)), PASSPHRASE),
    "a variable that an agent left in the terminal": (
        called(replace(CALLER, environment=frozenset({"GOOSE_TERMINAL"}))),
        REFUSED,
    ),
    "an agent's variable in .bashrc": (called(replace(CALLER, environment=frozenset({"GEMINI_CLI"}))), REFUSED),
    "sway with a capability above foot": (terminal("foot", SWAY), CLICK),
    "sudo -iu me": (
        called(CALLER, replace(SHELL, parent=55), seen(55, 50, "sudo", uid=0, environment=None)),
        PASSPHRASE,
    ),
    "a shell that is called like an agent": (
        called(CALLER, replace(SHELL, command=("bash", "/home/me/bin/goose"))),
        PASSPHRASE,
    ),
    "ssh by the machine's address in the LAN": (ssh("10.0.0.5 5000 10.0.0.2 22"), CLICK),
    "ssh from a laptop": (ssh(), CLICK),
    "ssh, and a program of mine talks to root's printer service": (ssh(local=True), PASSPHRASE),
    "ssh through a tunnel that ends here": (ssh("127.0.0.1 5000 127.0.0.1 22"), PASSPHRASE),
    "WSL 2 with a forwarded port": (ssh("10.0.0.2 5000 10.0.0.2 22"), PASSPHRASE),
}  # fmt: skip
PAGES: dict[str, tuple[Scene, Proof]] = {
    "Firefox of the distribution": (page("firefox"), CLICK),
    "Firefox as a snap": (page("firefox"), CLICK),
    "Firefox as a Flatpak": (page("firefox", **HOME), PASSPHRASE),
    "Firefox from a tarball": (page("firefox", **HOME), PASSPHRASE),
    "Chrome": (page("chrome"), CLICK),
    "Brave": (page("brave"), CLICK),
    "Vivaldi": (page("vivaldi-bin"), CLICK),
    "Opera": (page("opera"), CLICK),
    "Zen as an AppImage": (page("zen", **HOME), PASSPHRASE),
    "Mullvad Browser": (page("mullvadbrowser.real"), PASSPHRASE),
    "qutebrowser": (page("python3.12", command=("python3", "/usr/bin/qutebrowser")), PASSPHRASE),
    "Falkon": (page("QtWebEngineProcess", seen(49, 1, "falkon")), PASSPHRASE),
    "Ladybird": (page("Ladybird"), PASSPHRASE),
    "Helium as an AppImage": (page("chrome", **HOME), PASSPHRASE),
    "Chromium that a program controls": (page("chromium", command=("x", "--remote-debugging-port=9")), REFUSED),
    "Firefox, CUDA in LD_LIBRARY_PATH": (page("firefox", environment=frozenset({"LD_LIBRARY_PATH"})), CLICK),
    "Firefox, modules of GTK": (page("firefox", environment=frozenset({"GTK_MODULES"})), CLICK),
    "Firefox on NixOS": (page("firefox", environment=frozenset({"GIO_EXTRA_MODULES"})), CLICK),
    "Firefox, local::lib in the home": (page("firefox", injected=frozenset({"PERL5LIB"})), PASSPHRASE),
    "Firefox on Wayland": (page("firefox", environment=frozenset({"MOZ_ENABLE_WAYLAND"})), CLICK),
    "Firefox that an agent opened for its login": (page("firefox", CLAUDE), REFUSED),
    "Firefox that an agent opened, and that was handed on": (page("firefox", environment=MARK), PASSPHRASE),
    "Firefox from a terminal of VS Code": (page("firefox", seen(49, 45, "bash"), seen(45, 1, "code")), CLICK),
    "Firefox below sway with a capability": (page("firefox", SWAY), CLICK),
    "the simple browser of VS Code": (page("code"), PASSPHRASE),
    "Firefox on another machine by ssh -L": (page("sshd", environment=None, is_system=False), PASSPHRASE),
    "Chrome Remote Desktop": (page("chrome", seen(45, 1, "chrome-remote-desktop-host")), CLICK),
}  # fmt: skip
MENUS: dict[str, tuple[Scene, Proof]] = {
    "GNOME Shell": (panel("gnome-shell"), CLICK),
    "GNOME Shell with a capability": (panel("gnome-shell", environment=None), CLICK),
    "Plasma": (panel("plasmashell"), CLICK),
    "Plasma with plugins in the home": (panel("plasmashell", injected=frozenset({"QT_PLUGIN_PATH"})), PASSPHRASE),
    "Waybar": (panel("waybar"), CLICK),
    "Waybar below sway with a capability": (panel("waybar", SWAY), CLICK),
    "Polybar": (panel("polybar"), PASSPHRASE),
    "i3bar": (panel("i3bar"), PASSPHRASE),
    "swaybar": (panel("swaybar"), CLICK),
    "Qtile": (panel("python3.12"), PASSPHRASE),
    "awesome": (panel("awesome"), PASSPHRASE),
    "Quickshell": (panel("quickshell"), PASSPHRASE),
    "Quickshell, before every agent": (panel("quickshell", first=True), CLICK),
    "trayer by snixembed": (panel("snixembed"), CLICK),
    "Ironbar from ~/.cargo/bin": (panel("ironbar", **HOME), PASSPHRASE),
    "Waybar, an agent's variable in the session": (panel("waybar", environment=MARK), PASSPHRASE),
    "Waybar that an agent started": (panel("waybar", pids=(50,)), REFUSED),
    "mako": (panel("mako"), CLICK),
    "wired": (panel("wired"), PASSPHRASE),
    "tint2": (panel("tint2"), PASSPHRASE),
    "the panel of LXQt in VNC": (panel("lxqt-panel", seen(45, 1, "Xtigervnc")), CLICK),
    "COSMIC": (panel("cosmic-applets"), CLICK),
    "Cinnamon of Mint": (panel("xapp-sn-watcher"), CLICK),
    "Cinnamon": (panel("cinnamon"), CLICK),
    "Deepin": (panel("dde-dock"), PASSPHRASE),
    "elementary": (panel("io.elementary.wingpanel"), CLICK),
    "Waybar below Hyprland with a capability": (panel("waybar", seen(45, 1, "Hyprland", environment=None)), CLICK),
}  # fmt: skip


def scenes() -> Iterator[tuple[str, Scene, Proof]]:
    for group in (TERMINALS, PAGES, MENUS):
        yield from ((name, scene, proof) for name, (scene, proof) in group.items())


@every(("name", "scene", "proof"), list(scenes()))
def test_each_scene_needs_this_proof_and_says_why(name: str, scene: Scene, proof: Proof) -> None:
    found = scene.judge()

    assert found.proof is proof, (name, found)
    assert bool(found.reason) is (proof is not CLICK), (name, found)
    if proof is REFUSED:
        assert found.remedy, (name, "a way that works there")


def test_no_scene_is_lost() -> None:
    assert len(list(scenes())) >= 113
