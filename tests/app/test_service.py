"""What the tray answers after a failure of its own."""

from __future__ import annotations

import json
import os

import pytest
from house import PRE_TOOL_USE, House

from tray.app.service import TrayService
from tray.approvals.search_path import SearchPath
from tray.engine.ports import NO_CALLER
from tray.execution.known_agents import KnownAgents
from tray.model.decision import Answer
from tray.model.event import RelayRequest


class Surroundings:
    """Stands in for the catalog and the user interface. No command is sent."""

    misses_program = True

    def __init__(self) -> None:
        self.search = SearchPath({})
        self.requests = 0  # to read the sources again

    def request_refresh(self) -> None:
        self.requests += 1

    def answer_command(self, *_: object) -> dict[str, object]:
        raise AssertionError


def make_service(engine: object, surroundings: Surroundings | None = None) -> TrayService:
    surroundings = surroundings or Surroundings()
    service = TrayService(engine, KnownAgents(os.getpid()), surroundings)  # type: ignore[arg-type]
    service.ui = surroundings
    return service


@pytest.fixture
def service(house: House) -> TrayService:
    return make_service(house.engine)


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


def test_each_other_path_of_an_agent_is_seen_once() -> None:
    class Judge:
        def begin(self, *_: object, **__: object) -> Answer:
            return Answer()

    surroundings = Surroundings()
    service = make_service(Judge(), surroundings)

    for path in ("/bin", "/bin", "", "/usr/bin:/bin"):
        request = RelayRequest(agent="shelley", event="x", id="1", body=b"", environment={"PATH": path})
        service.handle(request, NO_CALLER)

    assert surroundings.requests == 2
