"""`hooktray test`: every event of every agent, one hook alone, and what is wrong with the words."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from connect.trays import approve_all
from desk import wait
from every import every
from house import PRE_TOOL_USE, House
from live import Live
from plain import Plain

from tray.agents.registry import AGENTS
from tray.approvals.catalog import HookState
from tray.cli import run_command
from tray.cli.command_line import UsageError
from tray.errors import HooktrayError
from tray.model.event import PAYLOAD_LIMIT

EVENTS = [(agent, name) for agent, known in AGENTS.items() for name in known.events]
GUARD = """case $(cat) in
*boom*) exit 7 ;;
*secret*) echo '{"decision": "block", "reason": "no secrets"}' ;;
*ask*) echo '{"permissionDecision": "ask"}' ;;
*fine*) echo '{"permissionDecision": "allow"}' ;;
*rewrite*) echo '{"tool_input": {"command": "ls -l"}}' ;;
esac
echo "test=$HOOKTRAY_TEST" >&2"""


@pytest.fixture
def guard(house: House) -> House:
    house.hook("guard", on="tool_before", script=GUARD)
    return house


@pytest.fixture
def quiet(tmp_path: Path) -> Iterator[Live]:
    plain = Plain(tmp_path)
    live = Live.fresh(plain, tmp_path)
    yield live
    live.quit()
    plain.close()


@pytest.fixture
def newcomer(guard: House) -> HookState:
    return guard.hook("new", on="tool_before", script=":", approved=False)


def hooktray(home: Path, *words: str) -> int:
    """The command itself, in this process: its exit code."""
    return run_command(["--home", str(home), "test", *words])


def payload(folder: Path, command: str) -> str:
    path = folder / "payload.json"
    path.write_text(json.dumps({**PRE_TOOL_USE, "tool_input": {"command": command}}))
    return str(path)


def tried(house: House, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    hooktray(house.root / "home", *words, "--json")
    return dict(json.loads(capsys.readouterr().out))


@every(("agent", "event"), EVENTS)
def test_the_payload_of_every_event_can_be_printed(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes], agent: str, event: str
) -> None:
    assert hooktray(tmp_path / "h", event, "--agent", agent, "--print") == 0

    out, kept, here = capfdbinary.readouterr().out, AGENTS[agent].protocol.sample(event), str(Path.cwd()).encode()
    assert out in (kept, kept.replace(b"/home/dev/project", here).replace(b"/data/workspace", here))
    assert not (tmp_path / "h" / "state").exists()


def test_a_sample_is_of_the_folder_that_the_command_stands_in(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    house.hook("where", on="tool_before", script="pwd -P >&2")

    for agent in ("claude-code", "starchild", "x-code"):
        event = "pre_tool_call" if agent == "starchild" else "PreToolUse"
        row = tried(house, capsys, event, "--agent", agent, "--hook", "where")
        project = str((tmp_path / "project").resolve())
        assert row["stderr"].split()[0] == project

    hooktray(tmp_path / "h", "FileChanged", "--print")
    assert json.loads(capsys.readouterr().out)["file_path"] == f"{project}/.envrc"


def test_every_event_goes_through_a_running_tray(quiet: Live, capsys: pytest.CaptureFixture[str]) -> None:
    for agent, event in EVENTS:
        assert hooktray(quiet.home, event, "--agent", agent, "--json") == 0

    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["agent"], row["event"], row["code"]) for row in rows] == [(*each, 0) for each in EVENTS]
    # Each is in the journal under its own name. The tray adds X-Code's end of a turn after a quiet round.
    wait(lambda: set(EVENTS) <= {(row["agent"], row["event"]) for row in quiet.log()}, what="all are written down")


def test_what_a_test_sends_is_marked_and_its_hook_can_tell(quiet: Live) -> None:
    quiet.script("guard.sh", 'echo "{\\"decision\\": \\"block\\", \\"reason\\": \\"test=$HOOKTRAY_TEST\\"}"')
    quiet.configure({"hooks": [{"event": "tool_before", "command": "./guard.sh"}]})
    quiet.quit()
    approve_all(quiet)
    quiet.start()

    done = quiet.cli("test", "PreToolUse")
    body, environment = json.dumps(PRE_TOOL_USE).encode(), {"HOOKTRAY_TEST": "1"}  # a project may say so
    real = quiet.place.run(quiet.relay_argv("claude-code", "PreToolUse"), environment, input=body)

    assert b'"permissionDecisionReason":"guard (Hooktray): test=1"' in done.stdout
    assert b'"permissionDecisionReason":"guard (Hooktray): test="' in real.stdout
    assert [row["test"] for row in quiet.wait_log(2)] == [False, True]
    assert b"(test)" in quiet.cli("log").stdout
    quiet.kill()
    assert b'"permissionDecisionReason":"guard (Hooktray): test=1"' in quiet.cli("test", "PreToolUse").stdout
    row = quiet.wait_log(3)[0]
    assert (row["test"], row["offline"]) == (True, True)


def test_a_test_in_a_home_without_a_tray_reports_that_nothing_judged_the_event(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hooktray(tmp_path / "never", "PreToolUse") == 0

    told = "No tray has ever run here, so nobody judged the event; `hooktray run` starts one."
    assert told in capsys.readouterr().err


@every(
    ("command", "verdict"),
    [("ls", "abstain"), ("cat secret", "deny"), ("ask me", "ask"), ("fine", "allow"), ("boom", "failed")],
)
def test_a_hook_is_compared_with_the_expected_verdict(
    guard: House, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, verdict: str
) -> None:
    words = ("PreToolUse", "--payload", payload(tmp_path, command), "--hook", "guard", "--expect")
    other = "deny" if verdict != "deny" else "allow"

    assert hooktray(guard.root / "home", *words, verdict) == 0
    assert f"guard on PreToolUse of claude-code: {verdict}" in capsys.readouterr().out
    assert hooktray(guard.root / "home", *words, other) == 1
    assert capsys.readouterr().err == f"hooktray: expected {other}, got {verdict}\n"


def test_a_trial_shows_what_the_hook_said_and_writes_nothing_down(
    guard: House, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("tool_before", "--hook", "guard", "--payload")
    denied = tried(guard, capsys, *words, payload(tmp_path, "cat secret"))
    rewritten = tried(guard, capsys, *words, payload(tmp_path, "rewrite it"))

    assert (denied["verdict"], denied["reason"], denied["stderr"]) == ("deny", "no secrets", "test=1\n")
    assert '"permissionDecision":"deny"' in denied["stdout"]
    assert (rewritten["rewrites"], rewritten["rewrite"]) == ("input", {"command": "ls -l"})
    assert rewritten["ms"] > 0
    assert guard.stores.journal.count() == 0


def test_a_trial_runs_the_approved_copy(guard: House, capsys: pytest.CaptureFixture[str]) -> None:
    guard.script("guard.sh", "exit 9")

    assert tried(guard, capsys, "PreToolUse", "--hook", "guard")["verdict"] == "abstain"


def test_a_trial_respects_the_switch_and_skips_a_hook_whose_matcher_does_not_fit(
    house: House, capsys: pytest.CaptureFixture[str]
) -> None:
    house.hook("writes", on="tool_before", tool="Write", type="rule", decision="ask")
    house.hook("no", on="tool_before", type="rule", decision="ask")

    row = tried(house, capsys, "PreToolUse", "--hook", "writes")
    assert (row["verdict"], row["status"]) == ("abstain", "skipped")
    assert row["cause"] == "not asked: its `tool:` or `matcher:` does not fit this payload"
    assert hooktray(house.root / "home", "PreToolUse", "--hook", "no", "--expect", "ask") == 0
    house.stores.switch.set_enabled(False, "test")
    assert hooktray(house.root / "home", "PreToolUse", "--hook", "no", "--expect", "ask") == 1
    assert "switch off: the hook did not run" in capsys.readouterr().err


def test_a_payload_may_come_on_stdin_and_a_broken_one_is_the_hooks_failure(
    guard: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    body = Path(payload(tmp_path, "cat secret")).read_bytes()
    for text, verdict in ((body, "deny"), (b'{"tool_name": ', "failed")):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
        row = tried(guard, capsys, "PreToolUse", "--hook", "guard", "--payload", "-")
        assert row["verdict"] == verdict

    assert row["cause"].startswith("payload is not JSON: E")


def test_what_fails_is_told_with_the_users_own_file(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    script = house.script("guard.sh", "")
    script.write_text("#!/no/such/python\n")
    house.hook("guard", on="tool_before", command="./guard.sh")

    row = tried(house, capsys, "PreToolUse", "--hook", "guard")

    assert row["verdict"] == "failed"
    assert str(script) in row["cause"]
    assert "copies" not in row["cause"]


BAD = {
    ("PreTooluse",): "claude-code has no event `PreTooluse`\n  did you mean `PreToolUse`?",
    ("Stop", "--agent", "shelly"): "unknown agent `shelly`\n  did you mean `shelley`?",
    ("Stop", "--agent", "xcode"): f"unknown agent `xcode`\n  did you mean `x-code`? Known here: {', '.join(AGENTS)}",
    ("PreToolUse", "--hook", "gaurd"): "no hook is called `gaurd`\n  did you mean `guard`?",
    ("PreToolUse", "--hook", "guard", "--expect", "denied"): "unknown verdict `denied`\n  did you mean `deny`?",
    ("Stop", "--hook", "guard"): "guard is never asked on Stop of claude-code\n  it is declared for `tool_before`",
    ("PreToolUse", "--payload", "missing.json"): "--payload missing.json: No such file or directory\n  name a file",
    ("PreToolUse", "--payload", "/"): "--payload /: Is a directory\n  name a file",
    ("PreToolUse", "--hook", "new"): "new is pending, not approved\n  approve it first: the tray's menu, Approvals",
}


@every("words", BAD)
def test_invalid_words_of_a_test_are_reported(guard: House, newcomer: HookState, words: tuple[str, ...]) -> None:
    with pytest.raises(HooktrayError) as told:
        hooktray(guard.root / "home", *words)

    assert str(told.value).startswith(BAD[words])


def test_a_payload_of_another_event_or_over_the_limit_is_refused(guard: House, tmp_path: Path) -> None:
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate(PAYLOAD_LIMIT + 1)

    with pytest.raises(HooktrayError, match="more than 16777216 bytes"):
        hooktray(guard.root / "home", "PreToolUse", "--payload", str(large))
    with pytest.raises(HooktrayError, match="the payload is of `PreToolUse`, not of `PostToolUse`"):
        hooktray(guard.root / "home", "PostToolUse", "--hook", "guard", "--payload", payload(tmp_path, "ls"))


def test_a_hook_cannot_try_hooks(guard: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOOKTRAY_RUN", "1")

    with pytest.raises(HooktrayError, match="a hook cannot try hooks"):
        hooktray(guard.root / "home", "PreToolUse", "--hook", "guard")


def test_an_expectation_without_a_hook_is_a_wrong_use(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="name it with --hook"):
        hooktray(tmp_path / "h", "PreToolUse", "--expect", "deny")
