"""Hooks of each other format, end to end: read where they stand, approved, and asked by several agents."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from engine.declared import REFUSE, STOP, X_CODE, approve_all, claude, declare, plugin, write
from house import PRE_TOOL_USE, House
from user_controls import Announced

from tray.approvals.review import review
from tray.model.decision import Status, Verdict
from tray.model.hook import ApprovalState

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="scripts for a POSIX shell")

CALL = X_CODE | {"tool": {"name": "shell", "args": {"command": "rm -rf /"}, "callId": "c1"}}


def guarded(house: House, folder: Path, line: str = "./guard.sh", *, approve: bool = True, **keys: Any) -> Path:
    """Writes settings of Claude Code whose hook for Bash is this line, beside a `guard.sh` that refuses."""
    write(folder / "guard.sh", REFUSE, executable=True)
    path = claude(folder, {"command": line}, matcher="Bash")
    declare(house, {"claude-code": str(path), **keys}, approve=approve)
    return path


def told(house: House, payload: Mapping[str, Any] = CALL) -> dict[str, Any]:
    stdout = house.relay("x-code", "PreToolUse", payload).stdout
    return dict(json.loads(stdout)) if stdout else {}


def test_a_claude_guard_blocks_in_claude_code_and_in_x_code(house: House, tmp_path: Path) -> None:
    guarded(house, tmp_path)

    assert house.tool()["hookSpecificOutput"]["permissionDecisionReason"] == "guard (Hooktray): not here"
    assert told(house) == {"decision": "deny", "reason": "guard (Hooktray): not here"}


def test_a_source_may_be_kept_to_some_agents(house: House, tmp_path: Path) -> None:
    guarded(house, tmp_path, agent="claude-code")

    assert house.tool() != {}
    assert told(house) == {}


@pytest.mark.parametrize("line", ["cat | './my guard.sh' && true", "cat <<E\nx\nE\n'./my guard.sh'"])
def test_an_edit_of_what_a_shell_line_names_runs_only_after_approval(house: House, tmp_path: Path, line: str) -> None:
    guard = write(tmp_path / "my guard.sh", REFUSE, executable=True)
    declare(house, {"claude-code": str(claude(tmp_path, {"command": line}, matcher="Bash"))})
    write(guard, "#!/bin/sh\nexit 0\n", executable=True)

    assert house.tool()["hookSpecificOutput"]["permissionDecisionReason"] == "my guard (Hooktray): not here"
    assert house.state("my guard").state is ApprovalState.CHANGED


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("cat <<E\n$(./later.sh)\nE", "./later.sh"),
        ('jq .x | ./guard.sh "$TOOL" >>log', 'Not covered by an approval:\n  "$TOOL"\n\n'),
        ("jq .x | ./guard.sh", "echo not here"),
        ("timeout 5 ./later.sh >>/tmp/log", "Not covered by an approval:\n  timeout\n  ./later.sh\n"),
    ],
)
def test_the_review_names_what_an_approval_misses(house: House, tmp_path: Path, line: str, named: str) -> None:
    guarded(house, tmp_path, line, approve=False)

    assert named in review(house.catalog.states[0], house.stores.copies, {})


MISSING = 'python3 "$GUARDS/guard.py"'


@pytest.mark.parametrize(
    ("line", "status", "verdict"),
    [
        (MISSING, Status.FAILED, Verdict.ABSTAIN),
        (f"echo no >&2; {MISSING}", Status.OK, Verdict.DENY),  # who speaks is heard
        (f"{MISSING}; echo no >&2; exit 2", Status.OK, Verdict.DENY),
        (f"{MISSING} || exit 2", Status.OK, Verdict.DENY),  # nobody can tell whose 2 that is
        (f"{MISSING}; exit 2", Status.OK, Verdict.DENY),
        (f"if ! {MISSING}; then exit 2; fi", Status.OK, Verdict.DENY),
        (f"sh -c '{MISSING}'", Status.OK, Verdict.DENY),
        ("./check.sh", Status.OK, Verdict.DENY),
        ("echo \"can't open file 'x': [Errno 2] No such file or directory\" >&2; exit 2", Status.OK, Verdict.DENY),
    ],
)
def test_a_script_that_python_does_not_find_is_no_refusal(
    house: House, tmp_path: Path, line: str, status: Status, verdict: Verdict
) -> None:
    script = tmp_path / "check.sh"
    script.write_text(f"#!/bin/sh\n{MISSING}\n")
    script.chmod(0o755)
    declare(house, {"claude-code": str(claude(tmp_path / "c", {"command": line.replace("./", f"{tmp_path}/")}))})

    house.tool(environment={"GUARDS": str(tmp_path / "it's gone"), "PATH": os.environ["PATH"]})

    outcome = house.decisions[-1][1].outcomes[0]
    assert (outcome.status, outcome.output.verdict) == (status, verdict)
    if status is Status.FAILED:
        assert "can't open file" in outcome.cause


@pytest.mark.parametrize("line", ['"$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh', ".claude/hooks/guard.sh"])
def test_a_projects_guard_is_found_in_it_and_asked_in_it(house: House, tmp_path: Path, line: str) -> None:
    project = tmp_path / "api"
    write(project / ".claude" / "hooks" / "guard.sh", REFUSE, executable=True)
    declare(house, {"claude-code": str(claude(project / ".claude", {"command": line}))})

    here = house.relay("claude-code", "PreToolUse", {**PRE_TOOL_USE, "cwd": str(project)})

    assert b"deny" in here.stdout
    assert house.tool() == {}  # its cwd is another


@pytest.mark.parametrize(
    "line",
    [
        '"$CLAUDE_PROJECT_DIR"/guard.sh',
        'sh "$CLAUDE_PROJECT_DIR/guard.sh"',
        "./missing.sh",
        "true && ./missing.sh",
        "if true; then node missing.js; fi",
        ". ./missing.sh",
        "python3 -m guard",
        "echo 'open",
    ],
)
def test_what_an_agents_folder_could_supply_later_cannot_be_approved(house: House, tmp_path: Path, line: str) -> None:
    declare(house, {"claude-code": str(claude(tmp_path / "c", {"command": line}))}, approve=False)

    (state,) = house.catalog.states
    assert (state.digest, state.state) == ("", ApprovalState.PENDING)
    assert state.health


def test_the_exec_form_takes_each_argument_as_it_stands(house: House, tmp_path: Path) -> None:
    script = '#!/bin/sh\ncat >/dev/null\necho "$1|$2" >&2\nexit 2\n'
    write(tmp_path / "c" / "say.sh", script, executable=True)
    handler = {"command": "./say.sh", "args": ["$HOME; x", "${CLAUDE_PROJECT_DIR}"]}
    declare(house, {"claude-code": str(claude(tmp_path / "c", handler))})

    said = house.tool()["hookSpecificOutput"]["permissionDecisionReason"]

    assert said == "say (Hooktray): $HOME; x|/"


def test_a_plugin_runs_from_a_copy_of_its_whole_folder(house: House, tmp_path: Path) -> None:
    root = plugin(tmp_path / "lint", {"command": "sh ${pluginDir}/run.sh '${cwd}' ${sep}", "matcher": "^shell$"})
    write(root / "run.sh", '. "$(dirname "$0")/lib/words.sh"; cat >/dev/null; say "$0 $1 $2"')
    write(root / "lib" / "words.sh", 'say() { printf \'{"decision":"deny","reason":"%s"}\' "$1"; }')
    declare(house, {"x-code": str(root)})
    write(root / "lib" / "words.sh", "say() { :; }")

    reason = told(house)["reason"]

    script, cwd, sep = reason.removeprefix("run (Hooktray): ").split(" ")
    assert script.startswith(str(house.stores.copies.folder))
    assert (cwd, sep) == ("/", os.sep)
    assert house.tool()["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert house.state("run").state is ApprovalState.CHANGED


def test_a_lint_hook_in_node_runs_for_claude_code_too(house: House, tmp_path: Path) -> None:
    code = 'process.stdin.on("data", d => { const t = JSON.parse(d).tool; if (t.args.filePath.endsWith(".lock")) '
    code += 'console.log(JSON.stringify({decision: "deny", reason: t.name})) })'
    root = plugin(
        tmp_path / "lint", {"command": "node ${pluginDir}/lint.mjs", "matcher": "writeFile", "timeout": 9000}
    )
    write(root / "lint.mjs", code)
    declare(house, {"x-code": str(root)})

    payload = {**PRE_TOOL_USE, "tool_name": "Write", "tool_input": {"file_path": "/a.lock", "content": ""}}

    said = house.relay("claude-code", "PreToolUse", payload).stdout

    assert b'"permissionDecisionReason":"lint (Hooktray): writeFile"' in said
    assert house.tool() == {}  # its matcher is about another tool


def test_the_hooks_of_a_plugin_run_one_after_another_and_a_refusal_ends_it(house: House, tmp_path: Path) -> None:
    log = tmp_path / "log"
    modify = '{"decision":"modify","args":{"command":"true"}}'
    root = plugin(
        tmp_path / "p",
        {"description": "first", "command": f"cat >>{log}; sleep 0.2; echo first >>{log}; echo '{modify}'"},
        {"description": "second", "command": f'cat >>{log}; echo second >>{log}; echo \'{{"decision":"deny"}}\''},
        {"description": "third", "command": f"echo third >>{log}"},
    )
    declare(house, {"x-code": str(root)})

    assert told(house)["decision"] == "deny"
    event, first, again, second = log.read_text().splitlines()
    assert (first, second) == ("first", "second")
    original = CALL | {"plugin": {"id": "p@local", "dir": str(root)}}  # the hook's plugin, not the event's
    assert json.loads(event) == json.loads(again) == original
    outcomes = house.decisions[-1][1].outcomes
    assert [one.status for one in outcomes] == [Status.OK, Status.OK, Status.SKIPPED]
    assert outcomes[2].cause == "an earlier hook of its plugin denied"


def test_a_plugins_own_storage_is_the_real_one_and_is_made_on_first_use(house: House, tmp_path: Path) -> None:
    root = plugin(tmp_path / "p", {"command": "cat >/dev/null; echo x >${pluginDataDir}/kept"})
    declare(house, {"x-code": str(root)})

    told(house)

    assert (Path.home() / ".x-code" / "plugins" / "data" / "p@local" / "kept").read_text() == "x\n"


def test_a_starchild_hook_with_a_matcher_is_asked_by_every_agent(house: House, tmp_path: Path) -> None:
    script = '#!/bin/sh\ncat >/dev/null\necho \'{"decision":"block","reason":"no rm"}\'\n'
    write(tmp_path / "w" / "hooks" / "guard.sh", script, executable=True)
    text = "hooks: [{event: pre_tool_call, matcher: 'rm -rf|mkfs', command: ./hooks/guard.sh}]"
    declare(house, {"starchild": str(write(tmp_path / "w" / "config" / "shell_hooks.yaml", text))})
    own = {"event": "pre_tool_call", "session_id": "s", "tool_name": "bash", "tool_input": {"command": "mkfs /"}}

    assert told(house) == {"decision": "deny", "reason": "guard (Hooktray): no rm"}
    assert house.tool("rm -rf /") != {}
    assert house.tool("ls") == {}
    assert b"no rm" in house.relay("starchild", "pre_tool_call", own).stdout


@pytest.mark.parametrize(("keys", "count"), [({}, 1), ({"agent": ["shelley", "claude-code"]}, 2)])
def test_a_shelley_hook_is_for_shelley_unless_its_source_names_agents(
    house: House, tmp_path: Path, keys: dict[str, Any], count: int
) -> None:
    write(tmp_path / "s" / "end-of-turn", f"#!/bin/sh\ncat >>{tmp_path}/heard\n", executable=True)
    declare(house, {"shelley": str(tmp_path / "s"), **keys})

    house.relay("shelley", "end-of-turn", {"type": "end_of_turn", "conversation_id": "c", "final_response": "Done."})
    house.relay("claude-code", "Stop", STOP)

    assert (tmp_path / "heard").read_text().count('"end_of_turn"') == count


def test_a_slash_command_of_shelley_is_answered_by_its_own_file(house: House, tmp_path: Path) -> None:
    for name in ("files", "other"):
        write(tmp_path / "s" / "slash" / name, f"#!/bin/sh\ncat >/dev/null\nprintf 'the {name}'\n", executable=True)
    declare(house, {"shelley": str(tmp_path / "s")})
    payload = {"command": "files", "args": "", "raw_message": "/files", "conversation_id": "c"}

    answer = house.relay("shelley", "slash/files", {**payload, "is_new_conversation": False})

    assert answer.stdout == b"the files"


def test_shelleys_own_hook_starts_in_the_servers_folder(house: House, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    write(tmp_path / "hooks" / "slash" / "where", "#!/bin/sh\npwd -P\n", executable=True)
    house.script("other.sh", "pwd -P > other; exit 1")
    other = {"event": "slash_command", "command": "./other.sh"}
    house.configure({"hooks": [other], "sources": [{"shelley": str(tmp_path / "hooks")}]})
    approve_all(house)

    asked = {"command": "where", "raw_message": "/where", "conversation_id": "c", "cwd": str(project)}
    said = house.relay("shelley", "slash/where", asked)

    assert said.stdout.decode().strip() == str(house.root.resolve())
    assert (project / "other").read_text().strip() == str(project.resolve())


def test_a_switch_in_the_agents_own_file_stops_approved_hooks_but_revokes_none(house: House, tmp_path: Path) -> None:
    path = guarded(house, tmp_path, approve=False)
    document = json.loads(path.read_text())
    write(path, {**document, "disableAllHooks": True})
    declare(house, {"claude-code": str(path)})
    assert (house.state("guard").state, house.tool()) == (ApprovalState.INACTIVE, {})
    write(path, document)
    declare(house, {"claude-code": str(path)})
    write(path, {**document, "disableAllHooks": True})

    state = house.state("guard")
    announced = Announced()
    controls = house.controls(announced)
    controls.follow_agents()
    controls.follow_agents()

    assert (state.state, bool(state.approved)) == (ApprovalState.INACTIVE, True)
    assert "disableAllHooks" in state.health
    assert house.tool() == {}
    (text,) = announced.texts
    assert text.startswith("1 approved hook does not run: `disableAllHooks: true` in")
    write(path, document)
    house.catalog.refresh()
    controls.follow_agents()
    assert (house.state("guard").state, house.tool() != {}) == (ApprovalState.APPROVED, True)
    assert announced.texts[1:] == ["1 hook is no longer switched off by its agent"]


def test_an_edit_of_a_source_is_noticed(house: House, tmp_path: Path) -> None:
    path = guarded(house, tmp_path)

    write(path, '{"hooks": {"PreToolUze": []}}')

    assert "no longer in" in house.state("guard").health
    assert "did you mean `PreToolUse`?" in house.catalog.configuration.warnings[0]
    assert house.tool() != {}
    assert house.last.verdict is Verdict.DENY


def test_a_claude_matcher_of_another_event_looks_at_what_the_hook_is_told(house: House, tmp_path: Path) -> None:
    handler = {"command": f"cat >>{tmp_path}/heard"}
    declare(house, {"claude-code": str(claude(tmp_path, handler, event="SessionStart", matcher="startup"))})

    for source in ("startup", "resume"):
        body = {"hook_event_name": "SessionStart", "session_id": "s", "cwd": "/", "source": source}
        house.relay("claude-code", "SessionStart", body)
    house.relay("x-code", "SessionStart", {"event": "SessionStart", "session": {"cwd": "/"}})

    assert (tmp_path / "heard").read_text().count('"startup"') == 2
