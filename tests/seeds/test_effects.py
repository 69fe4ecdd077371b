"""What the documents require, seen in what a hook then does: a real tray and the installed relay."""

from __future__ import annotations

import json
import shlex
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from connect.trays import approve_all
from desk import wait
from seeds.product import SCRIPTS, Product

from tray.model.decision import Record

CHECKED = "echo checked >&2\nexit 2\n"  # where a page has `# ... validation code ...`
REFUSE = "#!/bin/sh\ncat >/dev/null\necho no >&2\nexit 2\n"


def bash(command: str, tool: str = "Bash") -> dict[str, Any]:
    return {"tool_name": tool, "tool_input": {"command": command}}


def shell(command: str) -> dict[str, Any]:
    return {"tool": {"name": "shell", "args": {"command": command}, "callId": "1"}}


def settings(product: Product, event: str, handlers: Mapping[str, str]) -> Product:
    """The user's settings of Claude Code: a command for each matcher."""
    groups = [
        {"matcher": matcher, "hooks": [{"type": "command", "command": command}]}
        for matcher, command in handlers.items()
    ]
    path = product.write(".claude/settings.json", json.dumps({"hooks": {event: groups}}), 0o644)
    return product.source("claude-code", path)


def is_denied(answer: Mapping[str, Any]) -> bool:
    return bool(answer.get("hookSpecificOutput", {}).get("permissionDecision") == "deny")


@pytest.mark.parametrize(
    ("seed", "checking", "skipping"),
    [
        ("claude-only-in-ci.sh", {"CI": "1"}, {}),
        ("claude-trusted-user.sh", {"USER": "somebody"}, {"USER": "admin"}),
    ],
)
def test_a_hook_that_depends_on_a_variable_checks_only_where_it_is_meant_to(
    product: Product, seed: str, checking: dict[str, str], skipping: dict[str, str]
) -> None:
    script = product.write("hooks/check.sh", (SCRIPTS / seed).read_text() + CHECKED)
    settings(product, "PreToolUse", {"Bash": f"bash {script}"}).start()

    checked = product.answer("claude-code", "PreToolUse", bash("ls"), env=checking)
    skipped = product.answer("claude-code", "PreToolUse", bash("ls"), env=skipping)

    assert (is_denied(checked), skipped) == (True, {})


@pytest.mark.parametrize("agent", ["claude-code", "starchild"])
@pytest.mark.parametrize("strict", [True, False])
def test_a_hook_reads_the_projects_own_configuration_below_claude_project_dir(
    product: Product, agent: str, strict: bool
) -> None:
    text = (SCRIPTS / "claude-project-config.sh").read_text()
    text = text.replace("# Apply strict validation", CHECKED).replace("# Apply lenient validation", "exit 0")
    script = product.write("hooks/check.sh", text)
    product.write("project/.claude-hooks-config.json", json.dumps({"strict_mode": strict}), 0o644)
    project = str(product.home / "project")
    settings(product, "PreToolUse", {"Bash": f"bash {script}"}).start()

    if agent == "claude-code":
        environment = {"CLAUDE_PROJECT_DIR": project}
        answer = product.answer(agent, "PreToolUse", bash("ls") | {"cwd": "/"}, env=environment)
        assert is_denied(answer) is strict
    else:
        answer = product.answer(agent, "pre_tool_call", bash("ls", "bash") | {"cwd": project})
        assert (answer.get("decision") == "block") is strict


MEETING = """#!/bin/sh
grep -q 'the meeting' || exit 0
touch {home}/{own}
tries=0
while [ ! -e {home}/{other} ]; do
    tries=$((tries + 1))
    [ $tries -lt 3000 ] || exit 1
    sleep 0.01
done
"""


@pytest.mark.parametrize("agent", ["claude-code", "x-code"])
def test_hooks_of_one_event_run_side_by_side(product: Product, agent: str) -> None:
    """Claude Code's before a tool; X-Code's of an event that it only tells of. Each waits for the other."""
    names = ("check-size", "check-path")
    scripts = [
        product.write(f"p/{own}.sh", MEETING.format(home=product.home, own=own, other=other))
        for own, other in (names, names[::-1])
    ]
    if agent == "claude-code":
        handlers = [{"command": f"bash {script}"} for script in scripts]
        product.claude("PreToolUse", *handlers).start()
        product.ask(agent, "PreToolUse", bash("ls") | {"prompt_id": "the meeting"})
    else:
        entries = [{"command": str(script), "timeout": 30000} for script in scripts]
        manifest = {"name": "p", "hooks": {"TurnComplete": entries}}
        product.source("x-code", product.write("p/plugin.json", json.dumps(manifest), 0o644).parent).start()
        product.ask(agent, "TurnComplete", {"note": "the meeting"})

    hooks = product.row("the meeting").hooks
    wait(lambda: all((product.home / name).exists() for name in names), 60, "both have begun")
    assert sorted((hook["name"], hook["status"]) for hook in hooks) == [("check-path", "ok"), ("check-size", "ok")]


