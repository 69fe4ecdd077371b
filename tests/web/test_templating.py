"""The page speaks the reader's language, in every corner of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from house import House
from web.browsing import kept
from web.site import Site

from tray.approvals.review import hook_id

PAGES = ("/", "/?hook=nobody", "/sessions", "/hooks", "/statistics", "/agents", "/switch", "/confirm/off", "/nowhere")
FOREIGN = re.compile(r"<(code|bdi|pre|script|style)\b.*?</\1>", re.DOTALL)  # what is no sentence of ours
ENGLISH = re.compile(r"[A-Za-z]{2,} [a-z]{2,}")
READ = re.compile(r'(?:aria-label|placeholder|title|data-many)="([^"]*)"')


@pytest.fixture
def chinese(house: House, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("LANGUAGE", "zh_CN")
    site = Site(house)
    site.enter()
    yield site
    site.close()


@pytest.mark.parametrize("full", [False, True])
def test_no_page_has_an_english_sentence_for_a_chinese_reader(chinese: Site, full: bool) -> None:
    pages = list(PAGES)
    if full:
        one = chinese.house.hook("guard", on="tool_before", script="exit 0")
        chinese.house.hook("new", on="tool_before", script="exit 1", approved=False)
        pages += [f"/decisions/{kept(chinese)}", "/session?agent=claude-code&session=s-1"]
        pages += [f"/hooks/{hook_id(one.key)}", f"/confirm/revoke?of={hook_id(one.key)}"]

    for path in pages:
        assert english(chinese.get(path)) == [], path


def test_a_confirmation_that_is_void_is_refused_in_the_readers_language(chinese: Site) -> None:
    assert english(chinese.post("/confirm", "token=x")) == []


def english(answer: bytes) -> list[str]:
    """The English sentences of ours in a Chinese page."""
    html = answer.decode().partition("\r\n\r\n")[2] or answer.decode()
    assert '<html lang="zh-CN">' in html
    seen = re.sub(r"<[^>]*>", "\n", FOREIGN.sub("\n", html))
    return [line.strip() for line in (*seen.split("\n"), *READ.findall(html)) if ENGLISH.search(line)]
