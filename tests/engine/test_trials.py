"""The run on a test event that follows an approval: what fails is shown, and Undo takes the approval back."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from desk import wait
from desktop.alert_bench import AlertBench
from engine.declared import claude, declare, write
from house import House
from msgspec.structs import replace
from user_controls import Unshown
from workers import IdleWorkers

from tray.agents.protocol import spec
from tray.approvals.undo import LedgerUndo, Undo
from tray.engine.approval_trials import NOT_TRIED, TrialFailure, TrialResult, Trials, run_trial
from tray.engine.samples import sample_event
from tray.model.hook import ApprovalState, Match
from tray.notify.alert import AlertClass, Button

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="scripts for a POSIX shell")


class Bench(AlertBench):
    """Controls with trials in the same thread, and the alerts that come of them."""

    def __init__(self, house: House) -> None:
        super().__init__(house)
        self.failures: list[TrialFailure] = []
        self.trials = trials = Trials(house.paths, house.stores, workers=self, alerts=self, refresh=Unshown())
        self.controls = house.controls(self.alerting, trials)

    def spawn(self, work: Callable[[], object]) -> bool:
        work()
        return True

    def trial_failed(self, failure: TrialFailure, back: Undo) -> None:
        self.failures.append(failure)
        self.alerting.trial_failed(failure, back)

    def approved(self, name: str, script: str, **keys: Any) -> ApprovalState:
        """Declare a hook with this script, and approve it."""
        self.house.hook(name, on="tool_before", script=script, approved=False, **keys)
        return self.approve(name)

    def approve(self, name: str) -> ApprovalState:
        """Approve it as a person does, and return its state after that."""
        one = self.house.state(name)
        self.controls.approve(one.key, one.digest, "tray")
        return self.house.state(name).state


@pytest.fixture
def bench(house: House) -> Iterator[Bench]:
    bench = Bench(house)
    yield bench
    bench.close()


BROKEN = {
    "module": ("echo \"ModuleNotFoundError: No module named 'words'\" >&2; exit 1", "No module named", "files:"),
    "exit": ("echo something broke >&2; exit 7", "exit 7: something broke", "hooktray test"),
    "output": ("echo not JSON", "output", "print JSON"),
    "signal": ("kill -9 $$", "signal", "hooktray test"),
}


@pytest.mark.parametrize(("script", "cause", "remedy"), BROKEN.values(), ids=BROKEN)
def test_a_hook_that_fails_its_run_is_shown_with_undo(bench: Bench, script: str, cause: str, remedy: str) -> None:
    state = bench.approved("guard", f"cat >/dev/null; {script}")
    shown, (failure,) = bench.last, bench.failures
    problem = bench.house.state("guard").problem
    bench.alerting.press(shown, Button.UNDO)

    assert (shown.cls, shown.buttons) == (AlertClass.HOOK_FAILED, (Button.UNDO,))
    assert shown.body.startswith("guard failed its test run · ")
    assert cause in failure.cause
    assert remedy in failure.remedy
    assert problem == f"its test run failed: {failure.cause}; {failure.remedy}", "with the cure"
    assert (state, bench.house.state("guard").state) == (ApprovalState.APPROVED, ApprovalState.PENDING)
    assert bench.house.state("guard").health == ""


def test_a_test_run_that_the_end_of_the_tray_cancels_neither_passed_nor_failed(house: House) -> None:
    script = 'cat >/dev/null; touch "$HOOK_SOURCE_DIR/started"; exec sleep 600'
    one = house.hook("guard", on="tool_before", script="exit 7", timeout=500.0)
    approved = house.stores.ledger.state.approved[one.key]
    assert run_trial(house.paths, house.stores, approved).failure, "it is known as broken"
    house.catalog.refresh()
    before = house.state("guard").health
    slow = house.hook("slow", on="tool_before", script=script, timeout=500.0)
    found: list[TrialResult] = []
    ending, ours = socket.socketpair()

    def work() -> None:
        found.append(run_trial(house.paths, house.stores, house.stores.ledger.state.approved[slow.key], ending))

    with ending, ours:
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        wait(lambda: (house.paths.config.parent / "started").exists(), what="the hook runs")
        ours.close()
        thread.join(60)

    assert found == [NOT_TRIED]
    assert (house.state("slow").health, house.state("guard").health) == ("", before)
    house.stores.journal.close()  # whatever waits is written down
    assert [row.hooks[0]["name"] for row in house.stores.journal.recent(10) if row.hooks] == ["guard"]


def test_undo_of_a_failed_trial_counts_also_when_something_else_was_done_since(bench: Bench) -> None:
    bench.approved("broken", "exit 7")
    shown = bench.last
    bench.approved("fine", "exit 0")

    bench.alerting.press(shown, Button.UNDO)

    assert bench.house.state("broken").state is ApprovalState.PENDING
    assert bench.house.state("fine").state is ApprovalState.APPROVED


def test_the_run_is_marked_as_a_test_for_the_hook_and_in_the_journal(bench: Bench) -> None:
    script = 'cat >/dev/null; echo "$HOOKTRAY_TEST $PWD" >> "$HOOK_SOURCE_DIR/seen"; echo "{}"'
    bench.approved("guard", script)
    bench.house.stores.journal.close()

    mark, folder = (bench.house.paths.config.parent / "seen").read_text().split()
    (row,) = bench.house.stores.journal.recent(10)
    assert (mark, row.test, row.adjustments) == ("1", True, ("the trial after its approval: no agent was asked",))
    assert Path(folder).parents[1] == bench.house.paths.state
    assert row.project == "test-run"
    assert not Path(folder).exists()


def test_a_hook_that_changed_since_it_was_approved_is_not_tried(bench: Bench) -> None:
    one = bench.house.hook("guard", on="tool_before", script='touch "$HOOK_SOURCE_DIR/ran"; exit 7')
    nothing = LedgerUndo(bench.house.stores.ledger, bench.house.catalog, ())

    bench.trials.approved(replace(one, digest="of another version"), nothing)

    assert bench.trials.describe(one.key, 0) == ""
    assert not (bench.house.paths.config.parent / "ran").exists()


def test_a_second_approval_that_works_ends_what_was_shown_of_the_first(bench: Bench) -> None:
    bench.approved("guard", "exit 7")
    bench.house.script("guard.sh", "exit 0")

    bench.approve("guard")

    assert bench.house.state("guard").health == ""


def test_nothing_is_sent_and_nothing_runs_for_hooks_that_are_no_commands(bench: Bench) -> None:
    keys = (
        {"name": "web", "type": "http", "url": "https://example.com/hook"},
        {"name": "model", "type": "prompt", "prompt": "Is this fine? $ARGUMENTS"},
        {"name": "rule", "type": "rule", "decision": "deny"},
        {"name": "skip", "command": "./skip.sh", "enabled": False},
    )
    bench.house.script("skip.sh", 'touch "$HOOK_SOURCE_DIR/ran"')
    for one in keys:
        bench.house.hook(on="tool_before", approved=False, **one)
        bench.approve(str(one["name"]))
    bench.house.stores.journal.close()

    assert bench.failures == []
    assert bench.house.stores.journal.recent(10) == []
    assert not (bench.house.paths.config.parent / "ran").exists()


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"tool": "Write"}, ("Write", "example.txt")),
        ({"tool": "Edit|Write"}, ("Edit", "old_string")),
        ({"tool": "mcp__.*__write"}, ("mcp__x__write", "{")),
        ({"tool": "^Web"}, ("WebFetch", "https://example.com")),
        ({"tool": "Bash", "matcher": r"rm\s+-rf|sudo"}, ("Bash", "rm -rf")),
        ({"matcher": "git push"}, ("Bash", "git push")),
        ({}, ("Bash", "")),
    ],
)
def test_the_test_event_meets_the_matchers(
    house: House, tmp_path: Path, keys: dict[str, Any], expected: tuple[str, str]
) -> None:
    house.hook("guard", on="tool_before", script="exit 0", **keys)
    (approved,) = house.stores.ledger.in_order()

    event = sample_event(approved, environment={}, cwd=str(tmp_path))

    assert event is not None
    assert event.tool is not None
    assert event.tool.name == expected[0]
    assert expected[1] in str(event.body)


@pytest.mark.parametrize(
    ("agent", "native", "keys", "found"),
    [
        ("claude-code", "PreToolUse", {"condition": "Bash(git push:*)"}, "git push"),
        ("claude-code", "SessionStart", {"tool": "compact|clear"}, "compact"),
        ("claude-code", "PreCompact", {"tool": "auto"}, "auto"),
        ("claude-code", "Notification", {"tool": "idle_prompt"}, "idle_prompt"),
        ("claude-code", "SessionEnd", {"tool": "logout"}, "logout"),
        ("claude-code", "SubagentStop", {"tool": "Explore"}, "Explore"),
        ("claude-code", "PreToolUse", {"tool": "Grep"}, "Grep"),
        ("cursor", "subagentStart", {"tool": "explore"}, "explore"),
        ("gemini-cli", "SessionStart", {"tool": "resume"}, "resume"),
    ],
)
def test_the_test_event_has_what_a_matcher_of_an_agents_own_file_lists(
    house: House, tmp_path: Path, agent: str, native: str, keys: dict[str, Any], found: str
) -> None:
    house.hook("guard", on="tool_before", script="exit 0")
    (approved,) = house.stores.ledger.in_order()
    match = Match(event=spec(agent, native).kind.value, format=agent, native=native, **keys)
    hook = replace(approved.hook, match=match)

    event = sample_event(replace(approved, hook=hook), environment={}, cwd=str(tmp_path))

    assert event is not None
    assert found in (*event.payload.values(), *(event.tool.input.values() if event.tool else ()))


def told(bench: Bench, script: str = "", **keys: Any) -> str:
    """Approves `guard`, with this script if one is given, and returns what the user reads about its test run."""
    if script:
        bench.house.hook("guard", on="tool_before", script=script, approved=False, **keys)
    bench.approve("guard")
    return bench.trials.describe(bench.house.state("guard").key, 0)


def test_a_hook_that_no_test_event_reaches_is_not_tried_and_that_is_shown(bench: Bench) -> None:
    text = told(bench, "exit 7", matcher=r"^(?=.*\d{9})[A-F]{40}$")

    assert text.splitlines() == [
        "It was not tried: no test event meets its matchers",
        "  `hooktray test EVENT --hook guard --payload FILE` tries it with an event of yours",
    ]
    assert bench.failures == []


ARGUMENTS = "import argparse\np = argparse.ArgumentParser()\np.add_argument('--rules', required=True)\np.parse_args()"
BROKEN_PROGRAMS = {  # each ends with 2, and so refuses every call
    "syntax of bash": ("#!/bin/bash\nif [ 1 ; then\n", "syntax error"),
    "syntax of sh": ("#!/bin/sh\nif [ 1 ; then\n", "yntax error"),
    "a file that is not there": ("#!/bin/sh\ncat >/dev/null\ngrep -q x ./missing-rules\n", "missing-rules"),
    "a script that is not there": (f"#!/bin/sh\n{sys.executable} missing.py\n", "missing.py"),
    "arithmetic": ("#!/bin/sh\ncat >/dev/null\nexpr 1 +\n", "expr: syntax error"),
    "a program that crashes": (f"#!/bin/sh\n{sys.executable} -c 1/0 || exit 2\n", "Traceback"),
    "arguments": (f"#!{sys.executable}\n{ARGUMENTS}", "arguments are required: --rules"),
}


@pytest.mark.parametrize("name", BROKEN_PROGRAMS)
def test_exit_2_of_a_broken_program_refuses_and_is_shown_as_what_it_is(bench: Bench, name: str) -> None:
    script, error = BROKEN_PROGRAMS[name]
    write(bench.house.paths.config.parent / "guard.sh", script, executable=True)
    bench.house.hook("guard", on="tool_before", command="./guard.sh", approved=False)

    text = told(bench)
    answer = bench.house.tool("ls")

    (failure,) = bench.failures
    assert failure.cause.startswith("it refuses by the exit 2 of a broken program: ")
    assert error in failure.cause
    assert failure.remedy.startswith("correct the script or its command in ")
    assert "It refused this harmless event: Bash · ls -la" in text
    assert bench.last.buttons == (Button.UNDO,)
    assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert "of a broken program" in str(bench.house.last.hooks[0]["cause"])


@pytest.mark.parametrize(
    ("script", "keys", "expected"),
    [
        ("echo 'use trash' >&2; exit 2", {}, "It refused this harmless event: Bash · ls -la: use trash"),
        (
            "echo 'use trash' >&2; exit 2",
            {"matcher": "rm -rf"},
            "It refused its test event: Bash · rm -rf: use trash",
        ),
        ('echo \'{"permissionDecision": "ask"}\'', {}, "It asks about this harmless event: Bash · ls -la"),
        ('echo \'{"permissionDecision": "allow"}\'', {}, "It allowed its test event: Bash · ls -la"),
        ('echo \'{"tool_input": {"command": "true"}}\'', {}, "It rewrote its test event: Bash · ls -la"),
        ("exit 0", {}, "Its test run went well"),
    ],
)
def test_the_test_run_shows_what_the_hook_did(bench: Bench, script: str, keys: dict[str, Any], expected: str) -> None:
    assert told(bench, f"cat >/dev/null; {script}", **keys) == expected
    assert (bench.failures, bench.house.state("guard").health) == ([], "")


def test_the_test_run_names_the_format_in_which_a_hook_refuses(bench: Bench) -> None:
    script = """cat >/dev/null; echo '{"permission": "deny", "agent_message": "no"}'"""

    first, second = told(bench, script).splitlines()

    assert first == "It refused this harmless event: Bash · ls -la: no"
    assert second.startswith("  It answers in the format of cursor: write `dialect: cursor` in ")


def test_the_test_run_shows_a_refusal_that_an_agents_own_file_drops(bench: Bench, tmp_path: Path) -> None:
    script = """#!/bin/sh\ncat >/dev/null\necho '{"permission": "deny"}'\n"""
    path = write(tmp_path / "guard.sh", script, executable=True)
    declare(bench.house, {"claude-code": str(claude(tmp_path, {"command": str(path)}))}, approve=False)

    bench.approve("guard")

    (failure,) = bench.failures
    assert failure.cause.startswith("the call goes on, because claude-code does not read its answer: ")
    assert "`dialect:`" in failure.remedy
    assert bench.house.tool("ls") == {}
    assert "does not read its answer" in str(bench.house.last.hooks[0]["cause"])


