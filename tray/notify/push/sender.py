"""Sends one message through Apprise, in a process of its own: `hooktray push-send`, with the request on stdin.

So the tray never waits for a service or holds its library: a server that answers slowly, endlessly or with nonsense
costs no more than this process, which its starter ends. Nothing that leaves here holds the URL.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from tray.errors import BUILT_IN_ERRORS, HooktrayError
from tray.notify.push.message import PIP, PushMessage, PushResult, PushStatus
from tray.store import push_secrets

if sys.platform == "linux":
    import resource

if TYPE_CHECKING:
    import apprise
    import requests


class PluginManager(Protocol):
    """Apprise's loader of plugins, which has no types."""

    module_path: str

    def load_modules(self, path: str = ...) -> object: ...
    def __contains__(self, schema: str) -> bool: ...


MEMORY_LIMIT = 1 << 30  # bytes of address space
WEB_SCHEMAS = ("http", "https")  # the URL of some service's web hook: each plugin looks whether it is its own
SUCCESS, BUSY = range(200, 300), (429, 503)


class SendRequest(msgspec.Struct, frozen=True):
    """What to do: keep these URLs, and send this message."""

    folder: str  # of the private file
    keep: list[str] = []
    message: PushMessage | None = None


class SendAnswer(msgspec.Struct, frozen=True):
    places: list[push_secrets.SecretPlace] = []  # of the URLs that were kept
    result: PushResult | None = None


def main() -> int:
    """Reads a request, writes an answer."""
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=SendRequest)
    _limit_memory()
    logging.disable(logging.CRITICAL)  # Apprise logs URLs
    with os.fdopen(os.dup(1), "wb") as output:
        os.dup2(2, 1)  # what a library prints, now or at its end, is not our answer
        output.write(msgspec.json.encode(_answer(request)))
    return 0


def _answer(request: SendRequest) -> SendAnswer:
    folder = Path(request.folder)
    places = []
    with contextlib.suppress(HooktrayError):  # the next start tries it again
        places = [push_secrets.keep(url, folder) for url in request.keep]
    return SendAnswer(places=places, result=send(request.message, folder) if request.message else None)


def send(message: PushMessage, folder: Path) -> PushResult:
    """Once, and never again by itself."""
    try:
        import apprise
    except ImportError:
        return PushResult(PushStatus.REFUSED, f"Apprise is not installed: {PIP}")
    url = push_secrets.find(message.url, folder)
    if not url:
        return PushResult(PushStatus.REFUSED, "its URL is no longer kept: give it to `hooktray push add` again")
    load_plugin(url)
    with contextlib.suppress(*_plugin_errors()):
        if service := apprise.Apprise.instantiate(url, asset=_asset(), suppress_exceptions=True):
            return _notify(service, message, apprise.NotifyFormat.TEXT)
    return PushResult(PushStatus.REFUSED, "Apprise does not understand this URL; see its page of the service")


def load_plugin(url: str) -> None:
    """Load the plugin for this URL: by itself Apprise imports all 140, which takes longer than all else here."""
    from apprise import manager_plugins

    make_manager: Callable[[], PluginManager] = manager_plugins.NotificationManager
    manager = make_manager()
    schema = url.partition("://")[0].lower()
    if schema in WEB_SCHEMAS:
        return
    with contextlib.suppress(OSError), tempfile.TemporaryDirectory() as names:
        for name in plugin_names(schema, Path(manager.module_path)):
            Path(names, f"{name}.py").touch()
        manager.load_modules(path=names)  # imports its own modules of these names
    if schema not in manager:
        manager.load_modules()


def plugin_names(schema: str, plugins: Path) -> set[str]:
    """The plugins that may be for such URLs: each assigns its schemas to `protocol` or `secure_protocol`."""
    assigned = re.compile(rf"protocol\b[^=\n]*=\s*[^=]*?[\"']{re.escape(schema)}[\"']")
    return {
        path.relative_to(plugins).parts[0].removesuffix(".py")
        for path in (*plugins.glob("*.py"), *plugins.glob("*/*.py"))
        if assigned.search(path.read_text(encoding="utf-8"))
    }


def _plugin_errors() -> tuple[type[Exception], ...]:
    """What Apprise's plugins raise: its own error, or built-in ones for a URL or an answer that they do not expect.

    Any other exception ends this process, and the tray reports that the message may have arrived.
    """
    from apprise.exception import AppriseException

    return AppriseException, *BUILT_IN_ERRORS


def _asset() -> apprise.AppriseAsset:
    """Without plugins of the user's folders, and without a word in the body read as a command."""
    import apprise

    return apprise.AppriseAsset(
        app_id="Hooktray",
        app_desc="Hooktray",
        async_mode=False,
        interpret_escapes=False,
        interpret_emojis=False,
        plugin_paths=[],
        secure_logging=True,
    )


def _notify(service: apprise.NotifyBase, message: PushMessage, text: apprise.NotifyFormat) -> PushResult:
    with _observed() as seen:
        try:
            sent = bool(service.notify(title=message.title, body=message.body, body_format=text))
        except _plugin_errors():
            sent = False
    if sent:
        return PushResult(PushStatus.SENT)
    return judge(seen)


def judge(seen: list[int | PushStatus]) -> PushResult:
    """What became of requests that did not all succeed: HTTP states, or why there was none."""
    states = [one for one in seen if isinstance(one, int)]
    if any(one in SUCCESS for one in states) or PushStatus.UNKNOWN in seen or not seen:
        return PushResult(PushStatus.UNKNOWN, "no answer in time, or only in part: it may have arrived")
    if not states:
        return PushResult(PushStatus.UNREACHED, "the service cannot be reached")
    status = PushStatus.BUSY if all(one in BUSY for one in states) else PushStatus.REFUSED
    return PushResult(status, f"the service answered HTTP {states[-1]}")


@contextlib.contextmanager
def _observed() -> Iterator[list[int | PushStatus]]:
    """The result of each HTTP request: Apprise only reports that something failed. Redirects are not followed."""
    import requests

    seen: list[int | PushStatus] = []
    original: Callable[..., requests.Response] = requests.adapters.HTTPAdapter.send
    redirects = requests.Session.resolve_redirects

    def send(adapter: object, request: object, **options: object) -> requests.Response:
        try:
            response = original(adapter, request, **options)
        except BaseException as error:
            seen.append(PushStatus.UNREACHED if _is_unreached(error) else PushStatus.UNKNOWN)
            raise
        seen.append(int(response.status_code))
        return response

    places = (requests.adapters.HTTPAdapter, "send"), (requests.Session, "resolve_redirects")
    _set_methods(places, (send, _no_redirects))
    try:
        yield seen
    finally:
        _set_methods(places, (original, redirects))


def _no_redirects(*_words: object, **_options: object) -> Iterator[requests.Response]:
    return iter(())


def _set_methods(places: Sequence[tuple[type, str]], methods: Sequence[object]) -> None:
    """Set each method at its place: a class, and the name of one of its attributes."""
    for (owner, name), method in zip(places, methods, strict=True):
        setattr(owner, name, method)


def _is_unreached(error: BaseException) -> bool:
    """Whether there was no connection over which anything could have been sent."""
    import requests
    from urllib3.exceptions import ConnectTimeoutError, NewConnectionError

    if isinstance(error, requests.ConnectTimeout):
        return True
    reason = getattr(error.args[0] if error.args else None, "reason", None)
    return isinstance(reason, (ConnectTimeoutError, NewConnectionError))


def _limit_memory() -> None:
    """An endless answer ends this process, not the machine's memory."""
    if sys.platform == "linux":
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, hard))
