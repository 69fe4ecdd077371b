"""What the pages show exists and works: links, commands, options, settings, events, and the README's session."""

from __future__ import annotations

import ast
import importlib
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

from every import every
from house import House
from live import Live
from plain import Plain
from scripts import loaded
from torture import table

from tray import settings
from tray.agents.registry import AGENTS
from tray.cli.command_line import HELP, parameters
from tray.cli.commands import COMMANDS, first_words
from tray.engine import trial
from tray.notify.policy import alerts
from tray.notify.sound import SOUNDS
from tray.sources import hooktray
from tray.sources.configuration import parse

ROOT = Path(__file__).parent.parent
FOLDERS = ("docs", "installers", "examples", "tests")
PAGES = sorted([ROOT / "README.md", *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.md"))])
README = (ROOT / "README.md").read_text()
SESSION = README.split("## Two minutes with Claude Code\n")[1].split("\n## ")[0]
CALL = {
    "hook_event_name": "PreToolUse",
    "cwd": "/home/you/api",
    "tool_name": "Bash",
    "tool_input": {"command": "rm -rf build"},
}
OUTSIDE = {"relay", "once"}  # commands that users do not type


def page(name: str) -> str:
    return (ROOT / "docs" / f"{name}.md").read_text()


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def anchors(path: Path) -> set[str]:
    """The names of a page's headings in links, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)", path.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@every("path", PAGES, ids=named)
def test_the_links_of_a_page_lead_somewhere(path: Path) -> None:
    for place, heading in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)", path.read_text()):
        if ":" not in place:
            target = path.parent / place if place else path
            assert target.exists(), place
            assert not heading or heading in anchors(target), heading


def shown_commands(text: str) -> list[list[str]]:
    """The `hooktray` commands of a page, as words, without what follows a pipe or a comment."""
    blocks = "\n".join(re.findall(r"```\w*\n(.*?)```", text, re.DOTALL))
    lines = re.findall(r"`hooktray ((?:--?[\w-]+ )?[a-z][^`]*)`", text)
    lines += re.findall(r"^(?:\$ )?hooktray ([a-z][^\n|#]*)", blocks, re.MULTILINE)
    return [shlex.split(re.split(r"[|#;<>]", line)[0]) for line in lines if "'" not in line]


@every("path", PAGES, ids=named)
def test_the_commands_and_options_of_a_page_exist(path: Path) -> None:
    for verb, *words in shown_commands(path.read_text()):
        if verb in OUTSIDE or verb.startswith("-"):
            continue
        assert verb in dict(first_words()), verb
        of_verb = [parameters(one.function()) for one in COMMANDS if one.name.split()[0] == verb]
        known = {*HELP, *(flag for found in of_verb for one in found for flag in one.declared.flags)}
        options = [word.strip("[]") for word in words if word.strip("[]").startswith("--")]
        assert [word for word in options if word not in known] == [], verb


@every("path", PAGES, ids=named)
def test_the_settings_of_a_page_can_be_read(path: Path) -> None:
    for text in re.findall(r"```yaml\n(.*?)```", path.read_text(), re.DOTALL):
        if re.match(r"(?:#.*\n)*(?:hooks|sources|llm|alerts|" + "|".join(settings.KEYS) + "):", text):
            parse(text, "/c/hooktray.yaml")


def test_every_setting_key_class_sound_and_command_is_documented() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", page("settings"), re.MULTILINE)
    commands = {word for word, _ in first_words()}
    named = set(re.findall(r"`(?:hooktray )?([a-z][a-z-]*)[^`]*`", page("commands").split("--home")[0]))

    assert sorted(rows) == sorted(settings.KEYS)
    assert sorted(settings.SOUNDS) == sorted(path.stem for path in SOUNDS.glob("*.wav"))
    assert {*hooktray.KEYS, *settings.CLASSES, *settings.SOUNDS} <= set(re.findall(r"`(\w+)`", page("settings")))
    assert commands | {"relay"} == named


def test_every_agent_and_event_is_in_the_table() -> None:
    text = (ROOT / "docs" / "agents" / "README.md").read_text()
    rows = re.findall(r"^\| [\w ()-]+ \| `([\w-]+)` \| ([^|]*) \|$", text, re.MULTILINE)
    dialects = page("hook-formats").split("| dialect |")[1].split("\n\n")[0]

    assert [agent for agent, _ in rows] == sorted(AGENTS)
    assert sorted(re.findall(r"^\| `([\w-]+)` \|", dialects, re.MULTILINE)) == sorted(AGENTS)
    for agent, events in rows:
        known = {name.split("/")[0] for name in AGENTS[agent].events}
        assert [name for name in re.findall(r"`([^`]+)`", events) if name.split("/")[0] not in known] == []


def test_generated_pages_are_current() -> None:
    assert page("generated/fidelity") == loaded("docs/fidelity.py").page()
    assert table.line() in README


def test_the_architectures_packages_and_layers_are_those_that_are_checked() -> None:
    text = page("architecture")
    packages = [path.parent.name for path in (ROOT / "tray").glob("*/__init__.py")]
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"][0]
    layers = [{part.strip().replace(".", "/") for part in layer.split("|")} for layer in contract["layers"]]
    rows = text.split("| layer |")[1].split("\n\n")[0].splitlines()[2:]
    shown = [re.findall(r"`(tray/[^`]+)`", row.split("|")[1]) for row in rows]

    assert [name for name in packages if f"`tray/{name}/`" not in text] == []
    assert [{name.removesuffix("/").removesuffix(".py") for name in names} for names in shown] == layers[1:]


def test_the_examples_for_new_tests_can_be_imported() -> None:
    examples = re.findall(r"```python\n(.*?)```", (ROOT / "tests" / "README.md").read_text(), re.DOTALL)
    imports = [node for text in examples for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]

    assert len(examples) == 6
    for node in imports:
        module = importlib.import_module(str(node.module))
        assert [one.name for one in node.names if not hasattr(module, one.name)] == []


# ---- the commands of the README and the guide print what the pages show


def configure(house: House, document: str) -> None:
    house.configure(document)
    (state,) = house.catalog.states
    house.consent.approve(state.key, state.digest, "test")


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
    """Removes ids, times and the alignment of a terminal."""
    plain = re.sub(r"\b[0-9a-f]{8}\b", "ID", re.sub(r"\b\d\d:\d\d:\d\d\b", "TIME", text))
    return [re.sub(r"\t| {2,}", "  ", line.rstrip()) for line in plain.splitlines()]


def shows(house: House, session: str) -> None:
    """Checks that each typed line prints the text below it."""
    steps = re.findall(r"^\$ (.*)\n((?:[^$].*\n)+)", session, re.MULTILINE)
    assert steps
    for line, shown in steps:
        done = typed(house, line)
        printed = done.stdout.replace(str(house.paths.config), "~/.config/hooktray/hooktray.yaml")
        assert masked(printed) == masked(shown), done.stderr


def test_the_session_prints_what_is_shown(house: House, tmp_path: Path) -> None:
    rule = re.findall(r"```yaml\n(.*?)```", SESSION, re.DOTALL)[0]
    before, during, after = re.findall(r"```console\n(.*?)```", SESSION, re.DOTALL)
    house.configure(rule)
    shows(house, before)

    configure(house, rule)
    place = Plain(tmp_path)
    Live(place, house.paths.home or tmp_path).start("--headless")
    typed(house, "hooktray relay claude-code PreToolUse", json.dumps(CALL))
    shows(house, during)
    place.close()

    house.configure(rule.replace("decision: deny", "decision: ask"))
    shows(house, after)


def test_the_sessions_notification_says_what_is_shown(house: House) -> None:
    reported, title, body = re.findall(r'It reports `(.*?)`\. A notification shows `(.*?)`, "(.*?)"', SESSION)[0]
    configure(house, re.findall(r"```yaml\n(.*?)```", SESSION, re.DOTALL)[0])

    answer = house.relay("claude-code", "PreToolUse", CALL)

    ((event, decision, _),) = house.decisions
    (alert,) = alerts(event, decision)
    assert (alert.title, alert.body) == (title, body)
    assert reported in str(answer)


def test_the_guides_first_hook_does_what_it_says(house: House) -> None:
    guide = page("writing-hooks")
    path = house.paths.config.parent / "no-secrets.sh"
    path.write_text(guide.split("```sh\n")[1].split("```")[0])
    path.chmod(0o755)
    configure(house, guide.split("```yaml\n")[1].split("```")[0])
    session = guide.split("```console\n")[1].split("```")[0]

    done = [typed(house, line) for line in re.findall(r"^\$ (.*)$", session, re.MULTILINE)]
    passed, refused = (house.tool(line, environment={"PATH": os.environ["PATH"]}) for line in ("ls", "cat .env"))

    assert [(one.returncode, "as expected" in one.stdout) for one in done] == [(0, True), (0, True)]
    assert passed == {}
    assert "ask for the names" in refused["hookSpecificOutput"]["permissionDecisionReason"]
    line = next(line for line in guide.splitlines() if "`--expect` takes" in line)
    assert set(re.findall(r"`(\w+)`", line)) == set(trial.RESULTS)
