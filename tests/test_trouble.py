"""When things go wrong: bad input, a tray that is gone, killed or hung, a broken configuration."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from desk import wait
from guarded import DENY, GUARD, PRE_TOOL_USE, approved, guarded
from live import Live, recorded
from plain import Plain, read_only

from tray.agents.registry import AGENTS
from tray.engine.stores import open_stores
from tray.paths import locate

together = pytest.mark.xdist_group("idle")  # one worker, so one tray
MEGABYTE = 1024 * 1024


@pytest.fixture(scope="module")
def idle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A running tray without hooks, for those who leave it as it is.

    It finds no program that plays sounds: one that is late would count as left behind by the test.
    """
    folder = tmp_path_factory.mktemp("idle")
    plain = Plain(folder)
    plain.environment["PATH"] = str(Path(sys.executable).parent)
    yield Live.fresh(plain, folder)
    plain.close()


@pytest.mark.parametrize(
    ("agent", "event", "body", "problem"),
    [
        ("claude-code", "PreToolUse", b"", "empty payload"),
        ("claude-code", "PreToolUse", b"nonsense", "not JSON"),
        ("x-code", "PreToolUse", b"[]", "array"),
        ("starchild", "pre_tool_call", b"\xff\xfe", "UTF-8"),
        ("shelley", "end-of-turn", b"{", "not JSON"),
        ("claude-code", "BrandNew", b'{"hook_event_name":"BrandNew"}', ""),
        ("nobody", "PreToolUse", b"{}", "unknown agent"),
        ("claude-code", "Stop", b'{"hook_event_name":"Stop","a":"' + b"x" * (10 * MEGABYTE) + b'"}', ""),
        ("claude-code", "Stop", b'{"a":"' + b"x" * (17 * MEGABYTE) + b'"}', "over the limit"),
    ],
    ids=["empty", "not json", "array", "not utf-8", "half", "unknown event", "unknown agent", "10 MB", "17 MB"],
)
@together
def test_bad_input_gets_the_neutral_answer_and_a_row_that_says_what_was_wrong(
    idle: Live, agent: str, event: str, body: bytes, problem: str
) -> None:
    before = len(idle.log())

    done = idle.relay(agent, event, body)

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    row, *earlier = idle.wait_log(before + 1)
    assert len(earlier) == before
    assert (row["agent"], row["event"]) == (agent, event)
    assert problem in row["problem"]


def test_a_hung_tray_is_not_waited_for_and_does_not_judge_late(plain: Plain, tmp_path: Path) -> None:
    live = guarded(plain, tmp_path, f"echo x >>{tmp_path}/runs; {DENY}")
    live.suspend()

    done = live.relay("claude-code", "PreToolUse", PRE_TOOL_USE, is_hung=True)

    assert b'"deny"' in done.stdout
    live.resume()
    assert b'"deny"' in live.relay("claude-code", "PreToolUse", PRE_TOOL_USE).stdout
    live.wait_log(2)
    live.quit()  # whatever it still had in hand is done by then
    assert (tmp_path / "runs").read_text() == "x\nx\n"
    assert [row["offline"] for row in live.log()] == [False, True]


def test_letting_everything_pass_without_a_tray_counts_only_once_confirmed(plain: Plain, tmp_path: Path) -> None:
    live = guarded(plain, tmp_path)
    live.configure({**GUARD, "without_tray": "allow"})
    live.cli("status")
    live.quit()
    live.start()
    live.quit()
    assert b'"deny"' in live.relay("claude-code", "PreToolUse", PRE_TOOL_USE).stdout

    approved(live)
    live.start()
    conf = locate(str(live.home)).relay_conf
    wait(lambda: conf.read_text().startswith("without_tray=allow\n"), what="relays are told")
    live.quit()

    assert live.relay("claude-code", "PreToolUse", PRE_TOOL_USE).stdout == b""
    assert len(live.wait_log(1)) == 1