def test_whoever_waits_is_told_how_the_test_run_went(bench: Bench) -> None:
    bench.approved("fine", "exit 0")
    bench.approved("broken", "exit 7")
    bench.house.hook("rule", on="tool_before", type="rule", decision="deny", approved=False)
    bench.approve("rule")

    texts = {name: bench.trials.describe(bench.house.state(name).key, 0) for name in ("fine", "broken", "rule")}

    assert (texts["fine"], texts["rule"]) == ("Its test run went well", "")
    first, cure, undo = texts["broken"].splitlines()
    assert first == "Its test run failed: exit 7"
    assert cure.strip() == bench.failures[0].remedy
    assert undo == "  Undo: hooktray revoke --last broken"


class NoFailures:
    """Alerts of trials that do not fail."""

    def trial_failed(self, failure: TrialFailure, undo: Undo) -> None:
        raise AssertionError(failure)


def test_a_test_run_that_has_not_ended_is_said_to_go_on(house: House) -> None:
    trials = Trials(house.paths, house.stores, workers=IdleWorkers(), alerts=NoFailures(), refresh=Unshown())
    state = house.hook("guard", on="tool_before", script="exit 0", approved=False)
    house.controls(trials=trials).approve(state.key, state.digest, "tray")

    assert trials.describe(state.key, 0) == "Its test run still goes on; `hooktray list` shows what comes of it"


