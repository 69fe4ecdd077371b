"""`hooktray doctor --bundle FILE`: one text for a bug report, which a person reads before sending it.

It has versions, the settings, the doctor's lines and the end of the log, all redacted and without the home folder's
name; no payload, no decision and no script.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Sequence
from importlib.metadata import distributions
from pathlib import Path

from tray import __version__
from tray.doctor.checklist import render
from tray.doctor.finding import Finding
from tray.errors import HooktrayError
from tray.paths import Paths
from tray.text import printable, redact
from tray.text.push_urls import masked_settings

LOG_LINES = 200  # of the end of the log
FILE_LIMIT = 256 * 1024  # bytes that are read of settings and log
TEXT_LIMIT = 1_000_000  # characters
VARIABLES = ("XDG_CURRENT_DESKTOP", "XDG_SESSION_TYPE", "LANG", "SSH_CONNECTION", "WAYLAND_DISPLAY", "DISPLAY")
INTRODUCTION = """Hooktray support bundle. Secrets are masked and your home folder is shown as ~.
Read it before you send it to anybody: names of hooks, projects and commands may still say more than you want."""


def write_bundle(file: str, paths: Paths, results: Sequence[Finding]) -> None:
    """Write it into a new private file. Raises HooktrayError when that cannot be done."""
    text = bundle(paths, results)
    try:
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as out:
            out.write(text)
    except FileExistsError:
        raise HooktrayError(f"{file}: is there already", hint="choose another name; nothing is overwritten") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise HooktrayError(f"{file}: {why}", hint="choose a folder that you can write to") from error


def bundle(paths: Paths, results: Sequence[Finding]) -> str:
    parts = [INTRODUCTION]
    for title, text in _sections(paths, results):
        parts.append(f"== {title} ==\n{text.strip() or '(nothing)'}")
    return printable(_without_home(redact("\n\n".join(parts)).text), TEXT_LIMIT) + "\n"


def _sections(paths: Paths, results: Sequence[Finding]) -> Iterator[tuple[str, str]]:
    versions = [f"Hooktray {__version__}", f"Python {platform.python_version()}", platform.platform()]
    yield "Versions", "\n".join(versions)
    named = (name for name in VARIABLES if os.environ.get(name))
    yield "Desktop", "\n".join(f"{name} is {'set' if 'SSH' in name else os.environ[name]}" for name in named)
    packages = sorted({f"{one.name} {one.version}" for one in distributions()}, key=str.lower)
    yield "Packages", "\n".join(packages)
    yield "Paths", "\n".join(f"{name}: {path}" for name, path in (("config", paths.config), ("state", paths.state)))
    yield "Settings", masked_settings(_end(paths.config, FILE_LIMIT))
    yield "Doctor", render(list(results))
    yield "Log", "\n".join(_end(paths.logs / "hooktray.log", FILE_LIMIT).splitlines()[-LOG_LINES:])


def _end(path: Path, size: int) -> str:
    """The last bytes of a file, from the beginning of a line on."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - size))
            cut = file.tell() > 0
            text = file.read(size).decode("utf-8", "replace")
    except OSError as error:
        return f"{path}: {error.strerror}"
    return text.partition("\n")[2] if cut else text


def _without_home(text: str) -> str:
    home = str(Path.home())
    return text.replace(home, "~") if len(home) > 1 else text
