"""Every way by which people come that was looked at: which proof each needs. None is refused without a way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from every import every
from msgspec.structs import replace

from tray.approvals.callers.click_check import (
    BROWSER_CHECKS,
    HOST_CHECKS,
    ClickFacts,
    ClickRejection,
    find_objection,
)
from tray.approvals.callers.person import (
    Judgement,
    ProcessFacts,
    Proof,
    judge_command,
)

ME = 1000
MARK = frozenset({"CLAUDECODE"})
CLICK, PASSPHRASE, REFUSED = Proof.CLICK, Proof.PASSPHRASE, Proof.REFUSED


def seen(pid: int, parent: int, name: str, **more: Any) -> ProcessFacts:
    return ProcessFacts(**{"pid": pid, "parent": parent, "uid": ME, "name": name, "is_system": True, **more})


INIT = seen(1, 0, "systemd", uid=0, environment=None)
SHELL = seen(60, 50, "bash")
CALLER = seen(70, 60, "python3.12", command=("python", "-m", "tray", "off"))
ROOT_SSHD = seen(40, 1, "sshd", uid=0, environment=None)


@dataclass(frozen=True)
class Scene:
    """What a program's judgement comes to, and what the user is then shown to do."""

    judge: Callable[[], Judgement]


def command(*above: ProcessFacts, **more: Any) -> Scene:
    """A command below these."""
    return Scene(lambda: judge_command((replace(CALLER, **more), *above, INIT), ()))


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

COMMANDS: dict[str, tuple[Scene, Proof]] = {
    "GNOME Terminal": (command(seen(50, 1, "gnome-terminal-server")), PASSPHRASE),
    "Alacritty from ~/.cargo/bin": (command(seen(50, 1, "alacritty", **HOME)), PASSPHRASE),
    "VS Code": (command(seen(50, 45, "code"), seen(45, 1, "code")), PASSPHRASE),
    "tmux": (command(seen(50, 1, "tmux")), PASSPHRASE),
    "script(1)": (command(seen(50, 45, "script"), seen(45, 1, "bash")), PASSPHRASE),
    "WSL": (command(seen(50, 1, "init", uid=0)), PASSPHRASE),
    "a login by ssh": (command(seen(50, 40, "sshd", environment=None, **HOME), ROOT_SSHD), PASSPHRASE),
    "sudo -iu me": (command(seen(55, 50, "sudo", uid=0, environment=None), seen(50, 1, "foot")), PASSPHRASE),
    "sway with a capability above foot": (command(seen(50, 45, "foot"), SWAY), PASSPHRASE),
    "a terminal that an agent opened": (command(seen(50, 45, "foot"), CLAUDE), REFUSED),
    "an agent's variable in the session": (command(SHELL, environment=MARK), REFUSED),
    "a variable that an agent left in the terminal": (
        command(SHELL, environment=frozenset({"GOOSE_TERMINAL"})),
        REFUSED,
    ),
    "an agent's variable in .bashrc": (command(SHELL, environment=frozenset({"GEMINI_CLI"})), REFUSED),
    "an agent's variable in the session, left out": (command(replace(SHELL, environment=MARK)), PASSPHRASE),
    "a shell that has an agent's name": (
        command(replace(SHELL, command=("bash", "/home/me/bin/goose"))),
        PASSPHRASE,
    ),
    "a process outside of the tray's container": (Scene(lambda: judge_command((), ())), PASSPHRASE),
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
    for group in (COMMANDS, PAGES, MENUS):
        yield from ((name, scene, proof) for name, (scene, proof) in group.items())


@every(("name", "scene", "proof"), list(scenes()))
def test_each_scene_needs_this_proof_and_says_why(name: str, scene: Scene, proof: Proof) -> None:
    found = scene.judge()

    assert found.proof is proof, (name, found)
    if name not in COMMANDS:  # where the passphrase is everybody's proof
        assert bool(found.reason) is (proof is not CLICK), (name, found)
    if proof is REFUSED:
        assert found.remedy, (name, "a way that works there")


def test_no_scene_is_lost() -> None:
    assert len(list(scenes())) >= 70
