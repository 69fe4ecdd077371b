"""The commands, as people and programs use them, and whether a connection is alive."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from agents.hosts import taken
from connect.sites import own_agent_of_kiro, tree
from connect.trays import approve_all, by_person, installed, started
from desk import wait
from every import every
from live import PYTHON, Live
from plain import Plain, read_only
from terminal import Terminal

from tray.agents.connection import Site
from tray.agents.protocol import parse
from tray.agents.registry import AGENTS
from tray.connect import connectors
from tray.engine.needed_events import needed_events
from tray.errors import HooktrayError
from tray.model.decision import Answer, Verdict
from tray.model.event import Capability, RelayRequest
from tray.paths import locate

pytestmark = [pytest.mark.skipif(sys.platform == "win32", reason="lines for a POSIX shell"), by_person]


@pytest.fixture
def live(tmp_path: Path) -> Live:
    return installed(tmp_path)


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Live]:
    """A tray that lets no prompt and no tool through, of somebody who has an agent of Kiro's to connect."""
    own_agent_of_kiro(tmp_path)
    rules = [
        {"event": event, "type": "rule", "decision": "deny", "reason": f"no {event}"}
        for event in ("prompt", "tool_before")
    ]
    live = started(tmp_path, rules, {})
    yield live
    assert isinstance(live.place, Plain)
    live.place.close()


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    file = tmp_path / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text('{\n  "model": "opus\\u001b[2J"\n}\n')
    return file


def by_agent(live: Live, *argv: str) -> dict[str, dict[str, Any]]:
    return {row["agent"]: row for row in live.rows("agents", *argv)}


def doctor(live: Live) -> dict[str, dict[str, str]]:
    """What the doctor finds of each agent."""
    rows = [json.loads(line) for line in live.cli("doctor", "--json").stdout.splitlines()]
    return {row["name"]: row for row in rows if row["check"] == "agent"}


def test_the_difference_is_shown_and_nothing_written_before_somebody_says_yes(live: Live, settings: Path) -> None:
    before = settings.read_bytes()

    dry = live.cli("connect", "claude-code", "--dry-run")
    unasked = live.cli("connect", "claude-code")

    assert dry.returncode == 0
    assert dry.stdout.decode().startswith(f"--- {settings}\n+++ {settings}\n@@ -1,3 +1,")
    assert b"nothing was written" in dry.stdout
    assert (unasked.returncode, unasked.stderr.decode().splitlines()[0]) == (
        1,
        "hooktray: claude-code: nobody is there to say yes",
    )
    assert settings.read_bytes() == before


def test_without_a_name_it_finds_what_is_installed(live: Live, settings: Path, tmp_path: Path) -> None:
    (tmp_path / ".x-code").mkdir()
    before = settings.read_bytes()

    done = live.cli("connect", "--yes")
    again = live.cli("connect", "--yes")
    gone = live.cli("disconnect", "--yes")

    assert [line for line in done.stdout.decode().splitlines() if line.endswith("connected.")] == [
        "claude-code: connected.",
        "x-code: connected.",
    ]
    assert again.stdout.decode().count("already connected; nothing to write.") == 2
    assert gone.stdout.decode().count("disconnected.") == 2
    assert settings.read_bytes() == before
    assert list((tmp_path / ".x-code").iterdir()) == []


@every(
    ("argv", "told"),
    [
        (["connect"], "no agent was found here"),
        (["connect", "claude"], "did you mean `claude-code`?"),
        (["connect", "claude-code", "--scope", "world"], "unknown scope `world`"),
        (["import-hooks", "x-code"], "no plugin is named in"),
        (["import-hooks", "shelley"], "hooktray connect shelley"),
        (["import-hooks", "claude-code", "--undo"], "nothing to put back"),
    ],
)
def test_mistakes_are_reported_with_a_remedy(live: Live, argv: list[str], told: str) -> None:
    with pytest.raises(HooktrayError) as refused:
        live.command(*argv)

    assert told in f"{refused.value.message} {refused.value.hint}"


@pytest.mark.parametrize("words", ["connect", "import-hooks", "import-hooks --undo"])
def test_an_agent_is_refused_whatever_it_says(live: Live, settings: Path, words: str) -> None:
    hook = {"hooks": [{"type": "command", "command": "/bin/echo"}]}
    settings.write_text(json.dumps({"hooks": {"Stop": [hook]}}))
    if "--undo" in words:
        live.command("import-hooks", "claude-code", "--yes")
    text = settings.read_bytes()
    argv = [PYTHON, "-I", "-m", "tray", "--home", str(live.home), *words.split(), "claude-code"]

    refused = live.place.run([*argv, "--yes"], {"CLAUDECODE": "1"})
    shown = live.place.run([*argv, "--dry-run"], {"CLAUDECODE": "1"})

    assert refused.returncode == 1
    assert b"started by an agent or a hook: CLAUDECODE is set; nothing was written" in refused.stderr
    assert shown.returncode == 0
    assert settings.read_bytes() == text