def test_a_script_without_its_mode_is_shown_with_chmod_and_undo(bench: Bench) -> None:
    bench.house.script("guard.sh", "exit 0").chmod(0o644)
    bench.house.hook("guard", on="tool_before", command="./guard.sh", approved=False)

    bench.approve("guard")

    (failure,) = bench.failures
    assert failure.remedy == f"chmod +x {bench.house.paths.config.parent / 'guard.sh'}"
    assert bench.last.body.startswith(f"guard failed its test run · not executable · {failure.remedy[:20]}")
    assert bench.last.buttons == (Button.UNDO,)
    assert failure.remedy in bench.house.state("guard").problem


def test_the_failure_for_want_of_a_mode_ends_when_the_script_has_it(bench: Bench) -> None:
    script = bench.house.script("guard.sh", "exit 0")
    script.chmod(0o644)
    bench.house.hook("guard", on="tool_before", command="./guard.sh", approved=False)
    bench.approve("guard")

    script.chmod(0o755)

    assert not bench.house.state("guard").problem
    assert bench.house.tool("ls") == {}


def test_undo_takes_back_just_the_last_approval(bench: Bench) -> None:
    bench.approved("guard", "echo first >&2; exit 2")
    bench.house.script("guard.sh", "exit 7")
    bench.approve("guard")

    bench.controls.undo_approval(bench.house.state("guard").key, "tray")

    assert bench.house.state("guard").state is ApprovalState.CHANGED
    answer = bench.house.tool("ls")
    assert answer["hookSpecificOutput"]["permissionDecisionReason"].endswith(": first"), (
        "what was approved before it runs"
    )
