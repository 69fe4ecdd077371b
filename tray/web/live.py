"""New decisions for open pages: each goes to every listener, without reading the journal."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from tray.model.decision import Record

RECENT_SIZE = 100  # of the newest, for a page that was drawn just before it began to listen
QUEUE_SIZE = 500  # decisions that a slow listener may lag; what is beyond that it sees when it is loaded again
MAX_LISTENERS = 32


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
