"""T15: patterns that take for ever, in matchers; each ends in time, or is refused when it is loaded."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator

from house import House

from torture.frame import Tally
from tray.engine.plan import PATTERN_LIMIT, EventSearch
from tray.model.event import Event, EventKind

TITLE = "patterns that take for ever"
SLACK = 0.05  # seconds of the processor, which a loaded machine takes away from us in between
CONTROL = "import re, sys; re.search(r'(a|aa)+$', 'a' * 44 + 'b')"


def torture(tally: Tally) -> None:
    event = Event(id="0", agent="claude-code", name="PreToolUse", kind=EventKind.TOOL_BEFORE, session="s")
    most = PATTERN_LIMIT + SLACK * tally.patience
    for number, pattern in enumerate(list(_patterns())[:: tally.many(10, 1)]):
        best = 9.0
        for _ in range(2):  # the interpreter's own pauses are none of the pattern's
            search = EventSearch(event)
            started = time.thread_time()
            try:
                search.in_text(pattern, _subject(number))
            except Exception as error:  # noqa: BLE001 - whatever it raises, it must not
                tally.attack(f"{pattern[:60]}: {error!r}", held=False)
                break
            best = min(best, time.thread_time() - started)
            if best <= most:
                break
        tally.attack(f"{pattern[:60]}: {best * 1000:.0f} ms", best <= most)
    _many(tally, event)
    _unreadable(tally)
    _control(tally)


def _patterns() -> Iterator[str]:
    """Three hundred, of the kinds that are known: nested, overlapping, back references, counted, look-around."""
    inner = (
        "a",
        "a|a",
        "a|aa",
        "a|b|ab",
        ".",
        r"\w",
        r"\w|_",
        "[a-z]",
        r"\s|a",
        "(a)",
        "a?",
        "a*",
        ".*",
        r"\d|a",
        "x*a",
    )
    outer = (
        "({})+$", "({})*$", "(({})+)+$", "^({})+!$", "({}){{2,}}!", "(.*({})){{12}}!", r"({})+\1!", "({})+(?=!)",
        "(?:({})+)*!", "({})+?!$", "(?:({}){{1,30}}){{1,30}}!", "(?i)({})+$", "(?<!b)({})+!", "({})*({})*({})*!",
        "({})+x+y", ".*.*.*.*.*({})!", "((({})*)*)*!", "(?:a+({}))+!", "({}|({})+)+!", r"^(\s*({})\s*)*!$",
    )  # fmt: skip
    for shape in outer:
        for part in inner:
            yield shape.format(*[part] * shape.count("{}"))


def _subject(number: int) -> str:
    """A hundred kilobytes that nearly fit."""
    return (("a" * 31 + "b") * 3200, "a" * 102_400, "ab" * 51_200, "a " * 51_200)[number % 4]


def _many(tally: Tally, event: Event) -> None:
    """All the patterns of one event share one budget."""
    search = EventSearch(event)
    started = time.thread_time()
    for pattern in list(_patterns())[:60]:
        search.in_text(pattern, "a" * 102_400)
    tally.attack("sixty at once", time.thread_time() - started < 5.0 * tally.patience)


def _unreadable(tally: Tally) -> None:
    """What is no pattern is refused when it is loaded, with its column."""
    house = House(tally.folder / "house")
    try:
        for pattern in (
            "(",
            "[a",
            "a{2,1}",
            "*a",
            r"\p{Nope}",
            "(?P<n>a)(?P=m)",
            "(?z)",
            "a" + "(" * 5000 + ")" * 5000,
        ):
            house.configure({"hooks": [{"event": "tool_before", "matcher": pattern, "command": "true"}]})
            problem = house.catalog.configuration.problem
            tally.attack(f"{pattern[:30]}: {problem[:120]!r}", bool(problem) and not house.catalog.states)
    finally:
        house.close()


def _control(tally: Tally) -> None:
    try:
        subprocess.run([sys.executable, "-I", "-S", "-c", CONTROL], timeout=1, check=False)
    except subprocess.TimeoutExpired:
        tally.control("Python's own re", fell=True)
    else:
        tally.control("Python's own re", fell=False)
