"""`hooktray push`: what is in force, a test of it by the real library, and a URL that is never shown."""

from __future__ import annotations

import io
from contextlib import closing
from pathlib import Path

import pytest
from cli.commands import Commands
from house import House
from servers import Said, WebServer

from tray.cli import run_command
from tray.errors import HooktrayError
from tray.store import push_secrets
from tray.text import push_urls

URL = "ntfy://x9topic"


@pytest.fixture(autouse=True)
def no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")


def confirmed(house: House, *urls: str) -> None:
    house.configure({"push": [{"url": url, "classes": ["blocked"]} for url in urls]})
    (setting,) = house.catalog.settings()
    house.consent.confirm(setting.key, setting.digest, "test", accept=True)


def test_push_list_shows_confirmed_targets_without_their_urls(house: House, typed: Commands) -> None:
    house.configure({"push": [{"url": URL}]})
    before = typed("push", "list")
    confirmed(house, URL)
    table = typed("push", "list")

    assert "Nothing is pushed" in before
    assert "ntfy://…" in table
    assert typed.rows("push", "list") == [{"service": "ntfy://…", "when": "away", "classes": ["blocked"]}]
    assert "x9topic" not in before + table


def test_a_test_reports_the_result_for_each_address(house: House, typed: Commands) -> None:
    with closing(WebServer()) as good, closing(WebServer(lambda asked: Said(status=403))) as bad:
        confirmed(house, f"json://{good.place}/x9topic", f"form://{bad.place}/x9topic")
        said = typed("push", "test")

    assert (typed.code, len(good.asked), len(bad.asked)) == (1, 1, 1)
    assert said.splitlines() == ["json://…  sent", "form://…  the service answered HTTP 403"]
    assert good.asked[0].json["message"] == "This is a test of your push notifications"


def test_an_unconfirmed_address_is_not_tested(house: House, typed: Commands) -> None:
    with closing(WebServer()) as server:
        house.configure({"push": [{"url": f"json://{server.place}/x9topic"}]})
        with pytest.raises(HooktrayError, match="nothing is pushed yet"):
            typed("push", "test")

    assert server.asked == []


def test_a_url_is_kept_and_its_reference_is_what_the_settings_take(
    house: House, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(URL + "\n"))
    run_command(["--home", str(house.paths.home), "push", "add"])
    said = capsys.readouterr()
    house.configure(said.out)

    assert house.catalog.configuration.settings.push[0].url == push_urls.reference(URL)
    assert push_secrets.find(push_urls.reference(URL), house.paths.state) == URL
    assert "Kept in a private file" in said.err
    assert "x9topic" not in said.out + said.err


def test_an_invalid_url_is_refused_and_not_shown(
    house: House, typed: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("x9topic\n"))

    with pytest.raises(HooktrayError) as raised:
        typed("push", "add")

    assert "x9topic" not in str(raised.value)
    assert not Path(house.paths.state / push_secrets.FILE).exists()
