"""What the real library sends, to servers of kinds that users can host themselves."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import unquote_plus

import pytest
from every import every
from servers import Asked, Said, Trap, WebServer

from tray.notify.push.message import PushMessage, PushResult, PushStatus
from tray.notify.push.sender import SendRequest, judge
from tray.notify.push.sender_process import PushProcesses
from tray.text import push_urls

SECRET = "x9topic"
UNREACHED, UNKNOWN = PushStatus.UNREACHED, PushStatus.UNKNOWN
LONG = 60.0  # seconds; every message ends far earlier unless something is broken
WITHOUT_APPRISE = "import sys; sys.modules['apprise'] = None; from tray.notify.push.sender import main; main()"


@pytest.fixture
def processes() -> Iterator[PushProcesses]:
    with closing(PushProcesses(deadline=LONG)) as processes:
        yield processes


def send(processes: PushProcesses, url: str, folder: Path) -> PushResult:
    message = PushMessage(url=url, title="claude-code · shop", body="Turn ended")
    result = processes.run(SendRequest(folder=str(folder), message=message)).result
    assert result is not None
    assert SECRET not in result.problem
    return result


def titled(asked: Asked) -> bool:
    body = unquote_plus(asked.body.decode())
    return "claude-code" in body and "Turn ended" in body


@pytest.mark.parametrize("scheme", ["ntfy", "json", "gotify"])
def test_a_message_arrives_once(processes: PushProcesses, tmp_path: Path, scheme: str) -> None:
    with closing(WebServer(lambda asked: Said(b'{"id": 1}'))) as server:
        result = send(processes, f"{scheme}://{server.place}/{SECRET}", tmp_path)

    assert result == PushResult(PushStatus.SENT)
    assert [titled(one) for one in server.asked] == [True]


@pytest.mark.parametrize(("status", "expected"), [(503, PushStatus.BUSY), (404, PushStatus.REFUSED)])
def test_a_service_that_refuses_is_asked_once(
    processes: PushProcesses, tmp_path: Path, status: int, expected: PushStatus
) -> None:
    with closing(WebServer(lambda asked: Said(b"x9topic", status=status))) as server:
        result = send(processes, f"json://{server.place}/{SECRET}", tmp_path)

    assert result == PushResult(expected, f"the service answered HTTP {status}")
    assert len(server.asked) == 1


def test_where_nobody_listens_nothing_can_have_arrived(processes: PushProcesses, tmp_path: Path) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # and does not listen: no server of another test can be there
        result = send(processes, f"ntfy://127.0.0.1:{nobody.getsockname()[1]}/{SECRET}", tmp_path)

    assert result == PushResult(PushStatus.UNREACHED, "the service cannot be reached")


def endless(asked: Asked) -> Said:
    return Said(b"x" * 1_000_000, drip=0.2)


def lying(asked: Asked) -> Said:
    return Said(b"short", headers={"Content-Length": "99999999"})


def answer_rudely(listening: socket.socket) -> None:
    listening.settimeout(60)
    connection, _ = listening.accept()
    with connection:
        connection.recv(65536)
        connection.sendall(b"SSH-2.0-x9topic\r\n")


@pytest.mark.parametrize("respond", [endless, lying], ids=lambda respond: respond.__name__)
def test_a_server_that_does_not_come_to_an_end_costs_one_process_for_a_moment(
    tmp_path: Path, respond: Callable[[Asked], Said]
) -> None:
    for deadline in (6.0, 24.0, 96.0):
        with closing(WebServer(respond)) as server, closing(PushProcesses(deadline=deadline)) as processes:
            result = send(processes, f"json://{server.place}/{SECRET}", tmp_path)
        if server.asked:  # else the process had no time to ask
            break

    assert result.status is PushStatus.UNKNOWN
    assert len(server.asked) == 1


def test_a_redirection_leads_nowhere(processes: PushProcesses, tmp_path: Path) -> None:
    with closing(Trap()) as trap:
        where = {"Location": f"http://{trap.place}/x9topic"}
        with closing(WebServer(lambda asked: Said(status=302, headers=where))) as server:
            result = send(processes, f"json://{server.place}/{SECRET}", tmp_path)

        assert result.status is not PushStatus.SENT
        assert (len(server.asked), trap.connects) == (1, 0)


def test_what_is_no_http_server_may_have_taken_it(processes: PushProcesses, tmp_path: Path) -> None:
    """So it is not sent again."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        answering = threading.Thread(target=answer_rudely, args=(listening,))
        answering.start()
        result = send(processes, f"json://127.0.0.1:{listening.getsockname()[1]}/{SECRET}", tmp_path)
        answering.join()

    assert result.status is PushStatus.UNKNOWN


