"""What the kernel shows of a caller: its ancestors, its terminal, and who holds that terminal's other end (Linux)."""

from __future__ import annotations

import os
import re
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from tray.engine.callers.people import Scene, Seen, Terminal

PROC = Path("/proc")
DEPTH = 64
PTS = range(136, 144)  # major numbers of what a program makes and holds the other end of
CONSOLE = 4  # the machine's own terminals
MAPPED = "0000000000000000FFFF0000"  # before an IPv4 address in the table of IPv6
SYSTEM = ("/usr/", "/bin/", "/sbin/", "/opt/", "/snap/", "/nix/store/", "/gnu/store/")


def look(pid: int, untrusted: Callable[[int], bool]) -> Scene:
    """The scene around `pid`. `untrusted` knows the processes below agents and hooks."""
    if sys.platform != "linux" or pid <= 0:
        return Scene(uid=0)
    uid = os.getuid()
    caller = chain(pid)
    if not caller:
        return Scene(uid=uid)
    device = _device(pid)
    terminal = _terminal(device, uid) if device else None
    heads = [caller[0], *(held[0] for held in (terminal.holders if terminal else ()))]
    return Scene(
        uid=uid,
        caller=caller,
        terminal=terminal,
        known=frozenset(one.pid for one in heads if untrusted(one.pid)),
        beside=tuple(_beside(device, {one.pid for one in caller}, untrusted)) if device else (),
        addresses=frozenset(_addresses()),
        looped=uid != 0 and looped(uid),
        elsewhere=any(_space(pid, kind) != _space(os.getpid(), kind) for kind in ("mnt", "pid")),
    )


def chain(pid: int) -> tuple[Seen, ...]:
    """The process and those above it, nearest first; the first process of the machine is nobody's agent."""
    found: list[Seen] = []
    while pid > 0 and len(found) < DEPTH:
        one = seen(pid)
        if one is None:
            break
        found.append(one)
        pid = one.parent
    return tuple(found)


def seen(pid: int) -> Seen | None:
    """One process; None when it has gone."""
    try:
        fields = _stat(pid)
        uid = _uid(pid)
    except (OSError, ValueError, IndexError):
        return None
    environment = _environment(pid)
    program = _program(pid)
    return Seen(
        pid=pid,
        parent=int(fields[1]),
        uid=uid,
        name=Path(program).name or _comm(pid),
        words=tuple(_words(pid)),
        session=int(fields[3]),
        group=int(fields[2]),
        foreground=int(fields[5]),
        environment=None if environment is None else frozenset(environment),
        system=_is_system(pid, program) if program else uid == 0,
        origin=(environment or {}).get("SSH_CONNECTION", ""),
    )


def started(pid: int) -> str:
    """When it was started, in the kernel's own count; "" when it has gone. A pid alone may come back."""
    try:
        return _stat(pid)[19]
    except (OSError, IndexError):
        return ""


def waits(pid: int, since: str) -> bool:
    """Whether it is still the same process, in the foreground of its terminal."""
    try:
        fields = _stat(pid)
    except OSError:
        return False
    return fields[19] == since and fields[2] == fields[5] and fields[0] not in "ZX"


def _device(pid: int) -> int:
    try:
        return int(_stat(pid)[4])
    except (OSError, ValueError, IndexError):
        return 0


def _terminal(device: int, uid: int) -> Terminal | None:
    """The device as its number says; a name that leads to another device is none."""
    if sys.platform == "win32":
        return None
    if os.major(device) in PTS:
        number = (os.major(device) - PTS.start) * 256 + os.minor(device)
        path = Path(f"/dev/pts/{number}")
    elif os.major(device) == CONSOLE:
        number, path = -1, Path(f"/dev/tty{os.minor(device)}")
    else:
        return None
    try:
        found = path.lstat()
    except OSError:
        return None
    if not stat.S_ISCHR(found.st_mode) or found.st_rdev != device:
        return None
    holders = tuple(chain(pid) for pid in _holders(number)) if number >= 0 else ()
    return Terminal(path=str(path), ours=found.st_uid == uid, console=number < 0, holders=holders)


def _holders(number: int) -> Iterator[int]:
    """The processes that have the other end of this terminal open, as far as we are shown."""
    for pid in _pids():
        if any(_leads_to(pid, fd, number) for fd in _listed(PROC / str(pid) / "fd")):
            yield pid


def _leads_to(pid: int, fd: str, number: int) -> bool:
    try:
        if not os.readlink(PROC / str(pid) / "fd" / fd).endswith("ptmx"):  # noqa: PTH115 - one of thousands
            return False
        found = re.search(rb"tty-index:\s*(\d+)", (PROC / str(pid) / "fdinfo" / fd).read_bytes())
    except OSError:
        return False
    return found is not None and int(found[1]) == number


def _beside(device: int, own: set[int], untrusted: Callable[[int], bool]) -> Iterator[str]:
    """The agents, and what belongs to them, at the same terminal."""
    for pid in _pids():
        if pid not in own and _device(pid) == device and untrusted(pid):
            yield f"{_comm(pid)} ({pid})"


def _addresses() -> Iterator[str]:
    import psutil

    for found in psutil.net_if_addrs().values():
        yield from (one.address.partition("%")[0] for one in found)


def looped(uid: int, root: int = 0) -> bool:
    """Whether the table of connections has both ends of one: the user's, and another of root's. Variables may lie."""
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
            if state == "01":  # it stands
                yield ours.removeprefix(MAPPED), theirs.removeprefix(MAPPED), rest[3]


def _pids() -> Iterator[int]:
    return (int(name) for name in _listed(PROC) if name.isdigit())


def _listed(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - names alone, thousands of them
    except OSError:
        return []


def _stat(pid: int) -> list[str]:
    """What follows the name: state, parent, group, session, terminal, the terminal's group …"""
    return (PROC / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()


def _uid(pid: int) -> int:
    """The real user; the owner of the folder would be root's for a process that hides."""
    status = (PROC / str(pid) / "status").read_text(errors="replace")
    return int(status.split("\nUid:", 1)[1].split()[0])


def _comm(pid: int) -> str:
    try:
        return (PROC / str(pid) / "comm").read_text(errors="replace").strip()
    except OSError:
        return "a process that has gone"


def _program(pid: int) -> str:
    try:
        return os.readlink(PROC / str(pid) / "exe")  # noqa: PTH115 - what was deleted has no path
    except OSError:
        return ""


def _is_system(pid: int, program: str) -> bool:
    """By path and by file: in a mount namespace of its own a process may call its file whatever it likes."""
    try:
        found, runs = Path(program).stat(), (PROC / str(pid) / "exe").stat()
    except OSError:
        return False
    is_roots = found.st_uid == 0 and not found.st_mode & 0o022 and program.startswith(SYSTEM)
    return is_roots and os.path.samestat(found, runs)


def _words(pid: int) -> list[str]:
    try:
        return (PROC / str(pid) / "cmdline").read_text(errors="replace").split("\0")[:-1]
    except OSError:
        return []


def _environment(pid: int) -> dict[str, str] | None:
    try:
        text = (PROC / str(pid) / "environ").read_bytes().decode("utf-8", "replace")
    except OSError:
        return None
    return dict(entry.split("=", 1) for entry in text.split("\0") if "=" in entry)


def _space(pid: int, kind: str) -> str:
    try:
        return os.readlink(PROC / str(pid) / "ns" / kind)  # noqa: PTH115 - it is no path
    except OSError:
        return ""
