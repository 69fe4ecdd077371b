"""News for open pages: each decision goes to whoever is looking, without a look into the journal."""

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
    """All on the event loop's thread. `None` in a listener's queue says that it is over."""

    def __init__(self) -> None:
        self._recent: deque[Record] = deque(maxlen=RECENT_SIZE)
        self._queues: set[asyncio.Queue[Record | None]] = set()

    @property
    def is_full(self) -> bool:
        return len(self._queues) >= MAX_LISTENERS

    def since(self, id: str) -> list[Record]:
        """What came after this decision, as far as it is kept, oldest first."""
        kept = list(self._recent)
        place = next((index for index, one in enumerate(kept) if one.id == id), -1)
        return kept[place + 1 :]

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
