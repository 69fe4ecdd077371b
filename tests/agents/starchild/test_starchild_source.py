from __future__ import annotations

from pathlib import Path

import pytest

from tray.agents.starchild.source import read
from tray.model.hook import Command, Failure, Http
from tray.reading.entries import SourceHooks


def workspace(folder: Path, text: str, agent: str = "", **environment: str) -> SourceHooks:
    config = folder / "config"
    config.mkdir(exist_ok=True)
    (config / "shell_hooks.yaml").write_text(text)
    if agent:
        (config / "agent.yaml").write_text(agent)
    return read(config / "shell_hooks.yaml", (), environment)


HOOK = "hooks:\n  - {event: on_stop, command: ./hooks/done.py}\n"


def test_a_full_entry_becomes_a_hook(tmp_path: Path) -> None:
    text = """
hooks:
  - event: pre_tool_call
    matcher: "rm -rf|mkfs"
    command: ./hooks/guard.py --strict
    timeout: 10
"""
    (hook,) = workspace(tmp_path, text).hooks

    assert (hook.name, hook.timeout, hook.failure) == ("guard", 10, Failure.ALLOW)
    assert (hook.match.event, hook.match.pattern, hook.match.tool) == ("tool_before", "rm -rf|mkfs", "")
    assert hook.action == Command(line="./hooks/guard.py --strict", folder=str(tmp_path))
    assert hook.source.line == 3


def test_time_is_20_seconds_and_at_most_120(tmp_path: Path) -> None:
    more = "  - {event: on_stop, command: ./x, timeout: 600}\n"

    found = workspace(tmp_path, HOOK + more)

    assert [hook.timeout for hook in found.hooks] == [20, 120]
    assert "shell_hooks.yaml:3:36: hooks[1].timeout: 600 s is cut to 120" in found.warnings[0]


@pytest.mark.parametrize(
    ("agent", "environment", "inactive"),
    [
        ("shell_hooks: {enabled: false}", {}, True),
        ("shell_hooks: {enabled: false}", {"STARCHILD_SHELL_HOOKS": "1"}, False),
        ("shell_hooks: {enabled: true}", {}, False),
        ("name: me", {}, False),
        ("", {}, False),
        ("shell_hooks: &a [", {}, False),
    ],
)
def test_the_hosts_own_switch_makes_a_source_inactive(
    tmp_path: Path, agent: str, environment: dict[str, str], inactive: bool
) -> None:
    found = workspace(tmp_path, HOOK, agent, **environment)

    assert bool(found.hooks[0].inactive) is inactive
    assert str(tmp_path / "config" / "agent.yaml") in found.watched


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("{event: pre_tool_cal, command: ./x}", "did you mean `pre_tool_call`?"),
        ("{event: on_stop}", "needs a command"),
        ("{event: on_stop, command: 'x \"y'}", "cannot be split into words"),
        ("{event: on_stop, command: ./x, matcher: 'a('}", "not a pattern"),
        ("{event: on_stop, command: ./x, timeout: -1}", "expected a number"),
        ("{event: on_stop, command: ./x, type: prompt}", "unknown type `prompt`"),
        ("text", "expected keys and values"),
    ],
)
def test_a_malformed_entry_takes_no_sibling_down(tmp_path: Path, entry: str, told: str) -> None:
    found = workspace(tmp_path, f"{HOOK}  - {entry}\n")

    assert [hook.name for hook in found.hooks] == ["done"]
    assert "shell_hooks.yaml:3:" in found.warnings[0]
    assert told in found.warnings[0]


def test_an_http_hook_posts_to_its_url(tmp_path: Path) -> None:
    (hook,) = workspace(tmp_path, "hooks: [{event: on_stop, type: http, url: https://x.example/hook}]").hooks

    assert hook.action == Http(url="https://x.example/hook")
    assert (hook.name, hook.inactive, hook.timeout) == ("x.example", "", 20)


LOCAL = "hooks:\n  - event: on_stop\n    type: http\n    url: http://127.0.0.1:8000/hook\n"


def test_a_local_url_is_refused_with_its_line(tmp_path: Path) -> None:
    found = workspace(tmp_path, LOCAL)

    assert found.hooks == ()
    assert "shell_hooks.yaml:4:" in found.warnings[0]
    assert "this machine" in found.warnings[0]
    assert "STARCHILD_SHELL_HOOKS_HTTP_ALLOW_LOCAL=1" in found.warnings[0]


def test_the_hosts_variable_allows_the_one_local_place(tmp_path: Path) -> None:
    (hook,) = workspace(tmp_path, LOCAL, STARCHILD_SHELL_HOOKS_HTTP_ALLOW_LOCAL="1").hooks

    assert hook.action == Http(url="http://127.0.0.1:8000/hook", allow_local=("127.0.0.1:8000",))
