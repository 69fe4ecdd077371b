"""The page's server on 127.0.0.1: it checks each request first, then asks one table of addresses."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from tray.approvals.callers.click_check import ClickObjection, ClickRejection
from tray.approvals.callers.person import Proof
from tray.approvals.review import hook_id
from tray.approvals.user_action import UserAction
from tray.errors import HooktrayError
from tray.model.decision import Record
from tray.web import peers, request_checks
from tray.web.actions import CHANNEL, IMMEDIATE, PASSPHRASES, SWITCH, TRIED, VARIABLES, PageActions
from tray.web.filters import MAX_LENGTH, DecisionFilter, DecisionStream, parse
from tray.web.parts import PageParts
from tray.web.request_checks import (
    CLICK_STATUS,
    ENTER_PATH,
    OneTimeTokens,
    Refusal,
    RefusalCause,
    RequestHead,
    click_refusal,
    random_token,
)
from tray.web.templating import STATIC, headers
from tray.web.views import PageViews, View

HOST = "127.0.0.1"
IMMEDIATE_PATH = "/do"
THREADS = 4
KEEPALIVE_TIMEOUT = 75.0  # seconds that an idle connection stays
HEADER_INTERVAL = 2.0  # seconds: a pause ends without an event
KINDS = {".svg": "image/svg+xml"}
UNREADABLE = "This is not a request that the page can read"

DECISION = re.compile("[0-9A-Za-z_-]{1,64}")
QUESTION = re.compile("[0-9a-f]{32}")
TARGET = re.compile(  # as in page.js
    rf"decisions/{DECISION.pattern}|confirm/passphrase|confirm/(?:approve|batch)\?of=[0-9a-f]{{16}}"
    rf"|questions/{QUESTION.pattern}|session\?[\w=&%.~-]{{1,1000}}",
    re.ASCII,
)
PAGES: tuple[tuple[re.Pattern[str], View], ...] = (
    (re.compile("/"), PageViews.decisions),
    (re.compile(f"/decisions/({DECISION.pattern})"), PageViews.decision),
    (re.compile("/sessions"), PageViews.sessions),
    (re.compile("/session"), PageViews.session),
    (re.compile(f"/questions/({QUESTION.pattern})"), PageViews.question),
    (re.compile("/hooks"), PageViews.hooks),
    (re.compile("/hooks/([0-9a-f]{16})"), PageViews.hook),
    (re.compile("/confirm/([a-z]{1,10})"), PageViews.confirm),
    (re.compile("/statistics"), PageViews.statistics),
    (re.compile("/agents"), PageViews.agents),
    (re.compile("/switch"), PageViews.switch),
    (re.compile("/enter"), PageViews.enter),
)

T = TypeVar("T")

log = logging.getLogger(__name__)


class HttpServer(web.Server):
    """Accepts connections. It logs no request."""

    def __call__(self) -> web.RequestHandler:
        return _QuietProtocol(
            self,
            loop=asyncio.get_running_loop(),
            access_log=None,  # type: ignore[arg-type]
            keepalive_timeout=KEEPALIVE_TIMEOUT,
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


class WebServer:
    """Built and used on the event loop; `start` gives it a free port."""

    def __init__(self, parts: PageParts) -> None:
        self._parts = parts
        self._actions = PageActions(parts.controls, parts.catalog, parts.stores.copies, parts.questions)
        self._views = PageViews(parts, self._actions)
        self._stream = DecisionStream()
        self._token = random_token()
        self._link_tokens: OneTimeTokens[Path] = OneTimeTokens()
        self._pool = ThreadPoolExecutor(THREADS, "page")
        listener = HttpServer(self._answer, handler_cancellation=True)  # when a caller hangs up
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

    async def _in_thread(self, work: Callable[..., T], *arguments: object) -> T:
        """Run `work` in a thread of the page: nothing that reads a disk runs on the loop."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, work, *arguments)

    def link(self, file: Path, target: str, lifetime: float) -> str:
        """An address that signs one browser in, once, and leads on; `file` holds it, and is removed with it."""
        leads_on = f":{quote(target, safe='')}" if TARGET.fullmatch(target) else ""
        return f"http://{self._authority}{ENTER_PATH}#{self._link_tokens.issue(file, lifetime)}{leads_on}"

    def publish(self, record: Record) -> None:
        self._stream.publish(record)

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        try:
            pairs = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in request.raw_headers)
            names = tuple((name.lower(), value) for name, value in pairs)
            head = RequestHead(method=request.method, target=request.raw_path, headers=names)
            if cause := request_checks.refusal(head, self._authority, self._cookie, self._token):
                return self._refuse(cause)
            ends = request.transport and [request.transport.get_extra_info(end) for end in ("peername", "sockname")]
            peer = await self._in_thread(peers.find, *ends) if ends and peers.is_supported() else None
            if peer and not peer.is_ours:
                return self._refuse(RefusalCause.OTHER_USER)
            return await self._route(request, head, peer)
        except (asyncio.CancelledError, ConnectionError):
            raise
        except HooktrayError as error:  # the journal cannot be read, for one
            return self._failed(error, 503)
        except Exception:  # the connection: whatever went wrong, the tray goes on
            log.exception("the page could not answer")
            return self._refuse(RefusalCause.INTERNAL_ERROR)

    async def _route(
        self, request: web.BaseRequest, head: RequestHead, peer: peers.TcpPeer | None
    ) -> web.StreamResponse:
        path = head.path
        if head.method == "POST":
            if refused := await self._refuse_click(request, path, peer):
                return refused
            work = POSTS.get(path)
            return await work(self, request) if work else self._refuse(RefusalCause.NOT_FOUND)
        if path.startswith(request_checks.STATIC_PATH):
            return self._static(path.removeprefix(request_checks.STATIC_PATH))
        if path == "/live":
            return await self._live(request)
        for pattern, view in PAGES:
            if found := pattern.fullmatch(path):
                html = await self._in_thread(view, self._views, request.query, "".join(found.groups()))
                return self._page(html) if html is not None else self._refuse(RefusalCause.NOT_FOUND)
        return self._refuse(RefusalCause.NOT_FOUND)

    async def _refuse_click(
        self, request: web.BaseRequest, path: str, peer: peers.TcpPeer | None
    ) -> web.Response | None:
        """What the sender is shown when its click does not count; None when it does.

        Through a program that we do not know it counts with the passphrase, in the same form. To look needs none.
        """
        pids = await self._in_thread(peer.processes) if peer else ()
        found = await self._in_thread(self._objection, pids)
        if found is None or (path == ENTER_PATH and found.proof is Proof.PASSPHRASE):
            return None
        if found.proof is Proof.REFUSED:
            return self._refused(click_refusal(found))
        fields = await _form(request)
        if path == IMMEDIATE_PATH and fields.get("act") in IMMEDIATE:  # to switch on is everybody's
            return None
        if not self._parts.controls.passphrase.is_set:
            return self._refused(click_refusal(found))
        typed = fields.pop("passphrase", "")
        if typed:
            try:
                if await self._in_thread(self._parts.clicks.confirm_browser, pids, typed):
                    return None
            except HooktrayError as error:
                return self._failed(error, 429)
        html = self._views.ask_passphrase(found, path, fields, was_wrong=bool(typed))
        return self._page(html, CLICK_STATUS)

    def _objection(self, pids: tuple[int, ...]) -> ClickRejection | None:
        """Returns why clicks of these processes, which share a connection, do not count; None if they do.

        What refuses one of them comes first. On Linux, a click of a process that the system does not show never
        counts.
        """
        if not peers.is_supported():
            return None
        if not pids:
            return ClickRejection(ClickObjection.UNSEEN)
        found = [one for pid in pids if (one := self._parts.clicks.browser_objection(pid))]
        return next((one for one in found if one.proof is Proof.REFUSED), found[0] if found else None)

    async def _enter(self, request: web.BaseRequest) -> web.Response:
        """Exchange the one-time token of a link for the cookie of this start."""
        try:
            token = json.loads(await request.text())["token"]
        except (ValueError, KeyError, TypeError):
            return self._refuse(RefusalCause.LINK)
        file = self._link_tokens.redeem(token) if isinstance(token, str) else None
        if file is None:
            return self._refuse(RefusalCause.LINK)
        file.unlink(missing_ok=True)
        answer = response("", status=204)
        answer.set_cookie(self._cookie, self._token, path="/", httponly=True, samesite="Strict")
        return answer

    async def _confirm(self, request: web.BaseRequest) -> web.Response:
        form = await _form(request)
        token, own, again = (form.get(name, "") for name in ("token", "own", "again"))
        try:
            done = await self._in_thread(self._actions.confirm, token, own, again)
        except HooktrayError as error:
            return self._failed(error, 409)
        place = "switch" if done.action in SWITCH | PASSPHRASES else "hooks"
        if done.action in TRIED | VARIABLES.keys() and self._actions.find_hook(hook_id(done.key)):
            place = f"hooks/{hook_id(done.key)}"
        return redirect(f"/{place}?done={done.action}")

    async def _answer_question(self, request: web.BaseRequest) -> web.Response:
        """The answers to an agent's form, or that its user declines it."""
        sent = await _form(request)
        id = sent.get("question", "")
        if not QUESTION.fullmatch(id):
            return self._refuse(RefusalCause.NOT_FOUND)
        try:
            done = await self._in_thread(self._actions.answer, id, sent)
        except HooktrayError as error:
            return self._failed(error, 409)
        return redirect(f"/questions/{id}{'?done=answer' if done else ''}")

    async def _perform_immediately(self, request: web.BaseRequest) -> web.Response:
        """An action that only tightens or quietens needs no confirmation."""
        action = (await _form(request)).get("act", "")
        if action not in IMMEDIATE:
            return self._refuse(RefusalCause.NOT_FOUND)
        await self._in_thread(self._parts.controls.perform, UserAction(action=action), CHANNEL)
        return redirect("/switch")

    async def _choose(self, request: web.BaseRequest) -> web.Response:
        form = await _form(request)
        on = {"on": True, "off": False}.get(form.get("turn", ""))
        done = await self._in_thread(self._parts.menu.change_setting, form.get("choice", ""), on)
        back = "/agents" if form.get("page") == "agents" else "/switch"
        return redirect(back) if done else self._refuse(RefusalCause.NOT_FOUND)

    async def _replay(self, request: web.BaseRequest) -> web.Response:
        target = (await _form(request)).get("id", "")
        html = await self._in_thread(self._views.replay, target) if DECISION.fullmatch(target) else None
        return self._page(html) if html is not None else self._refuse(RefusalCause.NOT_FOUND)

    async def _go(self, request: web.BaseRequest) -> web.Response:
        """Bring the terminal of a session to the front; the page stays as it is."""
        form = await _form(request)
        agent, session = form.get("agent", ""), form.get("session", "")
        if not any((one.agent, one.session) == (agent, session) for one in self._parts.board.sessions):
            return self._refuse(RefusalCause.NOT_FOUND)
        self._parts.windows.go(agent, session)
        return redirect("/sessions")

    async def _live(self, request: web.BaseRequest) -> web.StreamResponse:
        """Decisions as they come, each as the row that the list would show."""
        if self._stream.is_full:
            return self._refuse(RefusalCause.TOO_MANY_PAGES)
        wanted = parse(request.query)
        after = request.headers.get("Last-Event-ID", request.query.get("after", ""))[:MAX_LENGTH]
        answer = web.StreamResponse(headers={**headers(), "Content-Type": "text/event-stream"})
        with self._stream.subscribe() as queue:
            await answer.prepare(request)
            missed = {one.id: one for one in await self._in_thread(self._views.rows, wanted, after)}
            missed |= {one.id: one for one in self._stream.since(after) if wanted.matches(one)}
            for early in missed.values():
                await self._send(answer, early)
            await answer.write(b": ready\n\n")
            await self._follow(queue, answer, wanted, missed.keys())
        return answer

    async def _follow(
        self,
        queue: asyncio.Queue[Record | None],
        answer: web.StreamResponse,
        wanted: DecisionFilter,
        sent_before: Collection[str],
    ) -> None:
        """Each new decision; and the page's header, when what it shows has changed."""
        sent = ""
        while True:
            if (header := await self._in_thread(self._views.header)) != sent:
                sent = header
                await answer.write(f"event: header\ndata: {header}\n\n".encode())
            try:
                async with asyncio.timeout(HEADER_INTERVAL):
                    record = await queue.get()
            except TimeoutError:
                continue
            if record is None:
                return
            if record.id not in sent_before and wanted.matches(record):
                await self._send(answer, record)

    async def _send(self, answer: web.StreamResponse, record: Record) -> None:
        await answer.write(f"id: {record.id}\ndata: {self._views.row(record)}\n\n".encode())

    def _static(self, file: str) -> web.Response:
        path = next((path for path in STATIC.iterdir() if path.name == file and path.suffix in KINDS), None)
        if path is None:
            return self._refuse(RefusalCause.NOT_FOUND)
        return response(path.read_text(encoding="utf-8"), KINDS[path.suffix])

    def _page(self, html: str, status: int = 200) -> web.Response:
        return response(html, "text/html", status)

    def _failed(self, error: HooktrayError, status: int) -> web.Response:
        return self._refused(Refusal(status, error.message, error.hint, has_back_link=True))

    def _refuse(self, cause: RefusalCause) -> web.Response:
        return self._refused(cause.value)

    def _refused(self, refusal: Refusal) -> web.Response:
        answer = self._page(self._views.refusal(refusal), refusal.status)
        if answer.status in (400, 413):
            answer.force_close()
        return answer

    def refusal(self, cause: RefusalCause) -> str:
        """The page that a browser is shown."""
        return self._views.refusal(cause.value)


async def _form(request: web.BaseRequest) -> dict[str, str]:
    return {name: str(value) for name, value in (await request.post()).items()}


def response(text: str, kind: str = "text/plain", status: int = 200) -> web.Response:
    body = text.encode("utf-8", "replace")
    return web.Response(body=body, status=status, content_type=kind, charset="utf-8", headers=headers())


def redirect(where: str) -> web.Response:
    answer = response("", status=303)
    answer.headers["Location"] = where
    return answer


POSTS: Mapping[str, Callable[[WebServer, web.BaseRequest], Awaitable[web.Response]]] = {
    "/answer": WebServer._answer_question,
    "/choose": WebServer._choose,
    "/confirm": WebServer._confirm,
    IMMEDIATE_PATH: WebServer._perform_immediately,
    "/enter": WebServer._enter,
    "/go": WebServer._go,
    "/replay": WebServer._replay,
}
