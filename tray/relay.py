"""The portable relay: an agent's event to the tray and the tray's answer back; without a tray, to `hooktray once`.

    relay.py [--home DIR] AGENT [EVENT]     the payload on stdin, the answer on stdout, stderr and in the exit code

It runs on every event, also as `python -I -S relay.py`, so it imports next to nothing; tray/door/frames.py shows the
wire. Whatever goes wrong here, the agent gets its neutral answer and exit 0.
"""

import _socket
import os
import select
import sys
import time

ACK_LIMIT = 0.3  # seconds without an acknowledgement or any progress until a tray counts as hung
CHUNK = 256 * 1024
OUR_BUG = 3  # the exit code with which `hooktray once` says that it has no answer


def main(argv: list[str]) -> int:
    started = time.monotonic()
    payload = b""
    try:
        _open_standard_streams()
        payload = _read_all(0)
        home, words = _arguments(argv)
        place = folder(home)
        if not _ours(place):
            return _neutral(argv, payload)
        name = os.urandom(16).hex()
        answer = _ask(place, words, name, payload, started)
        if answer is None:
            return _without_tray(place, home, words, name, payload, started)
        code, stdout, stderr = answer
        _write_all(1, stdout)
        _write_all(2, stderr)
        return code
    except (Exception, KeyboardInterrupt):
        return _neutral(argv, payload)


def folder(home: str) -> str:
    """The folder of the door, by the same rules as tray/paths.py."""
    home = home or os.environ.get("HOOKTRAY_HOME", "")
    if home:
        return os.path.join(os.getcwd(), os.path.expanduser(home), "state")
    if sys.platform == "win32":
        return os.path.join(os.environ["LOCALAPPDATA"], "hooktray")
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Application Support/hooktray")
    state = os.environ.get("XDG_STATE_HOME", "")
    return os.path.join(state if os.path.isabs(state) else os.path.expanduser("~/.local/state"), "hooktray")


def _arguments(argv: list[str]) -> tuple[str, list[str]]:
    """DIR or "", and the words AGENT [EVENT]; an exception for anything else."""
    home, words = "", argv
    if argv[0] == "--home":
        home, words = argv[1], argv[2:]
    elif argv[0].startswith("--home="):
        home, words = argv[0][len("--home=") :], argv[1:]
    if not 1 <= len(words) <= 2 or words[0].startswith("-"):
        raise ValueError(argv)
    return home, words


def _ours(place: str) -> bool:
    """Whether nobody else can have put a socket or a relay.conf there."""
    try:
        found = os.lstat(place)
    except OSError:
        return False
    if sys.platform == "win32":
        return True
    return found.st_uid == os.getuid() and found.st_mode & 0o170077 == 0o040000


def _neutral(argv: list[str], payload: bytes) -> int:
    """No opinion: silence. Only Shelley's system prompt is echoed, since an empty one ends the conversation."""
    if "shelley" in argv and "system-prompt" in argv:
        _write_all(1, payload)
    return 0


def _ask(place: str, words: list[str], name: str, payload: bytes, started: float) -> tuple[int, bytes, bytes] | None:
    """The tray's answer; None when there is no tray, when it hangs, or when it ends before it has answered."""
    connection, token = _connect_unix(place), ""
    if connection is None:
        connection, token = _connect_loopback(place)
    if connection is None:
        return None
    try:
        return _exchange(connection, _frame(words, name, token, payload), started)
    except OSError:
        return None
    finally:
        connection.close()


def _frame(words: list[str], name: str, token: str, payload: bytes) -> bytes:
    fields = [f"agent={words[0]}", f"event={words[1] if len(words) > 1 else ''}", f"id={name}"]
    fields += [f"parent={os.getppid()}", *([f"token={token}"] if token else [])]
    if sys.platform == "win32":
        variables = [f"{key}={value}".encode("utf-8", "surrogatepass") for key, value in os.environ.items()]
    else:
        variables = [key + b"=" + value for key, value in os.environb.items()]
    lines = [*map(os.fsencode, fields), b"cwd=" + _cwd(), b"", *variables]
    head = b"".join([line + b"\0" for line in lines])
    return b"HKT1E" + len(head).to_bytes(4, "big") + len(payload).to_bytes(8, "big") + head + payload


def _cwd() -> bytes:
    try:
        return os.getcwdb()
    except OSError:
        return b""  # removed under the agent's feet


def _connect_unix(place: str) -> _socket.socket | None:
    if sys.platform == "win32":
        return None
    path, anchor = os.path.join(place, "door.sock"), -1
    if sys.platform == "linux" and len(os.fsencode(path)) > 107:  # the kernel's limit
        anchor = os.open(place, os.O_PATH)
        path = f"/proc/self/fd/{anchor}/door.sock"
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    connection.setblocking(False)
    until = time.monotonic() + ACK_LIMIT
    while True:
        try:
            connection.connect(path)
            return connection
        except BlockingIOError:  # the queue before the door is full
            if time.monotonic() < until:
                time.sleep(0.005)
                continue
        except OSError:
            pass
        connection.close()
        return None


