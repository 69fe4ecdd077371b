"""Reads what the system shows of a caller: its ancestors, its terminal and where it logged in from (Linux)."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from tray.approvals.callers.person import ProcessFacts, find_origin
from tray.execution.ancestry import ancestors
from tray.text.words import word_set

PROC = Path("/proc")
MAX_DEPTH = 64
CONSOLE_MAJOR, CONSOLES = 4, range(1, 64)  # numbers of the machine's own terminals, /dev/tty1 …
IPV4_MAPPED = "0000000000000000FFFF0000"  # before an IPv4 address in the table of IPv6
SYSTEM_FOLDERS = ("/usr/", "/bin/", "/sbin/", "/opt/", "/snap/", "/nix/store/", "/gnu/store/")
# Let foreign code into a program of a desktop, before it has begun.
INJECTION_VARIABLES = word_set(
    "GI_TYPELIB_PATH GIO_EXTRA_MODULES GJS_PATH GTK3_MODULES GTK_MODULES GTK_PATH LD_AUDIT LD_LIBRARY_PATH "
    "LD_PRELOAD PERL5LIB PERL5OPT QML2_IMPORT_PATH QML_IMPORT_PATH QT_PLUGIN_PATH URXVT_PERL_LIB"
)
# Those of them that may name files without their folder, which the system's own folders then have.
NAME_VARIABLES = word_set("GTK3_MODULES GTK_MODULES LD_AUDIT LD_PRELOAD PERL5OPT")


def shares_files(pid: int) -> bool:
    """True if the process sees the same files and processes as the tray."""
    return all(_link(pid, kind) == _link(os.getpid(), kind) for kind in ("ns/mnt", "ns/pid"))


def controlling_device(pid: int) -> int:
    """Returns the number of its terminal; 0 if it has none or the system does not show it."""
    try:
        return int(_stat(pid)[4])
    except (OSError, ValueError, IndexError):
        return 0


def is_at_console(pid: int) -> bool:
    """True if its terminal is one of the machine's own consoles, which no program made."""
    if sys.platform != "linux":
        return False
    device = controlling_device(pid)
    return os.major(device) == CONSOLE_MAJOR and os.minor(device) in CONSOLES


def other_platform_origin(pid: int, is_untrusted: Callable[[int], bool]) -> str:
    """Returns which agent or hook is above a caller that only psutil shows; "" if there is none."""
    import psutil

    if is_untrusted(pid):
        return f"process {pid}"
    try:
        variables = psutil.Process(pid).environ()
    except psutil.Error:
        variables = {}
    return find_origin(variables, ancestors(pid))


def process_chain(pid: int) -> tuple[ProcessFacts, ...]:
    """Returns the process and those above it, nearest first."""
    found: list[ProcessFacts] = []
    while pid > 0 and len(found) < MAX_DEPTH:
        one = read_process(pid)
        if one is None:
            break
        found.append(one)
        pid = one.parent
    return tuple(found)


def read_process(pid: int) -> ProcessFacts | None:
    """Returns the facts of one process; None if it has ended."""
    try:
        parent, lines = int(_stat(pid)[1]), (PROC / str(pid) / "status").read_text(errors="replace").splitlines()
        status = {key: words.split() for key, _, words in (line.partition(":") for line in lines)}
        uid = int(status["Uid"][0])  # the real user; a hidden process's folder belongs to root
    except (OSError, ValueError, LookupError):
        return None
    variables = _read(pid, "environ")
    environment = dict(one.split("=", 1) for one in (variables or "").split("\0") if "=" in one)
    program = _link(pid, "exe")
    return ProcessFacts(
        pid=pid,
        parent=parent,
        uid=uid,
        name=Path(program).name or (_read(pid, "comm") or "a process that has gone").strip(),
        command=tuple((_read(pid, "cmdline") or "").split("\0")[:-1]),
        environment=None if variables is None else frozenset(environment),
        injected=injected_variables(environment),
        is_system=_is_system(pid, program) if program else uid == 0 or _is_privileged(pid, status),
        origin=environment.get("SSH_CONNECTION", ""),
    )


def injected_variables(environment: Mapping[str, str]) -> frozenset[str]:
    """Returns the variables that make a program load files from folders which the user can write."""
    found = INJECTION_VARIABLES.intersection(environment)
    return frozenset(name for name in found if _leads_to_own_files(name, environment[name]))


def _leads_to_own_files(name: str, value: str) -> bool:
    """True if a part of the value leads to a folder that the user can write, such as the working folder."""
    parts = re.split("[: ]", value) if value else []
    return any(_is_writable(part[part.index("/") :]) if "/" in part else name not in NAME_VARIABLES for part in parts)


def _is_writable(path: str) -> bool:
    """True if the user can write or replace the file or a folder above it, by its name or through its links."""
    names = {Path(os.path.normpath(path)), Path(os.path.realpath(path))}
    return any(os.access(one, os.W_OK) for name in names for one in (name, *name.parents))


def _is_privileged(pid: int, status: Mapping[str, Sequence[str]]) -> bool:
    """True if root gave its program capabilities or a group, for which the kernel hides the process."""
    if sys.platform == "win32":
        return False
    capabilities, groups = int(status["CapPrm"][0], 16), set(map(int, status["Gid"]))
    # In a user namespace of its own a process has every capability.
    is_same = _read(pid, "uid_map") == _read(os.getpid(), "uid_map")
    return is_same and (capabilities != 0 or not groups <= {*os.getgroups(), os.getgid()})


def start_time(pid: int) -> str:
    """Returns when it started, in the kernel's count; "" if it has ended. The system gives pids again."""
    try:
        return _stat(pid)[19]
    except (OSError, IndexError):
        return ""


def own_addresses() -> frozenset[str]:
    """Returns the addresses of this machine."""
    import psutil

    found = psutil.net_if_addrs().values()
    return frozenset(one.address.partition("%")[0] for interface in found for one in interface)


def is_connected_to_root(uid: int, root: int = 0) -> bool:
    """True if a process of the user is connected to a service of root on this machine. Variables may lie."""
    ends = {(ours, theirs): int(owner) for ours, theirs, owner in _connections()}
    return any(owner == uid and ends.get((theirs, ours)) == root for (ours, theirs), owner in ends.items())


def _connections() -> Iterator[tuple[str, str, str]]:
    for table in ("tcp", "tcp6"):
        try:
            lines = (PROC / "net" / table).read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            _, ours, theirs, state, *rest = line.split()
            if state == "01":  # established
                yield ours.removeprefix(IPV4_MAPPED), theirs.removeprefix(IPV4_MAPPED), rest[3]


def _stat(pid: int) -> list[str]:
    """Returns the fields after the name: state, parent, group, session, terminal … Raises OSError if it has ended."""
    return (PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()


def _read(pid: int, name: str) -> str | None:
    """Returns the text; None if the process has ended or hides it."""
    try:
        return (PROC / str(pid) / name).read_bytes().decode("utf-8", "replace")
    except OSError:
        return None


def _link(pid: int, name: str) -> str:
    try:
        return os.readlink(PROC / str(pid) / name)  # noqa: PTH115 - what was deleted has no path
    except OSError:
        return ""


def _is_system(pid: int, program: str) -> bool:
    """True if path and file are the system's: in a mount namespace of its own a process chooses its path."""
    try:
        found, runs = Path(program).stat(), (PROC / str(pid) / "exe").stat()
    except OSError:
        return False
    is_roots = found.st_uid == 0 and not found.st_mode & 0o022 and program.startswith(SYSTEM_FOLDERS)
    return is_roots and os.path.samestat(found, runs)
