"""The installed table: where the tray is, and the guards that answer when nobody has judged the event."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from desk import wait
from every import every
from relays import ACK, ONCE, Agent, Impostor, Judge, Said, hangs_after, opened, replies, run, said

GUARDS = (
    "guard=pine\x1fbefore\x1fask\x1fonly\x1fshell\x1fweb%1f\n"
    "guard=pine\x1fbefore\x1fblock\x1fonly\x1fwrite\n"
    "guard=pine\x1fpermission\x1fblock\x1fexcept\x1fread\n"
    "guard=fir\x1fbefore\x1fblock\x1fexcept\n"
    "tool=pine\x1ftool\n"
    "tool=fir\x1fcall\x1fname\n"
    "event=pine\x1fevent\n"
    "ask=pine\x1fbefore\x1f0\x1fASK%0A\x1f\n"
    "deny=pine\x1fbefore\x1f2\x1fDENY\x1fno\n"
    "deny=pine\x1fpermission\x1f0\x1fREFUSED\x1f\n"
    "deny=fir\x1fbefore\x1f0\x1fFIR\x1f\n"
    "mark=oak\x1fkey\x1foak_version\n"
    "neutral=oak\x1fbefore\x1fbytes\x1fOAK\n"
    "neutral=oak\x1f*\x1fbytes\x1f{}\n"
)
ASKED, DENIED, SILENT = (b"ASK\n", b"", 0), (b"DENY", b"no", 2), (b"", b"", 0)


@pytest.fixture
def agent(beside: Agent, table: Path) -> Agent:
    table.write_text(GUARDS)
    return beside


def payload(tool: str, **more: Any) -> bytes:
    return json.dumps(
        {"event": "before", "cwd": '/"}{', "input": {"tool": "read", "a": ["]", {}]}, "tool": tool, **more}
    ).encode()


@every(
    ("event", "tool", "answer"),
    [
        ("before", "shell", ASKED),
        ("before", "web\x1f", ASKED),
        ("before", "write", DENIED),
        ("before", "read", SILENT),
        ("before", "Shell", SILENT),
        ("before", "", DENIED),
        ("permission", "read", SILENT),  # an exception: every other tool is guarded
        ("permission", "shell", (b"REFUSED", b"", 0)),
    ],
)
def test_a_guarded_tool_is_asked_about_or_denied(agent: Agent, event: str, tool: str, answer: Said) -> None:
    assert said(agent.relay("pine", event, payload=payload(tool, event=event))) == answer


def test_the_name_of_a_tool_may_be_inside_an_object(agent: Agent) -> None:
    body = b'{"name":"x","call":{"a":1,"name":"shell"}}'

    assert said(agent.relay("fir", "before", payload=body)) == (b"FIR", b"", 0)
    assert said(agent.relay("fir", "after", payload=b'{"call":{"name":"shell"}}')) == SILENT


def test_the_event_is_the_one_that_the_payload_names(agent: Agent) -> None:
    assert said(agent.relay("pine", payload=payload("write"))) == DENIED
    assert said(agent.relay("pine", "before", payload=payload("write", event="after"))) == SILENT


UNREADABLE = {
    "nothing": b"",
    "no object": b'["shell"]',
    "cut short": payload("read")[:-1],
    "a name cut short": b'{"tool":"rea',
    "given twice": b'{"tool":"read","tool":"shell"}',
    "no text": b'{"tool":1}',
    "without it": b'{"input":{"tool":"read"}}',
    "two values": b'{"tool":"read"}{}',
    "an unknown escape": b'{"tool":"r\\x65ad"}',
    "a line break in a text": b'{"a":"\n","tool":"read"}',
    "no value": b'{"a":,"tool":"read"}',
}


@every("case", UNREADABLE)
def test_a_payload_that_cannot_be_understood_counts_as_guarded(agent: Agent, case: str) -> None:
    assert said(agent.relay("pine", "before", payload=UNREADABLE[case])) == DENIED


def test_escapes_in_a_name_are_read(agent: Agent) -> None:
    assert said(agent.relay("pine", "before", payload=b'{"\\u0074ool":"wr\\u0069te"}')) == DENIED
    assert said(agent.relay("pine", "before", payload=b' {"tool" : "r\\u0065ad" }\n')) == SILENT


def test_another_agent_that_runs_the_line_gets_its_own_neutral_answer(agent: Agent) -> None:
    assert said(agent.relay("pine", "before", payload=payload("write", oak_version=3))) == (b"OAK", b"", 0)
    assert said(agent.relay("pine", "stop", payload=b'{"oak_version":{}}')) == (b"{}", b"", 0)


def test_whoever_judges_the_event_is_not_overruled(agent: Agent) -> None:
    agent.without_tray()
    assert said(agent.relay("pine", "before", payload=payload("write"))) == (b"once out", b"once err", 0)
    with opened(agent):
        assert agent.relay("pine", "before", payload=payload("write")).stdout == b"out\0\xff"


ENDS = {
    "cannot start": ["/nonexistent/python", "once"],
    "ends with a code": ["/bin/sh", "-c", "cat >/dev/null; exit 1"],
    "is killed": ["/bin/sh", "-c", "kill -9 $$"],
    "answers half": ["/bin/sh", "-c", "cat >/dev/null; printf 'R\\002\\000\\000\\000\\003\\000\\000\\000\\000no'"],
}


@every("end", ENDS)
def test_without_a_whole_answer_of_the_one_shot_engine_the_guards_decide(agent: Agent, end: str) -> None:
    agent.without_tray(command=ENDS[end])

    assert said(agent.relay("pine", "before", payload=payload("write"))) == DENIED
    assert said(agent.relay("pine", "before", payload=payload("read"))) == SILENT


def test_the_relay_does_not_wait_for_an_engine_beyond_the_limit(agent: Agent, table: Path) -> None:
    table.write_text(GUARDS + "limit=pine\x1fbefore\x1fx\nlimit=pine\x1fbefore\x1f1500\n")
    agent.without_tray(command=["/bin/sh", "-c", f"cat >/dev/null; echo $$ >{agent.home}/pid; exec sleep 600"])

    assert said(agent.relay("pine", "before", payload=payload("write"))) == DENIED

    note = agent.home / "pid"
    wait(lambda: note.exists() and note.read_text().endswith("\n"), what="the engine has begun")
    os.kill(int(note.read_text()), signal.SIGKILL)


TRAYS = {
    "dies after its acknowledgement": replies(ACK),
    "acknowledges for ever": hangs_after(b"A\xff\xff\xff\xff"),
    "answers nothing": hangs_after(b""),
}


@pytest.mark.skipif(sys.platform == "win32", reason="no Unix sockets")
@pytest.mark.parametrize("case", TRAYS)
def test_a_tray_that_gives_no_answer_leaves_a_guarded_call_guarded(agent: Agent, table: Path, case: str) -> None:
    table.write_text(GUARDS + "limit=pine\x1fbefore\x1f1500\n")
    impostor = Impostor(agent.state / "tray.sock", TRAYS[case])

    done = agent.relay("pine", "before", payload=payload("shell"))

    impostor.close()
    assert said(done) == ASKED


# ---- where the tray is


def installed(agent: Agent, *more: str) -> None:
    """The table names the agent's home; its command line names nothing."""
    table = Path(agent.words[-1]).with_name("relay.table")
    table.write_text(GUARDS + "".join(f"{line}\n" for line in (f"state={agent.state}", *more)))


