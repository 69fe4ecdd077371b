"""The schema says what the reader says: of the examples, of a table of good files and of a table of bad ones."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from every import every

from tray.agents.registry import AGENTS
from tray.errors import ConfigError
from tray.settings import CLASSES, KEYS
from tray.sources import configuration, hooktray, schema
from tray.sources.configuration import parse
from tray.strict.yaml_reader import load_yaml

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").rglob("*.yaml"))
GOOD = (
    *("", "hooks:", "hooks: []", "{turn_quiet_seconds: 3, without_tray: allow, background_seconds: 0}"),
    "hooks: [{event: Stop, agent: claude-code, command: ./x}]",
    "hooks: [{event: slash/deploy, agent: [shelley], command: ./x, timeout: 600}]",
    "hooks: [{event: tool_before, type: rule, decision: ask, reason: r, tool: Bash}]",
    "hooks: [{event: turn_end, type: prompt, prompt: fine?}, {event: turn_end, type: agent, prompt: p, model: m}]",
    "hooks: [{event: tool_before, type: http, url: 'https://a.example/x', headers: {A: b}, env: [B], once: true}]",
    "sources: [{claude-code: a.json}, {shelley: dir, agent: shelley}, {x-code: p, agent: [x-code]}]",
    "alerts: {turn_end: {notify: true, sound: none}, note: {}}",
    "llm: {base_url: 'https://llm.example.com/v1', model: small, api_key_env: K}",
    "protection: {allow: [hooktray pause]}",
    "{projects: {api: {note: {notify: false}}}, volume: 0.5, min_turn_seconds: 10, show_input: true}",
    "{quiet_hours: {from: '22:00', to: '07:00', days: [mon]}, ask_on_desktop: {agents: [shelley]}}",
    "{journal: {days: 1, rows: 100}}",
)
BAD = (
    *("[]", "bogus: 1", "hooks: {event: turn_end}", "hooks: [x]", "hooks: [{command: ./x}]"),
    *("hooks: [{event: turn_end}]", "hooks: [{event: turn_end, command: ' '}]"),
    *("hooks: [{event: tool_befor, command: ./x}]", "hooks: [{event: Stop, command: ./x}]"),
    "hooks: [{event: turn_end, command: ./x, agent: claude}]",
    "hooks: [{event: turn_end, command: ./x, agent: [claude]}]",
    "hooks: [{event: turn_end, command: ./x, dialect: claude}]",
    "hooks: [{event: turn_end, command: ./x, timeout: ten}]",
    "hooks: [{event: turn_end, command: ./x, timeout: 0}]",
    "hooks: [{event: turn_end, command: ./x, timeout: 601}]",
    "hooks: [{event: turn_end, command: ./x, failure: maybe}]",
    "hooks: [{event: turn_end, command: ./x, enabled: 'on'}]",
    *("hooks: [{event: turn_end, command: ./x, timeot: 3}]", "hooks: [{event: turn_end, type: rule}]"),
    *("hooks: [{event: turn_end, type: rule, decision: no}]", "hooks: [{event: turn_end, type: http}]"),
    *("hooks: [{event: turn_end, type: prompt}]", "hooks: [{event: turn_end, type: agent, prompt: ''}]"),
    *("hooks: [{event: turn_end, type: mcp_tool, command: x}]", "alerts: 3", "alerts: {turn_en: {notify: true}}"),
    *("alerts: {turn_end: {notfy: true}}", "alerts: {turn_end: {notify: 'x'}}", "without_tray: maybe"),
    *("projects: {api: {note: {notfy: false}}}", "projects: {api: {nope: {}}}"),
    *("quiet_hours: {from: '25:00', to: '07:00'}", "quiet_hours: {from: '22:00'}"),
    *("ask_on_desktop: {agents: [claude]}", "journal: {days: 0}", "volume: 2", "turn_quiet_seconds: 900"),
    *("background_seconds: -1", "llm: {model: m}", "protection: {alow: []}", "sources: {claude-code: x}"),
    *("sources: [x]", "sources: [{}]", "sources: [{claude: x}]", "sources: [{claude-code: x, shelley: y}]"),
    *("sources: [{claude-code: 3}]", "sources: [{claude-code: x, agent: claude}]"),
)


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    jsonschema.Draft202012Validator.check_schema(schema.schema())
    return jsonschema.Draft202012Validator(schema.schema())


@every("path", EXAMPLES)
def test_every_example_is_good(validator: jsonschema.Draft202012Validator, path: Path) -> None:
    validator.validate(load_yaml(path.read_bytes(), "f").value)


@every("text", GOOD)
def test_what_the_reader_takes_the_schema_takes(validator: jsonschema.Draft202012Validator, text: str) -> None:
    parse(text, "/c/hooktray.yaml")

    validator.validate(load_yaml(text, "f").value)


@every("text", BAD)
def test_what_the_reader_refuses_the_schema_refuses(validator: jsonschema.Draft202012Validator, text: str) -> None:
    with pytest.raises(ConfigError):
        parse(text, "/c/hooktray.yaml")

    assert not validator.is_valid(load_yaml(text, "f").value)


def test_every_key_is_in_it() -> None:
    found = schema.schema()

    assert set(found["properties"]) == {"hooks", *KEYS}
    assert set(found["$defs"]["Hook"]["properties"]) == set(hooktray.KEYS)
    assert found["properties"]["alerts"]["propertyNames"]["enum"] == list(CLASSES)


def test_the_shipped_file_is_what_the_types_say() -> None:
    assert schema.FILE.read_text() == schema.text(AGENTS.built_in), (
        "where no package brings an agent, run: hooktray schema > tray/hooktray.schema.json"
    )
    assert json.loads(configuration.SCHEMA.read_text()) == schema.schema(AGENTS.built_in)
