"""Which decisions a person wants to see: the same words for the journal's query and for what has just come in."""

from __future__ import annotations

import json
from collections.abc import Mapping

from tray.model.decision import Record
from tray.store.journal import KINDS, RowFilter
from tray.web.templating import VERDICTS

MAX_LENGTH = 200  # characters of one filter


class DecisionFilter(RowFilter, frozen=True, kw_only=True):
    """A query of the journal that can also judge a record. `label` is what the page calls the verdict of a row."""

    @property
    def active(self) -> dict[str, str]:
        """The fields that count, by their names in an address."""
        found = {
            "agent": self.agent, "project": self.project, "session": self.session, "event": self.event,
            "verdict": self.label, "hook": self.hook, "text": self.text,
        }  # fmt: skip
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