def test_claude_plugin_root_is_the_plugins_folder(product: Product) -> None:
    root = product.home / "plugin"
    product.write("plugin/scripts/word", "the plugin's own word", 0o644)
    product.write("plugin/scripts/quick-check.sh", 'cat "$CLAUDE_PLUGIN_ROOT/scripts/word" >&2\nexit 2\n')
    printed = (SCRIPTS / "claude-multi-stage.json").read_text()
    product.source("claude-code", product.write("plugin/hooks/hooks.json", printed, 0o644)).start()
    (root / "scripts" / "word").unlink()  # what runs is the approved copy of the whole folder

    answer = product.answer("claude-code", "PreToolUse", bash("ls"))

    assert "the plugin's own word" in answer["hookSpecificOutput"]["permissionDecisionReason"]


def test_a_system_prompt_hook_gets_the_prompt_as_plain_text_and_replaces_it(product: Product) -> None:
    product.write("hooks/system-prompt", f"#!/bin/sh\ncat >{product.home}/seen\nprintf 'Be brief.'\n")
    product.source("shelley", product.home / "hooks").start()
    argv = [str(product.paths.relay), "shelley", "system-prompt"]

    done = product.live.place.run(argv, input=b"You are Shelley.\nBe \xc3\xa9xact.", timeout=200)

    assert (done.returncode, done.stdout) == (0, b"Be brief.")
    assert (product.home / "seen").read_bytes() == b"You are Shelley.\nBe \xc3\xa9xact."


def test_a_slash_command_without_an_executable_is_an_ordinary_message(product: Product) -> None:
    product.write(".config/shelley/hooks/slash/files", "#!/bin/sh\necho files\n")
    product.source("shelley", product.home / ".config/shelley/hooks").start()

    done = product.ask("shelley", "slash/other", {"command": "other", "raw_message": "/other files"})

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("agent", ["shelley", "x-code"])
def test_an_agent_waits_for_no_hook_of_an_event_that_is_over(product: Product, agent: str) -> None:
    late = f"#!/bin/sh\ngrep -q 'the last one' || exit 0\nread -r word <{product.home}/go\ntouch {product.home}/ran\n"
    if agent == "shelley":
        product.write("p/end-of-turn", late)
        product.source("shelley", product.home / "p")
        event, payload = "end-of-turn", {"final_response": "the last one"}
    else:
        product.write("p/late.sh", late)
        manifest = {"name": "p", "hooks": {"SessionEnd": [{"command": "${pluginDir}/late.sh", "timeout": 30000}]}}
        product.source("x-code", product.write("p/plugin.json", json.dumps(manifest), 0o644).parent)
        event, payload = "SessionEnd", {"note": "the last one"}
    product.start()
    pipe = product.home / "go"
    _make_pipe(pipe)

    done = product.ask(agent, event, payload)

    assert (done.returncode, done.stdout) == (0, b"")
    assert not (product.home / "ran").exists()
    writer = threading.Thread(target=pipe.write_text, args=("on\n",))
    writer.start()
    wait((product.home / "ran").exists, 60, "the hook runs on")
    writer.join()


def _make_pipe(path: Path) -> None:
    if sys.platform != "win32":
        import os

        os.mkfifo(path)


ENTRIES: Sequence[Mapping[str, Any]] = (
    {"event": "post_tool_call", "command": "tee -a {home}/audit.log"},
    {"event": "pre_tool_call", "matcher": "rm -rf|dd if=|mkfs", "command": "./started.sh"},
    {"event": "pre_tool_call", "matcher": "print the words", "command": "./words.sh 'a b' $HOME *.yaml ; x"},
    {"event": "pre_tool_call", "matcher": "too slow", "command": "./slow.sh", "timeout": 1},
)


