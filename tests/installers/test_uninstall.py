"""A Hooktray that pip uninstalled: the relay it left is silent, and one whose environment is being rebuilt is not."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from every import every
from house import House

import tray
from tray import relay_program
from tray.installation.installed_relay import is_of_the_system

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there the table does not say where the package is")
LONG = 300.0  # seconds on a busy machine
CALL = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "x"}, "session_id": "s"}
CONNECT = (
    "import sys; from tray.paths import locate; from tray.installation import installed_relay; "
    "installed_relay.prepare_to_connect(locate(sys.argv[1]), 'claude-code')"
)
DISCONNECT = CONNECT.replace(
    "prepare_to_connect(locate(sys.argv[1]), 'claude-code')", "update_after_disconnect(locate(sys.argv[1]))"
)


def wheel(folder: Path) -> Path:
    """Hooktray's own files as pip installs them, without its libraries."""
    package, info = Path(tray.__file__).parent, "hooktray-9.9.dist-info"
    files = {
        f"tray/{path.relative_to(package).as_posix()}": path.read_bytes()
        for path in package.rglob("*")
        if path.is_file() and path.suffix != ".pyc" and path != relay_program.NATIVE_RELAY
    }
    files[f"{info}/METADATA"] = b"Metadata-Version: 2.1\nName: hooktray\nVersion: 9.9\n"
    files[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    digests = {
        name: base64.urlsafe_b64encode(hashlib.sha256(text).digest()).decode().rstrip("=")
        for name, text in files.items()
    }
    record = "".join(f"{name},sha256={digests[name]},{len(text)}\n" for name, text in files.items())
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    made = folder / "hooktray-9.9-py3-none-any.whl"
    with zipfile.ZipFile(made, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return made


class Environment:
    """A virtual environment with Hooktray from a wheel, beside the libraries of the one that runs the tests."""

    def __init__(self, root: Path, wheel: Path) -> None:
        self.root = root
        self.python = root / "bin" / "python"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(root)], check=True, timeout=LONG)
        (self.site,) = root.glob("lib/python3*/site-packages")
        (self.site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
        self.pip("install", "--no-index", "--no-deps", "--ignore-installed", str(wheel))

    def pip(self, *words: str) -> None:
        """With the pip of the environment that runs the tests: to install another one takes longer than the test."""
        argv = [sys.executable, "-I", "-m", "pip", "--python", str(self.python), "-q", *words]
        done = subprocess.run(argv, capture_output=True, timeout=LONG, check=False)
        assert done.returncode == 0, done.stderr.decode()

    def run(self, code: str, house: House) -> None:
        words = [str(self.python), "-I", "-c", code, str(house.paths.relay_folder.parent)]
        done = subprocess.run(words, capture_output=True, timeout=LONG, check=False)
        assert done.returncode == 0, done.stderr.decode()


@pytest.fixture(scope="module")
def shared_environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    folder = tmp_path_factory.mktemp("pip")
    return Environment(folder / "environment", wheel(folder))


def call(house: House) -> tuple[str, str]:
    """The verdict that the agent gets, and its reason; nothing for silence and exit code 0."""
    words = [str(house.paths.relay), "claude-code", "PreToolUse"]
    done = subprocess.run(words, input=json.dumps(CALL).encode(), capture_output=True, timeout=LONG, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    if not done.stdout:
        return "", ""
    found = json.loads(done.stdout)["hookSpecificOutput"]
    return found["permissionDecision"], found["permissionDecisionReason"]


def test_a_disconnect_takes_the_relay_and_the_mark_away(house: House, shared_environment: Environment) -> None:
    shared_environment.run(CONNECT, house)
    assert house.paths.relay.exists()

    shared_environment.run(DISCONNECT, house)

    assert not house.paths.relay.exists()
    assert not (shared_environment.root / "share" / "hooktray" / "connected").exists()


def test_after_pip_uninstall_the_relay_is_silent_and_in_a_rebuilt_environment_it_guards(
    house: House, shared_environment: Environment
) -> None:
    """This test deletes the environment that the tests share, so it is the last one."""
    environment = shared_environment
    house.hook("guard", on="tool_before", tool="Bash", script="echo no >&2; exit 2", failure="block")
    environment.run(CONNECT, house)
    mark = environment.root / "share" / "hooktray" / "connected"
    assert mark.is_file()
    assert call(house) == ("deny", "guard (Hooktray): no")

    environment.pip("uninstall", "--yes", "hooktray")
    just_now = call(house)  # it may be an upgrade
    os.utime(environment.site, (0, 0))
    later = call(house)
    shutil.rmtree(environment.root)
    rebuilt = call(house)

    for verdict, reason in (just_now, rebuilt):
        assert verdict == "deny"
        assert "could not judge this call: `guard` could not be asked" in reason
        assert f"a person ends this with `rm {house.paths.relay_table}`" in reason
    assert later == ("", "")


@every(
    ("place", "expected"),
    [
        ("/usr/lib/hooktray/lib/python3.13/site-packages/tray", True),
        ("/usr/lib/python3/dist-packages/tray", True),
        ("/usr/local/lib/python3.11/dist-packages/tray", False),
        ("/home/me/.local/pipx/venvs/hooktray/lib/python3.11/site-packages/tray", False),
        ("/root/venv/lib/python3.11/site-packages/tray", False),
    ],
)
def test_where_the_package_manager_puts_files_nothing_is_left_for_it_to_stumble_over(
    place: str, expected: bool
) -> None:
    assert is_of_the_system(Path(place)) is expected
