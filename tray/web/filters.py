"""Filters the decisions that a page lists, in the journal and on arrival, and streams new ones to it."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tray.model.decision import Record
from tray.store.journal import KINDS, RowFilter
from tray.web.templating import VERDICTS

MAX_LENGTH = 200  # characters of one filter
RECENT_SIZE = 100  # of the newest, for a page that was drawn just before it began to listen
QUEUE_SIZE = 500  # decisions that a slow listener may lag; what is beyond that it sees when it is loaded again
MAX_LISTENERS = 32


class DecisionFilter(RowFilter, frozen=True, kw_only=True):
    """A query of the journal that can also judge a record. `label` is what the page calls the verdict of a row."""

    @property
    def active(self) -> dict[str, str]:
        """The fields that count, by their names in an address."""
        found = {
            "agent": self.agent,
            "project": self.project,
            "session": self.session,
            "event": self.event,
            "verdict": self.label,
            "hook": self.hook,
            "text": self.text,
        }
        return {name: value for name, value in found.items() if value}

    def matches(self, record: Record) -> bool:
        return (
            self.agent in ("", record.agent)
            and self.project in ("", record.project)
            and self.session in ("", record.session)
            and self.event in ("", record.kind if self.event in KINDS else record.event)
            and self.label in ("", record.label)
            and (not self.hook or any(hook.get("name") == self.hook for hook in record.hooks))
            and (not self.text or self._is_in(record))
        )

    def _is_in(self, record: Record) -> bool:
        parts = (
            json.dumps(part, ensure_ascii=False) for part in (list(map(dict, record.hooks)), dict(record.answer))
        )
        return _lower(self.text) in _lower("\n".join((record.payload, record.reason, *parts)))


def parse(query: Mapping[str, str]) -> DecisionFilter:
    """The filter of an address; words that no filter has do not count, nor does a verdict that does not exist."""

    def value(name: str) -> str:
        return query.get(name, "").strip()[:MAX_LENGTH]

    return DecisionFilter(
        agent=value("agent"), project=value("project"), session=value("session"), event=value("event"),
        label=value("verdict") if value("verdict") in VERDICTS else "", hook=value("hook"), text=value("text"),
    )  # fmt: skip


def _lower(text: str) -> str:
    """As SQLite's LIKE has it: only ASCII letters know their other case."""
    return "".join(char.lower() if char.isascii() else char for char in text)


class DecisionStream:
    """Used on the event loop's thread only. `None` in a listener's queue ends the stream."""

    def __init__(self) -> None:
        self._recent: deque[Record] = deque(maxlen=RECENT_SIZE)
        self._queues: set[asyncio.Queue[Record | None]] = set()

    @property
    def is_full(self) -> bool:
        return len(self._queues) >= MAX_LISTENERS

    def since(self, id: str) -> list[Record]:
        """What came after this decision, as far as it is kept, oldest first."""
        recent = list(self._recent)
        index = next((index for index, one in enumerate(recent) if one.id == id), -1)
        return recent[index + 1 :]

    def publish(self, record: Record) -> None:
        self._recent.append(record)
        for queue in self._queues:
            if queue.qsize() < QUEUE_SIZE:
                queue.put_nowait(record)

    def close(self) -> None:
        for queue in self._queues:
            queue.put_nowait(None)

    @contextmanager
    def subscribe(self) -> Iterator[asyncio.Queue[Record | None]]:
        queue: asyncio.Queue[Record | None] = asyncio.Queue()
        self._queues.add(queue)
        try:
            yield queue
        finally:
            self._queues.discard(queue)
