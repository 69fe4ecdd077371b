"""The portable relay: an agent's event to the tray and the tray's answer back; without a tray, to `hooktray once`.

    relay.py [--home DIR | --state DIR] AGENT [EVENT]     payload on stdin; answer on stdout, stderr, in the exit code

It runs on every event, also as `python -I -S relay.py`, so it imports next to nothing; tray/ipc/frames.py shows the
wire. relay.table beside this file has the tray's place and the agents' answers; tray/agents/relay_table.py
describes it. When the event was not judged, the guards in the table decide, and without a guard that matches the
agent gets its neutral answer and exit 0: that of the table, else silence.
"""
# ruff: noqa: E402

import _signal  # type: ignore[import-not-found]  # `signal` without its enums


def _end_silently() -> None:
    """Ctrl-C in the agent's terminal reaches us too, without a traceback; where it was ignored it stays ignored."""
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _signal.SIG_DFL)


if __name__ == "__main__":
    _end_silently()  # before the other imports, which take longer

import _socket
import os
import select
import sys
import time

ACK_LIMIT = 0.3  # seconds without an acknowledgement or any progress until a tray counts as hung
STDIN_LIMIT = 10.0  # seconds without a byte or the end of stdin: the end will not come before the agent gives up
DAY = 86400.0  # seconds; longer than anybody waits
CHUNK = 256 * 1024
PAYLOAD_LIMIT = 16 * 1024 * 1024  # as in tray/model/event.py: of more, the tray and `once` drop every byte
OWN_DEADLINE_ACK = b"A\xff\xff\xff\xff"  # instead of `hooktray once`, which sends none: it keeps its own deadline

UNJUDGED = "unjudged-calls"  # in the state folder: a line for each guarded call that went on unjudged
ALONE = "answered-alone"  # in the same folder: a byte for each event that a relay answered by itself
NOTES_LIMIT = 64 * 1024  # bytes at most of each file of notes
REMOVAL_AGE = 60.0  # seconds: a package that is gone for less may be one that is just replaced
LEVELS = {b"allow": 1, b"ask": 2, b"block": 3}  # of guards

KEYS = 4  # keys at most that lead to a text in the payload
WHITE = b" \t\n\r"
SCALAR = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+-."
ESCAPES = dict(zip(b'"\\/bfnrt', b'"\\/\b\f\n\r\t', strict=True))

Answer = tuple[int, bytes, bytes]  # exit code, stdout, stderr
Connection = _socket.socket | None  # to the tray; None = by the descriptors, to `hooktray once`


def main(argv: list[str]) -> int:
    _end_silently()
    started, payload = time.monotonic(), bytearray()
    try:
        _open_standard_streams()
        _read_all(0, payload)
        place, words, has_place = _arguments(argv)
        event_id, answer = os.urandom(16).hex(), None
        request = (place, words, event_id, payload, started)
        is_reachable = _is_ours(place)
        if is_reachable:
            answer = _ask_tray(*request)
        if answer is None and (is_reachable or has_place):
            answer = _ask_one_shot(*request, has_place)
        if answer is None:
            return _answer_alone(argv, payload)
        code, stdout, stderr = answer
        is_echo = len(payload) > PAYLOAD_LIMIT and _find_neutral(words)[0]  # only the relay still has it
        _write_all(1, payload if is_echo else stdout)
        _write_all(2, stderr)
        return code
    except Exception:
        return _answer_alone(argv, payload)


def folder(option: str = "", named: str = "") -> str:
    """The folder of the tray's socket, by the same rules as tray/paths.py."""
    home = named or os.environ.get("HOOKTRAY_HOME", "")
    if home:
        root = os.path.join(os.getcwd(), os.path.expanduser(home))
        return root if option == "--state" else os.path.join(root, "state")
    if sys.platform == "win32":
        return os.path.join(os.environ["LOCALAPPDATA"], "hooktray")
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Application Support/hooktray")
    state = os.environ.get("XDG_STATE_HOME", "")
    return os.path.join(state if os.path.isabs(state) else os.path.expanduser("~/.local/state"), "hooktray")


