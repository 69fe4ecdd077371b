"""What the menu offers beside switching and approving; a part without a service is left out."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Protocol

import msgspec

from tray.desktop.menu.state import AlertsState, MenuAgent, MenuOptions, MenuQuestion
from tray.model.session import Session


class Login(Protocol):
    """Start at login; `turn` raises HooktrayError when the entry reads back differently."""

    def is_on(self) -> bool: ...
    def turn(self, on: bool) -> None: ...


class AgentActions(Protocol):
    """The state of agents, and connecting them. Raises HooktrayError for what cannot be done.

    `refresh` reads `rows` again, with their previews. `apply` writes the preview with this digest, and returns what
    was done; `connect_all` does that for several agents. `review` shows a preview in full. `put_back` writes our
    entries again, or adds those that hooks need, and `leave` accepts the state with this digest.
    """

    def refresh(self) -> None: ...
    def rows(self) -> tuple[MenuAgent, ...]: ...
    def review(self, agent: str, *, connect: bool) -> None: ...
    def apply(self, agent: str, digest: str) -> str: ...
    def connect_all(self, digests: Collection[str]) -> str: ...
    def probe(self, agent: str) -> None: ...
    def put_back(self, agent: str) -> str: ...
    def leave(self, agent: str, digest: str) -> str: ...
    def show(self) -> None: ...


def _nothing(*_: object) -> None:
    return None


class MenuServices(msgspec.Struct, frozen=True, kw_only=True):
    """Values that the menu shows, and what its rows do. All of it is called on the presenter's thread."""

    alerts: Callable[[], AlertsState] = AlertsState
    failing_hooks: Callable[[], int] = int
    unjudged: Callable[[], int] = int  # calls that ran unjudged since the user last looked
    dropped_rows: Callable[[], int] = int  # decisions that could not be recorded
    sessions: Callable[[], tuple[Session, ...]] = tuple
    go_to_session: Callable[[str, str], None] = _nothing
    questions: Callable[[], tuple[MenuQuestion, ...]] = tuple
    answer: Callable[[str, bool], None] = _nothing
    snooze: Callable[[float | None], None] = _nothing
    end_snooze: Callable[[], None] = _nothing
    set_quiet_hours: Callable[[bool], None] = _nothing
    show_deferred: Callable[[], None] = _nothing
    login: Login | None = None
    open_configuration: Callable[[], None] = _nothing
    open_page: Callable[[], object] | None = None
    open_decision: Callable[[str], object] | None = None  # the page of the decision with this id, or another place
    has_passphrase: Callable[[], bool] | None = None
    agents: AgentActions | None = None
    doctor: Callable[[], object] | None = None
    incident: Callable[[], str] = str  # what happened to the state; "" when nothing did
    show_incident: Callable[[], None] = _nothing
    quit: Callable[[], object] = _nothing
    flat: bool = False  # no submenus inside of submenus

    def options(self) -> MenuOptions:
        return MenuOptions(
            at_login=self.login.is_on() if self.login else None,
            page=self.open_page is not None,
            has_passphrase=self.has_passphrase() if self.has_passphrase and self.open_decision else None,
            doctor=self.doctor is not None,
            flat=self.flat,
        )
