"""A notification server that people use shows an alert as it was written."""

from __future__ import annotations

import asyncio
import html
import json
import os
import subprocess
from pathlib import Path

import pytest
from notify import parts, samples
from notify.parts import wait
from notify.samples import alert

from tray.notify.alert import Alert
from tray.notify.desktop_notifier_backend import DesktopNotifierBackend
from tray.notify.fallback_backends import NotifySendBackend, PlyerBackend
from tray.notify.freedesktop import FreedesktopBackend
from tray.notify.notifier import Delivery, NotificationBackend

pytestmark = pytest.mark.desktop


async def send(one: Alert, backend: NotificationBackend) -> Delivery:
    notifier = samples.notifier(backend)
    try:
        return await notifier.send(one)
    finally:
        await notifier.disconnect()


def test_dunst_shows_the_text_as_it_was_written_on_each_way(tmp_path: Path, bus: str) -> None:
    backends: tuple[NotificationBackend, ...] = (
        FreedesktopBackend(), DesktopNotifierBackend(), NotifySendBackend(), PlyerBackend(),
    )  # fmt: skip

    text = "1 < 2 & <b>bold</b> \\o/ -x"
    environment = {**os.environ, **dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR"), str(tmp_path))}
    screen = ("Xvfb", "-displayfd", "1", "-screen", "0", "640x480x24", "-nolisten", "tcp", "-noreset")
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with parts.process(*screen, environment=environment, **options) as x:
        assert x.stdout is not None
        environment["DISPLAY"] = f":{x.stdout.readline().decode().strip()}"
        with parts.process("dunst", environment=environment, stderr=subprocess.DEVNULL):
            wait(lambda: dunstctl(environment, "count") is not None, "dunst takes the name")
            for backend in backends:
                assert asyncio.run(send(alert(title=backend.name, body=text), backend)) is Delivery.SENT
            wait(lambda: dunstctl(environment, "count", "displayed") == f"{len(backends)}\n", "all of them are shown")
            dunstctl(environment, "close-all")
            shown = wait(lambda: len(found := history(environment)) == len(backends) and found, "dunst's history")

    assert {(entry["summary"], entry["body"]) for entry in shown} == {(backend.name, text) for backend in backends}


def dunstctl(environment: dict[str, str], *words: str) -> str | None:
    done = subprocess.run(["dunstctl", *words], env=environment, capture_output=True, text=True, timeout=60)
    return done.stdout if done.returncode == 0 else None


def history(environment: dict[str, str]) -> list[dict[str, str]]:
    entries = json.loads(dunstctl(environment, "history") or '{"data": [[]]}')["data"][0]
    fields = ("summary", "body")
    return [{field: html.unescape(entry[field]["data"]) for field in fields} for entry in entries]
