"""Makes the fixtures beside it: approvals by the code of an earlier commit, as SQL and as the files beside it.

Check the commit out elsewhere, install it into an environment there, and run this file with the Python of that
environment: `python -I tests/older/make.py FOLDER`. It needs no code of this checkout. FOLDER is made; FOLDER.fixture
gets what is written, in which {HOME} stands for FOLDER.

`before_coverage` was made at 8c12a56, which covered each file that a command names and nothing that a script loads;
`before_failure` at a0d67a4, which knew no default of its own for a gating hook that fails.
"""

from __future__ import annotations

import importlib
import json
import sqlite3
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

SH, PYTHON = "#!/bin/sh\n", "#!/usr/bin/env python3\n"
DENY = "case $input in *%s*) echo '%s says no' >&2; exit 2;; esac\n"
FILES = {
    "alone.sh": f"{SH}input=$(cat)\n{DENY % ('alone', 'alone')}",
    "logging.sh": f'{SH}input=$(cat)\nprintf "%s\\n" "$input" >>"$1"\n{DENY % ("logging", "logging")}',
    "audit.log": "begun\n",
    "loading.py": f"{PYTHON}import sys\nfrom words import REFUSED\n"
    "if REFUSED in sys.stdin.read():\n    sys.stderr.write('loading says no')\n    sys.exit(2)\n",
    "words.py": "REFUSED = 'loading'\n",
    "open.sh": f"{SH}input=$(cat)\n{DENY % ('open', 'open')}",
    "strict.sh": f"{SH}input=$(cat)\n{DENY % ('strict', 'strict')}",
    "done.sh": f"{SH}cat >/dev/null\n",
    "claude/plain.sh": f"{SH}input=$(cat)\n{DENY % ('plain', 'plain')}",
}
BASH: Mapping[str, Any] = {"event": "tool_before", "tool": "Bash"}
HOOKS: list[Mapping[str, Any]] = [
    {"name": "alone", "command": "./alone.sh", **BASH},
    {"name": "logging", "command": "./logging.sh ./audit.log", **BASH},
    {"name": "loading", "command": "./loading.py", **BASH},
    {"name": "open", "command": "./open.sh", "failure": "allow", **BASH},
    {"name": "strict", "command": "./strict.sh", "failure": "block", **BASH},
    {"name": "rule", "type": "rule", "event": "tool_before", "tool": "WebFetch", "decision": "deny"},
    {"name": "post", "type": "http", "event": "tool_before", "tool": "WebSearch", "url": "https://hooks.example/x"},
    {"name": "done", "command": "./done.sh", "event": "turn_end"},
]


def main(home: Path) -> None:
    place = home / "config"
    for name, text in FILES.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o644 if name in ("audit.log", "words.py") else 0o755)
    entry = {"matcher": "Bash", "hooks": [{"type": "command", "command": str(place / "claude/plain.sh")}]}
    settings = place / "claude" / "settings.json"
    settings.write_text(json.dumps({"hooks": {"PreToolUse": [entry]}}))
    (place / "hooktray.yaml").write_text(json.dumps({"hooks": HOOKS, "sources": [{"claude-code": str(settings)}]}))
    approve_all(home)
    save(home, Path(f"{home}.fixture"))


def approve_all(home: Path) -> None:
    paths = importlib.import_module("tray.paths").locate(str(home))
    paths.prepare()
    app: Any = importlib.import_module("tray.app")
    try:
        consent_module: Any = importlib.import_module("tray.approvals.consent")
        stores = app.open_stores(paths, migrate=True)
        catalog = app.build_catalog(paths, stores)
    except ImportError:  # its name before 02c8cb6
        consent_module = importlib.import_module("tray.engine.approval.consent")
        stores = app.stores(paths, migrate=True)
        catalog = app.roster(paths, stores)
    catalog.refresh()
    consent = consent_module.Consent(stores.ledger, catalog)
    for one in getattr(catalog, "states", None) or catalog.standings:
        consent.approve(one.key, one.digest, "tray")
        print(one.hook.name, one.digest[:8], one.covered)
    stores.journal.close()


def save(home: Path, target: Path) -> None:
    """The database as SQL, and every other file with its mode."""
    target.mkdir(exist_ok=True)
    with closing(sqlite3.connect(home / "state" / "hooktray.db")) as connection:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        lines = [*connection.iterdump(), f"PRAGMA user_version = {version};"]
    (target / "database.sql").write_text("\n".join(lines).replace(str(home), "{HOME}") + "\n")
    files = {
        str(path.relative_to(home)).replace(str(home)[1:], "{HOME}"): [path.stat().st_mode & 0o777, path.read_text()]
        for path in sorted(home.rglob("*"))
        if path.is_file() and not path.name.startswith("hooktray.db")
    }
    text = json.dumps(files, indent=1).replace(str(home), "{HOME}")
    (target / "files.json").write_text(text + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
