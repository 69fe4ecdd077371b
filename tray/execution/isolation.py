"""How Hooktray starts its own processes: isolated from what others put into its environment, with its own packages.

The command names the folders of our packages, since without `site` Python finds none of them: not those of a virtual
environment, of Debian's dist-packages or of an editable install.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import site
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path, PurePath

import tray
from tray.agents.packages import entry_points

STARTER = str(Path(tray.__file__).with_name("isolated.py"))
FROZEN_ONE_SHOT = ("-I", "-m", "tray", "once")  # for a bundle, which is always isolated
# One module of each package that events need; each is found in the folder of another one as a rule.
MODULES = ("aiohttp", "asyncinotify", "dbus_fast", "jinja2", "msgspec", "platformdirs", "psutil", "regex", "yaml")


def one_shot_command() -> tuple[str, ...]:
    """The command of the one-shot engine, up to its options."""
    return isolated_command("once")


def isolated_command(*words: str) -> tuple[str, ...]:
    """The command of another process of this Hooktray, with these words of our command line."""
    if getattr(sys, "frozen", False):
        return (sys.executable, *FROZEN_ONE_SHOT[:3], *words)
    return (base_interpreter(), "-I", "-S", STARTER, os.pathsep.join(package_folders()), *words)


def is_isolated(command: Sequence[str], verb: str) -> bool:
    """Whether this is the command of a process of ours with such a verb, whichever Hooktray started it."""
    words = tuple(command)
    if words[1:4] == FROZEN_ONE_SHOT[:3]:
        return verb in words[4:]
    starter = PurePath(words[3]).parts[-2:] if len(words) > 3 else ()
    return words[1:3] == ("-I", "-S") and starter == ("tray", "isolated.py") and verb in words[5:]


def base_interpreter() -> str:
    """The interpreter below our environment, so that neither bin/python nor pyvenv.cfg there decides what runs."""
    if sys.platform == "win32":
        return sys.executable
    name = f"python{sys.version_info.major}.{sys.version_info.minor}{sys.abiflags}"
    base = Path(sys.base_exec_prefix, "bin", name)
    return str(base) if os.access(base, os.X_OK) else sys.executable


@cache
def package_folders() -> tuple[str, ...]:
    """Where our packages are: our own folder first, so that no other Hooktray is found in the others."""
    own = str(Path(tray.__file__).parent.parent)
    found = list(dict.fromkeys((own, *_site_folders())))
    # The modules of agents that packages in these folders provide; of an editable install they are elsewhere.
    provided = [point.value.partition(":")[0].strip().partition(".")[0] for point in entry_points(found)]
    for module in (*MODULES, *provided):
        if importlib.machinery.PathFinder.find_spec(module, found) is None and (folder := _folder_of(module)):
            found.append(folder)
    return tuple(found)


def _site_folders() -> Iterator[str]:
    """Those of this environment; never what PYTHONPATH or a .pth file added to sys.path."""
    if sys.flags.no_site:  # we were started isolated: what we were given
        stdlib = {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}
        given = (one for one in sys.path if one not in stdlib and PurePath(one).name != "lib-dynload")
        yield from (one for one in given if Path(one).is_dir())
        return
    yield from (one for one in site.getsitepackages() if Path(one).is_dir())


def _folder_of(module: str) -> str:
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return ""
    if spec is None or not spec.origin or not os.path.isabs(spec.origin):  # noqa: PTH117
        return ""
    origin = Path(spec.origin)
    return str(origin.parent.parent if spec.submodule_search_locations is not None else origin.parent)
