"""X-Code CLI: one plugin of the user's, called hooktray, that registers all ten events.

<plugins>/cache/local/hooktray/1.0.0/.x-code-plugin/plugin.json and its record in <plugins>/installed_plugins.json
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tray.connect import line
from tray.connect.edit import Change, File, look, settled
from tray.connect.json_text import JsonText, fresh
from tray.connect.plan import PROBED, Plan, Site, Wire, edited, reading, restored
from tray.dialects import DIALECTS
from tray.errors import HooktrayError

AGENT = "x-code"
NAME = "X-Code CLI"
ID = "hooktray@local"
VERSION = "1.0.0"  # of the plugin's shape: its folder stays the same when Hooktray is updated
RESTART = "Running sessions take it up with `/plugin refresh`, new ones by themselves."


def root(site: Site) -> Path:
    """The folder of all plugins."""
    return site.folder("XC_PLUGINS_DIR") if "XC_PLUGINS_DIR" in site.environment else _home(site) / "plugins"


def manifest(site: Site) -> Path:
    return root(site) / "cache" / "local" / "hooktray" / VERSION / ".x-code-plugin" / "plugin.json"


def register(site: Site) -> Path:
    return root(site) / "installed_plugins.json"


def settings(site: Site) -> Path:
    return _home(site) / "settings.json"


def is_installed(site: Site) -> bool:
    return _home(site).is_dir()


def connect(site: Site) -> Plan:
    path = register(site)
    plugin = whole(site, manifest(site), fresh(wanted(site.relay)))
    record = {
        "id": ID,
        "name": "hooktray",
        "marketplace": "local",
        "version": VERSION,
        "source": {"kind": "local", "path": str(manifest(site).parents[1])},
        "installedAt": site.now,
        "installScope": "user",
    }
    change = edited(
        site,
        path,
        lambda: fresh({"schemaVersion": "1", "plugins": [record]}),
        lambda text: _add(text, str(path), record),
        lambda text: _strip(text, str(path)),
    )
    return Plan(changes=tuple(filter(None, (plugin, change))), notes=(RESTART,))


def disconnect(site: Site) -> Plan:
    path, own = register(site), settled(manifest(site))
    change = restored(site, AGENT, path, lambda text: _strip(text, str(path)))
    plugin = Change(path=own, before=look(own), after=None) if look(own) else None
    return Plan(changes=tuple(filter(None, (change, plugin))))


def wires(site: Site) -> tuple[Wire, ...]:
    text = reading(manifest(site))
    if not text.strip() or not _is_registered(site):
        return ()
    hooks = JsonText(text, str(manifest(site))).value["hooks"]
    today = wanted(site.relay)["hooks"] if site.relay else {}
    return tuple(
        Wire(
            event=event,
            argv=_argv(one["command"]),
            place=str(manifest(site)),
            state=said.state,
            needs=said.needs,
            current=one in today.get(event, ()),
        )
        for event, group in hooks.items()
        for one in group
        if (said := line.parse(one["command"]))
    )


def _argv(command: str) -> tuple[str, ...]:
    return ("cmd.exe", "/d", "/c", *shlex.split(command)) if sys.platform == "win32" else ("/bin/sh", "-c", command)


def trust(site: Site) -> str:
    """A plugin is on unless the user's or the project's settings switch it off."""
    for path in (site.cwd / ".x-code" / "settings.local.json", settings(site)):
        text = reading(path)
        enabled = JsonText(text, str(path)).value.get("enabledPlugins") if text.strip() else None
        if isinstance(enabled, dict) and isinstance(enabled.get(ID), bool):
            return "trusted" if enabled[ID] else f"off: {path} switches `{ID}` off; type `/plugin enable {ID}` there"
    return "trusted"


def probe(session: str, cwd: str) -> Mapping[str, Any]:
    return {"event": PROBED, "session": {"sessionId": session, "cwd": cwd}}


def plugins(site: Site) -> list[tuple[str, Path]]:
    """The name and the folder of every other plugin that is installed here."""
    text = reading(register(site))
    records = JsonText(text, str(register(site))).value.get("plugins") if text.strip() else None
    found = []
    for one in records if isinstance(records, list) else []:
        if isinstance(one, dict) and one.get("id") != ID:
            parts = [str(one.get(key) or "") for key in ("marketplace", "name", "version")]
            found.append((str(one.get("id")), (root(site) / "cache").joinpath(*parts)))
    return found


def wanted(relay: tuple[str, ...]) -> dict[str, Any]:
    """The plugin's manifest. Time limits are the agent's own; a larger number would make it drop all hooks."""
    hooks = {
        event: [
            {
                "command": line.shell((*relay, AGENT, event)),
                "timeout": int(spec.timeout * 1000),
                "failurePolicy": "allow",
                "description": "hooktray",
            }
        ]
        for event, spec in DIALECTS[AGENT].EVENTS.items()
    }
    about = "Tells Hooktray of every event. Written by `hooktray connect`; `hooktray disconnect` takes it away."
    return {"name": "hooktray", "version": VERSION, "description": about, "hooks": hooks}


def whole(site: Site, path: Path, text: bytes, mode: int = 0o600) -> Change | None:
    """The change that makes a file of our own; None when it stands there."""
    real = settled(path)
    now, after = look(real), File(text=text, mode=mode)
    return None if now == after else Change(path=real, before=now, after=after, shown=path)


def _home(site: Site) -> Path:
    return site.folder("X_CODE_HOME", ".x-code")


def _is_registered(site: Site) -> bool:
    text = reading(register(site))
    plugins = JsonText(text, str(register(site))).value.get("plugins") if text.strip() else None
    return isinstance(plugins, list) and any(isinstance(one, dict) and one.get("id") == ID for one in plugins)


def _add(text: bytes, path: str, record: dict[str, Any]) -> bytes:
    sheet = JsonText(text, path)
    if not isinstance(sheet.value, dict) or not isinstance(sheet.value.get("plugins", []), list):
        raise HooktrayError(f"{path}:1:1: is no list of plugins as X-Code keeps it", hint="nothing was written")
    plugins = sheet.member(sheet.root, "plugins")
    if plugins is None:
        return sheet.edited(sheet.add(sheet.root, [("plugins", [record])]))
    for span, one in zip(sheet.children(plugins.value), sheet.value["plugins"], strict=True):
        if isinstance(one, dict) and one.get("id") == ID:
            same = {**one, "installedAt": ""} == {**record, "installedAt": ""}
            return text if same else sheet.edited([sheet.replace(span, record)])
    return sheet.edited(sheet.add(plugins.value, [(None, record)]))


def _strip(text: bytes, path: str) -> bytes:
    sheet = JsonText(text, path)
    plugins = sheet.member(sheet.root, "plugins") if isinstance(sheet.value, dict) else None
    if plugins is None or not sheet.is_at(plugins.value, "["):
        return text
    both = zip(sheet.children(plugins.value), sheet.value["plugins"], strict=True)
    gone = [span for span, one in both if isinstance(one, dict) and one.get("id") == ID]
    return sheet.edited(sheet.remove(plugins.value, gone)) if gone else text
