"""Foreign text on the screen: 200 payloads, by each of the four ways."""

from __future__ import annotations

import asyncio
import ctypes
import html
import os
import random
import re
import stat
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from agents.recordings import built
from notify import parts, samples
from notify.parts import Recorder

from tray.model.decision import Decision, HookOutput, Outcome, Status, Verdict
from tray.model.event import EventKind, Tool
from tray.notify.alert import Alert
from tray.notify.fallback_backends import (
    SCRIPT,
    NotifySendBackend,
    OsascriptBackend,
    balloon_words,
    notify_send_words,
    osascript_words,
)
from tray.notify.freedesktop import FreedesktopBackend
from tray.notify.notifier import Delivery, NotificationBackend
from tray.notify.policy import alerts

PIECES = (
    *("-", "--", "-u critical", "--help", "-e", "--hint=int:x:1", "-- ", "\\n", "\\", "\\\\", "\\x41"),
    *("<b>", "</b>", "<img src=x onerror=alert(1)>", "<a href='https://x.example'>", "&amp;", "&#10;", "&", "<!--"),
    *("\x00", "\x1b[31m", "\x1b]8;;http://x\x07", "\x9b1m", "\r\n", "\t", "\x07", "\x7f", "\u202e", "\u2066"),
    *("\u200b", '"', "'", "`id`", "$(id)", "; rm -rf /", "| sh", '" & (do shell script "id") & "', "%s%n", "{0}"),
    *("\ud800", "\ufeff", "😀", "👩\u200d💻", "z" + "\u0301" * 50, "a" * 300, "日本語", "\U000e0041", "end run"),
    *("*/", "\u2028", "\uffff"),
)
CHANCE = random.Random(18)
TEXTS = [*PIECES, *("".join(CHANCE.choices(PIECES, k=CHANCE.randint(1, 8))) for _ in range(200 - len(PIECES)))]


def made(text: str, number: int) -> Alert:
    """Foreign text in every place that an alert takes some from."""
    reading = HookOutput(verdict=Verdict.DENY, reason=text)
    outcome = Outcome(hook=text, status=Status.OK, output=reading)
    event = built(
        id="e", agent="x-code", name="PreToolUse", kind=EventKind.TOOL_BEFORE, session=str(number), cwd=f"/w/{text}",
        tool=Tool(name=text, input={"command": text}),
    )  # fmt: skip
    denied = Decision(verdict=Verdict.DENY, reason=text, outcomes=(outcome,))
    (alert,) = alerts(event, denied, show_input=number % 2 == 0)
    return alert


ALERTS = [made(text, number) for number, text in enumerate(TEXTS)]


def clean(text: str) -> bool:
    return not any(unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp", "Co") for char in text) and not re.search(
        "[\u202a-\u202e\u2066-\u2069\u200b\ufeff\U000e0000-\U000e007f]", text
    )


def is_safe_word(text: str) -> bool:
    return clean(text) and not text.startswith("-")


def test_what_reaches_windows_fits_its_structure() -> None:
    for alert in ALERTS:
        for text, room in zip(balloon_words(alert), (64, 256), strict=True):
            units = text.encode("utf-16-le")
            assert 2 <= len(units) <= 2 * (room - 1)
            packed = (ctypes.c_uint16 * room)()
            ctypes.memmove(packed, units, len(units))
            assert packed[room - 1] == 0
            assert clean(text)


def test_notify_send_is_given_no_option_no_markup_and_no_escape() -> None:
    for alert in ALERTS:
        title, body = notify_send_words(alert, markup=True)
        assert is_safe_word(title)
        assert is_safe_word(body)
        assert "<" not in body
        assert "\\" not in body.replace("\\\\", "")
        assert html.unescape(body.replace("\\\\", "\\")).strip() == alert.body


def test_osascript_is_given_its_script_and_two_words() -> None:
    script = [word for line in SCRIPT for word in ("-e", line)]
    for alert in ALERTS:
        argv = osascript_words(alert)
        title, body = argv[len(script) :]
        assert argv[: len(script)] == script
        assert is_safe_word(title)
        assert is_safe_word(body)


@pytest.fixture
def markup_server(bus: str, tmp_path: Path) -> Iterator[Recorder]:
    with parts.recording_server(tmp_path, os.environ, "body", "actions", "body-markup") as recorder:
        yield recorder


def send(backend: NotificationBackend, texts: list[Alert]) -> None:
    async def main() -> None:
        notifier = samples.notifier(backend, timeout=20)
        assert {await notifier.send(alert) for alert in texts} == {Delivery.SENT}
        await notifier.disconnect()

    asyncio.run(main())


@pytest.mark.desktop
def test_hostile_texts_are_shown_on_the_bus_and_by_notify_send_and_none_as_markup(markup_server: Recorder) -> None:
    some = [alert for alert in ALERTS if any(sign in alert.body for sign in ("\\", "<", "-u"))][:10]
    send(FreedesktopBackend(), ALERTS)
    send(NotifySendBackend(), some)

    calls = markup_server.calls()
    assert len(calls) == len(TEXTS) + 10
    for alert, call in zip([*ALERTS, *some], calls, strict=True):
        assert clean(call["title"])
        assert clean(call["body"])
        assert "<" not in call["body"]
        assert html.unescape(call["body"]).strip() == alert.body.strip()


def test_osascript_gets_each_word_and_its_error_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "osascript"
    program.write_text(f'#!/bin/sh\nprintf \'%s\\n\' "$7" "$8" >>{tmp_path}/said\nexit $(cat {tmp_path}/code)\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "code").write_text("0")
    plain = next(alert for alert in ALERTS if not alert.body.startswith("-"))
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    async def main() -> None:
        notifier = samples.notifier(OsascriptBackend(), timeout=20)
        assert await notifier.send(plain) is Delivery.SENT
        (tmp_path / "code").write_text("3")
        assert await notifier.send(ALERTS[1]) is Delivery.FAILED
        assert notifier.last_error == "osascript: exit 3"

    asyncio.run(main())

    assert (tmp_path / "said").read_text().splitlines()[:2] == [plain.title, plain.body]
