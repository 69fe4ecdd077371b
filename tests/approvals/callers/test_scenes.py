"""Every way by which people come that was looked at: which proof each needs. None is refused without a way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from approvals.callers.processes import CALLER, INIT, MARK, ME, SHELL, SSHD, seen
from every import every
from msgspec.structs import replace

from tray.approvals.callers.click_check import BROWSER_CHECKS, HOST_CHECKS, ClickChecks, ClickFacts, find_objection
from tray.approvals.callers.person import Judgement, ProcessFacts, Proof, judge_command

Scene = Callable[[], Judgement]
CLICK, PASSPHRASE, REFUSED = Proof.CLICK, Proof.PASSPHRASE, Proof.REFUSED


def command(*above: ProcessFacts, **more: Any) -> Scene:
    """A command below these."""
    return lambda: judge_command((replace(CALLER, **more), *above, INIT), ())


def click(checks: ClickChecks, name: str, *above: ProcessFacts, is_agents: bool, first: bool, **more: Any) -> Scene:
    one = seen(50, above[0].pid if above else 1, name, **more)
    facts = ClickFacts(chain=(one, *above, INIT), uid=ME, is_agents=is_agents, predates_agents=first)

    def judge() -> Judgement:
        found = find_objection(facts, checks)
        return Judgement(found.proof, found.detail, found.objection.remedy) if found else Judgement(CLICK)

    return judge


def page(name: str, *above: ProcessFacts, **more: Any) -> Scene:
    return click(BROWSER_CHECKS, name, *above, is_agents=False, first=False, **more)


def panel(name: str, *above: ProcessFacts, first: bool = False, is_agents: bool = False, **more: Any) -> Scene:
    """A tray host that started after an agent."""
    return click(HOST_CHECKS, name, *above, is_agents=is_agents, first=first, **more)


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
    "a login by ssh": (command(seen(50, 40, "sshd", environment=None, **HOME), SSHD), PASSPHRASE),
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
    "a process outside of the tray's container": (lambda: judge_command((), ()), PASSPHRASE),
}  # fmt: skip
PAGES: dict[str, tuple[Scene, Proof]] = {
    "Firefox as a Flatpak": (page("firefox", **HOME), PASSPHRASE),
    "Firefox from a tarball": (page("firefox", **HOME), PASSPHRASE),
    "Zen as an AppImage": (page("zen", **HOME), PASSPHRASE),
    "qutebrowser": (page("python3.12", command=("python3", "/usr/bin/qutebrowser")), PASSPHRASE),
    "Falkon": (page("QtWebEngineProcess", seen(49, 1, "falkon")), PASSPHRASE),
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
    "Firefox on another machine by ssh -L": (page("sshd", environment=None, is_system=False), PASSPHRASE),
    "Chrome Remote Desktop": (page("chrome", seen(45, 1, "chrome-remote-desktop-host")), CLICK),
}  # fmt: skip
MENUS: dict[str, tuple[Scene, Proof]] = {
    "GNOME Shell with a capability": (panel("gnome-shell", environment=None), CLICK),
    "Plasma with plugins in the home": (panel("plasmashell", injected=frozenset({"QT_PLUGIN_PATH"})), PASSPHRASE),
    "Waybar below sway with a capability": (panel("waybar", SWAY), CLICK),
    "Quickshell, before every agent": (panel("quickshell", first=True), CLICK),
    "Ironbar from ~/.cargo/bin": (panel("ironbar", **HOME), PASSPHRASE),
    "Waybar, an agent's variable in the session": (panel("waybar", environment=MARK), PASSPHRASE),
    "Waybar that an agent started": (panel("waybar", is_agents=True), REFUSED),
    "the panel of LXQt in VNC": (panel("lxqt-panel", seen(45, 1, "Xtigervnc")), CLICK),
    "Waybar below Hyprland with a capability": (panel("waybar", seen(45, 1, "Hyprland", environment=None)), CLICK),
}  # fmt: skip


# The programs of the distribution, by their names.
PLAIN: list[tuple[Callable[[str], Scene], Proof, str]] = [
    (page, CLICK, "firefox chrome brave vivaldi-bin opera"),
    (page, PASSPHRASE, "mullvadbrowser.real Ladybird code"),
    (panel, CLICK, "gnome-shell plasmashell waybar swaybar snixembed mako cosmic-applets xapp-sn-watcher cinnamon"),
    (panel, CLICK, "io.elementary.wingpanel"),
    (panel, PASSPHRASE, "polybar i3bar python3.12 awesome quickshell wired tint2 dde-dock"),
]
SCENES = [
    *((name, make(name), proof) for make, proof, names in PLAIN for name in names.split()),
    *((name, *scene) for group in (COMMANDS, PAGES, MENUS) for name, scene in group.items()),
]


@every(("name", "scene", "proof"), SCENES)
def test_each_scene_needs_this_proof_and_says_why(name: str, scene: Scene, proof: Proof) -> None:
    found = scene()

    assert found.proof is proof, (name, found)
    if name not in COMMANDS:  # where the passphrase is everybody's proof
        assert bool(found.reason) is (proof is not CLICK), (name, found)
    if proof is REFUSED:
        assert found.remedy, (name, "a way that works there")
