"""A real Chromium without a screen, driven over its own debugging pipe: pages, keys, pictures, and what they cost."""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import os
import select
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

if sys.platform != "win32":
    import fcntl

PROGRAM = "chromium-headless-shell"
DEADLINE = 30.0  # seconds
FLAGS = (
    *("--remote-debugging-pipe", "--no-first-run", "--disable-gpu", "--disable-dev-shm-usage", "--mute-audio"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars"),
    *("--no-sandbox",),  # tests may run as root, for whom Chromium has no sandbox
)


class Chromium:
    """One browser process, behind the words of `enter`; each `page` is a tab with cookies of its own."""

    def __init__(self, folder: Path, *flags: str, enter: Sequence[str] = ()) -> None:
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()
        high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 20) for end in (theirs_in, theirs_out)]
        # Detached, so that its helpers come and go as nobody's children; it ends with the pipe.
        argv = ["setsid", "--fork", *enter, PROGRAM, *FLAGS, f"--user-data-dir={folder}", *flags, "about:blank"]
        null = os.open(os.devnull, os.O_RDWR)
        actions = [(os.POSIX_SPAWN_DUP2, null, end) for end in (0, 1, 2)]
        actions += [(os.POSIX_SPAWN_DUP2, end, place) for end, place in zip(high, (3, 4), strict=True)]
        environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "LC_ALL": "C.UTF-8"}
        os.waitpid(os.posix_spawnp("setsid", argv, environment, file_actions=actions), 0)
        for end in (theirs_in, theirs_out, *high, null):
            os.close(end)
        self._in, self._out = ours_in, ours_out
        self._numbers = itertools.count(1)
        self._unread = b""
        self._answers: dict[int, dict[str, Any]] = {}

    def call(self, method: str, session: str = "", **words: Any) -> dict[str, Any]:
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": words} | ({"sessionId": session} if session else {})
        os.write(self._out, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + DEADLINE
        while number not in self._answers:
            self._read(until)
        answer = self._answers.pop(number)
        if "error" in answer:
            raise ChromiumError(f"{method}: {answer['error']}")
        return dict(answer.get("result", {}))

    def _read(self, until: float) -> None:
        if not select.select([self._in], [], [], max(0.0, until - time.monotonic()))[0]:
            raise TimeoutError("Chromium does not answer")
        part = os.read(self._in, 1 << 20)
        if not part:
            raise EOFError("Chromium has ended")
        *messages, self._unread = (self._unread + part).split(b"\0")
        for message in map(json.loads, messages):
            if "id" in message:
                self._answers[message["id"]] = message

    @contextlib.contextmanager
    def page(self) -> Iterator[Page]:
        own = str(self.call("Target.createBrowserContext")["browserContextId"])
        target = str(self.call("Target.createTarget", url="about:blank", browserContextId=own)["targetId"])
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, str(session))
        try:
            yield page
        finally:
            self.call("Target.closeTarget", targetId=target)
            self.call("Target.disposeBrowserContext", browserContextId=own)

    def close(self) -> None:
        """End it, and wait until it has."""
        with contextlib.suppress(EOFError, OSError):
            self.call("Browser.close")
            while True:
                self._read(time.monotonic() + DEADLINE)
        os.close(self._in)
        os.close(self._out)


class ChromiumError(Exception):
    """Chromium says that it cannot do this."""


class Page:
    """One tab."""

    def __init__(self, browser: Chromium, session: str) -> None:
        self._browser = browser
        self._session = session
        self.call("Page.enable")

    def call(self, method: str, **words: Any) -> dict[str, Any]:
        return self._browser.call(method, self._session, **words)

    def go(self, url: str) -> None:
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def run(self, script: str) -> Any:
        """The value of an expression, awaited."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise ChromiumError(f"{script[:200]}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, script: str, what: str = "") -> Any:
        """Until the expression is true; a page that is just being replaced is asked again."""
        until = time.monotonic() + DEADLINE
        while time.monotonic() < until:
            with contextlib.suppress(ChromiumError):
                if found := self.run(script):
                    return found
            select.select([], [], [], 0.02)
        raise TimeoutError(f"{what or script}; the page says: {self.text()[:500]}")

    def text(self) -> str:
        return str(self.run("document.body ? document.body.innerText : ''"))

    def click(self, selector: str, containing: str = "") -> None:
        """A person's click in the middle of the first such thing."""
        find = f"""(() => {{
            const one = [...document.querySelectorAll({json.dumps(selector)})].find(
                (one) => one.innerText.includes({json.dumps(containing)}));
            if (!one) return null;
            one.scrollIntoView({{block: "center"}});
            const box = one.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
        }})()"""
        x, y = self.wait(find, f"{selector} {containing}")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def follow(self, selector: str, containing: str = "") -> None:
        """Click what leads to another page, and wait for that."""
        self.wait("document.readyState === 'complete'")  # else what is clicked may move away under the pointer
        self.run("window.before = true")
        self.click(selector, containing)
        self.wait("!window.before && document.readyState === 'complete'", f"{containing or selector} leads on")

    def key(self, key: str, code: int = 0, text: str = "") -> None:
        words = {"key": key, "windowsVirtualKeyCode": code} | ({"text": text} if text else {})
        self.call("Input.dispatchKeyEvent", type="keyDown", **words)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def look(self, *, width: int = 1200, height: int = 800, dark: bool = False) -> None:
        """How large the window is, and which colours the person prefers."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False
        )  # fmt: skip
        features = [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]
        self.call("Emulation.setEmulatedMedia", features=features)

    def picture(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))