def _arguments(argv: list[str]) -> tuple[str, list[str], bool]:
    """The folder of the tray's socket, the words AGENT [EVENT], and whether the table names the folder."""
    option, named, words = _words(argv)
    place = "" if option else os.fsdecode(_table_text(b"state"))
    return place or folder(option, named), words, bool(place)


def _words(argv: list[str]) -> tuple[str, str, list[str]]:
    """The option, its folder, and the words AGENT [EVENT]; an exception for anything else."""
    option, is_joined, named = argv[0].partition("=")
    if option in ("--home", "--state"):
        named, words = (named, argv[1:]) if is_joined else (argv[1], argv[2:])
    else:
        option, named, words = "", "", argv
    if not 1 <= len(words) <= 2 or words[0].startswith("-"):
        raise ValueError(argv)
    return option, named, words


def _is_ours(path: str) -> bool:
    """Whether it is ours and no link; a folder that was opened to others is closed again."""
    try:
        found = os.lstat(path)
        if sys.platform == "win32":
            return True
        is_ours = found.st_uid == os.getuid() and found.st_mode & 0o170000 != 0o120000
        if is_ours and found.st_mode & 0o170000 == 0o040000 and found.st_mode & 0o022:
            os.chmod(path, 0o700)
        return is_ours
    except OSError:
        return False


def _answer_alone(argv: list[str], payload: bytearray) -> int:
    """When the event was not judged: the guards' answer, else the neutral one for the words of the command line."""
    try:
        words = list(map(os.fsencode, _words(argv)[2]))
        if not _is_removed():
            _note(ALONE, b".")
        answer = _judge_alone(words, bytes(payload))
    except (IndexError, ValueError):
        answer = None
    if answer is None:
        is_echo, fixed = _find_neutral(argv)
        answer = (0, bytes(payload) if is_echo else fixed, b"")
    _write_all(1, answer[1])
    _write_all(2, answer[2])
    return answer[0]


def _judge_alone(words: list[bytes], payload: bytes) -> Answer | None:
    agent = _marked_agent(payload) or words[0]
    event = _named_in(payload, b"event", agent) or b"".join(words[1:])
    answer = _judge_by_guards(agent, event, payload)
    if answer is not None or agent == words[0]:
        return answer
    for name in (event, b"*"):
        _, fixed = _find_neutral([os.fsdecode(agent), os.fsdecode(name)])
        if fixed:
            return 0, fixed, b""
    return 0, b"", b""


def _judge_by_guards(agent: bytes, event: bytes, payload: bytes) -> Answer | None:
    """The strictest answer of the guards in the table; None when none matches, or when the call goes on unjudged."""
    rows = [row[1:] for row in _rows(b"guard") if len(row) >= 4 and row[0] == agent]
    strictest, guarded = 0, b""
    name = _named_in(payload, b"tool", agent) if rows else b""
    for row in rows:
        level = _guard_level(row[1:], name) if not event or row[0] == event else 0
        if level > strictest:
            strictest, guarded = level, row[0]
    if strictest and _is_removed():
        return None
    answer = _find_answer(b"deny", agent, guarded) if strictest == LEVELS[b"block"] else None
    answer = answer or (_find_answer(b"ask", agent, guarded) if strictest >= LEVELS[b"ask"] else None)
    if strictest and answer is None:
        _note(UNJUDGED, agent + b"\x1f" + guarded + b"\n")
    return answer


def _guard_level(row: list[bytes], name: bytes) -> int:
    """One of LEVELS; 0 = it guards another tool. Without a name, every tool is guarded."""
    failure, mode, *names = row
    if mode not in (b"only", b"except"):
        return 0
    is_listed = name in map(_unescaped, names)
    return LEVELS.get(failure, 0) if not name or is_listed == (mode == b"only") else 0


def _is_removed() -> bool:
    """Whether Hooktray was uninstalled: its files are gone, and its environment is not."""
    row = [_unescaped(field) for field in next(iter(_rows(b"package")), [])]
    if len(row) < 3 or None in row:
        return False
    mark, folder, *files = (os.fsdecode(field) for field in row if field is not None)
    if (mark and _age(mark) < 0) or (folder and _age(folder) < REMOVAL_AGE):
        return False
    return all(file and _age(file) < 0 for file in files)


