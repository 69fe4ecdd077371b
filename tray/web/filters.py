"""Which decisions a person wants to see: the same words for the journal's query and for what has just come in."""

from __future__ import annotations

import json
from collections.abc import Mapping

import msgspec
from msgspec.structs import asdict

from tray.model.decision import Record
from tray.store.journal import KINDS, RowFilter
from tray.web.templating import VERDICTS

MAX_LENGTH = 200  # characters of one filter


class DecisionFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Empty = does not count. `event` is a canonical name or an agent's own, `verdict` what a row is shown as."""

    agent: str = ""
    project: str = ""
    session: str = ""
    event: str = ""
    verdict: str = ""
    hook: str = ""
    text: str = ""

    @property
    def active(self) -> dict[str, str]:
        """The filters that count."""
        return {name: value for name, value in asdict(self).items() if value}

    def rows(self, *, before: str = "", after: str = "") -> RowFilter:
        """The same for the journal, between the rows with these ids."""
        return RowFilter(
            before=before, after=after, agent=self.agent, project=self.project, session=self.session,
            event=self.event, label=self.verdict, hook=self.hook, text=self.text,
        )  # fmt: skip

    def matches(self, record: Record) -> bool:
        return (
            self.agent in ("", record.agent)
            and self.project in ("", record.project)
            and self.session in ("", record.session)
            and self.event in ("", record.kind if self.event in KINDS else record.event)
            and self.verdict in ("", record.label)
            and (not self.hook or any(hook.get("name") == self.hook for hook in record.hooks))
            and (not self.text or _lower(self.text) in _lower(_searched(record)))
        )


def parse(query: Mapping[str, str]) -> DecisionFilter:
    """The filter of an address; words that no filter has do not count, nor does a verdict that does not exist."""
    named = {name: query.get(name, "").strip()[:MAX_LENGTH] for name in DecisionFilter.__struct_fields__}
    if named["verdict"] not in VERDICTS:
        named["verdict"] = ""
    return DecisionFilter(**named)


def _searched(record: Record) -> str:
    parts = (list(map(dict, record.hooks)), dict(record.answer))
    return "\n".join((record.payload, record.reason, *(json.dumps(part, ensure_ascii=False) for part in parts)))


def _lower(text: str) -> str:
    """As SQLite's LIKE has it: only ASCII letters know their other case."""
    return "".join(char.lower() if char.isascii() else char for char in text)
