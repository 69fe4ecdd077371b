"""The page speaks the reader's language, in every corner of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from every import every
from house import House
from web.browsing import kept
from web.site import Site

from tray.approvals.review import hook_id
from tray.web.templating import HERE, templates

PAGES = ("/", "/?hook=nobody", "/sessions", "/hooks", "/statistics", "/agents", "/switch", "/confirm/off", "/nowhere")
FOREIGN = re.compile(r"<(code|bdi|pre|script|style)\b.*?</\1>", re.DOTALL)  # what is no sentence of ours
ENGLISH = re.compile(r"[A-Za-z]{2,} [a-z]{2,}")
READ = re.compile(r'(?:aria-label|placeholder|title|data-(?:gone|lost|many|one|paused))="([^"]*)"')
JINJA = re.compile(r"\{\{.*?\}\}|\{%.*?%\}")


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


@every("path", sorted((HERE / "templates").glob("*.html")), ids=lambda path: str(path.stem))
def test_every_word_of_a_template_is_marked_for_translation(path: Path) -> None:
    html = FOREIGN.sub("\n", JINJA.sub("", path.read_text(encoding="utf-8")))
    words = re.findall(r"\w*[A-Za-z]{2,}\w*", " ".join((re.sub(r"<[^>]*>", "\n", html), *READ.findall(html))))

    assert {*words} - {"Hooktray", "tool_before"} == set()


def test_values_in_a_sentence_are_sanitised_and_escaped() -> None:
    template = templates().from_string("{{ _('Note for you: <bdi>{what}</bdi>', what=what) }}")

    assert template.render(what="<b>\u202etxt\x1b[2J") == "Note for you: <bdi>&lt;b&gt;txt</bdi>"