def test_a_broken_configuration_stops_neither_the_tray_nor_a_guard(plain: Plain, tmp_path: Path) -> None:
    live = guarded(plain, tmp_path)
    live.quit()
    live.configure("hooks:\n  - {event: tool_befor, command: ./guard.sh}\n")

    live.start()

    (status,) = live.rows("status")
    assert "hooktray.yaml:2:6: hooks[0].event: unknown event `tool_befor`" in status["problem"]
    assert b'"deny"' in live.relay("claude-code", "PreToolUse", PRE_TOOL_USE).stdout
    live.configure(GUARD)
    assert live.rows("status")[0]["problem"] is None


def test_a_broken_configuration_leaves_a_trace_where_nobody_can_be_alerted(plain: Plain, tmp_path: Path) -> None:
    live = Live.fresh(plain, tmp_path, configuration="hooks:\n  - {event: tool_befor, command: ./x}\n")
    told = live.home / "logs" / "hooktray.log"

    wait(lambda: told.exists() and "hooktray.yaml:2:6: hooks[0].event: unknown" in told.read_text(), what="the line")
    live.configure("hooks: 3")

    wait(lambda: "hooktray.yaml:1:1: hooks: expected a list" in told.read_text(), what="the next one")
    assert told.read_text().count("the configuration is broken") == 2


def test_a_malformed_entry_of_a_source_is_told_and_its_sibling_is_listed(plain: Plain, tmp_path: Path) -> None:
    good = {"hooks": [{"type": "command", "command": "true"}]}
    source = tmp_path / "settings.json"
    other = {"hooks": [{"type": "mcp_tool", "server": "files", "tool": "check"}]}
    source.write_text(json.dumps({"hooks": {"PreToolUze": [good], "Stop": [good, other]}}))

    live = Live.fresh(plain, tmp_path, configuration={"sources": [{"claude-code": str(source)}]})

    told = f"{source}:1:12: hooks.PreToolUze: unknown event `PreToolUze`"
    assert told in live.rows("status")[0]["problem"]
    assert f"Warning: {told}" in live.cli("list").stdout.decode()
    assert live.states() == {"true": "pending", "mcp_tool:": "inactive"}
    assert "`mcp_tool`" in live.cli("approve", "mcp_tool:").stderr.decode()


def test_what_was_switched_off_stays_off_after_a_restart(plain: Plain, tmp_path: Path) -> None:
    live = guarded(plain, tmp_path)
    live.quit()
    open_stores(locate(str(live.home)), create=False).switch.set_enabled(False, "test")
    live.start()

    assert live.relay("claude-code", "PreToolUse", PRE_TOOL_USE).stdout == b""
    assert live.cli("on").returncode == 0
    assert b'"deny"' in live.relay("claude-code", "PreToolUse", PRE_TOOL_USE).stdout


@together
def test_a_second_start_says_so_and_ends_well(idle: Live) -> None:
    done = idle.cli("run", "--headless")

    assert (done.returncode, b"already running" in done.stdout) == (0, True)
    assert idle.process.poll() is None


@pytest.mark.parametrize("command", [("run",), ("status",)])
def test_a_folder_that_nothing_can_be_written_to_is_named_with_its_cure(
    plain: Plain, tmp_path: Path, command: tuple[str, ...]
) -> None:
    live = Live.fresh(plain, tmp_path, starts=False)
    live.cli("status")

    with read_only(live.home / "state") as powerless:
        done = plain.run([*powerless, *live.argv(*command)])

    told = done.stderr.decode()
    assert (done.returncode, done.stdout) == (1, b"")
    assert "Traceback" not in told
    assert f"{live.home / 'state'}" in told
    assert "read-only" in told or "nothing can be written there: Permission denied" in told
    assert told.endswith("make it writable for you, or choose another place with --home DIR\n")


