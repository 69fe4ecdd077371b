"""The JSON Schema of the whole hooktray.yaml, out of the types that read it; editors complete and check by it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from tray.agents.agent import Agent
from tray.agents.registry import AGENTS, OWN_FORMAT
from tray.settings import CLASSES, Settings
from tray.sources.external import formats
from tray.sources.hooktray import KINDS, HookEntry, native_events

FILE = Path(__file__).parents[1] / "hooktray.schema.json"  # as it is shipped; a test holds it to `schema()`
NAME = FILE.name
DIALECT = "https://json-schema.org/draft/2020-12/schema"
USUAL_TYPE = "command"
# By type.
REQUIRED_KEYS = {"agent": "prompt", "http": "url", "prompt": "prompt", "rule": "decision", USUAL_TYPE: "command"}


def schema(agents: Mapping[str, Agent] = AGENTS) -> dict[str, Any]:
    """With the names of these agents."""
    (top, entry), parts = msgspec.json.schema_components([Settings, HookEntry], ref_template="#/$defs/{name}")
    settings, hook = (dict(parts[component["$ref"].rpartition("/")[2]]) for component in (top, entry))
    defs = {name: part for name, part in parts.items() if name not in ("Settings", "HookEntry")}
    defs["AskOnDesktop"]["properties"]["agents"]["items"] = {"enum": list(agents)}
    properties = dict(settings["properties"])
    properties["alerts"] = {**properties["alerts"], "propertyNames": {"enum": list(CLASSES)}}
    rules = {**properties["projects"]["additionalProperties"], "propertyNames": {"enum": list(CLASSES)}}
    properties["projects"] = {**properties["projects"], "additionalProperties": rules}
    properties["sources"] = {**properties["sources"], "items": {"$ref": "#/$defs/Source"}}
    hooks = {"description": "Your hooks.", "type": ["array", "null"], "items": {"$ref": "#/$defs/Hook"}}
    return {
        "$schema": DIALECT,
        "title": "hooktray.yaml",
        **settings,
        "properties": {"hooks": hooks, **properties},
        "$defs": {**defs, "Agent": _agent(agents), "Hook": _hook(hook, agents), "Source": _source(agents)},
    }


def text(agents: Mapping[str, Agent] = AGENTS) -> str:
    """As it is written to files."""
    return json.dumps(schema(agents), indent=2, ensure_ascii=False) + "\n"


def _agent(agents: Mapping[str, Agent]) -> dict[str, Any]:
    name = {"enum": list(agents)}
    return {
        "description": "One agent or several; default: every agent.",
        "anyOf": [name, {"type": "array", "items": name}],
    }


def _hook(entry: dict[str, Any], agents: Mapping[str, Agent]) -> dict[str, Any]:
    properties = dict(entry["properties"])
    native = (name for known in agents.values() for name in sorted(known.events) if "<" not in name)
    known = {"enum": list(dict.fromkeys([*KINDS, *native]))}
    command = {"pattern": "^slash/."}
    properties["agent"] = {"$ref": "#/$defs/Agent"}
    properties["dialect"] = {"enum": list(agents), "default": OWN_FORMAT}
    properties["event"] = {
        "description": "A canonical name, or an agent's own one: with `agent:` where several agents have it.",
        "type": "string",
        "anyOf": [known, command],
    }
    alone = {"anyOf": [{"enum": [*KINDS, *native_events(agents)]}, command]}
    without = {"if": {"not": {"required": ["agent"]}}, "then": {"properties": {"event": alone}}}
    needs = [
        {
            "if": {"properties": {"type": {"const": kind}}} | ({} if kind == USUAL_TYPE else {"required": ["type"]}),
            "then": {
                "required": [key],
                "properties": {key: {"pattern": "\\S"} if key != "decision" else {"type": "string"}},
            },
        }
        for kind, key in REQUIRED_KEYS.items()
    ]
    return {**entry, "properties": properties, "allOf": [without, *needs]}


def _source(agents: Mapping[str, Agent]) -> dict[str, Any]:
    path = {"type": "string", "pattern": "\\S"}
    return {
        "description": "Hooks as they stand in another format: one format and its path.",
        "type": "object",
        "properties": {**dict.fromkeys(formats(agents), path), "agent": {"$ref": "#/$defs/Agent"}},
        "additionalProperties": False,
        "oneOf": [{"required": [name]} for name in formats(agents)],
    }
