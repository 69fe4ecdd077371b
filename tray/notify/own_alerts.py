"""Announces what concerns Hooktray itself and not one event: what waits for the user, and what went wrong."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from msgspec.structs import replace

from tray.agents.registry import display_name
from tray.approvals.catalog import HookState
from tray.approvals.guarded_settings import FILE, GuardedSetting
from tray.language import count, say
from tray.model.decision import Record, SkipReason, Verdict
from tray.model.hook import ApprovalState
from tray.notify.alert import (
    ALARM,
    APP,
    BODY_LIMIT,
    CHANNELS,
    NO_RULES,
    UNDOABLE,
    Alert,
    AlertClass,
    Button,
    Rules,
    SettingsInForce,
    Urgency,
    make_alert,
    rules,
)
from tray.notify.policy import DETAIL, may_have_alerts, short_cause, without_folders
from tray.store.journal import Journal
from tray.text import sanitise

MISSED_LIMIT = 3  # events that one notification names


class AlertSink(Protocol):
    """The part of AlertGate that is used here."""

    def announce(self, alerts: tuple[Alert, ...], record: str = "", /) -> None: ...
    def withdraw(self, keys: tuple[str, ...]) -> None: ...


class OwnAlerts:
    """Announces by the user's rules. No rule silences an alert about guards that may have stopped guarding."""

    def __init__(self, gate: AlertSink, settings: SettingsInForce, notices: Journal) -> None:
        self._gate, self._settings, self._notices = gate, settings, notices
        self._warned: frozenset[str] = frozenset()
        self._waiting: dict[str, str] = {}  # hooks and settings that wait -> their alert
        self._unsupported: set[str] = set()  # agents that the user has been notified of

    @property
    def shows_input(self) -> bool:
        """True if notifications show the tool's input."""
        return self._settings.current.show_input

    def inform(self, title: str, text: str) -> None:
        """Announces the result of what the user has just done."""
        self._gate.announce((information(" · ".join(filter(None, (title, text))), self._settings.current.alerts),))

    def alarm(self, title: str, text: str, *, about: str = "") -> str:
        """Announces at once, as critical, that guards may have stopped guarding. Returns the alert's key.

        `about` is what the button Review opens.
        """
        alert = make_alert(
            AlertClass.INFORMATION, title, text, "|".join((APP, title, AlertClass.INFORMATION)), NO_RULES,
            urgency=Urgency.CRITICAL, about=about, buttons=(Button.REVIEW,) if about else (),
        )  # fmt: skip
        self._gate.announce((replace(alert, sound=ALARM),))
        return alert.key

    def withdraw(self, key: str) -> None:
        """Withdraws an alert whose cause is gone."""
        self._gate.withdraw((key,))

    # ---- what waits, and what the user decided

    def hook_waiting(self, state: HookState) -> None:
        """Announces that a hook waits for the approval of its exact content."""
        name, cls = state.hook.name, AlertClass.APPROVAL_PENDING
        body = say("{name} on {event} waits for your approval", name=name, event=state.hook.match.event)
        if state.state is ApprovalState.CHANGED:
            cls, body = (
                AlertClass.CHANGED,
                " · ".join(
                    (
                        say("{name} changed since approval; the approved copy goes on running", name=name),
                        say("review it under Approvals"),
                    )
                ),
            )
        self._announce_waiting(state.key, replace(self._alert(cls, body, name, opens=state.key), digest=state.digest))

    def setting_waiting(self, setting: GuardedSetting) -> None:
        """Announces, once for each value, that a setting of the file does not count until the user confirms it."""
        if setting.id not in self._waiting:
            body = say("{setting} does not count until you confirm it under Approvals", setting=setting.text)
            self._announce_waiting(setting.id, self._alert(AlertClass.APPROVAL_PENDING, body, setting.key))

    def _announce_waiting(self, key: str, alert: Alert) -> None:
        self._waiting[key] = alert.key
        self._gate.announce((alert,))

    def withdraw_except(self, waiting: Collection[str]) -> None:
        """Withdraws the alerts of hooks and settings that no longer wait; `waiting` has the keys of the others."""
        stale = [key for key in self._waiting if key not in waiting]
        if stale:
            self._gate.withdraw(tuple(self._waiting.pop(key) for key in stale))

    def switched(self, text: str, channel: str, undo: str = "") -> None:
        """Announces a switch, a pause or an approval by `channel`; `undo` is the key of its undo, or ""."""
        by = say(CHANNELS[channel]) if channel in CHANNELS else say("by {who}", who=channel) if channel else ""
        where = say("undo it under Approvals") if channel in UNDOABLE else ""
        body = " · ".join(filter(None, (text, by, where)))
        silencing = NO_RULES if channel == FILE else None  # an edit cannot silence its own notification
        self._announce_undo(self._alert(AlertClass.SWITCHED, body, among=silencing), undo)

    def trial_failed(self, hook: str, cause: str, remedy: str, undo: str) -> None:
        """Announces that a hook failed its test run after the approval; `undo` revokes the approval."""
        what = say("{hook} failed its test run", hook=sanitise(hook, 30))
        body = f"{what} · {sanitise(short_cause(cause, remedy), DETAIL)} · {remedy}"
        self._announce_undo(self._alert(AlertClass.HOOK_FAILED, body, f"trial {hook}"), undo)

    def _announce_undo(self, alert: Alert, undo: str) -> None:
        buttons = (Button.UNDO,) if undo else ()
        self._gate.announce((replace(alert, reply=True, about=undo, buttons=buttons),))

    # ---- files that are not as they should be

    def config_broken(self, problem: str) -> None:
        """Announces that a configuration cannot be read, its remedy, and that the last good one stays in force."""
        what, _, remedy = problem.partition("\n")
        force = say("The last good configuration stays in force")
        end = " · ".join(filter(None, (sanitise(remedy, DETAIL), force)))
        body = f"{sanitise(without_folders(what), BODY_LIMIT - len(end) - 3)} · {end}"
        self._announce_normal(body, "config", apart=True)

    def source_warnings(self, warnings: Sequence[str]) -> None:
        """Announces the new ones of `warnings`, which are all present problems of the sources.

        They concern entries in files of other formats that yield no hook, or another hook than the user meant.
        """
        fresh = [warning for warning in warnings if warning not in self._warned]
        self._warned = frozenset(warnings)
        if not fresh:
            return
        more = ""
        if others := len(fresh) - 1:
            more = count("and {n} more, see `hooktray list`", "and {n} more, see `hooktray list`", others)
        what, _, hint = fresh[0].partition("\n")
        body = " · ".join(filter(None, (without_folders(what), hint.strip(), more)))
        self._announce_normal(body, "sources", apart=True)

    def entries_changed(self, agent: str, text: str, digest: str, *, critical: bool, wanted: bool = False) -> str:
        """Announces that an agent's settings have other entries than `connect` wrote. Returns the alert's key.

        `critical`: guards stopped guarding. `wanted`: all guards guard, but hooks need more entries.
        """
        title = say("{agent} no longer asks Hooktray as before", agent=display_name(agent))
        if wanted:
            title = say("A hook needs more events of {agent}", agent=display_name(agent))
        alert = make_alert(
            AlertClass.INFORMATION, title, text, "|".join((APP, agent, "entries")),
            NO_RULES if critical else self._settings.current.alerts,
            urgency=Urgency.CRITICAL if critical else Urgency.NORMAL, about=agent, digest=digest,
            buttons=(Button.CONNECT if wanted else Button.PUT_BACK, Button.LEAVE),
        )  # fmt: skip
        self._gate.announce((replace(alert, sound=ALARM) if critical else alert,))
        return alert.key

    # ---- what happened without the tray

    def unjudged(self, title: str, text: str, row: Record) -> None:
        """Announce calls that ran unjudged; `row` is the last. The session's next one replaces this one."""
        key = "|".join((row.agent, row.session, AlertClass.UNJUDGED))
        ours = rules(self._settings.current, row.project)
        alert = make_alert(AlertClass.UNJUDGED, title, text, key, ours, project=row.project, about=row.id)
        self._gate.announce((alert,), row.id)

    def summarize_offline(self, rows: Sequence[Record]) -> None:
        """What the one-shot engine decided while the tray was not running, summed up."""
        text = count(
            "{n} event was answered while the tray was not running",
            "{n} events were answered while the tray was not running",
            len(rows),
        )
        self._summarize(rows, text, rows)

    def summarize_missed(self, rows: Sequence[Record]) -> None:
        """Sum up what it decided while the tray was busy; only events that may have raised an alert are counted."""
        missed = [row for row in rows if may_have_alerts(row)]
        text = count(
            "{n} event was answered without the tray, which was busy",
            "{n} events were answered without the tray, which was busy",
            len(missed),
        )
        names = list(dict.fromkeys(f"{display_name(row.agent)} {row.event}" for row in missed))
        shown = names[:MISSED_LIMIT] + ["…"] * (len(names) > MISSED_LIMIT)
        self._summarize(missed, f"{text}: {', '.join(shown)}", rows)

    def _summarize(self, counted: Sequence[Record], text: str, rows: Sequence[Record]) -> None:
        for record in rows:
            self._report_unsupported(record)
        if counted:
            denied = sum(record.verdict.word == "deny" for record in counted)
            more = count("{n} of them was denied", "{n} of them were denied", denied) if denied else ""
            self.inform(text, more)
        # One critical alert for all guards that failed without the tray and whose agents cannot ask.
        calls = [record for record in rows if record.verdict < Verdict.ASK and _let_through(record)]
        if calls:
            hook = _let_through(calls[-1])[-1]
            title = count(
                "A guard failed without the tray, and {n} call was not stopped",
                "Guards failed without the tray, and {n} calls were not stopped",
                len(calls),
            )
            self.alarm(title, f"{hook.get('name', '')} · {display_name(calls[-1].agent)} · {hook.get('cause', '')}")

    def _report_unsupported(self, record: Record) -> None:
        """An unsupported agent ran a hook command of ours: the user is notified once of each such agent."""
        if record.skip_reason is None or record.test or record.agent in self._unsupported:
            return
        self._unsupported.add(record.agent)
        if not self._notices.is_first(record.agent):
            return
        agent, line = display_name(record.agent), display_name(record.via_agent)
        if record.skip_reason is SkipReason.NOT_UNDERSTOOD:
            body = say("An event of Hooktray's {line} hooks was not understood: no hook was asked", line=line)
        else:
            body = " · ".join(
                (
                    say("{agent} runs Hooktray's {line} hooks", agent=agent, line=line),
                    say("{agent} is not supported yet: its tool calls are not guarded", agent=agent),
                    say("`hooktray agents` shows where"),
                )
            )
        self._announce_normal(body, agent, record.id)

    # ---- how they are made

    def _announce_normal(self, body: str, about: str, record: str = "", *, apart: bool = False) -> None:
        alert = self._alert(AlertClass.INFORMATION, body, about, urgency=Urgency.NORMAL)
        self._gate.announce((replace(alert, apart=apart),), record)

    def _alert(
        self,
        cls: AlertClass,
        body: str,
        about: str = "",
        *,
        opens: str = "",
        urgency: Urgency | None = None,
        among: Rules | None = None,
    ) -> Alert:
        """Returns an alert whose button opens `opens`. `among` are rules instead of those for all projects."""
        chosen = self._settings.current.alerts if among is None else among
        return make_alert(cls, APP, body, "|".join((APP, about, cls)), chosen, urgency=urgency, about=opens)


def information(text: str, rules: Rules) -> Alert:
    """Returns a reply to a user's action. Its urgency is not low, as GNOME shows no banner for low urgency."""
    key = "|".join((APP, text, AlertClass.INFORMATION))
    return replace(make_alert(AlertClass.INFORMATION, APP, text, key, rules, urgency=Urgency.NORMAL), reply=True)


def _let_through(record: Record) -> list[Mapping[str, object]]:
    return [hook for hook in record.hooks if hook.get("let_through")]
