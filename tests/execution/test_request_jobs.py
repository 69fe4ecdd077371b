"""HTTP, prompt and agent hooks through the whole engine, against servers that remember what they were asked."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from engine.declared import STOP, X_CODE, approve_all, built_hook, claude
from house import PRE_TOOL_USE, House
from servers import Asked, Said, Trap, WebServer, completion

from tray.engine import execute
from tray.engine.ports import Execution, NoSettings
from tray.execution.process import FREE_TURN
from tray.model.event import Event, EventKind
from tray.model.hook import Prompt

Serve = Callable[..., WebServer]
BLOCK = b'{"decision": "block", "reason": "no"}'
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Servers that end with the test."""
    servers: list[WebServer] = []

    def start(*said: Said | bytes, respond: Callable[[Asked], Said] | None = None) -> WebServer:
        answers = iter([one if isinstance(one, Said) else Said(one) for one in said])
        servers.append(WebServer(respond or (lambda asked: next(answers))))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def post(house: House, server: WebServer, name: str = "guard", **keys: Any) -> None:
    local = {"url": server.url + "/hook", "allow_local": [server.place]}
    house.hook(name, on="tool_before", type="http", **{**local, **keys})


def claudes(house: House, server: WebServer, event: str, **keys: Any) -> None:
    """The same question as a handler of Claude Code's settings."""
    handler = {"type": "prompt", "prompt": "Is this good? $ARGUMENTS", **keys}
    path = claude(house.paths.config.parent, handler, event=event)
    llm = {"base_url": server.url + "/v1", "model": "small"}
    house.configure({"sources": [{"claude-code": str(path)}], "llm": llm})
    approve_all(house)
    confirm_model(house)


def confirm_model(house: House) -> None:
    (setting,) = house.catalog.settings()
    house.consent.confirm(setting.key, setting.digest, "test", accept=True)


def question(
    house: House, server: WebServer, *, confirmed: bool = True, on: str = "tool_before", **keys: Any
) -> None:
    keys = {"type": "prompt", "prompt": "Is this good? $ARGUMENTS", **keys}
    hook = {"name": "judge", "event": on, **keys}
    house.configure({"hooks": [hook], "llm": {"base_url": server.url + "/v1", "model": "small"}})
    approve_all(house)
    if confirmed:
        confirm_model(house)


def denied(answer: dict[str, Any]) -> bool:
    return bool(answer) and answer["hookSpecificOutput"]["permissionDecision"] == "deny"


def cause(house: House) -> str:
    return str(house.last.hooks[0]["cause"])


class Lost:
    """An agent's end of the line that cannot be watched any more."""

    def fileno(self) -> int:
        raise OSError("too many open files")


@pytest.mark.parametrize("kind", [{"script": "exit 0"}, {"type": "http", "url": "https://guard.example.com/"}])
def test_hooks_that_cannot_be_run_have_failed_and_the_others_still_count(house: House, kind: dict[str, Any]) -> None:
    house.hook("guard", on="tool_before", failure="block", **kind)
    house.hook("rule", on="tool_before", type="rule", decision="ask", reason="sure?")

    begun = house.engine.begin(house.relay_request("claude-code", PRE_TOOL_USE))
    assert isinstance(begun, Execution)
    begun.run(Lost())

    assert [(one["status"], one["verdict"]) for one in house.last.hooks] == [("ok", "ask"), ("failed", "deny")]


def test_an_http_hook_blocks_by_its_answer(house: House, serve: Serve) -> None:
    server = serve(BLOCK)
    post(house, server, headers={"Authorization": "Bearer $T$OTHER"}, env=["T"])

    answer = house.tool("rm -rf /", environment={"T": "it", "OTHER": "not this"})

    assert denied(answer)
    (asked,) = server.asked
    assert (asked.path, asked.headers["Authorization"]) == ("/hook", "Bearer it")
    assert asked.headers["Content-Type"] == "application/json"
    assert asked.json["tool_input"]["command"] == "rm -rf /"
    assert asked.json["event"] == "pre_tool_call"


def test_a_header_gets_every_variable_that_the_hook_lists(house: House, serve: Serve) -> None:
    server = serve(BLOCK)
    listed = ["GIT_TOKEN", "PYTHON_KEY", "UNSET"]
    post(house, server, headers={"Authorization": "Bearer $GIT_TOKEN", "X-Key": "${PYTHON_KEY}$UNSET"}, env=listed)

    assert denied(house.tool(environment={"GIT_TOKEN": "it", "PYTHON_KEY": "too"}))

    headers = server.asked[0].headers
    assert (headers["Authorization"], headers["X-Key"]) == ("Bearer it", "too")