def answered(agent: Agent, tool: str, event: str = "before") -> Said:
    """Returns the relay's answer to a call, with variables that name other folders."""
    return said(run([*agent.words, "pine", event], payload(tool, event=event), ELSEWHERE))


ELSEWHERE = {"HOOKTRAY_HOME": "/nonexistent", "XDG_STATE_HOME": "/nonexistent", "HOME": "/nonexistent"}


def test_the_table_says_where_the_tray_is_and_the_environment_does_not(agent: Agent) -> None:
    installed(agent)

    with opened(agent):
        assert answered(agent, "read")[0] == b"out\0\xff"


def test_the_command_line_says_so_before_the_table(agent: Agent, tmp_path: Path) -> None:
    installed(agent)
    other = Agent(tmp_path / "other", agent.words)

    with opened(other):
        assert other.relay("pine", "before", payload=payload("read")).stdout == b"out\0\xff"


@pytest.mark.parametrize("is_gone", [False, True])
def test_the_command_of_the_one_shot_engine_is_in_the_table(agent: Agent, is_gone: bool) -> None:
    script = agent.home / "once%.py"
    script.write_text(ONCE)
    words = [sys.executable, "-I", "-S", str(script).replace("%", "%25"), str(agent.record), "0"]
    installed(agent, "without_tray=once", "once=" + "\x1f".join(words))
    if is_gone:
        agent.state.rmdir()

    assert answered(agent, "write") == (b"once out", b"once err", 0)


@every("mode", ["without_tray=allow", "without_tray=", "x="])
def test_without_the_word_no_one_shot_engine_is_started(agent: Agent, mode: str) -> None:
    installed(agent, mode, f"once=/bin/sh\x1f-c\x1ftouch {agent.record}")

    assert answered(agent, "read") == SILENT
    assert not agent.record.exists()


# ---- calls that go on unjudged


ALLOW = "guard=pine\x1fbefore\x1fallow\x1fonly\x1fread\x1fshell", "guard=elm\x1fbefore\x1fask\x1fexcept"
NOTES = "unjudged-calls"


def test_a_guarded_call_that_goes_on_unjudged_is_noted_beside_the_socket(agent: Agent) -> None:
    installed(agent, *ALLOW)

    for tool, answer in (("read", SILENT), ("read", SILENT), ("shell", ASKED), ("write", DENIED), ("glob", SILENT)):
        assert answered(agent, tool) == answer
    assert said(run([*agent.words, "elm", "before"], b"{}", ELSEWHERE)) == SILENT  # it has no such answer

    notes = agent.state / NOTES
    assert notes.read_bytes() == b"pine\x1fbefore\n" * 2 + b"elm\x1fbefore\n"
    assert notes.stat().st_mode & 0o777 == 0o600


