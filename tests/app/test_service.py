"""What the tray answers after a failure of its own."""

from __future__ import annotations

import gc
import json

import pytest
from house import PRE_TOOL_USE, House

from tray.agents.wire import LARGE_PAYLOAD
from tray.app.service import TrayService
from tray.model.decision import Answer
from tray.model.event import RelayRequest
from tray.threads import NEVER


@pytest.fixture
def service(house: House) -> TrayService:
    def ignore(parent: int, relay: int) -> None:
        """Nobody is to be remembered."""

    return TrayService(house.engine, None, ignore)  # type: ignore[arg-type]  # no command is sent


@pytest.mark.parametrize("event", ["PreToolUse", ""])
def test_about_a_tool_call_there_is_no_answer_so_that_the_one_shot_engine_judges_it(
    service: TrayService, event: str
) -> None:
    assert service.failure_answer("claude-code", event, json.dumps(PRE_TOOL_USE).encode()) is None


def test_any_other_event_gets_its_neutral_answer(service: TrayService) -> None:
    assert service.failure_answer("shelley", "system-prompt", b"You are.") == Answer(stdout=b"You are.")
    assert service.failure_answer("claude-code", "Stop", b"{}") == Answer()


def test_a_command_that_names_no_event_has_the_time_of_a_tool_call_and_counts_as_one(service: TrayService) -> None:
    assert service.timeout("starchild", "") == service.timeout("starchild", "pre_tool_call") > 100
    assert service.failure_answer("starchild", "", b"{broken") is None


@pytest.mark.parametrize(("size", "pauses"), [(10, False), (LARGE_PAYLOAD, True)])
def test_full_collections_pause_while_a_large_payload_is_judged(size: int, pauses: bool) -> None:
    seen = []

    class Judge:
        def begin(self, *_: object, **__: object) -> Answer:
            seen.append(gc.get_threshold()[2] == NEVER)
            return Answer()

    service = TrayService(Judge(), None, lambda request: None)  # type: ignore[arg-type]  # no command is sent

    service.handle(RelayRequest(agent="shelley", event="x", id="1", body=b" " * size), lambda *_, **__: None, list)

    assert seen == [pauses]
