from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from every import every

from tray.agents.claude_code.settings_hooks import read
from tray.errors import ConfigError
from tray.model.hook import Hook, Http, Prompt, restore
from tray.sources.configuration import parse


def ours(text: str) -> Hook:
    (hook,) = parse(f"hooks:\n  - {text}\n", "/c/hooktray.yaml").hooks
    return hook


def claude(folder: Path, event: str, handler: dict[str, Any], **more: Any) -> Hook:
    (folder / "settings.json").write_text(json.dumps({**more, "hooks": {event: [{"hooks": [handler]}]}}, indent=1))
    found = read(folder / "settings.json", ())
    assert found.warnings == ()
    (hook,) = found.hooks
    return hook


def test_an_http_hook_of_ours_has_all_its_keys() -> None:
    hook = ours(
        '{event: tool_before, type: http, url: "http://localhost:8000/x", headers: {X-Key: "$KEY"}, env: [KEY],'
        ' allow_local: ["localhost:8000"]}'
    )

    assert hook.action == Http(
        url="http://localhost:8000/x", headers=(("X-Key", "$KEY"),), allow_local=("localhost:8000",)
    )
    assert (hook.name, hook.env) == ("localhost", ("KEY",))


@pytest.mark.parametrize("kind", ["prompt", "agent"])
def test_a_question_to_a_model_is_a_hook(kind: str) -> None:
    hook = ours(f'{{event: turn_end, type: {kind}, prompt: "Done?", model: large}}')

    assert hook.action == Prompt(text="Done?", model="large", agent=kind == "agent")
    assert hook.name == f"turn_end {kind}"


@every(
    ("text", "said"),
    [
        ('url: "http://127.0.0.1:8000/x"', "this machine"),
        ('url: "http://10.0.0.1/"', "private or reserved"),
        ('url: "http://[::1]/"', "this machine"),
        ('url: "http://localhost/"', "this machine"),
        ('url: "http://127.0.0.1:8000/x", allow_local: ["127.0.0.1:8001"]', "this machine"),
        ('url: "ftp://x.example/"', "only http"),
        ('url: "https://me:it@x.example/"', "user or password"),
        ('url: "http://2130706433/"', "four decimal numbers"),
        ('url: "https://x.example", allow_local: [localhost]', "host:port"),
        ('url: "https://x.example", headers: {Host: y}', "cannot be set"),
        ('url: "https://x.example", headers: {A: "b\\r\\nHost: y"}', "plain text"),
        ("name: x", "only http"),
    ],
)
def test_a_url_that_may_not_be_asked_is_refused_with_its_line(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        ours(f"{{event: tool_before, type: http, {text}}}")

    assert said in caught.value.message
    assert caught.value.message.startswith("/c/hooktray.yaml:2:")
    assert caught.value.hint


def test_claudes_http_handler_brings_headers_variables_and_time(tmp_path: Path) -> None:
    handler = {"type": "http", "url": "https://x.example/h", "headers": {"A": "$T"}, "allowedEnvVars": ["T", "U"]}

    hook = claude(tmp_path, "PreToolUse", {**handler, "timeout": 5}, httpHookAllowedEnvVars=["T"])

    assert hook.action == Http(url="https://x.example/h", headers=(("A", "$T"),))
    assert (hook.env, hook.timeout, hook.dialect, hook.inactive) == (("T",), 5, "claude-code", "")


@pytest.mark.parametrize(("kind", "seconds"), [("prompt", 30), ("agent", 60)])
def test_claudes_questions_have_its_own_times(tmp_path: Path, kind: str, seconds: float) -> None:
    hook = claude(tmp_path, "Stop", {"type": kind, "prompt": "Done?"})

    assert hook.action == Prompt(text="Done?", agent=kind == "agent")
    assert (hook.timeout, hook.inactive) == (seconds, "")


def test_claudes_question_may_let_the_turn_go_on(tmp_path: Path) -> None:
    handler = {"type": "prompt", "prompt": "ok?"}

    hook = claude(tmp_path, "PreToolUse", {**handler, "continueOnBlock": True})

    assert hook.action == Prompt(text="ok?", continue_on_block=True)
    assert restore(hook.definition).action == hook.action
    for says_nothing in ({}, {"continueOnBlock": False}):
        assert "continue_on_block" not in claude(tmp_path, "PreToolUse", {**handler, **says_nothing}).definition


def test_claudes_local_url_is_inactive_and_the_line_it_names_works(tmp_path: Path) -> None:
    hook = claude(tmp_path, "PreToolUse", {"type": "http", "url": "http://localhost:9000/h"})

    line = hook.inactive.split("hooktray.yaml: - ")[1]
    assert ours(line).action == Http(url="http://localhost:9000/h", allow_local=("localhost:9000",))


@pytest.mark.parametrize(
    ("event", "handler", "more"),
    [
        ("SessionStart", {"type": "http", "url": "https://x.example"}, {}),
        ("SessionEnd", {"type": "prompt", "prompt": "ok?"}, {}),
        ("Notification", {"type": "agent", "prompt": "ok?"}, {}),
        ("Stop", {"type": "http", "url": "https://x.example"}, {"allowedHttpHookUrls": ["https://y.example/*"]}),
        ("Stop", {"type": "http", "url": "https://x.example"}, {"allowedHttpHookUrls": []}),
    ],
)
def test_what_claude_itself_would_not_ask_is_inactive(
    tmp_path: Path, event: str, handler: dict[str, Any], more: dict[str, Any]
) -> None:
    assert claude(tmp_path, event, handler, **more).inactive


def test_claudes_short_names_of_models_stand_for_the_one_in_the_settings(tmp_path: Path) -> None:
    assert claude(tmp_path, "Stop", {"type": "prompt", "prompt": "ok?", "model": "haiku"}).action == Prompt(
        text="ok?"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{base_url: 'ftp://x', model: m}", "llm.base_url: only http"),
        ("{base_url: 'https://me@x/v1', model: m}", "llm.base_url: a user"),
        ("{base_url: 'https://x/v1', modle: m}", "unknown key `modle`"),
        ("{base_url: 'https://x/v1'}", "the key `model` is missing"),
        ("yes", "llm: expected"),
    ],
)
def test_a_model_that_cannot_be_asked_is_refused_with_its_line(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(f"turn_quiet_seconds: 3\nllm: {text}\n", "/c/hooktray.yaml")

    assert said in caught.value.message
    assert caught.value.message.startswith("/c/hooktray.yaml:2:")