def test_a_call_that_is_judged_or_not_guarded_is_not_noted(agent: Agent) -> None:
    installed(agent, *ALLOW)

    with opened(agent):
        answered(agent, "read")
    answered(agent, "read", "after")

    assert not (agent.state / NOTES).exists()


def test_an_event_that_a_relay_answers_alone_leaves_a_sign(agent: Agent, tmp_path: Path) -> None:
    installed(agent)
    sign = agent.state / "answered-alone"

    with opened(agent):
        answered(agent, "read")
    assert not sign.exists()
    for tool in ("read", "write"):
        answered(agent, tool)
    answered(agent, "read", "after")
    assert sign.read_bytes() == b"..."

    installed(agent, f"package=\x1f\x1f{tmp_path / 'no'}")
    answered(agent, "read")
    assert sign.read_bytes() == b"..."


def test_the_file_of_notes_does_not_grow_without_end(agent: Agent) -> None:
    installed(agent, *ALLOW)
    (agent.state / NOTES).write_bytes(b"x" * 64 * 1024)

    assert answered(agent, "read") == SILENT

    assert (agent.state / NOTES).stat().st_size == 64 * 1024


@pytest.mark.parametrize(
    "make", [lambda path: os.mkfifo(path), os.mkdir, lambda path: path.symlink_to("/nonexistent/x")]
)
def test_where_no_note_can_be_written_the_answer_is_the_same(agent: Agent, make: Any) -> None:
    installed(agent, *ALLOW)
    make(agent.state / NOTES)

    assert answered(agent, "read") == SILENT


# ---- a package that is gone


def test_an_uninstalled_package_ends_all_guards(agent: Agent, tmp_path: Path) -> None:
    mark, site, file = (tmp_path / name for name in ("mark 100%", "site", "site/once.py"))
    site.mkdir()
    os.utime(site, (0, 0))
    row = "\x1f".join(str(one).replace("%", "%25") for one in (mark, site, file, tmp_path / "no" / "such"))

    def answer(row: str) -> tuple[bytes, bytes, int]:
        installed(agent, f"package={row}")
        return answered(agent, "write")

    assert answer(row) == DENIED  # the whole environment may be gone
    mark.touch()
    assert answer(row) == SILENT
    assert answer(f"\x1f{row.partition(chr(31))[2]}") == SILENT  # without a mark, where only root could have done it
    assert answer(f"\x1f\x1f{file}") == SILENT
    for damaged in ("", "\x1f", f"{mark}\x1f{site}", f"{row}\x1f", f"{row}%z"):
        assert answer(damaged) == DENIED
    file.touch()
    assert answer(row) == DENIED
    file.unlink()  # the folder changed just now: it may be an upgrade
    assert answer(row) == DENIED


# ---- both alike

PARTS = [b"\x1f", b"\n", b"\r", b"", *(
    b"= % %41 %zz pine before only except ask block allow deny tool event mark key guard 0 255 256 -1 shell write *"
).split()]  # fmt: skip
JSON_PARTS = [
    *(b'"', b"{", b"}", b"[", b"]", b",", b":", b"\\", b"\\u0074", b"\\ud83d\\ude00", b"\\ud83d", b"\\n", b"\\q"),
    *(b"tool", b'"tool"', b'"event"', b'"oak_version":1,', b"shell", b"write", b" ", b"\n", b"\0", b"\xff", b"1"),
    *(b"null", b"1e5", b""),
]
BODIES = [
    *(payload("shell"), payload("write"), payload("read"), payload("write", event="permission"), b"{}", b"[]"),
    *(payload("write", oak_version=1), b'{"call":{"name":"shell"},"tool":"write"}'),
    b'{"a":{"b":["c",{"d":"\\u00e9"}]},"tool":"write\\/"}',
]


def mutated(chance: random.Random, text: bytes, parts: Sequence[bytes], most: int) -> bytes:
    for _ in range(chance.randrange(most)):
        at = chance.randrange(len(text) + 1)
        text = text[:at] + chance.choice(parts) + text[at + chance.randrange(3) :]
    return text


def test_both_relays_judge_any_table_and_payload_alike(both: Judge) -> None:
    chance, outputs = random.Random(7), set[Said]()
    lines = GUARDS.encode().splitlines(keepends=True)
    calls = [["pine", "before"], ["pine", "permission"], ["fir", "before"], ["pine"], ["fir", "stop"]]

    for _ in range(90):
        table = mutated(chance, b"".join(chance.sample(lines, k=len(lines))), PARTS, 4)
        body = mutated(chance, chance.choice(BODIES), JSON_PARTS, 4)
        outputs.add(both(table, chance.choice(calls), body))

    assert {ASKED, DENIED, SILENT, (b"REFUSED", b"", 0), (b"FIR", b"", 0), (b"OAK", b"", 0)} <= outputs
