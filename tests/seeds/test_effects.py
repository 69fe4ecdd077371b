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


def x_tool(name: str, command: str = "ls") -> dict[str, Any]:
    return {"tool": {"name": name, "args": {"command": command}, "callId": "1"}}


def is_denied(answer: Mapping[str, Any]) -> bool:
    return bool(answer.get("hookSpecificOutput", {}).get("permissionDecision") == "deny")


# Each of the two hooks waits for the other one.
MEETING = """#!/bin/sh
grep -q 'a meeting of {agent}' || exit 0
touch {home}/{agent}-{own}
tries=0
while [ ! -e {home}/{agent}-{other} ]; do
    tries=$((tries + 1))
    [ $tries -lt 3000 ] || exit 1
    sleep 0.01
done
"""
NAMES = ("check-size", "check-path")
LATE = """#!/bin/sh
grep -q 'the last one of {agent}' || exit 0
read -r word <{home}/{agent}-go
touch {home}/{agent}-ran
"""
PLACEHOLDERS = '"${{cwd}}" "${{homedir}}" "${{sep}}" "${{env:WORD}}" "${{env:NONE}}" \'${{plugindir}}\''
ENTRIES: Sequence[Mapping[str, Any]] = (
    {"event": "post_tool_call", "command": "tee -a {home}/audit.log"},
    {"event": "pre_tool_call", "matcher": "rm -rf|dd if=|mkfs", "command": "./started.sh"},
    {"event": "pre_tool_call", "matcher": "print the words", "command": "./words.sh 'a b' $HOME *.yaml ; x"},
    {"event": "pre_tool_call", "matcher": "too slow", "command": "./slow.sh", "timeout": 1},
    {"event": "pre_tool_call", "matcher": "a minimal one", "command": "./guard.sh"},
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """One tray with a source of each format; what its hooks do depends on the tool or the payload."""
    if sys.platform == "win32":
        pytest.skip("the scripts are for a POSIX shell")
    with pytest.MonkeyPatch.context() as patch:
        product = Product(tmp_path_factory.mktemp("effects"))
        patch.setenv("HOME", str(product.home))
        for source in (claude, shelley, starchild, x_code):
            source(product)
        yield product.start()
        product.close()


def claude(product: Product) -> None:
    """The user's settings: a command for each matcher. The command that reads a project's file is for any agent."""
    config = (SCRIPTS / "claude-project-config.sh").read_text()
    config = config.replace("# Apply strict validation", CHECKED).replace("# Apply lenient validation", "exit 0")
    product.write("project/.claude-hooks-config.json", "{}", 0o644)
    scripts = {
        "InCi": product.write("hooks/ci.sh", (SCRIPTS / "claude-only-in-ci.sh").read_text() + CHECKED),
        "ByUser": product.write("hooks/user.sh", (SCRIPTS / "claude-trusted-user.sh").read_text() + CHECKED),
        "Project": product.write("hooks/config.sh", config),
    }
    groups: list[dict[str, Any]] = [
        {"matcher": matcher, "hooks": [{"type": "command", "command": f"bash {script}"}]}
        for matcher, script in scripts.items()
    ]
    commands = [{"type": "command", "command": f"bash {one}"} for one in meeting(product, "claude-code")]
    groups.append({"matcher": "Meeting", "hooks": commands})
    path = product.write(".claude/settings.json", json.dumps({"hooks": {"PreToolUse": groups}}), 0o644)
    product.source("claude-code", path, only=["claude-code", "starchild"])


def meeting(product: Product, agent: str) -> list[Path]:
    return [
        product.write(f"{agent}/{own}.sh", MEETING.format(home=product.home, agent=agent, own=own, other=other))
        for own, other in (NAMES, NAMES[::-1])
    ]


def shelley(product: Product) -> None:
    product.write("shelley/system-prompt", f"#!/bin/sh\ncat >{product.home}/seen\nprintf 'Be brief.'\n")
    product.write("shelley/slash/files", "#!/bin/sh\necho files\n")
    product.write("shelley/end-of-turn", LATE.format(home=product.home, agent="shelley"))
    product.source("shelley", product.home / "shelley")


def starchild(product: Product) -> None:
    """A workspace whose hooks record their input."""
    product.write("workspace/started.sh", f"#!/bin/sh\ncat >>{product.home}/started\n")
    product.write("workspace/words.sh", f"#!/bin/sh\nprintf '%s\\n' \"$@\" >{product.home}/words\n")
    product.write("workspace/slow.sh", "#!/bin/sh\ncat >/dev/null\nexec sleep 60\n")
    product.script("workspace/guard.sh", seed="starchild-block.sh")
    entries = [{**one, "command": one["command"].format(home=product.home)} for one in ENTRIES]
    product.starchild(*entries)


def x_code(product: Product) -> None:
    late = product.write("x-code/late.sh", LATE.format(home=product.home, agent="x-code"))
    words = f"cat >/dev/null; printf '%s|' {PLACEHOLDERS.format()} >{product.home}/out"
    hooks = {
        "PreToolUse": [
            {"command": words, "matcher": "readFile"},
            {"command": "cat >/dev/null; echo hello", "matcher": "glob", "description": "talks"},
            {"command": "cat >/dev/null; exit 3", "matcher": "grep", "description": "fails"},
            {"command": 'cat >/dev/null; echo \'{"decision":"deny"}\'', "matcher": "shell", "description": "lint"},
        ],
        "SessionEnd": [{"command": str(late), "timeout": 30000}],
        "TurnComplete": [{"command": str(script), "timeout": 30000} for script in meeting(product, "x-code")],
    }
    product.write("x-code/plugin.json", json.dumps({"name": "p", "hooks": hooks}), 0o644)
    product.source("x-code", product.home / "x-code", only=["x-code"])


@pytest.mark.parametrize(
    ("tool", "checking", "skipping"), [("InCi", {"CI": "1"}, {}), ("ByUser", {"USER": "somebody"}, {"USER": "admin"})]
)
def test_a_hook_that_depends_on_a_variable_checks_only_where_it_is_meant_to(
    shared: Product, tool: str, checking: dict[str, str], skipping: dict[str, str]
) -> None:
    checked = shared.answer("claude-code", "PreToolUse", bash("ls", tool), env=checking)
    skipped = shared.answer("claude-code", "PreToolUse", bash("ls", tool), env=skipping)

    assert (is_denied(checked), skipped) == (True, {})


@pytest.mark.parametrize("strict", [True, False])
def test_a_hook_reads_the_projects_own_configuration_below_claude_project_dir(shared: Product, strict: bool) -> None:
    shared.write("project/.claude-hooks-config.json", json.dumps({"strict_mode": strict}), 0o644)
    project = str(shared.home / "project")

    environment = {"CLAUDE_PROJECT_DIR": project}
    answer = shared.answer("claude-code", "PreToolUse", bash("ls", "Project") | {"cwd": "/"}, env=environment)
    other = shared.answer("starchild", "pre_tool_call", bash("ls", "Project") | {"cwd": project})

    assert (is_denied(answer), other.get("decision") == "block") == (strict, strict)


@pytest.mark.parametrize(("agent", "event"), [("claude-code", "PreToolUse"), ("x-code", "TurnComplete")])
def test_hooks_of_one_event_run_side_by_side(shared: Product, agent: str, event: str) -> None:
    """Claude Code's hooks before a tool, and X-Code's hooks for an event that they only observe."""
    note = f"a meeting of {agent}"

    shared.ask(agent, event, bash("ls", "Meeting") | {"note": note})

    hooks = shared.row(note).hooks
    wait(lambda: all((shared.home / f"{agent}-{name}").exists() for name in NAMES), 60, "both have begun")
    assert sorted((hook["name"], hook["status"]) for hook in hooks) == [("check-path", "ok"), ("check-size", "ok")]


def test_a_system_prompt_hook_gets_the_prompt_as_plain_text_and_replaces_it(shared: Product) -> None:
    argv = [str(shared.paths.relay), "shelley", "system-prompt"]

    done = shared.live.place.run(argv, input=b"You are Shelley.\nBe \xc3\xa9xact.", timeout=200)

    assert (done.returncode, done.stdout) == (0, b"Be brief.")
    assert (shared.home / "seen").read_bytes() == b"You are Shelley.\nBe \xc3\xa9xact."


def test_a_slash_command_without_an_executable_is_an_ordinary_message(shared: Product) -> None:
    done = shared.ask("shelley", "slash/other", {"command": "other", "raw_message": "/other files"})

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize(
    ("agent", "event", "key"), [("shelley", "end-of-turn", "final_response"), ("x-code", "SessionEnd", "note")]
)
def test_an_agent_does_not_wait_for_hooks_of_an_observed_event(
    shared: Product, agent: str, event: str, key: str
) -> None:
    pipe, ran = shared.home / f"{agent}-go", shared.home / f"{agent}-ran"
    _make_pipe(pipe)

    done = shared.ask(agent, event, {key: f"the last one of {agent}"})

    assert (done.returncode, done.stdout) == (0, b"")
    assert not ran.exists()
    writer = threading.Thread(target=pipe.write_text, args=("on\n",))
    writer.start()
    wait(ran.exists, 60, "the hook runs on")
    writer.join()


def _make_pipe(path: Path) -> None:
    if sys.platform != "win32":
        import os

        os.mkfifo(path)


def test_a_plugins_placeholders_are_filled_in(shared: Product) -> None:
    session = {"cwd": str(shared.home), "modelId": "m"}

    shared.ask("x-code", "PreToolUse", {"session": session, **x_tool("readFile")}, env={"WORD": "word"})

    assert (shared.home / "out").read_text() == f"{shared.home}|{shared.home}|/|word||${{plugindir}}|"


def test_output_that_is_not_json_lets_an_x_code_call_pass_and_is_recorded(shared: Product) -> None:
    answer = shared.answer("x-code", "PreToolUse", x_tool("glob", "no json"))

    (hook,) = shared.row("no json").hooks
    assert answer == {}
    assert "JSON" in f"{hook['cause']} {hook['reason']}"


@pytest.mark.parametrize(
    ("tool", "name", "status", "verdict"), [("grep", "fails", "failed", "abstain"), ("shell", "lint", "ok", "deny")]
)
def test_the_journal_shows_the_verdict_or_the_failure_of_an_x_code_hook(
    shared: Product, tool: str, name: str, status: str, verdict: str
) -> None:
    shared.ask("x-code", "PreToolUse", x_tool(tool, f"look at {tool}"))

    (hook,) = shared.row(f"look at {tool}").hooks
    row = next(row for row in shared.live.cli_json("log") if [one["name"] for one in row["hooks"]] == [name])
    assert (hook["name"], hook["status"], row["verdict"]) == (name, status, verdict)
    assert [one["status"] for one in row["hooks"]] == [status]


def asked(product: Product, command: str) -> Record:
    """The row of a call of Starchild's shell."""
    product.ask("starchild", "pre_tool_call", bash(command, "bash"))
    return product.row(command)


def test_every_tool_call_of_starchild_is_logged_and_nothing_is_answered(shared: Product) -> None:
    calls = [{"tool_name": "bash", "tool_result": f"result {number}"} for number in range(2)]

    answers = [shared.answer("starchild", "post_tool_call", call) for call in calls]

    log = shared.home / "audit.log"
    wait(lambda: log.exists() and log.read_text().count("result ") == 2, 60, "both are in the log")
    assert answers == [{}, {}]


def test_a_script_whose_matcher_does_not_match_is_not_started(shared: Product) -> None:
    harmless, destructive = asked(shared, "ls -la"), asked(shared, "dd if=/dev/zero of=/dev/sda")

    assert harmless.hooks == ()
    assert [hook["name"] for hook in destructive.hooks] == ["started"]
    seen = (shared.home / "started").read_text()
    assert "dd if=" in seen
    assert "ls -la" not in seen


def test_a_starchild_command_is_split_into_words_and_no_shell_reads_it(shared: Product) -> None:
    (hook,) = asked(shared, "print the words").hooks

    assert hook["status"] == "ok"
    assert (shared.home / "words").read_text().splitlines() == shlex.split("'a b' '$HOME' '*.yaml' ';' x")


def test_a_starchild_script_that_times_out_lets_the_call_through(shared: Product) -> None:
    (hook,) = asked(shared, "too slow").hooks

    assert hook["status"] == "timed_out"
    assert shared.row("too slow").answer["stdout"] == ""


@pytest.mark.parametrize(("command", "refused"), [("rm -rf / # a minimal one", True), ("ls # a minimal one", False)])
def test_the_minimal_example_blocks_a_destructive_command_and_lets_others_pass(
    shared: Product, command: str, refused: bool
) -> None:
    answer = shared.answer("starchild", "pre_tool_call", bash(command, "bash"))

    hook = next(hook for hook in shared.row(command).hooks if hook["name"] == "guard")
    assert hook["status"] == "ok"
    reason = f"guard (Hooktray): refusing destructive command: {command}"
    assert answer == ({"decision": "block", "reason": reason} if refused else {})


def test_claude_plugin_root_is_the_plugins_folder(product: Product) -> None:
    root = product.home / "plugin"
    product.write("plugin/scripts/word", "the plugin's own word", 0o644)
    product.write("plugin/scripts/quick-check.sh", 'cat "$CLAUDE_PLUGIN_ROOT/scripts/word" >&2\nexit 2\n')
    printed = (SCRIPTS / "claude-multi-stage.json").read_text()
    product.source("claude-code", product.write("plugin/hooks/hooks.json", printed, 0o644)).start()
    (root / "scripts" / "word").unlink()  # what runs is the approved copy of the whole folder

    answer = product.answer("claude-code", "PreToolUse", bash("ls"))

    assert "the plugin's own word" in answer["hookSpecificOutput"]["permissionDecisionReason"]


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