@pytest.mark.parametrize("url", ["nosuch://x9topic", "ntfy://host:99999999/x9topic"])
def test_a_url_that_apprise_does_not_take_is_said_so(processes: PushProcesses, tmp_path: Path, url: str) -> None:
    result = send(processes, url, tmp_path)

    assert result.status in (PushStatus.REFUSED, PushStatus.UNREACHED, PushStatus.UNKNOWN)
    assert result.problem


@pytest.mark.parametrize(
    ("program", "result"),
    [
        (WITHOUT_APPRISE, (PushStatus.REFUSED, "Apprise is not installed: pip install 'hooktray[push]'")),
        ("raise KeyboardInterrupt", (UNKNOWN, "Apprise failed in an unexpected way: it may have arrived")),
    ],
)
def test_an_apprise_that_is_missing_or_fails_in_an_unexpected_way_is_reported(
    tmp_path: Path, program: str, result: tuple[PushStatus, str]
) -> None:
    with closing(PushProcesses((sys.executable, "-c", program), LONG)) as processes:
        assert send(processes, f"ntfy://127.0.0.1:1/{SECRET}", tmp_path) == PushResult(*result)


def test_a_kept_url_is_found_by_its_reference(processes: PushProcesses, tmp_path: Path) -> None:
    with closing(WebServer()) as server:
        url = f"json://{server.place}/{SECRET}"
        unknown = send(processes, push_urls.reference(url), tmp_path)
        kept = processes.run(SendRequest(folder=str(tmp_path), keep=[url]))
        sent = send(processes, push_urls.reference(url), tmp_path)

    assert unknown.status is PushStatus.REFUSED
    assert "hooktray push add" in unknown.problem
    assert len(kept.places) == 1
    assert sent == PushResult(PushStatus.SENT)


def test_the_request_is_in_no_argument_that_others_can_read(
    processes: PushProcesses, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    class Watched(subprocess.Popen[bytes]):
        """Notes the words of the command line."""

        def __init__(self, argv: list[str], **options: object) -> None:
            seen.append(" ".join(argv))
            super().__init__(argv, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(subprocess, "Popen", Watched)
    send(processes, f"ntfy://127.0.0.1:1/{SECRET}", tmp_path)

    assert len(seen) == 1
    assert SECRET not in seen[0]


@every(
    ("status", "seen"),
    [
        *((PushStatus.UNREACHED, seen) for seen in ([UNREACHED], [UNREACHED, UNREACHED])),
        *((PushStatus.BUSY, seen) for seen in ([503], [429, 503], [UNREACHED, 503])),
        *((PushStatus.REFUSED, seen) for seen in ([400], [401], [500], [503, 400])),
        *((PushStatus.UNKNOWN, seen) for seen in ([], [UNKNOWN], [200, 503], [200, UNREACHED], [503, UNKNOWN])),
    ],
)
def test_only_what_cannot_have_arrived_or_is_asked_for_again_may_be_sent_again(
    status: PushStatus, seen: list[int | PushStatus]
) -> None:
    assert judge(seen).status is status


def run(program: str) -> list[str]:
    """Returns the words that this program prints."""
    argv = [sys.executable, "-c", program]
    return subprocess.run(argv, capture_output=True, text=True, timeout=60, check=True).stdout.split()


def imported_plugins(url: str) -> list[str]:
    return run(
        "import sys, apprise; from tray.notify.push.sender import load_plugin\n"
        f"load_plugin({url!r}); service = apprise.Apprise.instantiate({url!r})\n"
        "folder = 'apprise.plugins.'\n"
        "names = {name.removeprefix(folder).split('.')[0] for name in sys.modules if name.startswith(folder)}\n"
        "print(service.service_name, *sorted(names - {'base'}))"
    )


def test_only_the_plugin_of_the_url_is_imported_and_all_for_a_web_hook_without_its_schema() -> None:
    assert imported_plugins("jsons://127.0.0.1/x")[1:] == ["custom_json"]
    assert imported_plugins(f"https://discord.com/api/webhooks/4174216298/{'J' * 68}")[0] == "Discord"


def test_the_plugin_of_each_fifth_schema_is_found() -> None:
    missed = run(
        "from pathlib import Path; from apprise.manager_plugins import NotificationManager\n"
        "from tray.notify.push.sender import plugin_names; found = NotificationManager()\n"
        "schemas = sorted(found.schemas())[::5]\n"
        "places = {schema: found[schema].__module__.split('.')[2] for schema in schemas}\n"
        "assert len(places) > 30\n"
        "at = Path(found.module_path)\n"
        "print(*sorted(schema for schema, place in places.items() if place not in plugin_names(schema, at)))"
    )

    assert {*missed} <= {"dbus", "kde", "qt"}  # the desktop's own bus, for which all are imported