def _age(path: str) -> float:
    """Seconds since this file or folder changed, 0 when that cannot be known; -1 when it is not there."""
    try:
        return max(time.time() - os.lstat(path).st_mtime, 0.0)
    except (FileNotFoundError, NotADirectoryError):
        return -1.0
    except (OSError, ValueError):
        return 0.0


def _note(name: str, line: bytes) -> None:
    """Append a note for the tray to a file of the state folder, if that can be written."""
    place = os.fsdecode(_table_text(b"state"))
    if not place or not _is_ours(place):
        return
    try:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        opened = os.open(os.path.join(place, name), flags, 0o600)
        try:
            if os.fstat(opened).st_size < NOTES_LIMIT:
                os.write(opened, line)
        finally:
            os.close(opened)
    except OSError:
        pass


def _find_answer(kind: bytes, agent: bytes, event: bytes) -> Answer | None:
    for row in _rows(kind):
        if len(row) == 5 and row[:2] == [agent, event]:
            code, stdout, stderr = _number(row[2], 3), _unescaped(row[3]), _unescaped(row[4])
            if 0 <= code <= 255 and stdout is not None and stderr is not None:
                return code, stdout, stderr
    return None


def _number(field: bytes, most: int) -> int:
    """A number of at most `most` digits; -1 for anything else."""
    return int(field) if field.isdigit() and len(field) <= most else -1


def _marked_agent(payload: bytes) -> bytes:
    """The agent that a mark in the payload identifies; b"" for none."""
    for row in _rows(b"mark"):
        if len(row) >= 3 and row[1] == b"key" and _search(payload, row[2:])[0]:
            return row[0]
    return b""


def _named_in(payload: bytes, kind: bytes, agent: bytes) -> bytes:
    """The text that the first row of this kind for this agent leads to; b"" when there is none."""
    keys = next((row[1:] for row in _rows(kind) if len(row) >= 2 and row[0] == agent), [])
    return _search(payload, keys)[1] if keys else b""


def _search(payload: bytes, fields: list[bytes]) -> tuple[bool, bytes]:
    """Whether the payload has the keys in these fields of a row, each inside the object of the one before; the text
    there."""
    keys = [key for key in map(_unescaped, fields) if key is not None]
    if not 1 <= len(fields) <= KEYS or len(keys) < len(fields):
        return False, b""
    scan = _PayloadScan(payload, keys)
    try:
        scan.read_object(0)
        is_whole = not scan.peek()
    except (IndexError, ValueError):
        is_whole = False
    return (scan.is_there, scan.text) if is_whole else (False, b"")


