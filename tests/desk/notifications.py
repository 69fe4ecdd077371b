"""What the desk's notification server really showed, read from the server's own record."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """One notification, its text as the program sent it."""

    summary: str
    body: str
    urgency: str  # "low", "normal" or "critical"; "" where the server does not tell
    app: str


class Dunst:
    """dunst runs a script for each notification when it shows it; the script leaves one file."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder = folder / "notifications"
        self._environment = dict(environment)
        self._since = 0.0  # ms since boot, dunst's own clock

    def shown(self) -> list[Notification]:
        """Oldest first."""
        fields = [_fields(path.read_bytes()) for path in self._folder.glob("*.shown")]
        recent = [field for field in fields if int(field["DUNST_TIMESTAMP"]) > self._since]
        recent.sort(key=lambda field: (int(field["DUNST_TIMESTAMP"]), int(field["DUNST_ID"])))
        return [
            Notification(
                summary=field["DUNST_SUMMARY"],
                body=field["DUNST_BODY"],
                urgency=field["DUNST_URGENCY"].lower(),
                app=field["DUNST_APP_NAME"],
            )
            for field in recent
        ]

    def clear(self) -> None:
        """Closes all bubbles and forgets what was shown."""
        subprocess.run(["dunstctl", "close-all"], env=self._environment, check=True, timeout=60)
        self._since = time.clock_gettime(time.CLOCK_BOOTTIME) * 1000


class Notifyd:
    """xfce4-notifyd keeps a log: a key file with one group for each notification. It does not say the urgency."""

    def __init__(self, folder: Path) -> None:
        self._log = folder / "cache" / "xfce4" / "notifyd" / "log"
        self._seen = 0

    def shown(self) -> list[Notification]:
        """Oldest first."""
        return self._all()[self._seen :]

    def clear(self) -> None:
        """Forgets what was shown; its bubbles close by themselves."""
        self._seen = len(self._all())

    def _all(self) -> list[Notification]:
        text = self._log.read_text() if self._log.exists() else ""
        groups = [_fields(group.encode(), "\n") for group in text.split("\n[")]
        return [
            Notification(
                summary=_unescaped(group["summary"]),
                body=_unescaped(group.get("body", "")),
                urgency="",
                app=_unescaped(group.get("app_name", "")),
            )
            for group in groups
            if "summary" in group
        ]


def _fields(record: bytes, separator: str = "\0") -> dict[str, str]:
    words = record.decode(errors="replace").split(separator)
    return dict(word.split("=", 1) for word in words if "=" in word)


def _unescaped(value: str) -> str:
    """A key file's value as it was."""
    signs = {"n": "\n", "r": "\r", "s": " ", "t": "\t"}
    return re.sub(r"\\(.)", lambda found: signs.get(found[1], found[1]), value)
