"""T33: the environment that Hooktray was installed in is deleted, moved or rebuilt: guards go on guarding."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from house import PRE_TOOL_USE, House

import tray
from torture.frame import Tally
from torture.trays import LONG
from tray.agents import relay_command
from tray.paths import Paths

TITLE = "the environment of the installation"
AGENT, EVENT = "claude-code", "PreToolUse"
KINDS = ("native", "portable")  # of relays
REASON = "no-shell says no"
# What a start of the tray does in that environment.
INSTALL = """
import sys
from tray import relay_program
from tray.doctor import relay_problems
from tray.installation import installed_relay
from tray.engine.stores import open_stores
from tray.engine.guards_in_force import guards
from tray.paths import locate
if sys.argv[2] == "portable":
    relay_program.files = relay_program.portable_files
paths = locate(sys.argv[1])
stores = open_stores(paths, create=False)
installed_relay.install(paths, stores.database)
installed_relay.write_table(paths, guards(stores.ledger.state, stores.switch, ["claude-code"]), stores.database)
installed_relay.write_conf(paths, "once")
assert not relay_problems.problems(paths, stores.database)
stores.journal.close()
"""


def torture(tally: Tally) -> None:
    pristine = _environment(tally.folder / "pristine")
    with ThreadPoolExecutor(len(KINDS)) as pool:
        places = list(pool.map(lambda kind: _attack(tally, kind, pristine), KINDS))
    _controls(tally, places[-1])


def _attack(tally: Tally, kind: str, pristine: Path) -> Place:
    house = House(tally.folder / kind)
    house.hook("no-shell", on="tool_before", script=f"echo {REASON} >&2; exit 2", tool="Bash", failure="block")
    house.close()
    place = Place(tally.folder / f"{kind}-venv", pristine, house.paths, kind)
    place.install()
    for _ in range(tally.many(1, 30)):
        for number, (name, damage) in enumerate(DAMAGES.items()):
            place.renew()
            damage(place.folder)
            tally.attack(f"{kind}: {name}: a guarded call", place.is_guarded())
            if tally.full or number % len(KINDS) == KINDS.index(kind):
                tally.keep(f"{kind}: {name}: another tool", place.ask("Read") == SILENCE)
    place.renew()
    tally.keep(f"{kind}: made anew", REASON in place.ask("Bash")[1])
    return place


def _environment(folder: Path) -> Path:
    """A virtual environment with a copy of the package; the libraries are those of the environment that runs this."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=LONG)
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    site = folder / "lib" / version / "site-packages"
    shutil.copytree(Path(tray.__file__).parent, site / "tray")  # what is compiled, too
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    subprocess.run(
        [str(folder / "bin" / "python"), "-m", "compileall", "-q", str(site / "tray")], check=True, timeout=LONG
    )
    return folder


Said = tuple[int, str, str]
SILENCE: Said = (0, "", "")


class Place:
    """One installation: its environment, its home, and the relay that agents' settings name."""

    def __init__(self, folder: Path, pristine: Path, paths: Paths, kind: str) -> None:
        self.folder, self._pristine, self._paths, self._kind = folder, pristine, paths, kind

    def renew(self) -> None:
        """The environment as it was installed; the relay at its stable place stays."""
        for path in self.folder.parent.glob(f"{self.folder.name}*"):
            shutil.rmtree(path)
        shutil.copytree(self._pristine, self.folder, symlinks=True, copy_function=os.link)

    def install(self) -> None:
        self.renew()
        subprocess.run([*self._python, "-c", INSTALL, str(self._paths.home), self._kind], check=True, timeout=LONG)

    @property
    def _python(self) -> list[str]:
        return [str(self.folder / "bin" / "python"), "-I"]

    @property
    def package(self) -> Path:
        return next(self.folder.glob("lib/*/site-packages/tray"))

    def ask(self, tool: str, relay: Sequence[str] = ()) -> Said:
        """What an agent is told by the line in its settings; its environment says that Hooktray is elsewhere."""
        line = relay_command.shell_line((*(relay or relay_command.relay_argv(self._paths)), AGENT, EVENT))
        elsewhere = {"PATH": "/usr/bin:/bin", "HOOKTRAY_HOME": "/nonexistent", "HOME": "/nonexistent"}
        done = subprocess.run(
            ["/bin/sh", "-c", line],
            input=json.dumps({**PRE_TOOL_USE, "tool_name": tool}), env=elsewhere,
            capture_output=True, text=True, check=False, timeout=LONG,
        )  # fmt: skip
        return done.returncode, done.stdout, done.stderr

    def is_guarded(self, relay: Sequence[str] = ()) -> bool:
        code, stdout, stderr = self.ask("Bash", relay)
        return code == 0 and not stderr and '"permissionDecision":"deny"' in stdout


def _deleted(folder: Path) -> None:
    shutil.rmtree(folder)


def _moved(folder: Path) -> None:
    folder.rename(folder.with_name(f"{folder.name}-moved"))


def _rebuilt(folder: Path) -> None:
    shutil.rmtree(folder)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=LONG)


def _uninstalled(folder: Path) -> None:
    shutil.rmtree(next(folder.glob("lib/*/site-packages/tray")))


def _half_upgraded(folder: Path) -> None:
    for name in ("app", "store", "engine"):
        shutil.rmtree(next(folder.glob("lib/*/site-packages/tray")) / name)


def _without_libraries(folder: Path) -> None:
    next(folder.glob("lib/*/site-packages/libraries.pth")).unlink()


def _without_interpreter(folder: Path) -> None:
    for path in (folder / "bin").glob("python*"):
        path.unlink()
        path.symlink_to("/nonexistent/python")


def _without_relay(folder: Path) -> None:
    package = next(folder.glob("lib/*/site-packages/tray"))
    (package / "relay.py").unlink()
    shutil.rmtree(package / "native", ignore_errors=True)


DAMAGES: dict[str, Callable[[Path], None]] = {
    "deleted": _deleted,
    "moved": _moved,
    "rebuilt": _rebuilt,
    "the package removed": _uninstalled,
    "half of an upgrade": _half_upgraded,
    "the libraries gone": _without_libraries,
    "the interpreter gone": _without_interpreter,
    "the relay in it gone": _without_relay,
}


def _controls(tally: Tally, place: Place) -> None:
    """A line that names a path inside the environment."""
    place.renew()
    words = [*place._python, "-S", str(place.package / "relay.py"), "--home", str(place._paths.home)]
    assert place.is_guarded(words), "the line works while its environment is there"
    _deleted(place.folder)
    tally.control("a line that names the environment", place.ask("Bash", words) == SILENCE)
    place.renew()
    table = place._paths.relay_table
    table.write_text("".join(line for line in table.read_text().splitlines(keepends=True) if line[:6] != "guard="))
    _deleted(place.folder)
    tally.control("a table without guards", place.ask("Bash") == SILENCE)