def test_a_variable_with_a_line_break_reaches_no_header(house: House, serve: Serve) -> None:
    post(house, serve(), headers={"X-Key": "$GIT_TOKEN"}, env=["GIT_TOKEN"], failure="allow")

    assert house.tool(environment={"GIT_TOKEN": "it\r\nHost: y"}) == {}

    assert "a sign that no header can" in cause(house)


def test_an_unapproved_http_hook_asks_nobody(house: House) -> None:
    with closing(Trap()) as trap:
        keys: dict[str, Any] = {"url": f"http://{trap.place}/", "allow_local": [trap.place]}
        house.hook("guard", on="tool_before", type="http", approved=False, **keys)

        assert house.tool() == {}
        assert trap.connects == 0


@pytest.mark.parametrize(
    ("dialect", "said", "words"),
    [
        ("starchild", Said(status=500), "answered 500"),
        ("starchild", Said(BLOCK, status=403), "answered 403"),
        ("claude-code", Said(b"", status=302, headers={"Location": "/x"}), "redirects are not followed"),
        ("claude-code", Said(b"fine"), "not JSON"),
        ("claude-code", Said(b"[]"), "answered 200"),
        ("starchild", Said(), ""),
        ("starchild", Said(b"fine"), "not JSON"),
        ("claude-code", Said(status=204), ""),
        ("claude-code", Said(b"{}"), ""),
    ],
)
def test_what_an_answer_means_is_up_to_the_dialect(
    house: House, serve: Serve, dialect: str, said: Said, words: str
) -> None:
    post(house, serve(said), dialect=dialect, failure="allow")

    assert house.tool() == {}
    assert words in cause(house)
    assert bool(cause(house)) == bool(words)


@pytest.mark.parametrize("dialect", ["claude-code", "starchild"])
@pytest.mark.parametrize(
    "said",
    [
        b'{"decision":"block","reason":"a","reason":"no"}',
        b'{"decision":"block","reason":"caf\xe9"}',
        b'{"decision":"block","n":1e999}',
        b'{"decision":"block","n":' + b"[" * 300 + b"]" * 300 + b"}",
        '\u00a0{"decision":"block"}'.encode(),
    ],
)
def test_a_servers_refusal_counts_in_every_spelling(house: House, serve: Serve, dialect: str, said: bytes) -> None:
    post(house, serve(said), dialect=dialect)

    assert denied(house.tool())


def test_a_refused_connection_follows_the_failure_policy(house: House) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # and does not listen: no server of another test can be there
        place = f"127.0.0.1:{nobody.getsockname()[1]}"
        keys: dict[str, Any] = {"url": f"http://{place}/", "allow_local": [place], "failure": "block"}
        house.hook("guard", on="tool_before", type="http", **keys)

        assert denied(house.tool())

    assert "Connection refused" in cause(house)


def test_all_kinds_run_together_and_merge_in_declared_order(house: House, serve: Serve) -> None:
    slow = serve(Said(BLOCK, drip=0.01))
    post(house, slow, name="first")
    house.hook("second", on="tool_before", script='cat >/dev/null; echo \'{"decision":"block","reason":"me too"}\'')
    post(house, serve(BLOCK), name="third")

    assert house.tool()["hookSpecificOutput"]["permissionDecisionReason"] == (
        "first (Hooktray): no\nsecond (Hooktray): me too\nthird (Hooktray): no"
    )
    assert [hook["name"] for hook in house.last.hooks] == ["first", "second", "third"]


def test_a_dripping_server_ends_at_the_hooks_time_limit(house: House, serve: Serve) -> None:
    post(house, serve(Said(b" " * 6000, drip=0.1)), timeout=0.5, failure="block")

    started = time.monotonic()
    assert denied(house.tool())
    assert time.monotonic() - started < 60  # all of it takes 600 seconds
    assert house.last.hooks[0]["status"] == "timed_out"


def test_the_relays_end_cancels_the_request(house: House, serve: Serve) -> None:
    relay, ours = socket.socketpair()

    def respond(asked: Asked) -> Said:
        relay.close()
        return Said(b" " * 600, drip=0.1)

    post(house, serve(respond=respond), timeout=60)
    begun = house.engine.begin(house.relay_request("claude-code", PRE_TOOL_USE))

    assert isinstance(begun, Execution)
    with ours:
        begun.run(ours)
    assert cause(house) == "cancelled"