def _connect_loopback(place: str) -> tuple[_socket.socket | None, str]:
    """Where there are no Unix sockets the tray leaves its port and a token beside the place of the socket."""
    text = _read_file(os.path.join(place, "door.addr")).decode("ascii", "replace").split()
    if len(text) != 2 or not text[0].isdigit():
        return None, ""
    connection = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    connection.settimeout(ACK_LIMIT)
    try:
        connection.connect(("127.0.0.1", int(text[0])))
        connection.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
        connection.setblocking(False)
    except (OSError, OverflowError):
        connection.close()
        return None, ""
    return connection, text[1]


def _exchange(connection: _socket.socket, frame: bytes, started: float) -> tuple[int, bytes, bytes] | None:
    """Send the frame and read at the same time: an answer may come early, and is valid even if sending fails."""
    unsent, received, acknowledged = memoryview(frame), bytearray(), False
    until = time.monotonic() + ACK_LIMIT
    while True:
        left = until - time.monotonic()
        readable, writable, _ = select.select([connection], [connection] if unsent else [], [], max(left, 0))
        if not readable and (left <= 0 or not writable):
            return None
        if writable:
            unsent = _send(connection, unsent)
            if not acknowledged:
                until = time.monotonic() + ACK_LIMIT
        if not readable:
            continue
        part = _receive(connection)
        if not part:
            return None
        received += part
        if not acknowledged and len(received) >= 5:
            if received[:1] != b"A":
                raise ConnectionError("no tray of ours")
            acknowledged = True
            until = started + int.from_bytes(received[1:5], "big") / 1000
        answer = _answer(received)
        if answer is not None:
            return answer


def _answer(received: bytearray) -> tuple[int, bytes, bytes] | None:
    """The answer behind the five bytes of the acknowledgement, once it is all there."""
    if len(received) < 15:
        return None
    if received[5:6] != b"R":
        raise ConnectionError("no tray of ours")
    border = 15 + int.from_bytes(received[7:11], "big")
    end = border + int.from_bytes(received[11:15], "big")
    return (received[6], bytes(received[15:border]), bytes(received[border:end])) if len(received) >= end else None


def _send(connection: _socket.socket, unsent: memoryview) -> memoryview:
    try:
        return unsent[connection.send(unsent[:CHUNK]) :]
    except BlockingIOError:
        return unsent
    except OSError:
        return unsent[:0]  # the tray has closed its end; its answer may still be there


def _receive(connection: _socket.socket) -> bytes:
    try:
        return connection.recv(CHUNK)
    except OSError:
        return b""


def _without_tray(place: str, home: str, words: list[str], name: str, payload: bytes, started: float) -> int:
    """What relay.conf says: `when_down=once` has the event decided by the one-shot engine, else it is let pass."""
    lines = os.fsdecode(_read_file(os.path.join(place, "relay.conf"))).split("\n")
    conf = {key: value.rstrip("\r") for key, _, value in (line.partition("=") for line in lines)}
    if conf.get("when_down") != "once" or not conf.get("once"):
        return _neutral(words, payload)
    import subprocess  # costs more than the whole rest, and is hardly ever needed

    spent = int((time.monotonic() - started) * 1000)
    options = [*(["--home", home] if home else []), "--id", name, "--spent", str(spent)]
    with subprocess.Popen([*conf["once"].split("\x1f"), *options, *words], stdin=subprocess.PIPE) as child:
        child.communicate(payload)
    if child.returncode == OUR_BUG or child.returncode < 0:
        return _neutral(words, payload)
    return child.returncode


def _open_standard_streams() -> None:
    """A stream that the agent closed must not be taken for the socket that gets its number."""
    while (opened := os.open(os.devnull, os.O_RDWR)) < 3:
        os.set_inheritable(opened, True)
    os.close(opened)


def _read_file(path: str) -> bytes:
    try:
        opened = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        return _read_all(opened)
    finally:
        os.close(opened)


def _read_all(opened: int) -> bytes:
    parts: list[bytes] = []
    while True:
        try:
            part = os.read(opened, CHUNK)
        except BlockingIOError:
            select.select([opened], [], [])
            continue
        if not part:
            return b"".join(parts)
        parts.append(part)


def _write_all(opened: int, text: bytes) -> None:
    """Best effort: an agent that no longer reads wants no answer."""
    rest = memoryview(text)
    while rest:
        try:
            rest = rest[os.write(opened, rest[:CHUNK]) :]
        except BlockingIOError:
            select.select([], [opened], [])
        except OSError:
            return


if __name__ == "__main__":
    os._exit(main(sys.argv[1:]))  # nothing is buffered, so nothing is lost, and the interpreter's clean-up is spared