class _PayloadScan:
    """Looks for a text in JSON. ValueError or IndexError: it cannot be understood."""

    def __init__(self, text: bytes, keys: list[bytes]) -> None:
        self._text = text
        self._keys = keys
        self._at = 0
        self.is_there = False
        self.text = b""

    def peek(self) -> bytes:
        """The sign that is next after blanks; b"" at the end."""
        while self._at < len(self._text) and self._text[self._at] in WHITE:
            self._at += 1
        return self._text[self._at : self._at + 1]

    def _take(self, sign: bytes) -> bool:
        is_next = self.peek() == sign
        self._at += is_next
        return is_next

    def _expect(self, sign: bytes) -> None:
        if not self._take(sign):
            raise ValueError(sign)

    def read_object(self, level: int) -> None:
        """A key on the way that is given twice leads nowhere."""
        is_met, is_last = False, level == len(self._keys) - 1
        self._expect(b"{")
        if self._take(b"}"):
            return
        while True:
            is_wanted = self._string() == self._keys[level]
            self._expect(b":")
            if is_wanted and is_met:
                raise ValueError("given twice")
            is_met |= is_wanted
            self.is_there |= is_wanted and is_last
            sign = self.peek()
            if is_wanted and is_last and sign == b'"':
                self.text = self._string()
            elif is_wanted and not is_last and sign == b"{":
                self.read_object(level + 1)
            else:
                self._skip_value(sign)
            if not self._take(b","):
                break
        self._expect(b"}")

    def _string(self) -> bytes:
        self._expect(b'"')
        found = bytearray()
        while (sign := self._text[self._at]) != 0x22:
            self._at += 1
            if sign < 0x20:
                raise ValueError(sign)
            if sign != 0x5C:
                found.append(sign)
            else:
                found += self._escape()
        self._at += 1
        return bytes(found)

    def _escape(self) -> bytes:
        """What follows a backslash; half of a pair as it is."""
        sign = self._text[self._at]
        self._at += 1
        if sign != 0x75:
            if sign not in ESCAPES:
                raise ValueError(sign)
            return bytes([ESCAPES[sign]])
        code = self._code(self._at)
        self._at += 4
        if code >> 10 == 0x36 and len(self._text) - self._at >= 6 and self._text[self._at : self._at + 2] == b"\\u":
            try:
                low = self._code(self._at + 2)
            except ValueError:
                low = 0
            if low >> 10 == 0x37:
                self._at += 6
                code = 0x10000 + ((code & 0x3FF) << 10 | (low & 0x3FF))
        return chr(code).encode("utf-8", "surrogatepass")

    def _code(self, at: int) -> int:
        digits = self._text[at : at + 4]
        if len(digits) < 4 or not digits.isalnum():
            raise ValueError(digits)
        return int(digits, 16)

    def _skip_string(self) -> None:
        self._at += 1
        while (sign := self._text[self._at]) != 0x22:
            if sign < 0x20:
                raise ValueError(sign)
            self._at += 2 if sign == 0x5C else 1
        self._at += 1

    def _skip_value(self, sign: bytes) -> None:
        begun, depth = self._at, 0
        if sign == b'"':
            self._skip_string()
            return
        if sign not in (b"{", b"["):
            while self._at < len(self._text) and self._text[self._at] in SCALAR:
                self._at += 1
            if self._at == begun:
                raise ValueError(sign)
            return
        while True:
            code = self._text[self._at]
            if code == 0x22:
                self._skip_string()
                continue
            self._at += 1
            depth += (code in b"{[") - (code in b"}]")
            if not depth:
                return


_table: list[bytes] | None = None


def _lines() -> list[bytes]:
    """The lines of the table beside this file, read once; none when it cannot be read."""
    global _table  # one process answers one event
    if _table is None:
        try:
            with open(os.path.join(os.path.dirname(__file__), "relay.table"), "rb", buffering=0) as file:
                _table = file.read().split(b"\n")
        except (OSError, ValueError):
            _table = []
    return _table


def _rows(kind: bytes) -> list[list[bytes]]:
    """The fields of every row of this kind."""
    parts = [line.rstrip(b"\r").partition(b"=") for line in _lines()]
    return [row.split(b"\x1f") for key, border, row in parts if key == kind and border]


def _table_text(kind: bytes) -> bytes:
    """The decoded text of the first row of this kind; b"" when there is none, or when it is damaged."""
    row = next(iter(_rows(kind)), [b""])
    return _unescaped(b"\x1f".join(row)) or b""


def _find_neutral(words: list[str]) -> tuple[bool, bytes]:
    """Whether the agent and event among these words get the input back, and else the bytes that they get."""
    try:
        given = set(map(os.fsencode, words))
    except ValueError:
        return False, b""
    for fields in _rows(b"neutral"):
        if not given.issuperset(fields[:2]):
            continue
        if fields[2:] == [b"echo"]:
            return True, b""
        fixed = _unescaped(fields[3]) if len(fields) == 4 and fields[2] == b"bytes" else None
        if fixed is not None:
            return False, fixed
    return False, b""


def _unescaped(field: bytes) -> bytes | None:
    """Decodes a field: `%` and two hexadecimal digits are one byte, any other byte is itself. None: it is damaged."""
    head, *parts = field.split(b"%")
    try:
        codes = [bytes.fromhex(part[:2].decode("ascii")) for part in parts]
    except ValueError:
        return None
    if not all(codes):  # the field ends after `%`, or has blanks instead of digits
        return None
    return head + b"".join(code + part[2:] for code, part in zip(codes, parts, strict=True))


def _ask_tray(place: str, words: list[str], event_id: str, payload: bytearray, started: float) -> Answer | None:
    """The tray's answer; None without a tray, when it hangs, or when it ends before it has answered."""
    connection, token = _connect_unix(place), ""
    if connection is None:
        connection, token = _connect_loopback(place)
    if connection is None:
        return None
    try:
        frame, opened = memoryview(_frame(words, event_id, token, payload)), connection.fileno()
        return _exchange(frame, connection, opened, opened, b"", started, words)
    except OSError:
        return None
    finally:
        connection.close()