def test_a_model_that_objects_blocks(house: House, serve: Serve) -> None:
    server = serve(completion('```json\n{"ok": false, "reason": "too bold"}\n```'))
    question(house, server)

    answer = house.tool(f"curl -H 'Authorization: Bearer {SECRET}' x")

    assert answer["hookSpecificOutput"]["permissionDecisionReason"] == "judge (Hooktray): too bold"
    asked = server.asked[0].json
    assert (server.asked[0].path, asked["model"], asked["temperature"]) == ("/v1/chat/completions", "small", 0)
    assert "curl -H" in asked["messages"][1]["content"]
    assert SECRET.encode() not in server.asked[0].body


def test_a_question_may_ask_for_the_tools_input_only(house: House, serve: Serve) -> None:
    server = serve(completion('{"ok": true}'))
    question(house, server, prompt="Is this safe? $TOOL_INPUT")

    house.tool("make all")

    asked = server.asked[0].json["messages"][1]["content"]
    assert asked == 'Is this safe? {"command":"make all","description":"look"}'


def test_a_model_may_stop_the_agent_and_leave_the_user_a_note(house: House, serve: Serve) -> None:
    said = {"decision": "approve", "continue": False, "stopReason": "out of budget", "systemMessage": "ask for more"}
    question(house, serve(completion(json.dumps(said))))

    answer = house.tool()

    assert (answer["continue"], answer["stopReason"]) == (False, "judge (Hooktray): out of budget")
    assert answer["systemMessage"] == "ask for more"


def test_a_models_refusal_is_heard_however_it_is_written(house: House, serve: Serve) -> None:
    question(house, serve(completion('\u00a0{"ok": true, "ok": false, "reason": "no", "sure": 1e999}')))

    assert denied(house.tool())


@pytest.mark.parametrize("said", ['{"ok": true}', '{"decision": "approve"}', '{"decision": "continue"}'])
def test_a_models_consent_is_no_opinion(house: House, serve: Serve, said: str) -> None:
    question(house, serve(completion(said)))

    assert house.tool() == {}
    assert house.last.hooks[0]["status"] == "ok"


@pytest.mark.parametrize(
    "said",
    [
        completion("Looks fine to me."),
        completion('{"ok": "yes"}'),
        completion('{"decision": "perhaps"}'),
        completion('{"reason": "x"}'),
        completion('{"ok": true} and more'),
        completion('{"ok": false, "reason": 3}'),
        completion(""),
        b"no json",
        Said(completion('{"ok": true}'), status=500),
        Said(status=302, headers={"Location": "/v1/other"}),
    ],
)
def test_any_other_answer_is_a_failure(house: House, serve: Serve, said: bytes | Said) -> None:
    server = serve(said)
    question(house, server, failure="block")

    assert denied(house.tool())
    assert house.last.hooks[0]["status"] == "failed"
    assert "internal" not in cause(house)
    assert len(server.asked) == 1


def test_at_the_end_of_a_turn_continue_means_go_on(house: House, serve: Serve) -> None:
    question(house, serve(completion('{"decision": "continue", "reason": "tests"}')), on="turn_end")

    answer = house.relay("claude-code", "Stop", STOP)

    assert json.loads(answer.stdout) == {"decision": "block", "reason": "judge (Hooktray): tests"}


def test_at_the_end_of_a_turn_stop_means_done(house: House, serve: Serve) -> None:
    question(house, serve(completion('{"decision": "stop"}')), on="turn_end")

    answer = house.relay("claude-code", "Stop", STOP)

    assert (answer.stdout, house.last.hooks[0]["status"]) == (b"", "ok")


def test_a_model_that_says_block_blocks(house: House, serve: Serve) -> None:
    said = {"decision": "block", "reason": "your explanation"}
    question(house, serve(completion(json.dumps(said))))

    assert house.tool()["hookSpecificOutput"]["permissionDecisionReason"] == "judge (Hooktray): your explanation"


def test_a_malformed_answer_to_claudes_question_fails_and_stops_nothing(house: House, serve: Serve) -> None:
    claudes(house, serve(completion("Looks fine to me.")), "PreToolUse")

    assert house.tool() == {}
    assert house.last.hooks[0]["status"] == "failed"


NO = '{"ok": false, "reason": "too bold"}'


