"""What the README and the pages of reference say is there, is there."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from house import House
from live import Live
from plain import Plain
from scripts import loaded
from torture import table

from tray import settings
from tray.agents.registry import AGENTS
from tray.cli.commands import BY_NAME, find_command, first_words, root_parser, split_globals
from tray.engine import trial
from tray.notify.policy import alerts
from tray.notify.sound import SOUNDS
from tray.sources import hooktray
from tray.sources.configuration import parse

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
COMMANDS = (ROOT / "docs" / "commands.md").read_text()
SETTINGS = (ROOT / "docs" / "settings.md").read_text()
CALL = json.dumps(
    {
        "hook_event_name": "PreToolUse",
        "cwd": "/home/you/api",
        "tool_name": "Bash",
        "tool_input": {"command": "rm -rf build"},
    }
)
SESSION = README.split("## Two minutes with Claude Code\n")[1].split("\n## ")[0]


def test_the_readme_is_short_enough_to_be_read() -> None:
    assert len(README.split()) <= 1000


def test_the_first_command_stands_before_line_30() -> None:
    assert README.splitlines().index("```sh") < 30


def test_in_a_second_terminal_the_settings_are_found(tmp_path: Path) -> None:
    after = README.split("hooktray run\n```\n\n")[1].split("\n\n")[0]
    activate, command, paths, *_ = re.findall(r"`([^`]+)`", after)
    line = f"{activate.replace('.venv', shlex.quote(sys.prefix))} && {paths.replace(command, f'{command} --home .')}"

    done = subprocess.run(["sh", "-c", line], cwd=tmp_path, env={}, capture_output=True, text=True, timeout=60)

    assert "config/hooktray.yaml" in done.stdout, done.stderr


def test_the_option_for_everything_stands_where_it_is_taken() -> None:
    (shown,) = re.findall(r"`hooktray ([^`]*DIR[^`]*)`", COMMANDS)

    options, words = split_globals(shown.replace("COMMAND", "status").split())

    assert root_parser().values(options)["home"] == "DIR"
    assert find_command(words)[0] is BY_NAME["status"]


def test_every_setting_has_its_row_and_every_row_its_setting() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", SETTINGS, re.MULTILINE)

    assert sorted(rows) == sorted(settings.KEYS)


def test_every_key_class_and_sound_is_named() -> None:
    words = set(re.findall(r"`(\w+)`", SETTINGS))

    assert sorted(settings.SOUNDS) == sorted(path.stem for path in SOUNDS.glob("*.wav"))
    assert {*hooktray.KEYS, *settings.CLASSES, *settings.SOUNDS} <= words


def test_every_command_is_named_and_every_named_command_exists() -> None:
    there = {word for word, _ in first_words()}
    named = set(re.findall(r"`(?:hooktray )?([a-z][a-z-]*)[^`]*`", COMMANDS.split("--home")[0]))

    assert there | {"relay"} <= named
    assert named - there - {"relay"} == set()


def test_every_agent_and_event_is_in_the_table() -> None:
    table = (ROOT / "docs" / "agents" / "README.md").read_text()

    assert [agent for agent in AGENTS if f"| `{agent}` |" not in table] == []


def test_the_fidelity_table_is_what_the_dialects_say() -> None:
    assert (ROOT / "docs" / "generated" / "fidelity.md").read_text() == loaded("docs/fidelity.py").page()


def test_every_place_in_find_a_change_exists() -> None:
    places = re.findall(
        r"`((?:tray|tests|icons|installers|native)/[^`]*)`", (ROOT / "docs" / "find-a-change.md").read_text()
    )

    assert len(places) > 15
    assert [place for place in places if not (ROOT / place).exists()] == []


def test_the_line_about_torture_is_what_was_counted() -> None:
    assert table.line() in README


def test_every_picture_exists() -> None:
    pictures = re.findall(r"!\[[^\]]*\]\(([^)]*)\)", README)

    assert pictures
    assert [picture for picture in pictures if not (ROOT / picture).exists()] == []


def test_the_examples_are_good_configuration() -> None:
    examples = re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)

    assert [len(parse(text, "/c/hooktray.yaml").hooks) for text in examples] == [1]


def test_the_session_prints_what_is_shown(house: House, tmp_path: Path) -> None:
    rule = re.findall(r"```yaml\n(.*?)```", SESSION, re.DOTALL)[0]
    before, during, after = re.findall(r"```console\n(.*?)```", SESSION, re.DOTALL)
    house.configure(rule)
    shows(house, before)

    (state,) = house.catalog.states
    house.consent.approve(state.key, state.digest, "test")
    place = Plain(tmp_path)
    live = Live(place, house.paths.home or tmp_path)
    live.start("--headless")
    typed(house, "hooktray relay claude-code PreToolUse", CALL)
    shows(house, during)
    place.close()

    house.configure(rule.replace("decision: deny", "decision: ask"))
    shows(house, after)


def shows(house: House, session: str) -> None:
    """Each line that is typed prints what stands below it, but for ids and moments."""
    steps = re.findall(r"^\$ (.*)\n((?:[^$].*\n)+)", session, re.MULTILINE)
    assert steps
    for line, shown in steps:
        done = typed(house, line)
        printed = done.stdout.replace(str(house.paths.config), "~/.config/hooktray/hooktray.yaml")
        assert masked(printed) == masked(shown), done.stderr


def typed(house: House, line: str, input: str = "") -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": os.environ["HOME"],
        "HOOKTRAY_HOME": str(house.paths.home),
        "LC_ALL": "C.UTF-8",
    }
    return subprocess.run(
        ["sh", "-c", line], input=input, env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def masked(text: str) -> list[str]:
    """What is aligned on a terminal has tabs here."""
    plain = re.sub(r"\b[0-9a-f]{8}\b", "ID", re.sub(r"\b\d\d:\d\d:\d\d\b", "TIME", text))
    return [re.sub(r"\t| {2,}", "  ", line.rstrip()) for line in plain.splitlines()]


def test_the_sessions_notification_says_what_is_shown(house: House) -> None:
    rule = re.findall(r"```yaml\n(.*?)```", SESSION, re.DOTALL)[0]
    reported, title, body = re.findall(r'It reports `(.*?)`\. A notification shows `(.*?)`, "(.*?)"', SESSION)[0]
    house.configure(rule)
    (state,) = house.catalog.states
    house.consent.approve(state.key, state.digest, "test")

    answer = house.relay("claude-code", "PreToolUse", CALL.encode())

    ((event, decision, _),) = house.decisions
    (alert,) = alerts(event, decision)
    assert (alert.title, alert.body) == (title, body)
    assert reported in str(answer)


@pytest.mark.parametrize("name", ["chime", "bell"])
def test_named_sounds_are_in_the_package(name: str) -> None:
    assert (SOUNDS / f"{name}.wav").stat().st_size > 1000


def test_the_schema_command_prints_a_schema(tmp_path: Path) -> None:
    plain = Plain(tmp_path)
    live = Live(plain, tmp_path / "h")

    printed = json.loads(live.cli("schema").stdout)

    assert "without_tray" in json.dumps(printed)


GUIDE = "\n".join(
    (ROOT / "docs" / f"{page}.md").read_text() for page in ("writing-hooks", "hook-formats", "what-runs")
)


def test_the_guides_commands_are_taken_as_they_stand() -> None:
    lines = re.findall(r"hooktray ((?:test|why) [^|`\n]+|log|paths)", GUIDE)

    assert len(lines) > 8
    for line in lines:
        verb, *words = shlex.split(line)
        BY_NAME[verb].parser().values(words)  # raises what the command line would say


def test_the_guides_events_exist_in_the_words_that_it_uses() -> None:
    table = GUIDE.split("| event | it is |")[1].split("\n\n")[0]
    named = re.findall(r"`(\w+)`", " ".join(line.split("|")[1] for line in table.splitlines()[2:]))
    tried = re.findall(r"hooktray test ([\w/-]+)(?: --agent ([\w-]+))?", GUIDE)

    assert set(named) <= set(hooktray.KINDS)
    assert len(tried) > 6
    assert [pair for pair in tried if pair[0] not in AGENTS[pair[1] or "claude-code"].events] == []


def test_the_guides_keys_dialects_and_links_exist() -> None:
    keys = set(re.findall(r"`(\w+):", GUIDE)) - {"x"}
    dialects = re.findall(r"^\| `([\w-]+)` \|", GUIDE.split("| dialect |")[1].split("\n\n")[0], re.MULTILINE)
    links = re.findall(r"\]\(([^)#]+)\)", GUIDE)

    assert keys <= set(hooktray.KEYS)
    assert {"event", "failure", "timeout", "files", "env", "background_seconds", "tool", "matcher", "dialect"} <= keys
    assert sorted(dialects) == sorted(AGENTS)
    assert [link for link in links if not (ROOT / "docs" / link).exists()] == []


def test_the_guides_verdicts_are_those_that_can_be_expected() -> None:
    line = next(line for line in GUIDE.splitlines() if "`--expect` takes" in line)

    assert set(re.findall(r"`(\w+)`", line)) == set(trial.RESULTS)


def test_the_guides_first_hook_does_what_it_says(house: House) -> None:
    script = GUIDE.split("```sh\n")[1].split("```")[0]
    path = house.paths.config.parent / "no-secrets.sh"
    path.write_text(script)
    path.chmod(0o755)
    house.configure(GUIDE.split("```yaml\n")[1].split("```")[0])
    (state,) = house.catalog.states
    house.consent.approve(state.key, state.digest, "test")

    assert state.hook.name == "no-secrets"
    assert house.tool("ls -la", environment={"PATH": os.environ["PATH"]}) == {}
    refused = house.tool("cat .env", environment={"PATH": os.environ["PATH"]})
    assert "ask for the names" in refused["hookSpecificOutput"]["permissionDecisionReason"]
