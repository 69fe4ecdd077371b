"""What README and installers/README.md say about installing, typed as it stands, in a clean root of each release."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from desk.wait import wait
from installed.ways import HOUR, LONG, PLAIN, RELEASES, REPOSITORY, USER, Root, call, packed_roots, source

from tray import __version__

SLOW = 180.0  # seconds on a busy machine, for what is fetched first
README = (REPOSITORY / "README.md").read_text()
INSTALL = README.split("## Install\n")[1].split("\n## ")[0]
# What a desktop of the release has, or its user installs first; nothing of a compiler.
PACKAGES = ("ca-certificates", "pipx", "python3-venv")
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
pytestmark = pytest.mark.timeout(HOUR)


@pytest.fixture(scope="module", params=RELEASES)
def root(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Root]:
    """With the checkout in somebody's home."""
    root = Root(request.param, packed_roots(tmp_path_factory.getbasetemp()))
    root.packages(*PACKAGES)
    # The machine's own certificates, for a registry that it reaches by a mirror.
    (root.path / CERTIFICATES.relative_to("/")).write_bytes(CERTIFICATES.read_bytes())
    source(root.home / "hooktray")
    call("chown", "-R", f"{USER}:{USER}", root.home / "hooktray")
    yield root
    root.close()


def types(root: Root, line: str, path: str = "/usr/bin:/bin") -> subprocess.CompletedProcess[str]:
    """What a user types in the folder of the checkout."""
    # uv has certificates of its own; the variable names the machine's to it.
    words = root.words("env", f"SSL_CERT_FILE={CERTIFICATES}", "sh", "-c", f"cd hooktray && {line}", path=path)
    return subprocess.run(words, env=PLAIN, capture_output=True, text=True, timeout=LONG, check=False)


def test_the_first_command_starts_the_tray_and_the_second_terminal_finds_it(root: Root) -> None:
    (line,) = re.findall(r"```sh\n(.*)\n```", INSTALL)
    (activate, paths) = re.findall(r"`(\. \.venv/bin/activate)` .*`(hooktray paths)`", INSTALL)[0]
    printed = root.home / "printed"
    with printed.open("wb") as output:
        words = root.words("sh", "-c", f"cd hooktray && {line}")
        terminal = subprocess.Popen(
            words, env=PLAIN, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
    try:
        status = f"{activate} && hooktray status --json"
        wait(lambda: terminal.poll() is not None or '"running": true' in types(root, status).stdout, SLOW, "the tray")
        second = types(root, f"{activate} && {paths}")
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(terminal.pid, signal.SIGTERM)
        terminal.wait(60)

    assert "/home/somebody/.config/hooktray" in second.stdout, printed.read_text()
    steps = ("Making .venv ...", "Processing /home", "Successfully installed", "Welcome to Hooktray")
    assert sorted(steps, key=printed.read_text().index) == list(steps)  # each is announced before it takes its time


@pytest.mark.parametrize("tool", ["pipx", "uv"])
def test_to_keep_it_each_tool_installs_the_checkout(root: Root, tool: str) -> None:
    (line,) = re.findall(rf"`({tool}(?: tool)? install \.)`", INSTALL)
    own = "/home/somebody/.local/bin:/usr/bin:/bin"
    if tool == "uv":
        assert types(root, "python3 -m venv ../tools && ../tools/bin/pip install -q uv").returncode == 0
        own = f"/home/somebody/tools/bin:{own}"

    done = types(root, line, own)

    assert done.returncode == 0, done.stdout + done.stderr
    assert types(root, "hooktray --version", own).stdout.split()[1] == __version__
    assert types(root, line.replace("install .", "uninstall hooktray"), own).returncode == 0