@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse"])
@pytest.mark.parametrize(
    ("keys", "ends"), [({}, True), ({"continueOnBlock": True}, False), ({"type": "agent"}, False)]
)
def test_a_no_to_claudes_own_question_ends_the_turn(
    house: House, serve: Serve, event: str, keys: dict[str, Any], ends: bool
) -> None:
    claudes(house, serve(completion(NO)), event, **keys)

    payload = {**PRE_TOOL_USE, "hook_event_name": event, "tool_response": {}}
    answer = json.loads(house.relay("claude-code", event, payload).stdout)

    said = f"{event} {keys.get('type', 'prompt')} (Hooktray): too bold"
    assert (answer.get("continue"), answer.get("stopReason")) == ((False, said) if ends else (None, None))
    assert said in (answer.get("reason"), answer.get("hookSpecificOutput", {}).get("permissionDecisionReason"))


@pytest.mark.parametrize(
    "event",
    ["PermissionRequest", "PostToolBatch", "PostToolUseFailure", "TaskCompleted", "TaskCreated", "UserPromptSubmit"],
)
def test_elsewhere_a_no_to_claudes_own_question_ends_nothing(house: House, serve: Serve, event: str) -> None:
    claudes(house, serve(completion(NO)), event)

    said = house.relay("claude-code", event, {**PRE_TOOL_USE, "hook_event_name": event, "prompt": "go"})

    assert b"too bold" in said.stdout + said.stderr
    assert b'"continue"' not in said.stdout
    assert b'"interrupt"' not in said.stdout
    assert house.last.verdict.word == "deny"


def test_where_a_turn_cannot_be_ended_a_no_to_claudes_own_question_refuses(house: House, serve: Serve) -> None:
    claudes(house, serve(completion(NO)), "PreToolUse")

    assert json.loads(house.relay("x-code", "PreToolUse", X_CODE).stdout) == {
        "decision": "deny",
        "reason": "PreToolUse prompt (Hooktray): too bold",
    }


@pytest.mark.parametrize(
    ("said", "refused"),
    [(NO, True), (NO[:-1] + ', "impossible": true}', False), (NO[:-1] + ', "impossible": "yes"}', True)],
)
def test_claudes_own_impossible_question_refuses_no_end(house: House, serve: Serve, said: str, refused: bool) -> None:
    claudes(house, serve(completion(said)), "Stop")

    stdout = house.relay("claude-code", "Stop", STOP).stdout

    assert stdout == (b'{"decision":"block","reason":"Stop prompt (Hooktray): too bold"}\n' if refused else b"")


@pytest.mark.parametrize("on", ["tool_before", "turn_end"])
def test_a_question_of_our_own_refuses_and_no_more(house: House, serve: Serve, on: str) -> None:
    question(house, serve(completion(NO[:-1] + ', "impossible": true}')), on=on, dialect="claude-code")
    event = {"tool_before": "PreToolUse", "turn_end": "Stop"}[on]

    answer = json.loads(house.relay("claude-code", event, {**PRE_TOOL_USE, "hook_event_name": event}).stdout)

    assert "continue" not in answer
    assert house.last.verdict.word == "deny"


def test_an_endpoint_that_nobody_confirmed_is_not_asked(house: House) -> None:
    with closing(Trap()) as trap:
        server = WebServer()
        server.close()
        server.url = f"http://{trap.place}"
        question(house, server, confirmed=False)

        assert house.tool()["hookSpecificOutput"]["permissionDecision"] == "ask"
        assert cause(house) == "no llm configured"
        assert trap.connects == 0


def test_the_transcripts_end_is_inlined_without_its_secrets(house: House, serve: Serve, tmp_path: Path) -> None:
    transcript = tmp_path / "t.jsonl"
    transcript.write_text("early\n" * 20_000 + f"token {SECRET}\nlast words\n")
    server = serve(completion('{"ok": true}'))
    question(house, server, prompt="Read $TRANSCRIPT_PATH and \\$ARGUMENTS")

    house.relay("claude-code", "PreToolUse", {**PRE_TOOL_USE, "transcript_path": str(transcript)})

    said = server.asked[0].json["messages"][1]["content"]
    assert "last words" in said
    assert SECRET not in said
    assert "$ARGUMENTS" in said
    assert len(said) < 80_000


