"""What the menu offers beside switching and approving; each part is there only where somebody supplies it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from tray.desktop.menu.state import Offers, Question, Telling, Wired


class Login(Protocol):
    """Start at login; `turn` raises HooktrayError when the system does not say afterwards what was asked for."""

    def is_on(self) -> bool: ...
    def turn(self, on: bool) -> None: ...


class Agents(Protocol):
    """How agents stand, and connecting them. What cannot be done is raised as HooktrayError.

    `look` sees to it that `rows` are fresh. `take` writes the difference that `review` has shown, found by its
    digest, and says what was done.
    """

    def look(self) -> None: ...
    def rows(self) -> tuple[Wired, ...]: ...
    def review(self, agent: str, *, connect: bool) -> None: ...
    def take(self, agent: str, digest: str) -> str: ...
    def probe(self, agent: str) -> None: ...
    def show(self) -> None: ...


def _nothing(*_: object) -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Extras:
    """Values that the menu shows, and what its rows do. All of it is called on the face's thread."""

    telling: Callable[[], Telling] = Telling
    trouble: Callable[[], int] = int
    lost: Callable[[], int] = int  # decisions that could not be written down
    questions: Callable[[], tuple[Question, ...]] = tuple
    answer: Callable[[str, bool], None] = _nothing
    snooze: Callable[[float | None], None] = _nothing
    wake: Callable[[], None] = _nothing
    heed_quiet: Callable[[bool], None] = _nothing
    show_held: Callable[[], None] = _nothing
    login: Login | None = None
    open_configuration: Callable[[], None] = _nothing
    open_page: Callable[[], object] | None = None
    open_decision: Callable[[str], object] | None = None  # the page of the decision with this id
    agents: Agents | None = None
    doctor: Callable[[], object] | None = None
    incident: Callable[[], str] = str  # what happened to the state folder; "" when nothing did
    show_incident: Callable[[], None] = _nothing
    quit: Callable[[], object] = _nothing
    damage: Callable[[], str] = str  # what happened to the database, in a few words; "" when nothing did
    review_batch: Callable[[], None] = _nothing

    def offers(self) -> Offers:
        return Offers(
            at_login=self.login.is_on() if self.login else None,
            page=self.open_page is not None,
            doctor=self.doctor is not None,
        )
