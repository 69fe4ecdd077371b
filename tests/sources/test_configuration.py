from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from every import every
from msgspec.structs import replace

from tray.approvals.guarded_settings import guarded_settings
from tray.errors import ConfigError
from tray.model.decision import Verdict
from tray.model.hook import Command, Failure, Rule
from tray.paths import Paths, locate
from tray.settings import KEYS, Settings
from tray.sources import configuration, external, hooktray
from tray.sources.configuration import parse
from tray.sources.starter import STARTER_TEXT
from tray.store.ledger import LedgerState

HOOK = "hooks:\n- event: turn_end\n  command: x\n  "
BROKEN = [
    ("hooks:\n  - {event: tool_befor, command: ./x}", "2:6: hooks[0].event", "`tool_befor`", "`tool_before`"),
    ("hooks:\n  - {event: Stop, command: ./x}", "2:6: hooks[0].event", "`Stop`", "`agent:`"),
    ("hooks:\n- {event: Stopp, agent: claude-code, command: ./x}", "2:4: hooks[0].event", "`Stopp`", "`Stop`"),
    ("hooks:\n- {event: turn_end, agent: claude, command: x}", "hooks[0].agent", "`claude`", "`claude-code`"),
    (f"{HOOK}timeot: 3", "4:3: hooks[0].timeot", "`timeot`", "`timeout`"),
    (f"{HOOK}timeout: ten", "4:3: hooks[0].timeout", "`ten`", "timeout: 10"),
    (f"{HOOK}timeout: 0", "4:3: hooks[0].timeout", "0", "larger"),
    (f"{HOOK}timeout: 99999", "hooks[0].timeout", "99999", "smaller"),
    (f"{HOOK}failure: maybe", "hooks[0].failure", "`maybe`", "one of"),
    (f"{HOOK}enabled: on", "hooks[0].enabled", "`on`", "`true`"),
    ("hooks:\n- event: turn_end\n  command: 'x \"y'", "hooks[0].command", "words", "quotes"),
    (f"{HOOK}matcher: 'a(b'", "hooks[0].matcher", "`a(b`", "is meant as such"),
    (f"{HOOK}dialect: claude", "hooks[0].dialect", "`claude`", "`claude-code`"),
    (f"{HOOK}agent: 3", "hooks[0].agent", "expected text or a list, got 3", "list"),
    (f"{HOOK}timeout: -1", "hooks[0].timeout", "a number above 0, got -1", "larger"),
    (f"{HOOK}timeout:", "hooks[0].timeout", "a number, got nothing", "seconds"),
    ("hooks:\n- event: turn_end\n  command: true", "hooks[0].command", "expected text, got true", "quotes"),
    ("hooks:\n- event: turn_end", "2:3: hooks[0]", "needs a command", "command:"),
    ("hooks:\n- {event: turn_end, type: rul}", "hooks[0].type", "got `rul`", "did you mean `rule`?"),
    (
        "quiet_hours: {from: '25:00', to: '07:00'}",
        "quiet_hours.from",
        "expected a time of day, got `25:00`",
        "hours and minutes",
    ),
    ("volume: 3", "volume", "expected a number of at most 1, got 3", "smaller"),
    (
        "turn_quiet_seconds: soon",
        "turn_quiet_seconds",
        "expected a number, got `soon`",
        "write seconds, for example `turn_quiet_seconds: 10`",
    ),
    ("volume: loud", "volume", "expected a number, got `loud`", "`volume: 0.5`"),
    ("journal: {days: many}", "1:11: journal.days", "got `many`", "write days"),
    ("hooks:\n\t- event: turn_end", "2:1", "a tab cannot indent", "spaces"),
    ("hooks:\n- {event: turn_end, type: rule}", "hooks[0]", "needs a decision", "decision: deny"),
    ("hooks:\n- command: x", "2:3: hooks[0]", "`event` is missing", "event:"),
    ("hooks: {event: turn_end}", "1:1: hooks", "list of hooks", "- event"),
    ("hooks:\n- x", "2:3: hooks[0]", "`x`", "keys below"),
    ("alerts:\n  turn_end: {notify: 'x'}", "2:14: alerts.turn_end.notify", "`x`", "`true`"),
    ("alerts:\n  turn_en: {notify: true}", "2:3: alerts.turn_en", "`turn_en`", "`turn_end`"),
    ("alerts:\n  turn_end: {notfy: true}", "alerts.turn_end.notfy", "`notfy`", "`notify`"),
    ("alerts: 3", "1:1: alerts", "3", "keys below"),
    ("alerts:\n  turn_end: {urgency: high}", "alerts.turn_end.urgency", "`high`", "one of"),
    ("projects: {api: {turn_en: {notify: true}}}", "1:18: projects.api.turn_en", "`turn_en`", "`turn_end`"),
    ("projects: {api: {turn_end: {notify: 3}}}", "1:29: projects.api.turn_end.notify", "3", "`true`"),
    ("quiet_hours: {from: '22:00', to: '7:00'}", "1:30: quiet_hours.to", "`7:00`", "in quotes"),
    ("quiet_hours: {from: '22:00', too: '07:00'}", "quiet_hours.too", "`too`", "`to`"),
    ("quiet_hours: {from: '22:00', to: '07:00', days: [sunday]}", "quiet_hours.days[0]", "`sunday`", "one of"),
    ("ask_on_desktop: {agents: [x-cod]}", "1:27: ask_on_desktop.agents[0]", "`x-cod`", "one of"),
    ("ask_on_desktop: {seconds: 1}", "ask_on_desktop.seconds", "1", "larger"),
    ("without_tray: maybe", "1:1: without_tray", "`maybe`", "one of"),
    ("turn_quiet_seconds: 900", "1:1: turn_quiet_seconds", "900", "smaller"),
    ("bogus: 1", "1:1: bogus", "`bogus`", "hooks"),
    ("- a", "1:1", "['a']", "`hooks:`"),
    ("hooks: [", "1:", "", ""),
    ("hooks: &a [*a]", "1:", "", ""),
    ("turn_quiet_seconds: 1\nturn_quiet_seconds: 2", "2:1", "turn_quiet_seconds", ""),
]


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    paths = locate(str(tmp_path))
    paths.prepare()
    return paths


