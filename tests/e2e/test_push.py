"""A running tray pushes to a server of the test's own, once it is confirmed, and its secret is nowhere to be read."""

from __future__ import annotations

import threading
from contextlib import closing
from pathlib import Path
from typing import Any

from desk import Desk
from guarded import approved
from house import PRE_TOOL_USE
from live import Live
from plain import Plain
from servers import Asked, Said, WebServer

SECRET = "x9topic"
SLOW = 60.0  # seconds on a loaded machine


def settings(server: WebServer, **more: Any) -> dict[str, Any]:
    return {"push": [{"url": f"json://{server.place}/{SECRET}", **more}]}


def stop(session: str, project: str = "shop") -> dict[str, Any]:
    said = "I wrote the plan"
    return {"session_id": session, "cwd": f"/w/{project}", "hook_event_name": "Stop", "last_assistant_message": said}


def bodies(server: WebServer) -> list[tuple[str, str]]:
    return [(one.json["title"], one.json["message"]) for one in server.asked]


def with_secret(folder: Path) -> set[str]:
    """The files that have it."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.name for path in files if SECRET.encode() in path.read_bytes()}


def test_only_what_is_confirmed_is_pushed_and_the_url_is_written_nowhere(plain: Plain, tmp_path: Path) -> None:
    with closing(WebServer()) as server:
        live = Live.fresh(plain, tmp_path, configuration=settings(server, when="always", classes=["turn_end"]))
        live.relay("claude-code", "Stop", stop("s-1"))
        live.wait_log(1)
        listed, checked = live.cli("list").stdout, live.cli("doctor", "--static").stdout
        live.quit()
        approved(live)
        live.start()
        live.relay("claude-code", "Stop", stop("s-2"))
        plain.wait(lambda: server.asked, what="the message")
        live.quit()

        assert bodies(server) == [("claude-code · shop", "Turn ended")]
        assert b"push: json://" in listed
        assert SECRET.encode() not in listed + checked
        assert with_secret(tmp_path) == {"hooktray.yaml", "last-good.yaml", "push-secrets.json"}


def test_an_edit_that_waits_sends_nothing_elsewhere_and_takes_nothing_away(plain: Plain, tmp_path: Path) -> None:
    with closing(WebServer()) as server, closing(WebServer()) as attacker:
        live = Live.fresh(
            plain, tmp_path, configuration=settings(server, when="always", classes=["turn_end"]), starts=False
        )
        approved(live)
        live.start()
        kept = live.home / "state" / "push-secrets.json"
        plain.wait(kept.exists, what="the URL is kept")
        live.configure(settings(attacker, when="always", classes=["turn_end"]))
        plain.wait(lambda: b"does not count" in live.cli("doctor", "--static").stdout, what="the edit waits")
        live.relay("claude-code", "Stop", stop("s-1"))
        plain.wait(lambda: server.asked, what="the message")
        live.quit()

        assert (len(server.asked), len(attacker.asked)) == (1, 0)


def test_an_answer_does_not_wait_for_a_service_that_does_not_answer(plain: Plain, tmp_path: Path) -> None:
    """The service holds on to all that it is asked."""
    release = threading.Event()

    def hang(asked: Asked) -> Said:
        release.wait(SLOW)
        return Said()

    rule = {"name": "guard", "event": "tool_before", "type": "rule", "decision": "block", "reason": "no"}
    with closing(WebServer(hang)) as server:
        live = Live.fresh(
            plain,
            tmp_path,
            configuration={"hooks": [rule], **settings(server, when="always", classes=["blocked"])},
            starts=False,
        )
        approved(live)
        live.start()
        calls = [{**PRE_TOOL_USE, "tool_use_id": f"t{number}"} for number in range(6)]
        answers = [live.relay("claude-code", "PreToolUse", call) for call in calls[:5]]
        plain.wait(lambda: server.asked, what="the service is asked")
        answers.append(live.relay("claude-code", "PreToolUse", calls[5]))
        was_held = not release.is_set()
        release.set()
        live.quit()

        assert was_held
        assert all(b'"deny"' in one.stdout for one in answers)


def test_the_end_of_a_turn_is_pushed_when_the_user_is_away(desk: Desk, tmp_path: Path) -> None:
    with closing(WebServer()) as server:
        live = Live.fresh(
            desk, tmp_path, configuration={**settings(server, classes=["turn_end"]), "away_after": 0.05}, starts=False
        )
        approved(live)
        live.start()
        desk.run(["xdotool", "key", "shift"])
        turns: list[str] = []

        def end_a_turn() -> list[Asked]:
            """Ends a turn; a turn that ends before the user is away is not pushed."""
            turns.append(f"shop-{len(turns)}")
            live.relay("claude-code", "Stop", stop(f"s-{len(turns)}", turns[-1]))
            return server.asked

        desk.wait(end_a_turn, what="a message while the user is idle")
        live.quit()

        assert {title for title, _ in bodies(server)} <= {f"claude-code · {one}" for one in turns}
