"""What the page shows and acts on; whoever builds the tray hands it in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tray.engine.approval.controls import Controls
from tray.engine.approval.roster import Roster
from tray.engine.callers.clicking import Finding
from tray.engine.replay import Twice
from tray.model.decision import Record
from tray.store.copies import Copies
from tray.store.journal import Journal
from tray.store.statistics import Statistics


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A row of the menu's settings: a tick that is on or off, a thing to do (None), or a heading for `choices`."""

    id: str
    text: str
    on: bool | None = None
    choices: tuple[Choice, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Wired:
    """Whether our lines stand in an agent's settings, and what to do about it."""

    installed: bool
    connected: bool
    advice: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """`look` has the sources looked at again before hooks are shown; `objects` judges the process behind a click.

    `choices` are the settings that the menu has now; `choose` clicks one, unless it is as it should be already.
    `replay` asks the hooks in force once more, and raises HooktrayError when a row cannot be replayed.
    """

    journal: Journal
    statistics: Statistics
    roster: Roster
    copies: Copies
    controls: Controls
    look: Callable[[], None]
    objects: Callable[[int], Finding | None]
    replay: Callable[[Record], Twice]
    choices: Callable[[], tuple[Choice, ...]]
    choose: Callable[[str, bool | None], bool]
    wired: Callable[[], Mapping[str, Wired]]