@every(("text", "place", "value", "remedy"), BROKEN, ids=[row[0] for row in BROKEN])
def test_an_error_names_file_place_key_value_and_remedy(text: str, place: str, value: str, remedy: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(text, "/c/hooktray.yaml")

    assert caught.value.message.startswith("/c/hooktray.yaml:")
    assert place in str(caught.value)
    assert value in caught.value.message
    assert remedy in str(caught.value)


def test_all_broken_hooks_are_told_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        parse("hooks:\n- {event: a, command: x}\n- {event: turn_end, command: x}\n- {event: b, command: x}", "f")

    assert "hooks[0]" in str(caught.value)
    assert "hooks[2]" in str(caught.value)


@pytest.mark.skipif(sys.platform == "win32", reason="paths of POSIX")
def test_a_full_entry_becomes_a_hook() -> None:
    text = """
hooks:
  - event: PreToolUse
    agent: [claude-code]
    tool: Bash|Write
    matcher: "rm -rf|mkfs"
    command: ./guards/block.py --strict
    dialect: claude-code
    timeout: 10
    failure: block
    env: [MY_TOKEN]
    files: ["lib/*.py"]
    background_seconds: 0
"""
    (hook,) = parse(text, "/c/hooktray.yaml").hooks

    assert hook.name == "block"
    assert (hook.match.event, hook.match.agents, hook.match.tool) == ("PreToolUse", ("claude-code",), "Bash|Write")
    assert hook.action == Command(line="./guards/block.py --strict", folder="/c")
    assert (hook.timeout, hook.failure, hook.dialect) == (10, Failure.BLOCK, "claude-code")
    assert (hook.env, hook.files, hook.background_seconds) == (("MY_TOKEN",), ("lib/*.py",), 0)
    assert hook.source.line == 3


@pytest.mark.skipif(sys.platform == "win32", reason="paths of POSIX")
def test_rules_names_and_defaults() -> None:
    text = """
background_seconds: 5
hooks:
  - {event: tool_before, type: rule, decision: block, reason: no}
  - {event: turn_end, command: python3 done.py}
  - {event: turn_end, command: python3 done.py, name: done}
"""
    rule, first, second = parse(text, "/c/hooktray.yaml").hooks

    assert rule.action == Rule(verdict=Verdict.DENY, reason="no")
    assert (first.name, second.name) == ("done", "done-2")
    assert (first.dialect, first.timeout, first.failure) == ("starchild", 20, Failure.ALLOW)
    assert first.background_seconds == 5
    assert isinstance(first.action, Command)
    assert first.action.interpreter.endswith("python3")


def test_without_a_good_file_the_defaults_are_in_force(paths: Paths) -> None:
    assert configuration.load(paths) == configuration.Configuration()

    paths.config.write_text("turn_quiet_seconds: [")
    found = configuration.load(paths)

    assert (found.hooks, found.settings.turn_quiet_seconds) == ((), 3)
    assert found.problem


def test_the_last_good_one_outlives_a_restart(paths: Paths) -> None:
    paths.config.write_text("turn_quiet_seconds: 7\nhooks: [{event: turn_end, command: ./x}]")
    configuration.load(paths)
    paths.config.write_text("turn_quiet_seconds: [")

    found = configuration.load(paths)

    assert found.settings.turn_quiet_seconds == 7
    assert [hook.name for hook in found.hooks] == ["x"]
    assert f"{paths.config}:2:" in found.problem


def test_the_starter_file_is_good_declares_nothing_and_has_the_schema_beside_it(paths: Paths) -> None:
    schema = paths.config.parent / "hooktray.schema.json"
    schema.write_text("{}")

    assert configuration.write_starter(paths)
    assert not configuration.write_starter(paths)

    assert configuration.load(paths) == configuration.Configuration()
    assert schema.read_bytes() == configuration.SCHEMA.read_bytes()


def test_the_starter_names_every_key_and_is_good_when_uncommented() -> None:
    lines = [line for line in STARTER_TEXT.splitlines()[1:] if not line.startswith("##")]
    found = parse("\n".join(line.removeprefix("# ") for line in lines), "/c/hooktray.yaml")

    names = [hook.name for hook in found.hooks]
    assert names == ["no-rm", "tool_before rule", "guard.example.com", "turn_end prompt"]
    assert STARTER_TEXT.startswith("# yaml-language-server: $schema=./hooktray.schema.json\n")
    keys = set(re.findall(r"(\w+):", STARTER_TEXT))
    assert {*KEYS, *hooktray.KEYS} <= keys
    assert replace(found, hooks=(), settings=Settings()) == configuration.Configuration()
    changed: dict[str, Any] = {"llm": None, "alerts": {}, "quiet_hours": None}  # what has no default to show
    assert msgspec.structs.replace(found.settings, **changed) == Settings()


def test_the_starter_names_every_format_that_a_source_can_have() -> None:
    formats = STARTER_TEXT.partition("## Files with hooks in another format:")[2].partition("# sources")[0]

    assert re.findall(r"[a-z-]{4,}(?=[,.])", formats) == sorted(external.formats())


def test_the_starter_says_of_those_settings_that_they_wait_which_do() -> None:
    loose = {
        "without_tray": "allow",
        "protection": {"allow": ["hooktray pause"]},
        "llm": {"base_url": "https://llm.example.com", "model": "small"}, "push": [{"url": "ntfy://topic"}],
    }  # fmt: skip
    waiting = guarded_settings(parse(json.dumps(loose), "/c/hooktray.yaml").settings, LedgerState())

    said = re.findall(r"counts only after you confirm it.*\n# (\w+):", STARTER_TEXT)

    assert {f"setting:{key}" for key in said} == {one.key for one in waiting}


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links need a right there")
def test_a_file_that_is_there_is_never_overwritten(paths: Paths) -> None:
    paths.config.symlink_to("nowhere")

    assert not configuration.write_starter(paths)

    assert paths.config.is_symlink()


FIRST_USE = """
import sys, threading
sys.setswitchinterval(1e-6)
import msgspec
from tray.settings import Settings
from tray.sources.hooktray import HookEntry

def read():
    together.wait()
    loud = {"blocked": {}}
    msgspec.convert({"alerts": loud, "volume": 0.5, "quiet_hours": {"from": "10:00", "to": "11:00"}}, Settings)
    msgspec.convert({"event": "Stop", "timeout": 3, "files": ["a"]}, HookEntry)

together = threading.Barrier(12)
threads = [threading.Thread(target=read) for _ in range(12)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
"""


def test_threads_that_read_settings_first_do_not_crash_the_interpreter() -> None:
    ends = [subprocess.run([sys.executable, "-c", FIRST_USE], capture_output=True, text=True) for _ in range(3)]

    assert [(end.returncode, end.stderr) for end in ends] == [(0, "")] * len(ends)
