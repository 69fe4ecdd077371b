"""A sound pack, as the tests that read one make it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tray.notify.sound import SOUNDS

DONE = {"file": "sounds/done.wav", "label": "Done"}


def make(folder: Path, *sounds: dict[str, Any], **more: Any) -> Path:
    """A pack with one good sound, and these."""
    (folder / "sounds").mkdir(parents=True)
    (folder / "sounds" / "done.wav").write_bytes((SOUNDS / "tick.wav").read_bytes())
    manifest = {
        "cesp_version": "1.0",
        "name": "peon",
        "display_name": "Orc Peon",
        "version": "1.0.0",
        "license": "CC-BY-NC-4.0",
        "author": {"name": "somebody"},
        "categories": {"task.complete": {"sounds": [DONE, *sounds]}},
    }
    (folder / "openpeon.json").write_text(json.dumps({**manifest, **more}))
    return folder
