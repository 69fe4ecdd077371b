"""HTTP towards aiohttp: requests as the guard judges them, answers with the headers that all of ours carry."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from tray.web.request_checks import RequestHead
from tray.web.security_headers import headers as ours

UNREADABLE = "This is not a request that the page can read"

log = logging.getLogger(__name__)


class HttpServer(web.Server):
    """Takes connections; a caller's task is cancelled when it hangs up."""

    def __init__(self, handler: Callable[[web.BaseRequest], Awaitable[web.StreamResponse]], keepalive: float) -> None:
        super().__init__(handler, handler_cancellation=True)
        self._keepalive = keepalive

    def __call__(self) -> web.RequestHandler:
        return _QuietProtocol(
            self,
            loop=asyncio.get_running_loop(),
            access_log=None,  # type: ignore[arg-type]  # None logs no request
            keepalive_timeout=self._keepalive,
        )


class _QuietProtocol(web.RequestHandler):
    """Answers what is no HTTP without saying it back."""

    __slots__ = ()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        if not isinstance(exc, HttpProcessingError | ConnectionError):  # who hung up needs no answer
            log.error("the page could not answer", exc_info=exc)
        answer = response(UNREADABLE, "text/plain", status)
        answer.force_close()
        return answer


def request_head(request: web.BaseRequest) -> RequestHead:
    headers = tuple((name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in request.raw_headers)
    return RequestHead(method=request.method, target=request.raw_path, headers=headers)


def response(text: str, kind: str = "text/plain", status: int = 200) -> web.Response:
    body = text.encode("utf-8", "replace")
    return web.Response(body=body, status=status, content_type=kind, charset="utf-8", headers=ours())


def redirect(where: str) -> web.Response:
    answer = response("", status=303)
    answer.headers["Location"] = where
    return answer
