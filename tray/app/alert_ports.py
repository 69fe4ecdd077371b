"""What the alerts get from other parts of the tray, the settings among it, and what their buttons do."""

from __future__ import annotations

from collections.abc import Callable, Collection

import msgspec

from tray.approvals.catalog import HookCatalog
from tray.model.event import Event
from tray.notify.alert import mute_classes
from tray.notify.alert_gate import Look, prove_nothing
from tray.settings import Settings
from tray.store.ledger import Ledger, LedgerState
from tray.store.switch import Switch, SwitchState


class AlertPorts(msgspec.Struct, frozen=True, kw_only=True):
    """Called from any thread. Two texts are the name of an agent and the id of one of its sessions."""

    settings: Callable[[], Settings]
    ask_agents: Callable[[], Collection[str]]
    muted: Callable[[], bool]
    on_delivery: Callable[[tuple[str, ...], str], None]
    icon_visible: Callable[[], bool]
    show_balloon: Callable[[str, str], bool]  # these two are title and text
    trusts: Callable[[int], bool]
    rejected: Callable[[int, Callable[[], None]], None] = lambda pid, work: None
    is_first: Callable[[str], bool] = lambda what: True
    keep_snooze: Callable[[float | None], None] = lambda until: None
    can_focus: Callable[[str, str], bool] = lambda agent, session: False
    look: Look = prove_nothing
    is_headless: Callable[[str, str], bool] = lambda agent, session: False
    session_name: Callable[[str, str], str] = lambda agent, session: ""
    spawn: Callable[[Callable[[], object]], bool] = lambda work: False


class AlertActions(msgspec.Struct, frozen=True, kw_only=True):
    """Called on the thread of the alerts. None of them loosens a gate; by default each does nothing."""

    show_review: Callable[[str, str], None] = lambda key, digest: None
    show_incident: Callable[[], None] = lambda: None
    show_reason: Callable[[str], None] = lambda record: None
    show_form: Callable[[str], None] = lambda question: None
    show_text: Callable[[str, str], None] = lambda name, text: None  # `name` is the file's, without its ending
    show_agents: Callable[[], None] = lambda: None
    go_to_session: Callable[[str, str], None] = lambda agent, session: None
    asked: Callable[[Event], None] = lambda event: None
    put_back: Callable[[str], None] = lambda agent: None
    leave: Callable[[str, str], None] = lambda agent, digest: None
    connect_all: Callable[[tuple[str, ...]], None] = lambda digests: None
    redraw: Callable[[], None] = lambda: None


class AlertSettings:
    """The settings in force, without the classes that the menu turned off; made again when a source changed."""

    def __init__(self, catalog: HookCatalog, ledger: Ledger, switch: Switch) -> None:
        self._catalog, self._ledger, self._switch = catalog, ledger, switch
        # The settings, ledger and switch that the last result was made from, and the result.
        self._known: tuple[Settings, LedgerState, SwitchState, Settings] | None = None

    def __call__(self) -> Settings:
        settings, ledger = self._catalog.configuration.settings, self._ledger.state
        switch = self._switch.current
        known = self._known
        if known is None or known[0] is not settings or known[1] is not ledger or known[2] is not switch:
            found = mute_classes(self._catalog.settings_in_force, switch.muted_classes)
            known = self._known = settings, ledger, switch, found
        return known[3]
