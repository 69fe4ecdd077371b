"""Installed plugins of X-Code CLI with a hook."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from connect.sites import Person

HOOKS = {"PreToolUse": [{"matcher": "shell", "command": "${pluginDir}/lint.sh", "failurePolicy": "block"}]}


def plugin(person: Person, name: str, **more: Any) -> Path:
    """An installed plugin with a hook."""
    root = person.home / ".x-code" / "plugins"
    folder = root / "cache" / "market" / name / "2"
    (folder / ".x-code-plugin").mkdir(parents=True)
    said = {"name": name, "version": "2", "hooks": HOOKS, **more}
    (folder / ".x-code-plugin" / "plugin.json").write_text(json.dumps(said))
    (folder / "lint.sh").write_text("#!/bin/sh\n")
    (folder / "lint.sh").chmod(0o755)
    register = root / "installed_plugins.json"
    known = json.loads(register.read_text())["plugins"] if register.exists() else []
    record = {"id": f"{name}@market", "name": name, "marketplace": "market", "version": "2"}
    register.write_text(json.dumps({"plugins": [*known, record]}))
    return folder