def _frame(words: list[str], event_id: str, token: str, payload: bytearray) -> bytes:
    fields = [f"agent={words[0]}", f"event={words[1] if len(words) > 1 else ''}", f"id={event_id}"]
    fields += [f"parent={os.getppid()}", *([f"token={token}"] if token else [])]
    if sys.platform == "win32":
        variables = [f"{key}={value}".encode("utf-8", "surrogatepass") for key, value in os.environ.items()]
    else:
        variables = [key + b"=" + value for key, value in os.environb.items()]
    try:
        cwd = os.getcwdb()
    except OSError:
        cwd = b""  # removed under the agent's feet
    lines = [*map(os.fsencode, fields), b"cwd=" + cwd, b"", *variables]
    head = b"".join([line + b"\0" for line in lines])
    return b"HKT1E" + len(head).to_bytes(4, "big") + len(payload).to_bytes(8, "big") + head + payload


def _connect_unix(place: str) -> Connection:
    path = os.path.join(place, "tray.sock")
    if sys.platform == "win32" or not _is_ours(path):
        return None
    if sys.platform == "linux" and len(os.fsencode(path)) > 107:  # the kernel's limit
        path = f"/proc/self/fd/{os.open(place, os.O_PATH)}/tray.sock"
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    connection.setblocking(False)
    until = time.monotonic() + ACK_LIMIT
    while True:
        try:
            connection.connect(path)
            return connection
        except BlockingIOError:  # the listen queue is full
            if time.monotonic() < until:
                time.sleep(0.005)
                continue
        except OSError:
            pass
        connection.close()
        return None


def _connect_loopback(place: str) -> tuple[Connection, str]:
    """Where there are no Unix sockets the tray leaves its port and a token in the socket's folder."""
    text = _read_file(os.path.join(place, "tray.addr")).decode("ascii", "replace").split()
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


def _exchange(
    unsent: memoryview,
    connection: Connection,
    reader: int,
    writer: int,
    head: bytes,
    started: float,
    words: list[str],
) -> Answer | None:
    """Send the frame and read at the same time: an answer may come early, and is valid even if sending fails."""
    received, acknowledged, until = bytearray(head), False, time.monotonic() + ACK_LIMIT
    while (answer := _answer(received)) is None:
        if not acknowledged and len(received) >= 5:
            acknowledged = True
            until = started + min(int.from_bytes(received[1:5], "big") / 1000, _limit(words))
        if not unsent and writer != reader:
            os.close(writer)  # the end of its input; a connection stays open, since its end would be ours
            writer = reader
        left = until - time.monotonic()
        readable, writable = _wait(reader, writer if unsent else -1, left)
        if not readable and (left <= 0 or not writable):
            return None
        if writable:
            unsent = _send(connection, writer, unsent)
            if not acknowledged:
                until = time.monotonic() + ACK_LIMIT
        if readable:
            part = connection.recv(CHUNK) if connection else os.read(reader, CHUNK)
            if not part:
                return None
            received += part
    return answer


def _limit(words: list[str]) -> float:
    """Seconds after which the answer must have been given, as the table has it; infinite when it does not."""
    agent, event = os.fsencode(words[0]), os.fsencode(words[1] if len(words) > 1 else "")
    for row in _rows(b"limit"):
        if len(row) == 3 and row[:2] == [agent, event] and _number(row[2], 9) >= 0:
            return int(row[2]) / 1000
    return float("inf")


def _answer(received: bytearray) -> Answer | None:
    """The answer behind the five bytes of the acknowledgement, once all of it is there; it is 15 bytes at least."""
    if not b"A".startswith(received[:1]) or not b"R".startswith(received[5:6]):
        raise ConnectionError("not one of ours")
    border = 15 + int.from_bytes(received[7:11], "big")
    end = border + int.from_bytes(received[11:15], "big")
    return (received[6], bytes(received[15:border]), bytes(received[border:end])) if len(received) >= end else None


