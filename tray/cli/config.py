"""The commands about places and settings: paths, schema, config check."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

from tray.agents.registry import AGENTS
from tray.agents.tools import CANONICAL_NAMES, native_names
from tray.approvals.inspection import read_bundle
from tray.cli.command_line import Argument, Json
from tray.errors import ConfigError, HooktrayError
from tray.files import user_file
from tray.model.hook import Hook
from tray.paths import Paths
from tray.sources import schema as json_schema
from tray.sources.configuration import parse


def check(
    paths: Paths,
    file: Annotated[str, Argument(metavar="FILE", help="Which file; default: the one in use.")] = "",
    as_json: Json = False,
) -> int:
    path = Path(file) if file else paths.config
    try:
        configuration = parse(user_file(path), str(path))
    except FileNotFoundError as error:
        raise HooktrayError(
            f"{path}: there is no such file", hint="`hooktray run` makes one where `hooktray paths` says"
        ) from error
    except OSError as error:
        raise HooktrayError(f"{path}: cannot be read: {error.strerror or error}", hint="name a file") from error
    except ConfigError as error:
        if as_json:
            print(json.dumps({"file": str(path), "good": False, "problem": str(error), "warnings": []}))
            return 1
        raise
    hooks = configuration.hooks
    warnings = (*configuration.warnings, *_approval_problems(hooks), *_misspelt_tools(hooks))
    if as_json:
        row = {"file": str(path), "good": True, "problem": None, "warnings": warnings}
        print(json.dumps(row, ensure_ascii=False))
        return 0
    for warning in warnings:
        print(f"Warning: {warning}")
    print(f"{path}: good, {len(configuration.hooks)} {'hook' if len(configuration.hooks) == 1 else 'hooks'}.")
    return 0


def show_paths(paths: Paths, as_json: Json = False) -> None:
    names = ("config", "state", "logs", "socket", "database", "relay")
    rows = {name: str(getattr(paths, name)) for name in names}
    print(json.dumps(rows) if as_json else "\n".join(f"{name:9} {path}" for name, path in rows.items()))


def schema(paths: Paths) -> None:
    print(json_schema.text(), end="")


def _approval_problems(hooks: Sequence[Hook]) -> Iterator[str]:
    """What keeps a hook from being approved, such as a script that is not there."""
    for hook in hooks:
        try:
            if not hook.inactive:
                read_bundle(hook)
        except (HooktrayError, OSError, ValueError) as error:
            yield f"{hook.source}: {error}"


def _misspelt_tools(hooks: Sequence[Hook]) -> Iterator[str]:
    """Yields names that are nearly those of tools, and rules of permissions, for which no hook is asked."""
    names = [one for agent in AGENTS for title in AGENTS[agent].tools for one in native_names(agent, title)]
    spelled = {one.lower(): one for one in (*names, *CANONICAL_NAMES)}
    for hook in hooks:
        for word in () if hook.match.format else map(str.strip, re.split("[|,]", hook.match.tool)):
            found = re.fullmatch(r"(\w+)(\(.*\*\))?", word)
            near = difflib.get_close_matches(found[1].lower(), spelled, 1, 0.8) if found else []
            if near and word not in (*names, *CANONICAL_NAMES):
                hint = f"write `{spelled[near[0]]}` if you mean that one"
                yield f"{hook.source}: tool: `{word}` is no tool of a known agent\n  {hint}"
