"""What a person writes between `connect` and `disconnect` is still there afterwards, in every layout."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import pytest
from connect.sites import Person, own_agent_of_kiro
from every import every

from tray.connect import connectors
from tray.errors import HooktrayError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="lines for a POSIX shell")

YAML = (
    b"hooks: []\n", b"hooks:\n", b"a: 1\n", b"# c\nhooks: []  # none\nb: 2\n", b"---\nhooks: []\n",
    b"hooks:\n  - event: on_stop\n    command: /bin/echo a\n", b"hooks: [\n]\n",
)  # fmt: skip
JSON = (
    b'{\n  "hooks": {}\n}\n', b'{\n  "a": 1\n}\n', b'{\n  "a": 1,\n  "hooks": {}\n}\n',
    b'{\n  "version": 1,\n  "hooks": {}\n}\n',
)  # fmt: skip
PLUGIN_FILES = ("plugin.json", "installed_plugins.json")  # which are all ours
TOML = (b"", b"a = 1\n", b"hooks = []\n", b"[x]\ny = 1\n")


def layouts(path: Path) -> tuple[bytes, ...]:
    return {".yaml": YAML, ".json": JSON, ".toml": TOML}.get(path.suffix, ())


def edits(path: Path, text: bytes) -> list[tuple[bytes, bytes]]:
    """What a person adds, and the whole text then."""
    lines = text.splitlines(keepends=True)
    if path.suffix == ".json":
        return [(b'  "mine": 1,\n', b"".join([lines[0], b'  "mine": 1,\n', *lines[1:]]))] if len(lines) > 2 else []
    own = b"# mine\n"
    return [
        (own, own + text),
        (own, text + own),
        *((b"    # mine\n", b"".join([*lines[:at], b"    # mine\n", *lines[at:]])) for at in range(2, len(lines))),
    ]


@every("agent", sorted(connectors()))
def test_no_line_of_the_users_is_lost(agent: str, tmp_path: Path) -> None:
    person = Person(tmp_path / agent, agent)
    own_agent_of_kiro(person.home)
    person.connect()
    files = [one.path for one in person.site.backups.of_agent(agent) if one.path.name not in PLUGIN_FILES]
    person.disconnect()
    for file in files:
        for before in layouts(file):
            for number in range(len(edits(file, before)) + 100):
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(before)
                with contextlib.suppress(HooktrayError):  # not a layout that this agent has
                    person.connect()
                connected = file.read_bytes()
                if connected == before or number >= len(edits(file, connected)):
                    break
                added, text = edits(file, connected)[number]
                file.write_bytes(text)
                person.disconnect()
                after = file.read_bytes()
                assert added.strip() in after, (before, text, after)
                if file.suffix == ".json" or text in (added + connected, connected + added):
                    assert after.replace(added, b"") == before
            person.disconnect()
            file.unlink(missing_ok=True)
