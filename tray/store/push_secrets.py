"""The URLs of push services: in the system's keyring where there is one, else in a private file beside the database.

Each is kept under its reference, which holds the digest of the URL: another URL cannot take its place. A
keyring may take its time, or ask the user to unlock it, so only a process in the background comes here.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from enum import StrEnum
from pathlib import Path
from types import ModuleType

from tray.errors import BUILT_IN_ERRORS, HooktrayError
from tray.files import write_private
from tray.text import push_urls

FILE = "push-secrets.json"
SERVICE = "hooktray-push"
# Those of the operating systems and desktops. What keeps a plain file, or nothing, is not a keyring.
KEYRINGS = (
    "keyring.backends.SecretService",
    "keyring.backends.Windows",
    "keyring.backends.kwallet",
    "keyring.backends.macOS",
)
# What a keyring raises if it is locked, broken or wrongly configured: built-in errors, and errors of the library and
# of the modules that it uses for KEYRINGS. These are named by module, as each is installed on its own system only.
LIBRARY_ERRORS = {
    "configparser": "Error",
    "dbus.exceptions": "DBusException",
    "jeepney.wrappers": "DBusErrorResponse",
    "keyring.errors": "KeyringError",
    "secretstorage.exceptions": "SecretStorageException",
    "win32ctypes.pywin32.pywintypes": "error",
}
SIZE_LIMIT = 256 * 1024  # bytes of the file


class SecretPlace(StrEnum):
    """Where a URL is kept; the value is what people read."""

    KEYRING = "the keyring"
    FILE = "a private file"


def keep(url: str, folder: Path) -> SecretPlace:
    """Keep a URL. Raises HooktrayError when neither place takes it."""
    reference = push_urls.reference(url)
    if (ring := _keyring()) is not None:
        try:
            if ring.get_password(SERVICE, reference) != url:
                ring.set_password(SERVICE, reference, url)
            kept = _read(folder)
            if kept.pop(reference, None):
                with contextlib.suppress(OSError):
                    _write(folder, kept)
            return SecretPlace.KEYRING
        except _keyring_errors():
            pass
    try:
        kept = _read(folder)
        if kept.get(reference) != url:
            _write(folder, kept | {reference: url})
    except OSError as error:
        what = f"{folder / FILE}: cannot be written: {error.strerror or error}"
        raise HooktrayError(what, hint="make room there, or make the folder writable") from error
    return SecretPlace.FILE


def find(url: str, folder: Path) -> str:
    """The URL itself, for a URL or its reference; "" when it is not kept."""
    if push_urls.reference(url) != url:
        return url
    found = _read(folder).get(url, "")
    if not found and (ring := _keyring()) is not None:
        try:
            found = ring.get_password(SERVICE, url) or ""
        except _keyring_errors():
            return ""
    return found if found and push_urls.reference(found) == url else ""


def _keyring() -> ModuleType | None:
    """The library, when it found a keyring of the system's."""
    try:
        import keyring
    except ImportError:
        return None
    try:
        chosen = keyring.get_keyring()
        backends = getattr(chosen, "backends", None) or [chosen]  # several in a chain, the best first
    except _keyring_errors():
        return None
    return keyring if any(type(one).__module__ in KEYRINGS for one in backends) else None


def _keyring_errors() -> tuple[type[Exception], ...]:
    """The built-in errors, and those of the modules that are loaded; no other module can have raised one."""
    loaded = [(sys.modules.get(module), name) for module, name in LIBRARY_ERRORS.items()]
    return (*BUILT_IN_ERRORS, *(getattr(module, name) for module, name in loaded if module is not None))


def _read(folder: Path) -> dict[str, str]:
    """What the file has; nothing when it is not there, damaged, or open to others."""
    try:
        with (folder / FILE).open("rb") as file:
            if os.name == "posix" and os.fstat(file.fileno()).st_mode & 0o077:
                return {}
            found = json.loads(file.read(SIZE_LIMIT))
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {key: url for key, url in found.items() if isinstance(url, str) and push_urls.reference(url) == key}


def _write(folder: Path, kept: dict[str, str]) -> None:
    write_private(folder / FILE, json.dumps(kept).encode())