def test_an_agent_hook_reads_below_the_working_folder_alone(house: House, serve: Serve, tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    (project / "src" / "a.py").write_text(f"one = 1\nkey = '{SECRET}'\n")
    (tmp_path / "outside.txt").write_text("not for you")
    (project / "link").symlink_to(tmp_path / "outside.txt")
    calls = (
        ("glob", {"pattern": "**/*.py"}), ("grep", {"pattern": "one"}), ("read", {"path": "src/a.py"}),
        ("read", {"path": "../outside.txt"}), ("read", {"path": str(tmp_path / "outside.txt")}),
        ("read", {"path": "link"}), ("shell", {"command": "id"}),
    )  # fmt: skip
    server = serve(completion(calls=calls), completion('{"ok": false, "reason": "seen"}'))
    question(house, server, type="agent")

    answer = house.relay("claude-code", "PreToolUse", {**PRE_TOOL_USE, "cwd": str(project)})

    assert b"seen" in answer.stdout
    found = [one["content"] for one in server.asked[1].json["messages"] if one["role"] == "tool"]
    assert found[:2] == ["src/a.py", "src/a.py:1: one = 1"]
    assert found[2].startswith("one = 1\nkey = '[masked")
    assert all("error" in one for one in found[3:])
    assert b"not for you" not in server.asked[1].body
    assert SECRET.encode() not in server.asked[1].body


def test_an_agent_hook_that_never_ends_has_failed_after_50_turns(house: House, serve: Serve) -> None:
    server = serve(respond=lambda asked: Said(completion(calls=(("glob", {"pattern": "*"}),))))
    question(house, server, type="agent", timeout=60)

    house.tool()

    assert cause(house) == "the model gave no answer in 50 turns"
    assert len(server.asked) == 50


def test_without_the_tray_all_kinds_still_run(house: House, serve: Serve) -> None:
    web, model = serve(BLOCK), serve(completion('{"ok": false, "reason": "nor me"}'))
    hooks = [
        {"name": "web", "event": "tool_before", "type": "http", "url": web.url, "allow_local": [web.place]},
        {"name": "judge", "event": "tool_before", "type": "prompt", "prompt": "Good?"},
    ]
    house.configure({"hooks": hooks, "llm": {"base_url": model.url, "model": "small", "api_key_env": "LLM_KEY"}})
    approve_all(house)
    confirm_model(house)

    done = subprocess.run(
        [sys.executable, "-I", "-m", "tray", "once", "--home", str(house.paths.home), "claude-code", "PreToolUse"],
        input=json.dumps(PRE_TOOL_USE).encode(),
        capture_output=True,
        env={**os.environ, "LLM_KEY": "the key"},
        timeout=60,
        check=False,
    )

    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecisionReason"] == (
        "web (Hooktray): no\njudge (Hooktray): nor me"
    )
    assert model.asked[0].headers["Authorization"] == "Bearer the key"


def test_a_key_that_is_not_there_is_a_failure_that_names_it(house: House, serve: Serve) -> None:
    question(house, serve())
    text = json.loads(house.paths.config.read_text())
    text["llm"]["api_key_env"] = "LLM_KEY"
    house.configure(text)
    confirm_model(house)

    house.tool()

    assert cause(house) == "llm: the variable LLM_KEY is not set where the tray was started"


def test_a_question_over_the_limit_is_never_cut_short(house: House, serve: Serve) -> None:
    server = serve()
    question(house, server)

    house.tool("x" * 300_000)

    assert cause(house) == "the question is over 262144 characters"
    assert server.asked == []


@pytest.mark.parametrize("what", ["folder", "nowhere", "pipe"])
def test_a_transcript_that_is_none_is_said_to_be_none(house: House, serve: Serve, tmp_path: Path, what: str) -> None:
    (tmp_path / "folder").mkdir()
    if what == "pipe":
        os.mkfifo(tmp_path / "pipe")
    server = serve(completion('{"ok": true}'))
    question(house, server, prompt="$TRANSCRIPT_PATH")

    house.relay("claude-code", "PreToolUse", {**PRE_TOOL_USE, "transcript_path": str(tmp_path / what)})

    assert "(the transcript cannot be read)" in server.asked[0].json["messages"][1]["content"]


@pytest.mark.parametrize("is_agent", [False, True])
@pytest.mark.parametrize("timeout", [20, 120, 590])
def test_a_question_to_a_model_has_all_of_the_hooks_time(house: House, is_agent: bool, timeout: float) -> None:
    hook = built_hook(Prompt(text="Good?", agent=is_agent), timeout=timeout)
    event = Event(id="1", agent="claude-code", name="PreToolUse", kind=EventKind.TOOL_BEFORE)

    assert execute._request_job(event, hook, NoSettings(), FREE_TURN).timeout == timeout
