"""A real sshd for one key, and a machine beside it: a network of its own, from which only this sshd is reached."""

from __future__ import annotations

import contextlib
import getpass
import os
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from desk import wait

SLOW = 90.0  # seconds
CLIENT = """Host *
  IdentityFile {folder}/user
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/known_hosts
  StrictHostKeyChecking accept-new
  BatchMode yes
"""
# An ioctl, because not every system has a command for it: SIOCSIFFLAGS with IFF_UP and IFF_RUNNING.
LOOPBACK = """
import fcntl, signal, socket, struct
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
    fcntl.ioctl(one, 0x8914, struct.pack("16sh", b"lo", 0x41))
print("up", flush=True)
signal.pause()
"""


@dataclass(frozen=True, kw_only=True)
class SshServer:
    """`config`: what an ssh needs to log in there, and nothing of the user's."""

    folder: Path
    port: int
    config: Path

    @property
    def login(self) -> list[str]:
        """The words that log in there with a terminal."""
        return ["ssh", "-F", str(self.config), "-tt", "-p", str(self.port), f"{getpass.getuser()}@127.0.0.1"]


@contextlib.contextmanager
def ssh_server(folder: Path) -> Iterator[SshServer]:
    """Each login's home is `folder`."""
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)], check=True)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    settings = {
        "ListenAddress": f"127.0.0.1:{port}",
        "HostKey": folder / "host",
        "AuthorizedKeysFile": folder / "user.pub",
        "StrictModes": "no",
        "UsePAM": "no",
        "PidFile": "none",
        "PermitRootLogin": "yes",
        "SetEnv": f"HOME={folder}",
        "Subsystem": "sftp internal-sftp",
    }
    file, log = folder / "sshd_config", folder / "sshd.log"
    file.write_text("".join(f"{name} {value}\n" for name, value in settings.items()))
    (folder / "ssh_config").write_text(CLIENT.format(folder=folder))
    Path("/run/sshd").mkdir(exist_ok=True) if os.getuid() == 0 else None
    with log.open("wb") as output:
        server = subprocess.Popen(["/usr/sbin/sshd", "-D", "-e", "-f", str(file)], stdout=output, stderr=output)
    try:
        wait(lambda: "listening" in log.read_text(), SLOW, "the server listens")
        yield SshServer(folder=folder, port=port, config=folder / "ssh_config")
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(SLOW)


@dataclass(frozen=True, kw_only=True)
class OtherMachine:
    """Where a person sits. Its `ssh` and `scp` reach one server, whatever address they are told."""

    folder: Path
    enter: list[str]  # the words by which a program runs there

    def argv(self, line: str) -> list[str]:
        """What a shell there is told."""
        return [*self.enter, "sh", "-c", line]

    @property
    def environment(self) -> Mapping[str, str]:
        return {
            "PATH": f"{self.folder}/bin:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "LC_ALL": "C.UTF-8",
            "TERM": "xterm",
        }


@contextlib.contextmanager
def other_machine(folder: Path, server: SshServer) -> Iterator[OtherMachine]:
    """A wire to the server is a socket in a folder: a network of its own has no other way out."""
    wire = folder / "wire"
    user = [] if os.getuid() == 0 else ["--map-root-user"]
    with contextlib.ExitStack() as stack:
        lead = ["socat", f"UNIX-LISTEN:{wire},fork", f"TCP:127.0.0.1:{server.port}"]
        stack.enter_context(_ended(subprocess.Popen(lead)))
        alone = ["unshare", *user, "--net", sys.executable, "-I", "-S", "-c", LOOPBACK]
        network = stack.enter_context(_ended(subprocess.Popen(alone, stdout=subprocess.PIPE)))
        assert network.stdout is not None
        assert network.stdout.readline() == b"up\n"
        wait(wire.exists, SLOW, "the wire is there")
        _programs(folder, server, f"socat - UNIX-CONNECT:{wire}")
        own = ["--user", "--preserve-credentials"] if user else []
        enter = ["nsenter", "--target", str(network.pid), *own, "--net"]
        yield OtherMachine(folder=folder, enter=enter)


def _programs(folder: Path, server: SshServer, proxy: str) -> None:
    """`ssh` and `scp` with a configuration of their own: both would read that of the user who runs the tests."""
    config = folder / "ssh_config"
    config.write_text(f"{server.config.read_text()}  ProxyCommand {proxy}\n")
    (folder / "bin").mkdir()
    for name in ("ssh", "scp"):
        program = folder / "bin" / name
        program.write_text(f'#!/bin/sh\nexec /usr/bin/{name} -F {shlex.quote(str(config))} "$@"\n')
        program.chmod(0o755)


@contextlib.contextmanager
def _ended(process: subprocess.Popen[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    with process:
        try:
            yield process
        finally:
            process.terminate()
