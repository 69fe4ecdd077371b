"""An agent of an installed package, in real commands, the one-shot engine and a real tray; also broken, also gone."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from agents.packaged import CALL, PINE, PackagedLive, write_package
from house import PRE_TOOL_USE

from tray.agents.registry import AGENTS

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="scripts for a POSIX shell")

LS = {**CALL, "input": {"command": "ls"}}
GUARD = {"name": "guard", "event": "before_tool", "agent": "pine", "dialect": "pine", "command": "./guard"}


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / ".pine").mkdir()
    return tmp_path / "site"


@pytest.fixture
def live(tmp_path: Path, site: Path) -> Iterator[PackagedLive]:
    live = PackagedLive(tmp_path, site)
    yield live
    live.place.close()


def out(live: PackagedLive, *argv: str) -> str:
    done = live.cli(*argv)
    assert done.returncode in (0, 1), done.stderr.decode()
    return done.stdout.decode() + done.stderr.decode()


def test_agents_doctor_and_schema_show_it_as_third_party(live: PackagedLive, site: Path) -> None:
    write_package(site)

    rows = {row["agent"]: row for row in live.cli_json("agents")}
    table = out(live, "agents")
    checks = [json.loads(line) for line in live.cli("doctor", "--static", "--json").stdout.splitlines()]
    schema = json.loads(live.cli("schema").stdout)

    assert rows["pine"]["package"] == "hooktray-pine 1.0"
    assert {row["package"] for name, row in rows.items() if name != "pine"} == {""}
    assert "pine: third-party, of the package hooktray-pine 1.0" in table.splitlines()
    assert [(row["name"], row["health"], row["message"]) for row in checks if row["check"] == "package"] == [
        ("pine", "ok", "Pine, a third-party agent, of hooktray-pine 1.0")
    ]
    assert "pine" in schema["$defs"]["Agent"]["anyOf"][0]["enum"]
    assert "before_tool" in schema["$defs"]["Hook"]["properties"]["event"]["anyOf"][0]["enum"]


def test_an_agent_that_nothing_connects_is_shown_with_the_line_that_it_has_to_run(
    live: PackagedLive, site: Path
) -> None:
    write_package(
        site, module=f"{PINE}\nfrom msgspec.structs import replace\nAGENT = replace(AGENT, connector=None)\n"
    )

    told = out(live, "agents").splitlines()

    assert told[-1] == (
        "pine: third-party, of the package hooktray-pine 1.0; `hooktray relay pine EVENT` is what it has to run"
    )


def test_the_one_shot_engine_answers_it_in_its_own_words(live: PackagedLive, site: Path) -> None:
    write_package(site)
    live.cli("log")  # it makes the database, as a tray does

    refused, let_through = live.once("pine", CALL), live.once("pine", LS)
    recognised = live.once("claude-code", LS)

    assert "hooktray off" in json.loads(refused.stdout)["refuse"]
    assert (refused.returncode, let_through.stdout, recognised.stdout) == (0, b"", b"")
    assert [(row["agent"], row["event"], row["verdict"]) for row in live.log()] == [
        ("pine", "before_tool", "abstain"),
        ("pine", "before_tool", "abstain"),
        ("pine", "before_tool", "deny"),
    ]


def test_a_tray_judges_it_by_approved_hooks_in_its_format(live: PackagedLive, site: Path) -> None:
    write_package(site)
    live.script("guard", 'grep -q \'"name":"before_tool"\' && { echo "not here" >&2; exit 2; }')
    live.configure({"hooks": [GUARD]})
    live.approve_all()
    live.start("--headless")

    answer = live.relay("pine", "", LS)

    assert json.loads(answer.stdout) == {"refuse": "guard (Hooktray): not here"}
    (row,) = live.wait_log(1)
    assert (row["agent"], row["verdict"]) == ("pine", "deny")
    assert live.relay("pine", "", CALL).stdout.startswith(b'{"refuse":')  # our own files are protected


def test_its_settings_and_processes_are_protected_like_those_of_ours(
    live: PackagedLive, site: Path, tmp_path: Path
) -> None:
    protected = r"(ProtectedFiles(kind='a hook of Pine', pattern=re.compile(r'.*/\.pine/hooks\.json')),)"
    more = f"protected={protected}, settings_files=('.pine/hooks.json',), path_words=('pine',)"
    imports = "import re\nfrom msgspec.structs import replace\nfrom tray.agents.agent import ProtectedFiles"
    write_package(site, module=f"{PINE}\n{imports}\nAGENT = replace(AGENT, {more})\n")
    live.cli("log")
    written = {"file_path": str(tmp_path / ".pine" / "hooks.json"), "content": "x"}
    code = "from tray.agents.registry import program_names; print('pine' in program_names())"

    answer = live.once("claude-code", {**PRE_TOOL_USE, "tool_name": "Write", "tool_input": written})

    assert b'"permissionDecision":"deny"' in answer.stdout
    assert b"a hook of Pine" in answer.stdout
    assert live.place.run([sys.executable, "-c", code]).stdout == b"True\n"


def pine(id: str, more: str = "") -> str:
    return PINE.replace('"pine"', f'"{id}"') + more


BROKEN = {
    "early": (pine("early", "\nraise RuntimeError('early')\n"), "cannot be imported: RuntimeError: early"),
    "end": ("import os, sys\nsys.exit(0)\n", "cannot be imported: SystemExit: 0"),
    "codex": (pine("codex"), "its id is taken by Hooktray itself"),
    "Pine!": (PINE, "is not a word of lower-case letters, digits and `-`"),
}
RULE = {"event": "tool_before", "type": "rule", "decision": "deny", "reason": "no", "tool": "Bash"}


def test_broken_packages_are_named_and_stop_nothing(live: PackagedLive, site: Path) -> None:
    packages = {f"hooktray-broken-{number}": problem for number, (_, problem) in enumerate(BROKEN.values())}
    for number, (id, (module, _)) in enumerate(BROKEN.items()):
        write_package(site, f"hooktray-broken-{number}", id=id, value=f"broken_{number}:AGENT", module=module)

    told = [line for line in out(live, "agents").splitlines() if "hooktray-broken-" in line]
    checks = [json.loads(line) for line in live.cli("doctor", "--static", "--json").stdout.splitlines()]
    found = [row for row in checks if row["check"] == "package"]
    live.configure({"hooks": [RULE]})
    live.approve_all()
    alone = live.once("claude-code", PRE_TOOL_USE), live.once("end", CALL)
    live.start("--headless")
    served = live.relay("claude-code", "PreToolUse", PRE_TOOL_USE), live.relay("end", "before_tool", CALL)

    assert len(told) == len(found) == len(BROKEN)
    for name, problem in packages.items():
        (line,) = [line for line in told if f"{name} 1.0" in line]
        (check,) = [row for row in found if f"{name} 1.0" in row["message"]]
        assert problem in line
        assert line.endswith(f"; update or uninstall {name}")
        assert (check["health"], check["remedy"]) == ("broken", f"update or uninstall {name}")
        assert problem in check["message"]
    for guarded, silent in (alone, served):
        assert b'"deny"' in guarded.stdout
        assert (silent.returncode, silent.stdout, silent.stderr) == (0, b"", b"")


FAILING = ("parse", "render", "marks")


def failing(name: str) -> str:
    """A module of the agent `fails-NAME`, of which one function, or every one of its marks, always fails."""
    marks = "Marks(keys=('name', 'tool_name'), is_sender=fail, is_alike=fail, is_certain=fail, event=fail)"
    line = f"AGENT = replace(AGENT, marks={marks})" if name == "marks" else f"{name} = fail"
    module = pine(agent(name), f"\nfrom msgspec.structs import replace\n{line}\n")
    alike = 'return "folder" in payload and "name" in payload'
    return module.replace(alike, f'return payload.get("sender") == "{agent(name)}"')


def agent(name: str) -> str:
    return f"fails-{name}"


def test_a_failing_function_of_a_package_answers_nothing_and_is_recorded(live: PackagedLive, site: Path) -> None:
    for name in FAILING:
        write_package(
            site, f"hooktray-{agent(name)}", id=agent(name), value=f"fails_{name}:AGENT", module=failing(name)
        )
    live.configure({"hooks": [RULE]})
    live.approve_all()
    calls = {name: {**CALL, "sender": agent(name)} for name in FAILING}

    alone = {name: live.once(agent(name), calls[name], "before_tool") for name in FAILING}
    others = [live.once("claude-code", PRE_TOOL_USE)]
    live.start("--headless")
    served = {name: live.relay(agent(name), "before_tool", calls[name]) for name in FAILING}
    others.append(live.relay("claude-code", "PreToolUse", PRE_TOOL_USE))

    assert [b'"deny"' in other.stdout for other in others] == [True, True]
    for name in FAILING:
        for answer in (alone[name], served[name]):
            assert (name, answer.returncode, answer.stderr) == (name, 0, b"")
            assert name == "marks" or answer.stdout == b""
    examined = [json.loads(line) for line in live.cli("doctor", "--static", "--json").stdout.splitlines()]
    told = {row["name"]: row for row in examined if row["check"] == "package" and row["health"] == "broken"}
    log, logged = live.wait_log(2 * len(FAILING) + len(others)), live.logged()
    for name in FAILING:
        failure = f"of the agent {agent(name)} in the package hooktray-{agent(name)} 1.0 failed: RuntimeError"
        assert failure in logged
        assert told[agent(name)]["remedy"] == f"update or uninstall hooktray-{agent(name)}"
        assert told[agent(name)]["message"] in logged
        assert (name, len([row for row in log if row["agent"] == agent(name)])) == (name, 2)
    rows = [row for row in log if row["agent"] == agent("render")]
    assert {row["verdict"] for row in rows} == {"abstain"}
    assert all("`render` of the agent fails-render" in row["adjustments"][-1] for row in rows)


@pytest.mark.parametrize(("name", "fail"), [("parse", "fail"), ("stdin", "sys.exit")])
def test_a_blocking_guard_refuses_an_event_that_the_package_cannot_read(
    live: PackagedLive, site: Path, name: str, fail: str
) -> None:
    write_package(site, module=f"{PINE}\n{name} = {fail}\n")
    live.script("guard", "exit 0")
    live.configure({"hooks": [{**GUARD, "failure": "block"}]})
    live.approve_all()

    answer = live.once("pine", LS)

    assert (
        f"`{name}` of the agent pine in the package hooktray-pine 1.0 failed" in json.loads(answer.stdout)["refuse"]
    )


def test_a_failing_connector_or_sample_does_not_hide_the_other_agents(live: PackagedLive, site: Path) -> None:
    module = PINE.replace("def relay_entries(self, site):\n", "def relay_entries(self, site):\n        fail()\n")
    write_package(site, module=f"{module}\nsample = fail\n")
    live.script("guard", "exit 0")
    live.configure({"hooks": [GUARD]})
    live.approve_all()

    rows = {row["agent"]: row for row in live.cli_json("agents")}
    examined = live.cli("doctor", "--json")
    refused = live.cli("connect", "pine", "--dry-run"), live.cli("disconnect", "--dry-run")
    tested = live.cli("test", "done", "--agent", "pine", "--print")

    failure = "`relay_entries` of the agent pine in the package hooktray-pine 1.0 failed: RuntimeError"
    assert {*AGENTS, "pine"} == rows.keys()
    assert failure in rows["pine"]["problem"]
    checks = [json.loads(line) for line in examined.stdout.splitlines()]
    (broken,) = [row for row in checks if (row["check"], row["health"]) == ("package", "broken")]
    assert (broken["name"], broken["remedy"]) == ("pine", "update or uninstall hooktray-pine")
    assert "not tried" in next(row for row in checks if (row["check"], row["name"]) == ("hook", "guard"))["message"]
    assert "database" in {row["check"] for row in checks}
    assert [done.returncode for done in refused] == [0, 0], refused
    assert tested.returncode == 1
    assert b"pine" in tested.stderr
    assert b"Traceback" not in tested.stderr + examined.stderr


def test_once_it_is_uninstalled_its_rows_are_shown_and_its_hooks_named(live: PackagedLive, site: Path) -> None:
    write_package(site)
    live.script("guard", "exit 2")
    everywhere = {"name": "everywhere", "event": "tool_before", "dialect": "pine", "command": "./guard"}
    rule = {"name": "rule", "event": "tool_before", "type": "rule", "decision": "ask", "reason": "sure?"}
    live.configure({"hooks": [GUARD, everywhere, rule]})
    live.approve_all()
    live.once("pine", LS)
    assert set(live.states().values()) == {"approved"}

    shutil.rmtree(site)
    listed = out(live, "list")
    checked = live.cli("config", "check")
    examined = live.cli("doctor", "--static")
    still = live.once("pine", LS), live.once("claude-code", PRE_TOOL_USE)

    assert [row["agent"] for row in live.cli_json("log", "--agent", "pine")][-1] == "pine"
    assert "pine" in out(live, "log")
    assert "--agent oak: unknown agent" in out(live, "log", "--agent", "oak")
    assert checked.returncode == examined.returncode == 1
    assert b"Traceback" not in examined.stderr
    assert "hooks[0].dialect: unknown dialect `pine`" in checked.stderr.decode()
    assert "unknown dialect `pine`" in listed
    assert [answer.returncode for answer in still] == [0, 0]
    assert still[0].stdout == b""
    assert b'"permissionDecision":"ask"' in still[1].stdout
    hooks = {hook["name"]: hook for hook in live.log()[0]["hooks"]}
    assert hooks["everywhere"]["cause"] == "it is written for pine, an agent that is not known here any more"

    write_package(site)
    assert set(live.states().values()) == {"approved"}
    assert json.loads(live.once("pine", LS).stdout)["refuse"]