def _send(connection: Connection, writer: int, unsent: memoryview) -> memoryview:
    try:
        return unsent[connection.send(unsent[:CHUNK]) if connection else os.write(writer, unsent[:CHUNK]) :]
    except BlockingIOError:
        return unsent
    except OSError:
        return unsent[:0]  # the other end is closed; its answer may still be there


def _ask_one_shot(
    place: str, words: list[str], event_id: str, body: bytearray, started: float, has_place: bool
) -> Answer | None:
    """With `without_tray=once` the one-shot engine decides; its answer must be whole to count."""
    command = _table_command() if has_place else _conf_command(place)
    if not command:
        return None
    import subprocess  # costs more than the whole rest, and is hardly ever needed

    spent = f"{(time.monotonic() - started) * 1000:.0f}"
    argv = [*command, "--id", event_id, "--spent", spent, "--framed", *words]
    if sys.platform == "win32":  # there a process cannot wait for a pipe
        left = min(started + _limit(words) - time.monotonic(), DAY)
        done = subprocess.run(argv, input=body, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=left)
        return _answer(bytearray(OWN_DEADLINE_ACK + done.stdout))
    (theirs, writer), (reader, answers) = os.pipe(), os.pipe()
    subprocess.Popen(argv, stdin=theirs, stdout=answers, stderr=subprocess.DEVNULL)
    os.close(theirs)
    os.close(answers)
    os.set_blocking(writer, False)
    return _exchange(memoryview(body), None, reader, writer, OWN_DEADLINE_ACK, started, words)


def _table_command() -> list[str]:
    words = [_unescaped(word) for word in next(iter(_rows(b"once")), [])]
    is_whole = _table_text(b"without_tray") == b"once" and None not in words and words != [b""]
    return [os.fsdecode(word) for word in words if word is not None] if is_whole else []


def _conf_command(place: str) -> list[str]:
    lines = os.fsdecode(_read_file(os.path.join(place, "relay.conf"))).split("\n")
    conf = {key: value.rstrip("\r") for key, _, value in (line.partition("=") for line in lines)}
    return conf["once"].split("\x1f") if conf.get("without_tray") == "once" and conf.get("once") else []


def _open_standard_streams() -> None:
    """A stream that the agent closed must not be taken for the socket that gets its number."""
    while (opened := os.open(os.devnull, os.O_RDWR)) < 3:
        os.set_inheritable(opened, True)
    os.close(opened)


def _wait(reader: int, writer: int, seconds: float) -> tuple[bool, bool]:
    """Whether the one can be read and the other be written, by then; -1 is not asked."""
    if sys.platform == "win32" or not hasattr(select, "poll"):
        found = select.select([reader][: reader + 1], [writer][: writer + 1], [], min(max(seconds, 0), DAY))
        return bool(found[0]), bool(found[1])
    poll, wanted = select.poll(), {reader: select.POLLIN}  # select refuses descriptors from 1024 on
    wanted[writer] = wanted.get(writer, 0) | select.POLLOUT
    for opened, events in ((opened, events) for opened, events in wanted.items() if opened >= 0):
        poll.register(opened, events)
    ready = dict(poll.poll(int(min(max(seconds, 0), DAY) * 1000 + 0.999)))
    return bool(ready.get(reader, 0) & ~select.POLLOUT), bool(ready.get(writer, 0) & ~select.POLLIN)


def _read_file(path: str) -> bytes:
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read() if _is_ours(path) else b""
    except OSError:
        return b""


def _read_all(opened: int, text: bytearray) -> None:
    """An end that never comes is an error: what is there may be cut short, so nothing is decided on it (law 5)."""
    while True:
        if sys.platform != "win32" and not _wait(opened, -1, STDIN_LIMIT)[0]:
            raise TimeoutError
        try:
            part = os.read(opened, CHUNK)
        except BlockingIOError:
            continue
        if not part:
            return
        text += part


def _write_all(opened: int, text: bytes | bytearray) -> None:
    """Best effort: an agent that no longer reads wants no answer."""
    rest = memoryview(text)
    while rest:
        try:
            rest = rest[os.write(opened, rest[:CHUNK]) :]
        except BlockingIOError:
            _wait(-1, opened, DAY)
        except OSError:
            return


if __name__ == "__main__":
    os._exit(main(sys.argv[1:]))  # nothing is buffered, so nothing is lost, and the interpreter's clean-up is spared
