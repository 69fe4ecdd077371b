"""A question on a real tray: the agent's relay waits, a button at the notification server answers it."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from dbus_fast import Message
from dbus_fast.aio import MessageBus
from desk import wait
from live import PERMISSION, Live
from notify import parts
from notify.parts import Recorder
from plain import Plain

pytestmark = pytest.mark.desktop

NAME = "org.freedesktop.Notifications"
PROMPT = {
    **PERMISSION,
    "hook_event_name": "Notification",
    "message": "Hello",
    "notification_type": "elicitation_dialog",
}


class Asked:
    """A tray that asks for Claude Code, and the notification server that it knows."""

    def __init__(self, live: Live, server: Recorder, address: str) -> None:
        self.live, self.server, self.address = live, server, address
        self.seen = 0  # calls of the server before the last request

    def request(self) -> subprocess.Popen[bytes]:
        self.seen = len(self.server.calls())
        return self.live.start_relay("claude-code", "PermissionRequest", PERMISSION)

    def taken_back(self, number: int) -> None:
        wait(lambda: any(one["id"] == number for one in self.server.calls("Close")), what="it is taken back")

    def question(self) -> dict[str, Any]:
        """The notification of the open question."""
        calls = wait(
            lambda: [one for one in self.server.calls()[self.seen :] if "allow" in one["actions"]], what="a question"
        )
        return dict(calls[-1])

    def press(self, number: int, key: str) -> None:
        async def main() -> None:
            bus = await MessageBus(bus_address=self.address).connect()
            body = [number, key]
            path = "/org/freedesktop/Notifications"
            await bus.call(
                Message(destination=NAME, path=path, interface=NAME, member="Press", signature="us", body=body)
            )
            bus.disconnect()

        asyncio.run(main())


@pytest.fixture(scope="module")
def shared_asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    folder = tmp_path_factory.mktemp("q")
    plain = Plain(folder)
    with parts.session_bus(folder, os.environ) as address:
        plain.environment["DBUS_SESSION_BUS_ADDRESS"] = address
        with parts.recording_server(folder, {**os.environ, **plain.environment}) as server:
            live = Live.fresh(plain, folder, configuration={"ask_on_desktop": {"agents": ["claude-code"]}})
            live.relay("claude-code", "Notification", PROMPT)
            wait(lambda: live.wait_log(1)[0]["alerted"] == "sent", what="the tray knows that the server works")
            yield Asked(live, server, address)
            plain.close()


def decision(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    output, _ = process.communicate(timeout=60)
    return dict(json.loads(output)["hookSpecificOutput"]["decision"]) if output else {}


def test_a_button_answers_the_agent_and_closes_the_notification(shared_asked: Asked) -> None:
    for key in ("allow", "deny"):
        relay = shared_asked.request()
        call = shared_asked.question()
        assert (call["title"], call["body"]) == ("claude-code · api", "Bash · rm -rf build · needs your answer")
        assert relay.poll() is None, "the agent waits"

        shared_asked.press(call["id"], key)

        assert decision(relay)["behavior"] == key
        shared_asked.taken_back(call["id"])
        wait(lambda key=key: shared_asked.live.log()[0]["verdict"] == key, what="the row")  # type: ignore[misc]


def test_an_answer_in_the_terminal_closes_the_question(shared_asked: Asked) -> None:
    relay = shared_asked.request()
    number = shared_asked.question()["id"]

    after = {**PERMISSION, "hook_event_name": "PostToolUse", "tool_response": {}, "tool_use_id": "toolu_9"}
    shared_asked.live.relay("claude-code", "PostToolUse", after)

    assert decision(relay) == {}
    said = "The question about Bash is closed · answered elsewhere"
    wait(
        lambda: any(one["body"] == said for one in shared_asked.server.calls()),
        what="the notification",
    )
    shared_asked.taken_back(number)


def test_a_question_is_withdrawn_when_the_agent_ends_its_relay(shared_asked: Asked) -> None:
    relay = shared_asked.request()
    number = shared_asked.question()["id"]

    relay.kill()
    relay.communicate(timeout=20)

    shared_asked.taken_back(number)


def test_when_the_tray_quits_the_one_shot_engine_answers_and_the_question_is_withdrawn(
    shared_asked: Asked,
) -> None:
    before = len(shared_asked.live.log())
    relay = shared_asked.request()
    number = shared_asked.question()["id"]

    assert shared_asked.live.quit() == 0

    assert decision(relay) == {}
    shared_asked.taken_back(number)
    rows = shared_asked.live.wait_log(before + 2)[:2]  # the one-shot engine writes its row after its answer
    assert sorted((row["verdict"], "the tray quit" in row["reason"]) for row in rows) == [
        ("abstain", False),  # of the one-shot engine
        ("abstain", True),
    ]