def test_an_unreadable_file_is_named_and_does_not_delay_other_agents(
    live: Live, settings: Path, tmp_path: Path
) -> None:
    settings.write_text('{\n  "a": 1,\n}\n')
    (tmp_path / ".x-code").mkdir()

    done = live.cli("connect", "--yes")

    assert done.returncode == 1
    assert f"{settings}:2:9: a comma that nothing follows" in done.stderr.decode()
    assert b"x-code: connected." in done.stdout
    row = by_agent(live)["claude-code"]
    assert ":2:9:" in row["problem"]
    assert row["advice"]


SWITCHES = {
    "claude-code": (".claude/settings.local.json", '{"disableAllHooks": true}', "take `disableAllHooks` out of"),
    "starchild": ("workspace/config/agent.yaml", "shell_hooks: {enabled: false}", "type `/hooks on` in Starchild"),
    "x-code": (
        ".x-code/settings.json",
        '{"enabledPlugins": {"hooktray@local": false}}',
        "type `/plugin enable hooktray@local`",
    ),
}


def test_a_connection_test_reports_agents_that_do_not_run_their_hooks(running: Live, tmp_path: Path) -> None:
    running.connect(*connectors())
    for name, text, _ in SWITCHES.values():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    rows = by_agent(running, "--try")
    results = doctor(running)

    waits = {*SWITCHES, "codex"}  # Codex runs no entry until its user trusts it
    assert {agent: (row["connected"], row["firing"], row["last_event"]) for agent, row in rows.items()} == {
        agent: (True, agent not in waits, None) for agent in connectors()
    }
    assert [row["missing"] for row in rows.values()] == [[]] * len(rows)
    assert all("no event yet" in row["advice"][-1] for agent, row in rows.items() if agent not in waits)
    # Each entry of these two is for one event, so its probe is that event.
    kinds = {row["kind"] for row in running.log() if row["agent"] not in {"cline", "shelley"}}
    assert kinds <= {"other", "model_before"}
    assert {name: one["health"] for name, one in results.items()} == dict.fromkeys(connectors(), "attention")
    firing = [one["message"] for agent, one in results.items() if agent not in waits]
    assert all(", firing, last event: never" in message for message in firing)
    for agent, (_, _, advice) in SWITCHES.items():
        assert rows[agent]["problem"] == ""
        assert advice in rows[agent]["advice"][0]
        assert "no event yet" not in str(rows[agent]["advice"])
        assert "not trusted, not firing" in results[agent]["message"]
        assert advice in results[agent]["remedy"]
    told = running.cli("agents").stdout.decode().splitlines()
    assert [line.split("\t")[3:5] for line in told if line.startswith(("claude-code\t", "x-code\t"))] == [
        ["no", "not tried"]
    ] * 2


def test_the_agents_own_question_is_told_where_it_is_open(live: Live, settings: Path, tmp_path: Path) -> None:
    live.connect("claude-code")
    project = tmp_path / "project"
    project.mkdir()
    told = {str(folder): {"hasTrustDialogAccepted": False} for folder in (tmp_path, project)}
    (tmp_path / ".claude.json").write_text(json.dumps({"projects": told}))
    line = f"cd {project} && exec {PYTHON} -I -m tray --home {live.home} agents --json"

    told_rows = map(json.loads, live.place.run(["/bin/sh", "-c", line]).stdout.splitlines())
    row = next(row for row in told_rows if row["agent"] == "claude-code")

    assert row["trust"].startswith("asks: ")
    assert row["advice"] == [f"start `claude` in {project} and say that you trust it: until then no hook runs"]
    assert by_agent(live)["claude-code"]["trust"] == ""


def test_the_doctor_says_what_keeps_an_event_from_arriving(live: Live, settings: Path, tmp_path: Path) -> None:
    live.connect("claude-code")
    stopped = doctor(live)["claude-code"]
    live.place.run([PYTHON, "-I", "-m", "tray", "--home", tmp_path / "other", "connect", "claude-code", "--yes"])
    elsewhere = doctor(live)["claude-code"]
    assert "lead to another Hooktray" in by_agent(live)["claude-code"]["advice"][0]

    # Without a tray the one-shot engine answers.
    assert (stopped["health"], elsewhere["health"]) == ("attention", "broken")
    assert "no event yet" in stopped["remedy"]
    assert "`hooktray connect claude-code` puts them back" in elsewhere["remedy"]


OTHERS = [agent for agent in connectors() if agent != "claude-code"]


@pytest.fixture
def connected(running: Live, tmp_path: Path) -> Live:
    running.command("connect", *OTHERS, "--yes", "--workspace", str(tmp_path / "w"))
    return running


