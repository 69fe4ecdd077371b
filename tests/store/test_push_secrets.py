"""Where the URLs of push services are kept: in a real keyring, else in a file of the user's alone."""

from __future__ import annotations

import importlib
import json
import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from types import ModuleType

import pytest
from every import every
from keyring.errors import KeyringLocked
from notify.parts import process, session_bus
from secretstorage.exceptions import SecretStorageException

from tray.store import push_secrets
from tray.store.push_secrets import FILE, SecretPlace
from tray.text import push_urls

URL = "ntfy://x9topic"
REFERENCE = push_urls.reference(URL)
CALL = """import sys
from pathlib import Path
from tray.store import push_secrets
print(push_secrets.{}(sys.argv[1], Path(sys.argv[2])))
"""
BUS_REPLY = importlib.import_module("jeepney.wrappers").DBusErrorResponse  # has no types
ANOTHER = json.dumps({REFERENCE: "ntfy://attacker"})


@pytest.fixture(autouse=True)
def no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")


def test_without_a_keyring_a_file_that_only_the_user_can_read_has_the_secrets(tmp_path: Path) -> None:
    other = "json://host/secret"
    assert push_secrets.find(REFERENCE, tmp_path) == ""

    places = [push_secrets.keep(url, tmp_path) for url in (URL, other)]

    assert places == [SecretPlace.FILE] * 2
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
    assert push_secrets.find(REFERENCE, tmp_path) == push_secrets.find(URL, tmp_path) == URL
    assert push_secrets.find(push_urls.reference(other), tmp_path) == other
    assert list(tmp_path.iterdir()) == [tmp_path / FILE]
    (tmp_path / FILE).chmod(0o644)
    assert push_secrets.find(REFERENCE, tmp_path) == "", "others could have written it"


@every("text", ["", "[]", "{", ANOTHER, json.dumps({REFERENCE: 7})])
def test_nobody_puts_another_url_in_its_place(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text)
    (tmp_path / FILE).chmod(0o600)

    assert push_secrets.find(REFERENCE, tmp_path) == ""


def test_a_real_keyring_has_it_and_the_file_no_longer(tmp_path: Path) -> None:
    push_secrets.keep(URL, tmp_path)
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path), "LC_ALL": "C"}
    (tmp_path / "state").mkdir()
    (tmp_path / FILE).rename(tmp_path / "state" / FILE)

    def call(function: str, word: str) -> str:
        argv = [sys.executable, "-c", CALL.format(function), word, str(tmp_path / "state")]
        done = subprocess.run(argv, env=environment, capture_output=True, check=True, timeout=60)
        return done.stdout.decode().strip()

    with session_bus(tmp_path, environment) as address:
        environment["DBUS_SESSION_BUS_ADDRESS"] = address
        daemon = ("gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets")
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        with process(*daemon, environment=environment, **pipes) as ring:
            assert ring.stdin is not None
            assert ring.stdout is not None
            ring.stdin.write(b"password")
            ring.stdin.close()
            ring.stdout.readline()  # it is unlocked
            place = call("keep", URL)
            kept = json.loads((tmp_path / "state" / FILE).read_text())

            assert place == SecretPlace.KEYRING
            assert kept == {}
            assert call("find", REFERENCE) == URL


class BrokenKeyring(ModuleType):
    """The library, whose keyring of the system's fails at each call."""

    def __init__(self, error: Exception) -> None:
        super().__init__("keyring")
        self._error = error
        self.asked = 0

    def get_keyring(self) -> object:
        return type("Keyring", (), {"__module__": push_secrets.KEYRINGS[0]})()

    def get_password(self, service: str, name: str) -> str | None:
        self.asked += 1
        raise self._error


@every(
    "error",
    [
        KeyringLocked("dismissed"),
        SecretStorageException("no collection"),
        BUS_REPLY.__new__(BUS_REPLY),
        ConnectionResetError("the bus is gone"),
        RuntimeError("no back end"),
        IndexError("an empty secret has no padding"),
    ],
)
def test_a_url_is_kept_in_the_file_when_the_keyring_fails(error: Exception) -> None:
    broken = BrokenKeyring(error)
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setitem(sys.modules, "keyring", broken)

        assert push_secrets.keep(URL, Path(folder)) is SecretPlace.FILE
        assert push_secrets.find(push_urls.reference("json://host/else"), Path(folder)) == ""
        assert push_secrets.find(REFERENCE, Path(folder)) == URL

    assert broken.asked == 2
