"""The page's server on 127.0.0.1: guard first, then one table of addresses."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from aiohttp import web

from tray.engine.callers.clicking import Finding, Objection
from tray.errors import HooktrayError
from tray.model.decision import Record
from tray.page import filters, guard, peers, wire
from tray.page.acts import SWITCH, Acts
from tray.page.guard import Asked
from tray.page.parts import Parts
from tray.page.passes import Passes, Void, secret
from tray.page.policy import STATIC, headers
from tray.page.refusals import REFUSALS, Cause
from tray.page.stream import Stream
from tray.page.views import View, Views

HOST = "127.0.0.1"
THREADS = 4
KEPT = 75.0  # seconds that an idle connection stays
PASS_LIFE = 60.0  # seconds between the click in the menu and the browser's first request
KINDS = {".svg": "image/svg+xml"}

DECISION = re.compile("[0-9A-Za-z_-]{1,64}")
PAGES: tuple[tuple[re.Pattern[str], View], ...] = (
    (re.compile("/"), Views.decisions),
    (re.compile(f"/decisions/({DECISION.pattern})"), Views.decision),
    (re.compile("/sessions"), Views.sessions),
    (re.compile("/session"), Views.session),
    (re.compile("/hooks"), Views.hooks),
    (re.compile("/hooks/([0-9a-f]{16})"), Views.hook),
    (re.compile("/confirm/([a-z]{1,10})"), Views.confirm),
    (re.compile("/statistics"), Views.statistics),
    (re.compile("/agents"), Views.agents),
    (re.compile("/switch"), Views.switch),
    (re.compile("/enter"), Views.enter),
)

LINKS = {Void.USED: Cause.LINK_USED, Void.OLD: Cause.LINK_OLD, Void.UNKNOWN: Cause.LINK_UNKNOWN}

T = TypeVar("T")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """What the guard has found out about a request that it let through."""

    asked: Asked
    peer: peers.Peer | None


class Server:
    """Built and used on the event loop; `start` gives it a free port."""

    def __init__(self, parts: Parts, entered: Callable[[Path], None]) -> None:
        self._parts = parts
        self._entered = entered
        self._acts = Acts(parts)
        self._views = Views(parts, self._acts)
        self._stream = Stream()
        self._token = secret()
        self._passes: Passes[Path] = Passes(PASS_LIFE)
        self._pool = ThreadPoolExecutor(THREADS, "page")
        listener = wire.Listener(self._answer, handler_cancellation=True, access_log=None, keepalive_timeout=KEPT)
        self._runner = web.ServerRunner(listener, shutdown_timeout=1)
        self._authority = ""
        self._cookie = ""
        self.port = 0

    async def start(self) -> None:
        await self._runner.setup()
        site = web.TCPSite(self._runner, HOST, 0)
        await site.start()
        self.port = port = self._runner.addresses[0][1]
        self._authority, self._cookie = f"{HOST}:{port}", f"hooktray-{port}"

    async def close(self) -> None:
        self._stream.close()
        await self._runner.cleanup()
        self._pool.shutdown(wait=False)

    async def _aside(self, work: Callable[..., T], *words: object) -> T:
        """In a thread of the page's own: nothing that reads a disk runs on the loop."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, work, *words)

    def link(self, file: Path, decision: str = "") -> str:
        """An address that signs one browser in, once, and leads on; `file` is where it stands, and goes with it."""
        on = f":{decision}" if DECISION.fullmatch(decision) else ""
        return f"http://{self._authority}{guard.ENTER}#{self._passes.mint(file)}{on}"

    def heard(self, record: Record) -> None:
        self._stream.add(record)

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        try:
            asked = wire.asked(request)
            if refusal := guard.refusal(asked, self._authority, self._cookie, self._token):
                return self._refuse(refusal)
            peer = await self._aside(self._peer, request)
            if peer and not peer.ours:
                return self._refuse(Cause.OTHER_USER)
            return await self._route(request, Caller(asked=asked, peer=peer))
        except (asyncio.CancelledError, ConnectionError):
            raise
        except HooktrayError as error:  # the journal cannot be read, for one
            return self._failed(error, 503)
        except Exception:  # the connection: whatever went wrong, the tray goes on
            log.exception("the page could not answer")
            return self._refuse(Cause.BROKEN)

    def _peer(self, request: web.BaseRequest) -> peers.Peer | None:
        ends = request.transport and [request.transport.get_extra_info(end) for end in ("peername", "sockname")]
        return peers.find(*ends) if ends and peers.can_tell() else None

    async def _route(self, request: web.BaseRequest, caller: Caller) -> web.StreamResponse:
        path = caller.asked.path
        if caller.asked.method == "POST":
            if found := await self._aside(self._objection, caller.peer):
                return self._refuse(found.objection, found.detail)
            work = POSTS.get(path)
            return await work(self, request) if work else self._refuse(Cause.MISSING)
        if path.startswith(guard.STATIC):
            return self._static(path.removeprefix(guard.STATIC))
        if path == "/live":
            return await self._live(request)
        return await self._show(path, request.query)

    async def _show(self, path: str, query: Mapping[str, str]) -> web.Response:
        for pattern, view in PAGES:
            if found := pattern.fullmatch(path):
                html = await self._aside(view, self._views, query, "".join(found.groups()))
                return self._page(html) if html is not None else self._refuse(Cause.MISSING)
        return self._refuse(Cause.MISSING)

    def _objection(self, peer: peers.Peer | None) -> Finding | None:
        """Why no act from there counts. On Linux, an act of a process that the system does not show never counts."""
        if not peers.can_tell():
            return None
        pids = peer.processes() if peer else ()
        if not pids:
            return Finding(Objection.UNSEEN, "")
        return next((found for pid in pids if (found := self._parts.objects(pid))), None)

    async def _enter(self, request: web.BaseRequest) -> web.Response:
        """The one-time pass of a link becomes the cookie of this start."""
        try:
            word = json.loads(await request.text())["pass"]
        except (ValueError, KeyError, TypeError):
            return self._refuse(Cause.LINK_UNKNOWN)
        file = self._passes.take(word) if isinstance(word, str) else Void.UNKNOWN
        if isinstance(file, Void):
            return self._refuse(LINKS[file])
        self._entered(file)
        answer = wire.response("", status=204)
        answer.set_cookie(self._cookie, self._token, path="/", httponly=True, samesite="Strict")
        return answer

    async def _confirm(self, request: web.BaseRequest) -> web.Response:
        slip = str((await request.post()).get("slip", ""))
        try:
            wish = await self._aside(self._acts.do, slip)
        except HooktrayError as error:
            return self._failed(error, 409)
        return wire.moved(f"/{'switch' if wish.act in SWITCH else 'hooks'}?done={wish.act}")

    async def _at_once(self, request: web.BaseRequest) -> web.Response:
        act = str((await request.post()).get("act", ""))
        return wire.moved("/switch") if await self._aside(self._acts.at_once, act) else self._refuse(Cause.MISSING)

    async def _choose(self, request: web.BaseRequest) -> web.Response:
        form = await request.post()
        on = {"on": True, "off": False}.get(str(form.get("turn", "")))
        done = await self._aside(self._parts.choose, str(form.get("choice", "")), on)
        return wire.moved("/switch") if done else self._refuse(Cause.MISSING)

    async def _replay(self, request: web.BaseRequest) -> web.Response:
        target = str((await request.post()).get("id", ""))
        html = await self._aside(self._views.replayed, target) if DECISION.fullmatch(target) else None
        return self._page(html) if html is not None else self._refuse(Cause.MISSING)

    async def _live(self, request: web.BaseRequest) -> web.StreamResponse:
        """Decisions as they come, each as the row that the list would show."""
        if self._stream.full:
            return self._refuse(Cause.CROWDED)
        wanted = filters.read(request.query)
        after = request.headers.get("Last-Event-ID", request.query.get("after", ""))[: filters.LENGTH]
        answer = web.StreamResponse(headers={**headers(), "Content-Type": "text/event-stream"})
        with self._stream.listen() as queue:
            await answer.prepare(request)
            missed = {one.id: one for one in await self._aside(self._views.rows, wanted, after)}
            missed |= {one.id: one for one in self._stream.since(after) if wanted.matches(one)}
            for record in missed.values():
                await self._send(answer, record)
            await answer.write(b": ready\n\n")
            while record := await queue.get():
                if record.id not in missed and wanted.matches(record):
                    await self._send(answer, record)
        return answer

    async def _send(self, answer: web.StreamResponse, record: Record) -> None:
        await answer.write(f"id: {record.id}\ndata: {self._views.row(record)}\n\n".encode())

    def _static(self, file: str) -> web.Response:
        path = next((path for path in STATIC.iterdir() if path.name == file and path.suffix in KINDS), None)
        if path is None:
            return self._refuse(Cause.MISSING)
        return wire.response(path.read_text(encoding="utf-8"), KINDS[path.suffix])

    def _page(self, html: str, status: int = 200) -> web.Response:
        return wire.response(html, "text/html", status)

    def _failed(self, error: HooktrayError, status: int) -> web.Response:
        return self._page(self._views.refusal(error.message, cure=error.hint, leads_back=True), status)

    def _refuse(self, cause: Cause | Objection, detail: str = "") -> web.Response:
        answer = self._page(self.refusal(cause, detail), REFUSALS[cause].status)
        if answer.status in (400, 413):
            answer.force_close()
        return answer

    def refusal(self, cause: Cause | Objection, detail: str = "") -> str:
        """The page that a reader is shown."""
        shown = REFUSALS[cause]
        return self._views.refusal(shown.why, detail=detail, cure=shown.cure, leads_back=shown.leads_back)


POSTS: Mapping[str, Callable[[Server, web.BaseRequest], Awaitable[web.Response]]] = {
    "/choose": Server._choose,
    "/confirm": Server._confirm,
    "/do": Server._at_once,
    "/enter": Server._enter,
    "/replay": Server._replay,
}
