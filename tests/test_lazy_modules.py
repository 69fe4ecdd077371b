"""A lazy module behaves as the real one, and loads that when a name is used that it does not have."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from house import PRE_TOOL_USE, House

from tray.execution.isolation import one_shot_command

NOT_LOADED = {
    "_hashlib", "binascii", "datetime", "hashlib", "ipaddress", "locale", "logging", "ntpath", "selectors", "shlex",
    "signal", "sqlite3", "traceback", "typing", "unicodedata", "urllib.parse",
}  # fmt: skip


def run(program: str, names: str = "") -> list[str]:
    """The lines that a program prints which starts with these lazy modules in use, or all of GIVEN."""
    start = f"import sys; sys.path.append({str(Path(__file__).parent.parent)!r})\n"
    start += f"from tray.lazy_modules import use_lazy_modules, when_loaded; use_lazy_modules({names})\n"
    argv = [sys.executable, "-I", "-S", "-c", start + program]
    return subprocess.run(argv, capture_output=True, text=True, timeout=60, check=True).stdout.splitlines()


@pytest.mark.parametrize("size", [0, 3, 1 << 16, (1 << 16) + 1])
def test_each_digest_is_correct_and_only_that_of_large_data_loads_openssl(size: int) -> None:
    first, second, loaded = run(
        f"import hashlib\nprint(hashlib.sha256(b'x' * {size}).hexdigest())\nloaded = '_hashlib' in sys.modules\n"
        f"print(hashlib.new('sha256', b'x' * {size}).hexdigest()); print(loaded)"
    )

    assert first == second
    assert loaded == str(size > 1 << 16)


def test_a_path_in_an_address_is_quoted_as_always() -> None:
    plain, loaded, spaced = run(
        "from pathlib import Path\nprint(Path('/a/b-c_d.e~1').as_uri()); print('ipaddress' in sys.modules)\n"
        "print(Path('/a b/ü').as_uri())"
    )

    assert (plain, loaded) == ("file:///a/b-c_d.e~1", "False")
    assert spaced == "file:///a%20b/%C3%BC"


def test_a_field_of_the_relays_table_is_read_and_written_as_always() -> None:
    plain, loaded, quoted, unquoted = run(
        "from urllib.parse import quote_from_bytes, unquote_to_bytes\nprint(unquote_to_bytes(b'a b'))\n"
        "print('ipaddress' in sys.modules)\nprint(quote_from_bytes(b'a b%', safe=' '))\n"
        "print(unquote_to_bytes(b'%41b'))"
    )

    assert (plain, loaded, quoted, unquoted) == ("b'a b'", "False", "a b%25", "b'Ab'")


def test_the_first_line_that_is_logged_loads_logging_with_the_handler_that_waited_for_it() -> None:
    lines = run(
        "import logging\nlog = logging.getLogger('tray.one'); warn = log.warning\n"
        "def handle(): logging.basicConfig(stream=sys.stdout, format='%(name)s %(message)s')\n"
        "when_loaded('logging', handle)\nprint('traceback' in sys.modules)\n"
        "warn('%r is %s', 'a', 1)\nlog.warning('again')\nprint(log.name, log.isEnabledFor(logging.DEBUG))\n"
    )

    assert lines == ["False", "tray.one 'a' is 1", "tray.one again", "tray.one False"]


def test_another_thread_logs_only_when_the_handler_is_there() -> None:
    lines = run(
        "import logging, _thread\nlog = logging.getLogger('tray.one')\n"
        "begun, done = _thread.allocate_lock(), _thread.allocate_lock()\n"
        "begun.acquire(); done.acquire()\n"
        "def other(): begun.release(); log.warning('other'); done.release()\n"
        "def handle():\n _thread.start_new_thread(other, ()); begun.acquire(); done.acquire(timeout=0.3)\n"
        " logging.basicConfig(stream=sys.stdout, format='%(message)s')\n"
        "when_loaded('logging', handle)\nlog.warning('one'); done.acquire(timeout=10)"
    )

    assert sorted(lines) == ["one", "other"]


@pytest.mark.skipif(sys.platform == "win32", reason="has no such limit")
def test_what_was_loaded_ahead_needs_no_file_later() -> None:
    program = """if True:
        import linecache, resource, signal, sys, textwrap, traceback
        from tray.lazy_modules import load_modules
        load_modules("linecache", "signal", "textwrap")
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        try:
            1 / 0
        except ZeroDivisionError:
            print(traceback.format_exc().splitlines()[-1])
        print(textwrap.dedent(" a"), signal.Signals(9).name)
    """

    assert run(program, "'linecache', 'signal', 'textwrap'") == ["ZeroDivisionError: division by zero", "a SIGKILL"]


def test_what_is_loaded_already_stays() -> None:
    program = (
        f"import sys; sys.path.append({str(Path(__file__).parent.parent)!r})\nimport logging\n"
        "from tray.lazy_modules import use_lazy_modules, when_loaded\nuse_lazy_modules()\n"
        "print(sys.modules['logging'] is logging)\nwhen_loaded('logging', lambda: print('now'))"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["True", "now"]


def test_the_database_and_every_other_name_are_those_of_the_real_module() -> None:
    lines = run(
        "import sqlite3, urllib.parse\nprint(sqlite3.connect(':memory:').execute('SELECT 1').fetchone())\n"
        "print('datetime' in sys.modules, issubclass(sqlite3.OperationalError, sqlite3.Error))\n"
        "from sqlite3 import dbapi2\nprint(dbapi2.OperationalError is sqlite3.OperationalError)\n"
        "print(urllib.parse.quote('a b'), urllib.parse.urlsplit('http://h/p').path)"
    )

    assert lines == ["(1,)", "False True", "True", "a%20b /p"]


def test_a_signal_is_handled_by_its_number_and_has_its_name() -> None:
    lines = run(
        "import signal\nold = signal.signal(signal.SIGTERM, lambda number, frame: print(number == signal.SIGTERM))\n"
        "print(old == signal.SIG_DFL, 'enum' in sys.modules)\nsignal.raise_signal(signal.SIGTERM)\n"
        "print(signal.Signals(signal.SIGTERM).name)"
    )

    assert lines == ["True False", "True", "SIGTERM"]


def test_a_process_talks_by_two_pipes_in_the_encoding_of_the_locale() -> None:
    lines = run(
        "import subprocess\nloaded = 'EVENT_READ' in vars(sys.modules['selectors'])\n"
        "words = ['sh', '-c', 'cat; echo no >&2']\n"
        "done = subprocess.run(words, input='yes', capture_output=True, text=True)\n"
        "print(loaded, done.stdout, done.stderr.strip(), 'EVENT_READ' in vars(sys.modules['selectors']))"
    )

    assert lines == ["False yes no True"]


def test_a_path_of_windows_has_its_parts_anywhere() -> None:
    lines = run(
        "from pathlib import PureWindowsPath\n"
        "print(PureWindowsPath('C:\\\\a\\\\b.txt').parts, PureWindowsPath('a') / 'b')"
    )

    assert lines == ["('C:\\\\', 'a', 'b.txt') a\\b"]


def test_no_agents_protocol_needs_typing() -> None:
    lines = run(
        "import importlib\nfrom tray.agents.registry import AGENTS, BUILT_IN\n"
        "for id, module in BUILT_IN.items():\n AGENTS[id].protocol\n"
        " if '_typing' in sys.modules: print(id)"
    )

    assert lines == []


def test_an_event_without_the_tray_loads_none_of_these_modules(tmp_path: Path) -> None:
    house = House(tmp_path)
    house.hook("no", on="tool_before", type="rule", matcher="mkfs", decision="deny")
    python, *words = one_shot_command()
    argv = [python, "-X", "importtime", *words, "--home", str(house.paths.home), "claude-code", "PreToolUse"]
    payload = PRE_TOOL_USE | {"tool_input": {"command": "mkfs /dev/sda"}}
    house.close()

    done = subprocess.run(argv, input=json.dumps(payload), capture_output=True, text=True, timeout=60, check=True)

    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "tray.once" in loaded
    assert loaded & NOT_LOADED == set()
