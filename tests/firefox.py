"""A real Firefox without a screen, driven over its own Marionette port: pages, keys and colours."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import socket
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from desk import wait

PROGRAM = "firefox-esr"
START = 120.0  # seconds: a first start on a busy machine
DEADLINE = 60.0  # seconds
PREFERENCES: Mapping[str, Any] = {
    "app.normandy.enabled": False,
    "app.update.enabled": False,
    "browser.aboutwelcome.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "marionette.port": 0,  # any free one; it is written into the profile
    "network.proxy.type": 0,
    "toolkit.telemetry.enabled": False,
    "ui.prefersReducedMotion": 1,
}
FLAGS = ("--headless", "--marionette", "--remote-allow-system-access", "--no-remote")  # access: to set preferences
TAB = "\ue004"
COLOURS = "layout.css.prefers-color-scheme.content-override"


class Firefox:
    """One browser process with one tab."""

    def __init__(self, folder: Path) -> None:
        profile = folder / "profile"
        profile.mkdir(parents=True)
        lines = (f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in PREFERENCES.items())
        (profile / "user.js").write_text("\n".join(lines))
        environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "LC_ALL": "C.UTF-8"}
        # Detached, so that its helpers come and go as nobody's children; it ends when it is asked to.
        argv = ["setsid", "--fork", PROGRAM, *FLAGS, "--profile", str(profile)]
        with (folder / "log").open("wb") as log:
            subprocess.run(
                argv, env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, timeout=START,
                check=True,
            )  # fmt: skip
        note = profile / "MarionetteActivePort"
        port = wait(lambda: note.read_text().strip() if note.exists() else "", START, "Firefox says its port")
        self._connection = socket.create_connection(("127.0.0.1", int(port)), DEADLINE)
        self._file = self._connection.makefile("rb")
        self._numbers = itertools.count(1)
        self._read()  # who it is
        self.call("WebDriver:NewSession", capabilities={"alwaysMatch": {"acceptInsecureCerts": False}})

    def call(self, command: str, **words: Any) -> Any:
        number = next(self._numbers)
        message = json.dumps([0, number, command, words]).encode()
        self._connection.sendall(b"%d:%b" % (len(message), message))
        _, answered, error, result = self._read()
        assert answered == number
        if error:
            raise FirefoxError(f"{command}: {error['error']}: {error['message']}")
        return result

    def _read(self) -> Any:
        size = b""
        while (byte := self._file.read(1)) != b":":
            if not byte:
                raise EOFError("Firefox has ended")
            size += byte
        return json.loads(self._file.read(int(size)))

    def go(self, url: str) -> None:
        self.call("WebDriver:Navigate", url=url)

    def run(self, script: str) -> Any:
        """The value of an expression, awaited."""
        body = f"const [done] = arguments; Promise.resolve({script}).then(done, (error) => done(String(error)))"
        return self.call("WebDriver:ExecuteAsyncScript", script=body, args=[])["value"]

    def wait(self, script: str, what: str = "") -> Any:
        """Until the expression is true; a page that is just being replaced is asked again."""

        def found() -> Any:
            with contextlib.suppress(FirefoxError):
                return self.run(script)

        return wait(found, DEADLINE, what or script)

    def key(self, key: str) -> None:
        presses = [{"type": kind, "value": key} for kind in ("keyDown", "keyUp")]
        self.call("WebDriver:PerformActions", actions=[{"type": "key", "id": "keyboard", "actions": presses}])

    def look(self, *, dark: bool) -> None:
        """Which colours the person prefers."""
        self.call("Marionette:SetContext", value="chrome")
        self.call(
            "WebDriver:ExecuteScript", script="Services.prefs.setIntPref(...arguments)", args=[COLOURS, int(not dark)]
        )
        self.call("Marionette:SetContext", value="content")

    def close(self) -> None:
        """End it, and wait until it has."""
        with contextlib.suppress(EOFError, OSError):
            self.call("Marionette:Quit", flags=["eForceQuit"])
            while self._file.read(1 << 16):
                pass
        self._file.close()
        self._connection.close()


class FirefoxError(Exception):
    """Firefox says that it cannot do this."""


@contextlib.contextmanager
def firefox(folder: Path) -> Iterator[Firefox]:
    browser = Firefox(folder)
    try:
        yield browser
    finally:
        browser.close()
