"""What the tray loads before its first answer."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path

import pytest
from desk import wait
from house import House
from live import Live
from plain import Plain

from tray.paths import locate
from tray.store.db import open_db

RARE = ("PIL", "aiohttp", "jinja2", "urllib3")


def test_a_tray_without_an_icon_loads_nothing_that_only_an_icon_a_click_or_a_page_needs() -> None:
    program = f"import sys, tray.app.runtime; print([name for name in {RARE} if name in sys.modules])"

    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


@pytest.mark.skipif(sys.platform == "win32", reason="has no such limit")
def test_an_error_in_the_loop_is_reported_and_ends_nothing_when_no_more_files_can_be_opened() -> None:
    program = """if True:
        import resource
        import asyncio, tray.app.runtime
        loop = asyncio.new_event_loop()
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
        loop.call_soon(lambda: 1 / 0)
        loop.call_soon(print, "it goes on")
        loop.call_soon(loop.stop)
        loop.run_forever()
        loop.close()
    """

    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (0, "it goes on\n")
    assert "ZeroDivisionError" in done.stderr


def test_the_settings_of_the_file_count_when_the_server_begins_to_answer(house: House) -> None:
    house.paths.config.write_text("ask_on_desktop: {agents: [claude-code]}")
    program = f"""if True:
        from tray.app import start
        from tray.app.core import TrayCore
        from tray.paths import locate
        make = TrayCore.__init__
        def make_recorded(core, *values, **more):
            make(core, *values, **more)
            begin = core.server.start
            def record(inherited):
                print(core.catalog.configuration.settings.ask_on_desktop.agents)
                begin(inherited)
                core.quit()
            core.server.start = record
        TrayCore.__init__ = make_recorded
        start.run(locate({str(house.paths.home)!r}), headless=True)
    """

    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)

    assert "['claude-code']" in done.stdout.splitlines()


def test_a_quit_in_the_first_moments_leaves_the_rest_of_the_start_out(house: House) -> None:
    program = f"""if True:
        from tray.app import start
        from tray.app.core import TrayCore
        from tray.app.source_refresh import SourceRefresh
        from tray.sessions.session_tracker import SessionTracker
        from tray.paths import locate
        made, make = [], TrayCore.__init__
        def make_recorded(core, *values, **more):
            made.append(core)
            make(core, *values, **more)
        def quit_first(sessions):
            made[0].quit()
            print("quits", made[0].shutdown_state.wait(60))
        TrayCore.__init__ = make_recorded
        SessionTracker.load = quit_first
        SourceRefresh.now = lambda sources: print("refreshes")
        start.run(locate({str(house.paths.home)!r}), headless=True)
    """

    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.splitlines()[1:] == ["quits True"]


def test_a_step_of_the_start_that_fails_keeps_no_other_from_its_turn(tmp_path: Path) -> None:
    with contextlib.closing(Plain(tmp_path)) as plain:
        live = Live.fresh(plain, tmp_path, configuration="hooks: [", starts=False)
        paths, log = locate(str(live.home)), live.home / "logs" / "hooktray.log"
        paths.prepare()
        with open_db(paths.database, create=True).write() as connection:  # as on a full disk, when that is noted
            connection.execute(
                "CREATE TRIGGER is_full BEFORE INSERT ON meta WHEN NEW.key = 'offline_seen'"
                " BEGIN SELECT RAISE(FAIL, 'database or disk is full'); END"
            )

        live.start("--headless")

        wait(lambda: log.exists() and "the configuration is broken" in log.read_text(), what="the sources were read")
        assert "database or disk is full" in log.read_text()
