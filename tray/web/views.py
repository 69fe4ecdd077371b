"""What each page shows: from the stores to a template's variables. Reads only; runs outside the event loop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from urllib.parse import urlencode

from msgspec.structs import replace

from tray.agents.registry import AGENTS, UNKNOWN, UNSUPPORTED
from tray.approvals.batch import summary_lines
from tray.approvals.callers.click_check import ClickRejection
from tray.approvals.catalog import REMOVED, HookState
from tray.approvals.review import definition_rows, describe_action, hook_id
from tray.engine.replay import ReplayComparison
from tray.engine.sentence import sentence
from tray.errors import HooktrayError
from tray.language import phrase, say
from tray.model.decision import Record
from tray.model.hook import Command, Failure, Http, Rule
from tray.model.session import STATE_WORDS
from tray.store.stats import HOUR, MAX_ROWS, MAX_RUN_ROWS, Statistics
from tray.web import charts, filters
from tray.web.actions import PageActions, possible_actions
from tray.web.parts import PageParts, PageSetting
from tray.web.request_checks import Refusal
from tray.web.review_diff import review_diff
from tray.web.templating import VERDICTS, templates

AGENT_ROWS = "settings/agents"  # where the menu has the rows of agents
PAGE_SIZE = 50  # decisions
MAX_SESSIONS = 100
TITLE_LIMIT = 80  # characters of the title of a decision's page
FAILURE_TEXTS: Mapping[str, str] = {Failure.DEFAULT: phrase("ask, or allow where the agent cannot ask")}
DAY = 24 * HOUR
DONE_MESSAGES: Mapping[str, str] = {
    "allow": phrase("Done."),
    "approve": phrase("Approved. These bytes run from now on."),
    "batch": phrase("Approved. These bytes run from now on."),
    "deny": phrase("Denied."),
    "disable": phrase("Switched off. It stays approved."),
    "dismiss": phrase("Dismissed."),
    "enable": phrase("Switched on."),
    "forget": phrase("The passphrase is forgotten."),
    "grant": phrase("It gets the variable from now on."),
    "off": phrase("Hooks are off."),
    "passphrase": phrase("The passphrase is set."),
    "pause": phrase("Hooks are paused."),
    "revoke": phrase("Revoked. Nothing of it runs any more."),
    "withhold": phrase("It no longer gets the variable."),
    "undo": phrase("Its last approval is taken back."),
}

Query = Mapping[str, str]
OutcomeRow = Mapping[str, object]


class PageViews:
    """One method a page; each returns the page's HTML, or None for an unknown one."""

    def __init__(self, parts: PageParts, actions: PageActions) -> None:
        self._parts = parts
        self._journal = parts.stores.journal
        self._statistics = Statistics(parts.stores.database)
        self._controls = parts.controls
        self._actions = actions
        self._templates = templates()
        self._replay_lock = threading.Lock()

    def decisions(self, query: Query, target: str = "") -> str:
        wanted = filters.parse(query)
        before = query.get("before", "")[: filters.MAX_LENGTH]
        rows, older = self._before(wanted, before)
        return self._page(
            "decisions", say("Decisions"), rows=rows, filter=wanted, older=older,
            newest=urlencode(wanted.active), before=before, agents=self._agents(),
            verdicts=VERDICTS, live="" if before else urlencode(wanted.active),
        )  # fmt: skip

    def rows(self, wanted: filters.DecisionFilter, after: str) -> list[Record]:
        """What came in since the decision `after`, oldest first."""
        found = self._journal.recent(PAGE_SIZE, replace(wanted, after=after), brief=True) if after else []
        return found[::-1]

    def row(self, record: Record) -> str:
        """One decision as a piece of the list, on one line."""
        return " ".join(self._templates.get_template("row.html").render(one=record).split("\n"))

    def decision(self, query: Query, target: str) -> str | None:
        record = self._journal.get(target)
        return self._decision(record) if record else None

    def replay(self, target: str) -> str | None:
        """The decision once more, with the outcome of the hooks in force now; one replay at a time."""
        record = self._journal.get(target)
        if record is None:
            return None
        if not self._replay_lock.acquire(blocking=False):
            hint = say("its hooks have their time limits; try again after them")
            return self._decision(record, error=HooktrayError(say("another replay is still running"), hint=hint))
        try:
            return self._decision(record, comparison=self._parts.replayer.compare(record))
        except HooktrayError as error:
            return self._decision(record, error=error)
        finally:
            self._replay_lock.release()

    def _decision(
        self, record: Record, *, comparison: ReplayComparison | None = None, error: HooktrayError | None = None
    ) -> str:
        return self._page(
            "decision", sentence(record, TITLE_LIMIT), one=record, replay=comparison, replay_error=error,
            outcome_pairs=outcome_pairs(comparison) if comparison else [],
        )  # fmt: skip

    def sessions(self, query: Query, target: str = "") -> str:
        return self._page(
            "sessions",
            say("Sessions"),
            sessions=self._statistics.sessions(MAX_SESSIONS),
            board=self._parts.board.sessions,
            states={state: say(word) for state, word in STATE_WORDS.items()},
            forms={(one.event.agent, one.event.session): one.id for one in self._parts.questions.open if one.form},
        )

    def question(self, query: Query, target: str) -> str:
        asked = self._actions.open_question(target)
        return self._page("question", say("Question"), asked=asked, answered=query.get("done") == "answer")

    def session(self, query: Query, target: str = "") -> str | None:
        wanted = filters.DecisionFilter(
            agent=query.get("agent", ""), session=query.get("session", "")[: filters.MAX_LENGTH]
        )
        rows, older = self._before(wanted, query.get("before", "")[: filters.MAX_LENGTH])
        if not wanted.session or not rows:
            return None
        return self._page("session", say("Session"), filter=wanted, rows=rows, older=older)

    def hooks(self, query: Query, target: str = "") -> str:
        self._parts.menu.refresh()
        durations = charts.durations_by_hook(self._statistics.hook_runs(time.time() - 30 * DAY))
        catalog = self._parts.catalog
        batches = (one for one in self._controls.batches if len(one.hooks) > 1 or not one.source)
        return self._page(
            "hooks", say("Hooks"),
            hooks=[self._hook(one, durations.get(one.hook.name)) for one in catalog.states],
            settings=[(one, hook_id(one.key)) for one in self._actions.pending_settings()],
            requests=self._controls.requests, batches=[(one, summary_lines(one)) for one in batches],
            problem=catalog.configuration.problem,
            warnings=catalog.configuration.warnings, done=_done_message(query),
            rows_looked_at=MAX_RUN_ROWS,
        )  # fmt: skip

    def hook(self, query: Query, target: str) -> str | None:
        self._parts.menu.refresh()
        one = self._actions.find_hook(target)
        if one is None:
            return None
        turns = self._statistics.hook_runs(time.time() - 30 * DAY, hook=one.hook.name)
        return self._page(
            "hook", say("Hook"), hook=self._hook(one, charts.hook_durations(turns)), covered=one.covered,
            changes=review_diff(one, self._parts.stores.copies),
            definition=one.hook.source.text.splitlines() or definition_rows(one.hook.definition),
            done=_done_message(query),
        )  # fmt: skip

    def confirm(self, query: Query, target: str) -> str | None:
        self._parts.menu.refresh()
        try:
            question = self._actions.question(target, query.get("of", ""), query.get("variable", ""))
        except HooktrayError as error:
            return self.refusal(Refusal(200, error.message, error.hint, has_back_link=True))
        return self._page("confirm", say("Confirm"), question=question) if question else None

    def statistics(self, query: Query, target: str = "") -> str:
        now = time.time()
        turns = self._statistics.hook_runs(now - DAY)
        return self._page(
            "statistics", say("Statistics"),
            decisions=charts.decision_chart(self._statistics.hours(now - DAY), now),
            failures=charts.failure_chart(turns, now),
            durations=charts.durations_by_hook(turns).items(),
            lost=self._journal.dropped, rows_looked_at=MAX_ROWS, turns_looked_at=MAX_RUN_ROWS,
        )  # fmt: skip

    def agents(self, query: Query, target: str = "") -> str:
        active = self._statistics.agent_activity(self._agents(), time.time() - DAY)
        silent = [agent for agent in AGENTS if agent not in {one.agent for one in active}]
        connections = self._parts.menu.connections()
        changed = []
        for agent, one in connections.items():
            if one.changed:
                title = say("{agent} no longer asks Hooktray as before", agent=AGENTS[agent].name)
                if one.is_wanted:
                    title = say("A hook needs more events of {agent}", agent=AGENTS[agent].name)
                changed.append((title, one.changed, _entry_actions(self._parts.menu.settings(), agent)))
        last = {one.agent: self._journal.get(one.decision) for one in active}
        return self._page(
            "agents", say("Agents"), active_agents=active, last=last, silent_agents=silent, unsupported=UNSUPPORTED,
            changed_agents=changed, connections=connections, offers=self._parts.menu.offers(),
            packages=AGENTS.packaged.packages, known=(*AGENTS, UNKNOWN),
        )  # fmt: skip

    def switch(self, query: Query, target: str = "") -> str:
        return self._page(
            "switch", say("Switch and settings"), done=_done_message(query),
            page_settings=self._parts.menu.settings(), has_passphrase=self._controls.passphrase.is_set,
        )  # fmt: skip

    def enter(self, query: Query, target: str = "") -> str:
        return self._templates.get_template("enter.html").render()

    def ask_passphrase(self, found: ClickRejection, path: str, fields: Mapping[str, str], *, was_wrong: bool) -> str:
        """The form once more, with the passphrase that it lacks."""
        return self._templates.get_template("passphrase.html").render(
            why=found.objection.title, detail=found.detail, path=path, fields=fields, was_wrong=was_wrong
        )

    def refusal(self, found: Refusal) -> str:
        return self._templates.get_template("refusal.html").render(
            why=say(found.why), detail=found.detail, remedy=found.remedy and say(found.remedy),
            has_back_link=found.has_back_link,
        )  # fmt: skip

    def _agents(self) -> tuple[str, ...]:
        """Those that are known, then those of which only the journal knows: their packages are gone."""
        return tuple(dict.fromkeys((*AGENTS, *UNSUPPORTED, UNKNOWN, *self._statistics.agent_names())))

    def _before(self, wanted: filters.DecisionFilter, before: str) -> tuple[list[Record], str]:
        """Returns the decisions of one page, older than the id `before` if given, and the query of the next page."""
        rows = self._journal.recent(PAGE_SIZE + 1, replace(wanted, before=before), brief=True)
        older = urlencode({**wanted.active, "before": rows[PAGE_SIZE - 1].id}) if len(rows) > PAGE_SIZE else ""
        return rows[:PAGE_SIZE], older

    def header(self) -> str:
        """What the header of every page shows: whether hooks run, and how many approvals wait."""
        switch = self._controls.state
        state = "off" if not switch.enabled else "paused" if switch.paused_until else "on"
        return f"{state} {self._waiting()}"

    def _waiting(self) -> int:
        hooks = sum(one.waiting for one in self._parts.catalog.states)
        return hooks + len(self._controls.requests) + len(self._actions.pending_settings())

    def _page(self, template: str, title: str, **names: object) -> str:
        return self._templates.get_template(f"{template}.html").render(
            title=title,
            page_name=template,
            switch=self._controls.state,
            waiting=self._waiting(),
            header=self.header(),
            **names,
        )

    def _hook(self, one: HookState, durations: charts.HookDurations | None) -> dict[str, object]:
        hook = one.hook
        tool = f"tool {hook.match.tool}" if hook.match.tool else ""
        return {
            "id": hook_id(one.key),
            "name": hook.name,
            "event": hook.match.event,
            "agents": ", ".join(hook.match.agents) or say("every agent"),
            "source": str(hook.source),
            "state": one.state.value,
            "health": one.problem,
            "runs_what": describe_action(hook.action),
            "can_fail": not isinstance(hook.action, Rule),
            "failure": say(FAILURE_TEXTS.get(hook.failure, hook.failure.value)),
            "timeout": hook.timeout,
            "durations": durations or charts.HookDurations(),
            "actions": possible_actions(one, self._controls.state.hooks_off),
            "off": one.key in self._controls.state.hooks_off,
            "waiting": one.waiting,
            "match": ", ".join(filter(None, (tool, hook.match.pattern))),  # besides agent and event
            "removed": one.digest == REMOVED,
            "granted": one.granted,
            "asks_for": one.asks_for,
            "can_be_granted": bool(one.approved) and isinstance(hook.action, Command | Http),
            "digest": "" if one.digest == REMOVED else one.digest,
            "approved": one.approved,
        }


def outcome_pairs(comparison: ReplayComparison) -> list[tuple[str, tuple[OutcomeRow | None, OutcomeRow | None]]]:
    """Each hook's outcome then and now, None where it had none."""
    then, now = ({str(hook["name"]): hook for hook in one.hooks} for one in (comparison.then, comparison.now))
    return [(name, (then.get(name), now.get(name))) for name in {**then, **now}]


View = Callable[[PageViews, Query, str], str | None]


def _done_message(query: Query) -> str:
    """What was done just before, for the top of the page that follows."""
    return say(DONE_MESSAGES[query["done"]]) if query.get("done") in DONE_MESSAGES else ""


def _entry_actions(settings: Iterable[PageSetting], agent: str) -> tuple[PageSetting, ...]:
    """The menu's rows that put an agent's entries back, or leave them."""
    rows = tuple(row for one in settings for row in (one, *_entry_actions(one.settings, agent)))
    starts = tuple(f"{AGENT_ROWS}/{agent}/{word}" for word in ("put_back", "leave"))
    return tuple(row for row in rows if row.id.startswith(starts))
