"""The line that agents run: silent when Hooktray is gone, recognised when it is read again."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from connect.sites import Person
from every import every
from msgspec.structs import replace
from platformdirs.macos import MacOS

from tray import relay_program
from tray.agents import relay_command
from tray.agents.protocol import neutral
from tray.agents.registry import AGENTS
from tray.agents.relay_command import RelayCommand
from tray.errors import HooktrayError
from tray.paths import locate

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="lines for a POSIX shell")

PAYLOAD = b'{"a": "\xc3\xa9"}' + b" " * 300_000 + b"\n"


def missing(root: Path) -> dict[str, tuple[str, ...]]:
    """Every way in which the relay can be missing."""
    dangling = root / "it's here" / "hooktray-hook"
    dangling.parent.mkdir()
    dangling.symlink_to(root / "gone")
    locked = root / "hooktray-hook"
    locked.write_text("#!/bin/sh\necho no\n")
    return {
        "native gone": (str(root / "nowhere" / "hooktray-hook"), "--home", "/h"),
        "native without its bit": (str(locked),),
        "a link to nothing": (str(dangling), "--home", "/h h"),
    }


def run(argv: list[str]) -> tuple[int, bytes, bytes]:
    done = subprocess.run(argv, input=PAYLOAD, capture_output=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def test_without_the_relay_an_agents_shell_prints_nothing(tmp_path: Path) -> None:
    for case, relay in missing(tmp_path).items():
        line = relay_command.shell_line((*relay, "claude-code", "PreToolUse"))
        assert run(["/bin/sh", "-c", line]) == (0, b"", b""), case


def test_without_the_relay_an_agent_that_splits_words_gets_no_output(tmp_path: Path) -> None:
    for case, relay in missing(tmp_path).items():
        line = relay_command.exec_line((*relay, "starchild", "pre_tool_call"))
        assert run(shlex.split(line)) == (0, b"", b""), case


@pytest.mark.parametrize(("name", "otherwise"), [("system-prompt", "cat"), ("chat-message", "cat >/dev/null")])
def test_without_the_relay_shelley_continues(tmp_path: Path, name: str, otherwise: str) -> None:
    shim = tmp_path / name
    for case, relay in missing(tmp_path).items():
        shim.write_bytes(relay_command.shim((*relay, "shelley", name), otherwise=otherwise))
        shim.chmod(0o755)
        assert run([str(shim)]) == (0, PAYLOAD if otherwise == "cat" else b"", b""), case


RELAYS = {"it fails": "#!/bin/sh\nexit 1\n", "it is killed": "#!/bin/sh\nkill -9 $$\n", "no program": "\x7fELF"}


@pytest.mark.parametrize("relay", [*RELAYS, "none"])
@pytest.mark.parametrize("agent", ["antigravity", "copilot-cli", "cursor"])
def test_an_agent_that_requires_an_answer_gets_a_neutral_one_if_the_relay_is_broken_or_missing(
    tmp_path: Path, agent: str, relay: str
) -> None:
    person = Person(tmp_path, agent)
    program = tmp_path / "hooktray-hook"
    if relay in RELAYS:
        program.write_text(RELAYS[relay])
        program.chmod(0o755)
    person.connect((str(program),))

    for entry in person.relay_entries():
        answer = neutral(AGENTS[agent], entry.event, b"").stdout
        assert run(list(entry.argv))[:2] == (0, answer), entry.event


def test_the_relay_that_is_there_runs_with_its_words(tmp_path: Path) -> None:
    relay = tmp_path / "a b" / "hooktray-hook"
    relay.parent.mkdir()
    relay.write_text("#!/bin/sh\nprintf '%s|' \"$@\"; exit 2\n")
    relay.chmod(0o755)
    line = relay_command.shell_line((str(relay), "--home", "/h $x", "claude-code", "Stop"))

    assert run(["/bin/sh", "-c", line]) == (2, b"--home|/h $x|claude-code|Stop|", b"")


FORMS: dict[str, Callable[[Sequence[str]], str]] = {
    "a line": relay_command.shell_line,
    "a line that answers": lambda words: relay_command.answering_line(words, b'{"a": "b c"}'),
    "words": relay_command.exec_line,
    "an executable": lambda words: relay_command.shim(words, otherwise="cat").decode(),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_relays_place_on_macos_has_a_space_and_each_form_of_our_lines_is_shell(tmp_path: Path, form: str) -> None:
    relay = tmp_path / MacOS("Hooktray", appauthor=False).user_data_path.relative_to("/") / "bin" / "hooktray-hook"
    relay.parent.mkdir(parents=True)
    relay.write_text("#!/bin/sh\nprintf '%s|' \"$@\"\n")
    relay.chmod(0o755)
    line = FORMS[form]((str(relay), "claude-code", "Stop"))

    read = subprocess.run(["/bin/sh", "-n"], input=line.encode(), capture_output=True, timeout=60, check=False)

    assert "Library/Application Support/Hooktray/" in line
    assert (read.returncode, read.stdout, read.stderr) == (0, b"", b"")
    assert run(["/bin/sh", "-c", line]) == (0, b"claude-code|Stop|", b"")


def test_this_installations_relay_runs() -> None:
    words = relay_program.argv(locate("/nonexistent").relay_options)
    line = relay_command.shell_line((*words, "shelley", "system-prompt"))

    assert run(["/bin/sh", "-c", line]) == (0, PAYLOAD, b"")


@every("relay", ["/x/hooktray-hook", "/it's here/hooktray-hook"])
@every(
    ("named", "state"),
    [((), ""), (("--home", "/my home"), "/my home/state"), (("--state", "/my state"), "/my state")],
)
@every("form", [relay_command.shell_line, relay_command.exec_line, lambda words: list(words)])
def test_our_own_lines_are_recognised(relay: str, named: tuple[str, ...], state: str, form: object) -> None:
    words = (relay, *named, "x-code", "PreToolUse")

    assert callable(form)
    assert _without_files(form(words)) == RelayCommand(agent="x-code", event="PreToolUse", state_folder=state)


@every(
    ("text", "found"),
    [
        ("hooktray relay claude-code PreToolUse", RelayCommand(agent="claude-code", event="PreToolUse")),
        (
            "/usr/bin/hooktray --home /h relay shelley slash/a",
            RelayCommand(agent="shelley", event="slash/a", state_folder="/h/state"),
        ),
        ("hooktray-hook.exe --home=C:/h claude-code", RelayCommand(agent="claude-code", state_folder="C:/h/state")),
        ("cd / && exec hooktray-hook claude-code Stop", RelayCommand(agent="claude-code", event="Stop")),
        ("echo hooktray-hook claude-code Stop", None),
        ("echo 'hooktray relay claude-code Stop'", None),
        ("my-hook # hooktray-hook claude-code Stop", None),
        ("hooktray-hook somebody-else Stop", None),
        ("hooktray-hook claude-code Stop and more", None),
        ("hooktray log", None),
        ("python3 -I -S /x/tray/relay.py claude-code Stop", None),
        ("python3 -m tray relay claude-code", None),
        ("hooktray-hook 'unclosed", None),
        ("", None),
    ],
)
def test_only_our_own_lines_are_recognised(text: str, found: RelayCommand | None) -> None:
    assert _without_files(text) == found


WINDOWS = ("C:\\Program Files (x86)\\h\\hooktray-hook.exe", "--home", "C:\\h", "x-code", "PreToolUse")
SCRIPT = ("C:\\a b\\hooktray-hook.cmd", "claude-code", "Stop")


NATIVE_LINE = (
    r'if exist "C:\Program Files (x86)\h\hooktray-hook.exe" ( "C:\Program Files (x86)\h\hooktray-hook.exe" '
    r'--home "C:\h" x-code PreToolUse ) else ( more >nul )'
)
SCRIPT_LINE = (
    r'if exist "C:\a b\hooktray-hook.cmd" ( "C:\a b\hooktray-hook.cmd" claude-code Stop ) else ( more >nul )'
)


@pytest.mark.parametrize(("words", "text"), [(WINDOWS, NATIVE_LINE), (SCRIPT, SCRIPT_LINE)])
def test_on_windows_cmd_looks_first_whether_it_is_there(words: tuple[str, ...], text: str) -> None:
    assert relay_command.cmd_line(words) == text


@every(
    ("agent", "event", "answer"),
    [("cursor", "preToolUse", '{"permission":"allow"}'), ("antigravity", "Stop", '{"decision":""}')],
)
def test_a_line_with_a_neutral_answer_also_works_on_windows(
    agent: str, event: str, answer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")

    line = relay_command.answering_line((WINDOWS[0], agent, event), neutral(AGENTS[agent], event, b"").stdout)

    start = f'if exist "{WINDOWS[0]}" ( "{WINDOWS[0]}" {agent} {event} )'
    assert line == f"{start} else ( more >nul & echo {answer})"
    assert _without_files(line) == RelayCommand(agent=agent, event=event)


def test_words_for_cmd_become_the_same_line_when_they_are_quoted_by_the_c_library() -> None:
    joined = subprocess.list2cmdline(relay_command.cmd_argv(WINDOWS))

    assert joined == "cmd.exe /d /c " + NATIVE_LINE.replace(r'"C:\h"', r"C:\h")


@pytest.mark.parametrize("words", [WINDOWS, SCRIPT])
def test_lines_for_windows_are_recognised(words: tuple[str, ...]) -> None:
    joined = shlex.join(relay_command.cmd_argv(words))

    for text in (relay_command.cmd_line(words), relay_command.cmd_argv(words), joined):
        folder = str(Path("C:\\h", "state")) if "--home" in words else ""
        assert relay_command.parse(text) == RelayCommand(
            agent=words[-2], event=words[-1], state_folder=folder, required_files=(words[0],)
        )


@every("sign", '%^&|<>!"')
def test_a_path_that_cmd_would_take_apart_is_refused(sign: str) -> None:
    with pytest.raises(HooktrayError, match=r"cmd\.exe cannot be given this path"):
        relay_command.cmd_argv((f"C:\\a{sign}b\\hooktray-hook.exe", "claude-code", "Stop"))


def test_every_event_has_a_line_that_is_recognised() -> None:
    for agent, known in AGENTS.items():
        for event in known.events:
            words = ("/x/hooktray-hook", agent, event)
            assert _without_files(relay_command.shell_line(words)) == RelayCommand(agent=agent, event=event)


def _without_files(text: str | Sequence[str]) -> RelayCommand | None:
    found = relay_command.parse(text)
    return found and replace(found, required_files=())