@every("agent", OTHERS)
def test_what_a_connected_agent_starts_refuses_in_its_own_words(connected: Live, tmp_path: Path, agent: str) -> None:
    paths = locate(str(connected.home))
    site = Site(paths=paths, relay=(), home=tmp_path, cwd=tmp_path, workspace=str(tmp_path / "w"))
    known = AGENTS[agent]

    denied, entries = set(), connectors()[agent].relay_entries(site)
    for wire in entries:
        body = known.protocol.sample(wire.event)
        event = parse(RelayRequest(agent=agent, event=wire.event, id="i", body=body, cwd="/"))
        if known.events[event.name].can & Capability.DENY:
            done = subprocess.run(wire.argv, input=event.body, capture_output=True, timeout=60, check=False)
            answer = Answer(stdout=done.stdout, stderr=done.stderr, code=done.returncode)
            denied |= {event.kind.value} if taken(event, answer)[0] is Verdict.DENY else set()

    refusable = {one.kind.value for one in known.events.values() if one.can & Capability.DENY}
    assert denied == {"prompt", "tool_before"} & refusable
    expected = known.events if agent == "opencode" else needed_events(())[agent]  # one plugin handles all events
    assert len(entries) == len([name for name in expected if "<" not in name])


def test_shelleys_own_executable_is_listed_and_chained_once_approved(live: Live, tmp_path: Path) -> None:
    own = tmp_path / ".config" / "shelley" / "hooks" / "chat-message"
    own.parent.mkdir(parents=True)
    own.write_text('#!/bin/sh\ncat >/dev/null\necho \'{"message": "from my own"}\'\n')
    own.chmod(0o755)
    text = own.read_bytes()
    message = {
        "message": "hi",
        "readonly": {"conversation_id": "c", "model": "m", "reasoning_level": "", "queued": False},
    }

    live.connect("shelley")
    assert live.states() == {"chat-message": "pending"}
    approve_all(live)
    live.start("--headless")
    try:
        done = live.place.run([own], input=json.dumps(message).encode())
        assert (done.returncode, json.loads(done.stdout)) == (0, {"message": "from my own"})
        assert [hook["name"] for hook in live.wait_log(1)[0]["hooks"]] == ["chat-message"]
    finally:
        assert isinstance(live.place, Plain)
        live.place.close()
    live.command("disconnect", "shelley", "--yes")
    assert own.read_bytes() == text


def test_two_commands_at_once_make_one_entry_and_one_disconnect_takes_all_out(
    live: Live, settings: Path, tmp_path: Path
) -> None:
    agent, before = "claude-code", tree(tmp_path / ".claude")
    argv = [PYTHON, "-I", "-m", "tray", "--home", str(live.home), "connect", agent, "--yes"]
    both = [subprocess.Popen(argv, env=live.place.environment, stdout=subprocess.PIPE) for _ in range(2)]

    said = [line for process in both for line in process.communicate(timeout=60)[0].decode().splitlines()]
    told = [line for line in said if line.endswith(("connected.", "nothing to write."))]

    row = by_agent(live)[agent]
    assert [process.returncode for process in both] == [0, 0]
    assert len(told) == 2
    assert set(told) <= {f"{agent}: connected.", f"{agent}: already connected; nothing to write."}
    assert len(row["events"]) == len(set(row["events"]))
    assert live.cli("disconnect", agent, "--yes").returncode == 0
    assert tree(tmp_path / ".claude") == before


def test_where_nothing_can_be_noted_nothing_is_written(live: Live, settings: Path) -> None:
    before = settings.read_bytes()

    with read_only(live.home / "state") as powerless:
        done = live.place.run([*powerless, *live.argv("connect", "claude-code", "--yes")])

    told = done.stderr.decode()
    assert (done.returncode, settings.read_bytes()) == (1, before)
    assert f"{live.home / 'state'} is read-only" in told
    assert "Traceback" not in told


def test_at_a_terminal_it_asks_first(live: Live, settings: Path, tmp_path: Path) -> None:
    before = settings.read_bytes()
    (tmp_path / ".codex").mkdir()
    for keys, said, written in (("d\rn\r", b"Nothing was written", False), ("y\r", b"codex: connected", True)):
        argv = [PYTHON, "-I", "-m", "tray", "--home", str(live.home), "connect"]
        with closing(Terminal(argv, tmp_path, {**live.place.environment, "TERM": "dumb"})) as terminal:
            wait(lambda: b"Connect claude-code, codex?" in terminal.drawn, what="the question")
            assert b"claude-code: adds 1 entry for each of 14 events to ~/.claude/settings.json" in terminal.drawn
            assert b"+++" not in terminal.drawn
            terminal.type(keys)
            wait(lambda: said in terminal.drawn, what="the answer")  # noqa: B023
            assert (b"+++ " in terminal.drawn) is not written
        assert (settings.read_bytes() != before) is written


def test_a_real_event_is_heard_of(running: Live, settings: Path) -> None:
    running.connect("claude-code")
    payload = {"hook_event_name": "Notification", "session_id": "s", "message": "x"}
    line = json.loads(settings.read_text())["hooks"]["Notification"][0]["hooks"][0]["command"]

    subprocess.run(["/bin/sh", "-c", line], input=json.dumps(payload).encode(), timeout=60, check=True)
    running.wait_log(1)

    row = by_agent(running)["claude-code"]
    assert row["last_event"] is not None
    assert row["firing"] is None
    assert row["advice"] == []
