"""What each page shows: from the stores to a template's names. Reads only; runs outside the event loop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from tray.dialects import DIALECTS
from tray.dialects.callers import AGENTS, UNKNOWN
from tray.engine.approval.review import pretty, runs
from tray.engine.approval.roster import REMOVED, Standing
from tray.engine.replay import Twice
from tray.errors import HooktrayError
from tray.language import phrase, say
from tray.model.decision import Record
from tray.model.hook import Hook
from tray.page import filters, pictures
from tray.page.acts import Acts, possible
from tray.page.changes import changes, name
from tray.page.parts import Parts
from tray.page.words import VERDICTS, templates
from tray.store.statistics import HOUR, ROWS, TURN_ROWS

PAGE = 50  # decisions
SESSIONS = 100
DAY = 24 * HOUR
DONE: Mapping[str, str] = {
    "allow": phrase("Done."),
    "approve": phrase("Approved. These bytes run from now on."),
    "batch": phrase("Approved. These bytes run from now on."),
    "deny": phrase("Denied."),
    "disable": phrase("Switched off. It stays approved."),
    "dismiss": phrase("Dismissed."),
    "enable": phrase("Switched on."),
    "off": phrase("Hooks are off."),
    "pause": phrase("Hooks are paused."),
    "revoke": phrase("Revoked. Nothing of it runs any more."),
}

Query = Mapping[str, str]
Turn = Mapping[str, Any]


class Views:
    """One method a page; each returns the page's HTML, or None when there is no such thing."""

    def __init__(self, parts: Parts, acts: Acts) -> None:
        self._parts = parts
        self._acts = acts
        self._templates = templates()
        self._replaying = threading.Lock()

    def decisions(self, query: Query, target: str = "") -> str:
        wanted = filters.read(query)
        before = query.get("before", "")[: filters.LENGTH]
        rows = self._recent(wanted, before=before, limit=PAGE + 1)
        older = urlencode({**wanted.words, "before": rows[PAGE - 1].id}) if len(rows) > PAGE else ""
        return self._page(
            "decisions", say("Decisions"), rows=rows[:PAGE], filter=wanted, older=older,
            newest=urlencode(wanted.words), before=before, agents=(*DIALECTS, *AGENTS, UNKNOWN), verdicts=VERDICTS,
            live="" if before else urlencode(wanted.words),
        )  # fmt: skip

    def rows(self, wanted: filters.Filter, after: str) -> list[Any]:
        """What came in since the decision `after`, oldest first."""
        return self._recent(wanted, after=after, limit=PAGE)[::-1] if after else []

    def row(self, record: Any) -> str:
        """One decision as a piece of the list, on one line."""
        return " ".join(self._templates.get_template("row.html").render(one=record).split("\n"))

    def decision(self, query: Query, target: str) -> str | None:
        record = self._parts.journal.get(target)
        return self._decision(record) if record else None

    def replayed(self, target: str) -> str | None:
        """The decision once more, with what the hooks in force now make of its event; one replay at a time."""
        record = self._parts.journal.get(target)
        if record is None:
            return None
        if not self._replaying.acquire(blocking=False):
            return self._decision(record, cannot=_busy())
        try:
            return self._decision(record, twice=self._parts.replay(record))
        except HooktrayError as error:
            return self._decision(record, cannot=error)
        finally:
            self._replaying.release()

    def _decision(self, record: Record, *, twice: Twice | None = None, cannot: HooktrayError | None = None) -> str:
        return self._page(
            "decision", say("Decision"), one=record, twice=twice, cannot=cannot, turns=both(twice) if twice else []
        )

    def sessions(self, query: Query, target: str = "") -> str:
        return self._page("sessions", say("Sessions"), sessions=self._parts.statistics.sessions(SESSIONS))

    def session(self, query: Query, target: str = "") -> str | None:
        wanted = filters.Filter(agent=query.get("agent", ""), session=query.get("session", "")[: filters.LENGTH])
        rows = self._recent(wanted, before=query.get("before", "")[: filters.LENGTH], limit=PAGE + 1)
        if not wanted.session or not rows:
            return None
        older = urlencode({**wanted.words, "before": rows[PAGE - 1].id}) if len(rows) > PAGE else ""
        return self._page("session", say("Session"), filter=wanted, rows=rows[:PAGE], older=older)

    def hooks(self, query: Query, target: str = "") -> str:
        self._parts.look()
        spreads = pictures.spreads(self._parts.statistics.turns(time.time() - 30 * DAY))
        roster = self._parts.roster
        return self._page(
            "hooks", say("Hooks"),
            hooks=[self._hook(one, spreads.get(one.hook.name)) for one in roster.standings],
            settings=[(one, name(one.key)) for one in self._acts.settings()],
            requests=self._parts.controls.requests, batch=self._parts.controls.batch,
            problem=roster.configuration.problem,
            warnings=roster.configuration.warnings, done=_done(query),
            rows_looked_at=TURN_ROWS,
        )  # fmt: skip

    def hook(self, query: Query, target: str) -> str | None:
        self._parts.look()
        one = self._acts.standing(target)
        if one is None:
            return None
        turns = self._parts.statistics.turns(time.time() - 30 * DAY, hook=one.hook.name)
        return self._page(
            "hook", say("Hook"), hook=self._hook(one, pictures.spread(turns)), covered=one.covered,
            changes=changes(one, self._parts.copies), definition=pretty(one.hook.definition),
            done=_done(query),
        )  # fmt: skip

    def confirm(self, query: Query, target: str) -> str | None:
        self._parts.look()
        question = self._acts.ask(target, query.get("of", ""))
        return self._page("confirm", say("Confirm"), question=question) if question else None

    def statistics(self, query: Query, target: str = "") -> str:
        now = time.time()
        turns = self._parts.statistics.turns(now - DAY)
        return self._page(
            "statistics", say("Statistics"),
            decisions=pictures.decisions(self._parts.statistics.hours(now - DAY), now),
            failures=pictures.failures(turns, now),
            spreads=pictures.spreads(turns).items(),
            lost=self._parts.journal.dropped, rows_looked_at=ROWS, turns_looked_at=TURN_ROWS,
        )  # fmt: skip

    def agents(self, query: Query, target: str = "") -> str:
        heard = self._parts.statistics.heard((*DIALECTS, *AGENTS, UNKNOWN), time.time() - DAY)
        silent = [agent for agent in DIALECTS if agent not in {one.agent for one in heard}]
        return self._page(
            "agents", say("Agents"), heard=heard, silent=silent, unsupported=AGENTS, wired=self._parts.wired()
        )

    def switch(self, query: Query, target: str = "") -> str:
        done = _done(query)
        return self._page("switch", say("Switch and settings"), done=done, choices=self._parts.choices())

    def enter(self, query: Query, target: str = "") -> str:
        return self._templates.get_template("enter.html").render()

    def refusal(self, why: str, *, detail: str = "", cure: str = "", leads_back: bool = False) -> str:
        """Nothing in it comes from the request; `detail` has what the kernel shows of the program that asks."""
        return self._templates.get_template("refusal.html").render(
            why=say(why), detail=detail, cure=say(cure) if cure else "", leads_back=leads_back
        )

    def _recent(self, wanted: filters.Filter, *, limit: int, before: str = "", after: str = "") -> list[Any]:
        words: dict[str, Any] = wanted.words
        words["mark"] = words.pop("verdict", "")
        return self._parts.journal.recent(limit, before, after=after, brief=True, **words)

    def _page(self, template: str, title: str, **names: Any) -> str:
        switch, controls = self._parts.controls.state, self._parts.controls
        waiting = sum(one.waiting for one in self._parts.roster.standings) + len(controls.requests)
        return self._templates.get_template(f"{template}.html").render(
            title=title, here=template, switch=switch, waiting=waiting + len(self._acts.settings()), **names
        )

    def _hook(self, one: Standing, spread: pictures.Spread | None) -> dict[str, Any]:
        hook = one.hook
        return {
            "id": name(one.key),
            "name": hook.name,
            "event": hook.match.event,
            "agents": ", ".join(hook.match.agents) or say("every agent"),
            "source": str(hook.source),
            "state": one.state.value,
            "health": one.trouble,
            "runs_what": runs(hook.action),
            "failure": hook.failure.value,
            "timeout": hook.timeout,
            "spread": spread or pictures.Spread(),
            "acts": possible(one, self._parts.controls.state.off),
            "off": one.key in self._parts.controls.state.off,
            "waiting": one.waiting,
            "match": _match(hook),
            "removed": one.digest == REMOVED,
            "digest": "" if one.digest == REMOVED else one.digest,
            "approved": one.approved,
        }


def _match(hook: Hook) -> str:
    """What else must fit, besides agent and event."""
    tool = f"tool {hook.match.tool}" if hook.match.tool else ""
    return ", ".join(filter(None, (tool, hook.match.pattern)))


def both(twice: Twice) -> list[tuple[str, tuple[Turn | None, Turn | None]]]:
    """Each hook's turn then and now, None where it had none."""
    then, now = ({str(hook["name"]): hook for hook in one.hooks} for one in (twice.then, twice.now))
    return [(name, (then.get(name), now.get(name))) for name in {**then, **now}]


View = Callable[[Views, Query, str], str | None]


def _done(query: Query) -> str:
    """What was done just before, said on top of the page that follows."""
    return say(DONE[query["done"]]) if query.get("done") in DONE else ""


def _busy() -> HooktrayError:
    cure = say("its hooks have their time limits; try again after them")
    return HooktrayError(say("another replay is still running"), hint=cure)
