"""What the menu offers beside switching and approving; each part is there only where somebody supplies it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from tray.desktop.menu.state import Offers, Question, Telling


class Login(Protocol):
    """Start at login; `turn` raises HooktrayError when the system does not say afterwards what was asked for."""

    def is_on(self) -> bool: ...
    def turn(self, on: bool) -> None: ...


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
    open_page: Callable[[], None] | None = None
    open_decision: Callable[[str], None] | None = None  # the page of the decision with this id
    connect: Callable[[], None] | None = None
    doctor: Callable[[], object] | None = None

    def offers(self) -> Offers:
        return Offers(
            at_login=self.login.is_on() if self.login else None,
            page=self.open_page is not None,
            connect=self.connect is not None,
            doctor=self.doctor is not None,
        )