@pytest.fixture(scope="module")
def starchild(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """One tray with a workspace whose hooks write down what they were given."""
    if sys.platform == "win32":
        pytest.skip("the scripts are for a POSIX shell")
    with pytest.MonkeyPatch.context() as patch:
        product = Product(tmp_path_factory.mktemp("starchild"))
        patch.setenv("HOME", str(product.home))
        product.write("workspace/started.sh", f"#!/bin/sh\ncat >>{product.home}/started\n")
        product.write("workspace/words.sh", f"#!/bin/sh\nprintf '%s\\n' \"$@\" >{product.home}/words\n")
        product.write("workspace/slow.sh", "#!/bin/sh\ncat >/dev/null\nexec sleep 60\n")
        entries = [{**one, "command": one["command"].format(home=product.home)} for one in ENTRIES]
        yield product.starchild(*entries).start()
        product.close()


def asked(product: Product, command: str) -> Record:
    """The row of a call of Starchild's shell."""
    product.ask("starchild", "pre_tool_call", bash(command, "bash"))
    return product.row(command)


def test_every_tool_call_of_starchild_is_logged_and_nothing_is_answered(starchild: Product) -> None:
    calls = [{"tool_name": "bash", "tool_result": f"result {number}"} for number in range(2)]

    answers = [starchild.answer("starchild", "post_tool_call", call) for call in calls]

    log = starchild.home / "audit.log"
    wait(lambda: log.exists() and log.read_text().count("result ") == 2, 60, "both are in the log")
    assert answers == [{}, {}]


def test_a_script_whose_matcher_does_not_match_is_not_started(starchild: Product) -> None:
    harmless, destructive = asked(starchild, "ls -la"), asked(starchild, "dd if=/dev/zero of=/dev/sda")

    assert harmless.hooks == ()
    assert [hook["name"] for hook in destructive.hooks] == ["started"]
    seen = (starchild.home / "started").read_text()
    assert "dd if=" in seen
    assert "ls -la" not in seen


def test_a_starchild_command_is_split_into_words_and_no_shell_reads_it(starchild: Product) -> None:
    (hook,) = asked(starchild, "print the words").hooks

    assert hook["status"] == "ok"
    assert (starchild.home / "words").read_text().splitlines() == shlex.split("'a b' '$HOME' '*.yaml' ';' x")


def test_a_starchild_script_that_times_out_lets_the_call_through(starchild: Product) -> None:
    (hook,) = asked(starchild, "too slow").hooks

    assert hook["status"] == "timed_out"
    assert starchild.row("too slow").answer["stdout"] == ""


def test_an_approval_is_for_one_event_and_one_command(product: Product) -> None:
    product.write("workspace/g.sh", REFUSE)
    product.starchild(*({"event": event, "command": "./g.sh"} for event in ("pre_tool_call", "on_stop")))
    approve_all(product.live, lambda one: one.hook.match.native == "pre_tool_call")
    product.start(approve=False)

    before = product.answer("starchild", "pre_tool_call", bash("ls", "bash"))
    at_the_end = product.answer("starchild", "on_stop")

    assert (before["decision"], at_the_end) == ("block", {})
    assert sorted(product.live.states().values()) == ["approved", "pending"]


def test_the_printed_http_hook_is_listed_as_a_post_and_has_no_file_to_check(product: Product) -> None:
    printed = (SCRIPTS / "starchild-http.yaml").read_text()
    product.source("starchild", product.write("workspace/config/shell_hooks.yaml", printed, 0o644)).start()

    shown = product.live.cli("list").stdout.decode()
    (row,) = product.live.rows("list")
    (found,) = [row for row in product.live.cli_json("doctor", "--static") if row["check"] == "hook"]

    assert "POST https://my-guard.example.com/hook" in shown
    assert (row["state"], row["health"]) == ("approved", "ok")
    assert found["health"] == "ok"


@pytest.mark.parametrize(("command", "refused"), [("rm -rf /", True), ("ls -la", False)])
def test_the_minimal_example_blocks_a_destructive_command_and_lets_others_pass(
    product: Product, command: str, refused: bool
) -> None:
    product.script("workspace/guard.sh", seed="starchild-block.sh")
    product.starchild({"event": "pre_tool_call", "command": "./guard.sh"}).start()

    answer = product.answer("starchild", "pre_tool_call", bash(command, "bash"))

    (hook,) = product.row(command).hooks
    assert hook["status"] == "ok"
    reason = f"guard (Hooktray): refusing destructive command: {command}"
    assert answer == ({"decision": "block", "reason": reason} if refused else {})


def test_output_that_is_no_json_lets_an_x_code_call_through_and_leaves_a_trace(product: Product) -> None:
    manifest = {"name": "p", "hooks": {"PreToolUse": [{"command": "cat >/dev/null; echo hello"}]}}
    product.source("x-code", product.write("p/plugin.json", json.dumps(manifest), 0o644).parent).start()

    answer = product.answer("x-code", "PreToolUse", shell("ls"))

    (hook,) = product.row('"ls"').hooks
    assert answer == {}
    assert "JSON" in f"{hook['cause']} {hook['reason']}"