def test_a_database_that_takes_no_row_any_more_is_a_problem_until_it_does(plain: Plain, tmp_path: Path) -> None:
    live = guarded(plain, tmp_path)
    why = "attempt to write a readonly database"
    database = open_stores(locate(str(live.home)), create=False).database
    with database.write() as connection:
        connection.execute(f"CREATE TRIGGER no BEFORE INSERT ON journal BEGIN SELECT RAISE(FAIL, '{why}'); END")

    assert b'"deny"' in live.relay("claude-code", "PreToolUse", PRE_TOOL_USE).stdout

    assert f"The journal cannot be written: {database.path}: {why}\n" in live.cli("status").stdout.decode()
    assert why in live.rows("status")[0]["problem"]
    assert f"cannot be written: {database.path}: {why}" in live.cli("doctor", "--static").stdout.decode()
    with database.write() as connection:
        connection.execute("DROP TRIGGER no")
    live.wait_log(1)
    assert live.rows("status")[0]["problem"] is None


def test_the_command_line_asks_and_does_not_grant(plain: Plain, tmp_path: Path) -> None:
    live = Live.fresh(plain, tmp_path, configuration=GUARD)
    live.script("guard.sh", DENY)

    assert b"waits for your approval" in live.cli("approve", "tool_before", "./guard.sh").stdout
    assert b"only the user can do that" in live.cli("off").stdout
    assert b"only the user can do that" in live.cli("pause", "30m").stdout
    assert (
        b"Pause hooks of x-code s1 for 60 minutes"
        in live.cli("pause", "1h", "--agent", "x-code", "--session", "s1").stdout
    )
    words = ", ".join(AGENTS).encode()
    assert words in live.cli("pause", "1h", "--agent", "shelly").stderr

    assert live.states() == {"guard": "pending"}
    assert live.rows("status")[0]["enabled"] is True
    assert live.relay("claude-code", "PreToolUse", PRE_TOOL_USE).stdout == b""


@pytest.mark.parametrize(
    ("argv", "code", "words"),
    [
        (("approve", "nobody"), 1, "`hooktray list`"),
        (("pause", "soon"), 1, "30m, 1h or tomorrow"),
        (("bogus",), 2, "No such command"),
    ],
)
@together
def test_a_command_that_cannot_be_done_says_why_and_what_to_do(
    idle: Live, argv: tuple[str, ...], code: int, words: str
) -> None:
    done = idle.cli(*argv)

    assert (done.returncode, words in done.stderr.decode()) == (code, True), done.stderr.decode()


def test_a_synthetic_event_goes_the_whole_way(plain: Plain, tmp_path: Path) -> None:
    live = Live.fresh(plain, tmp_path)
    events = [(agent, next(iter(known.events))) for agent, known in AGENTS.items()]

    for agent, name in events:
        done = live.relay(agent, name, AGENTS[agent].protocol.sample(name))
        assert (done.returncode, done.stderr) == (0, b"")
    live.command("test", "turn_end")

    rows = live.wait_log(len(events) + 1)
    assert {(row["agent"], row["event"]) for row in rows} >= set(events)
    assert not any(row["problem"] for row in rows)


def test_a_tray_that_ends_takes_its_hooks_along_and_writes_their_rows(plain: Plain, tmp_path: Path) -> None:
    hooks = [{"name": "slow", "event": "session_end", "command": "./slow.sh"}]
    live = Live.fresh(plain, tmp_path, configuration={"hooks": hooks}, starts=False)
    live.script("slow.sh", f"echo $$ >{tmp_path}/part; mv {tmp_path}/part {tmp_path}/pid; exec sleep 60")
    approved(live)
    live.start()
    live.relay("claude-code", "SessionEnd", recorded("claude-code", "SessionEnd"))
    plain.wait((tmp_path / "pid").exists, what="the hook runs")

    assert live.quit() == 0

    pid = int((tmp_path / "pid").read_text())
    plain.wait(lambda: not Path(f"/proc/{pid}").exists(), what="the hook is gone")
    (row,) = live.log()
    assert (row["hooks"][0]["status"], row["hooks"][0]["cause"]) == ("skipped", "cancelled")
