"""Adopting: the user's own hooks leave an agent's settings and go on below us, as a source; `release` undoes it.

They are kept as they were written in <config>/adopted/AGENT/, in a file that hooktray.yaml then names for that agent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tray.connect import adopt_claude, adopt_starchild, adopt_x_code, claude_code, starchild
from tray.connect.book import Book
from tray.connect.edit import Change, File, look, settled
from tray.connect.json_text import is_blank
from tray.connect.plan import Plan, Site, Wire, sourced
from tray.errors import HooktrayError

SHELLEY = (
    "`hooktray connect shelley` does it: your own executables become hooks below Hooktray; "
    "`hooktray disconnect shelley` puts them back"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Adopter:
    """How one agent's hooks are moved. `take` gives what stays, what goes and how many go, and for each that stays
    why; it writes nothing."""

    settings: Callable[[Site], Path]
    wires: Callable[[Site], Sequence[Wire]]
    take: Callable[[Site, bytes, Path, Path], tuple[bytes, bytes, int, list[str]]]
    give: Callable[[bytes, Path, bytes, Path], bytes]
    empty: bytes  # a settings file with nothing in it


ADOPTERS: dict[str, Adopter] = {
    "claude-code": Adopter(
        settings=claude_code.settings,
        wires=claude_code.wires,
        take=adopt_claude.take,
        give=adopt_claude.give,
        empty=b"{}\n",
    ),
    "starchild": Adopter(
        settings=starchild.settings,
        wires=starchild.wires,
        take=adopt_starchild.take,
        give=adopt_starchild.give,
        empty=b"",
    ),
}


def notes(site: Site) -> Book:
    """What the settings said before, apart from what `connect` wrote there."""
    return Book(site.paths.state / "adoptions")


def adopted(site: Site, agent: str) -> Path:
    """Where they are meanwhile; the file is called as the agent's own."""
    name = "settings.json" if agent == "claude-code" else "shell_hooks.yaml"
    return site.paths.config.parent / "adopted" / agent / name


def adopt(site: Site, agent: str) -> Plan:
    """Move what can run below us; the rest stays where it is, and is told."""
    if agent == adopt_x_code.AGENT:
        return adopt_x_code.adopt(site)
    one, aside = _adopter(site, agent), adopted(site, agent)
    shown = one.settings(site)
    path = settled(shown)
    now, kept = look(path), look(aside)
    if kept is not None:
        hint = f"`hooktray release {agent}` puts them back first"
        raise HooktrayError(f"{aside}: holds hooks that were adopted before", hint=hint)
    text = now.text if isinstance(now, File) else b""
    stays, goes, moved, why = one.take(site, text, path, aside) if not is_blank(text) else (b"", b"", 0, [])
    if not isinstance(now, File) or not (moved or why):
        raise HooktrayError(f"{path}: no hook of yours is in it", hint="there is nothing to adopt")
    if not moved:
        raise HooktrayError(f"{path}: no hook in it can be adopted", hint="; ".join(dict.fromkeys(why)))
    after = File(text=stays, mode=now.mode)
    changes = [
        Change(path=aside, before=None, after=File(text=goes)),
        Change(path=path, before=now, after=after, origin=now, shown=shown),
        sourced(site, _entry(site, agent), there=True),
    ]
    said = [f"{number} of your hooks stay: {reason}." for reason, number in Counter(why).items()]
    hooks = "hook" if moved == 1 else "hooks"
    said.append(
        f"{moved} {hooks} moved; none runs until you have approved it in the tray's menu. Each then runs once on a "
        f"test event; `hooktray release {agent}` puts all of them back."
    )
    if not one.wires(site):
        said.append(f"Until `hooktray connect {agent}` no event reaches them.")
    return Plan(changes=tuple(filter(None, changes)), notes=tuple(said))


def release(site: Site, agent: str) -> Plan:
    """Put them back: the old bytes if nobody edited since, else each hook behind what is there now."""
    if agent == adopt_x_code.AGENT:
        return adopt_x_code.release(site, notes(site))
    one, aside = _adopter(site, agent), adopted(site, agent)
    book = notes(site)
    away = next((kept for kept in book.of(agent) if kept.path != aside), None)  # it may be of another folder
    shown = away.path if away else one.settings(site)
    path, own = settled(shown), look(aside)
    now, moved = look(path), book.get(aside)
    if not isinstance(own, File):
        raise HooktrayError(f"{aside}: there is nothing to put back", hint=f"`hooktray adopt {agent}` comes first")
    if away and away.after == now and moved and moved.after == own:
        after = away.before
    else:
        there = now if isinstance(now, File) and not is_blank(now.text) else File(text=one.empty)
        after = replace(there, text=one.give(there.text, path, own.text, aside))
    changes = [
        Change(path=path, before=now, after=after, shown=shown),
        Change(path=aside, before=own, after=None),
        sourced(site, _entry(site, agent), there=False),
    ]
    return Plan(changes=tuple(filter(None, changes)))


def left(site: Site, agent: str) -> str:
    """What somebody who disconnects should know of adopted hooks; "" when there are none."""
    there = agent == adopt_x_code.AGENT and adopt_x_code.adopted(site)
    if there or (agent in ADOPTERS and adopted(site, agent).exists()):
        return f"Your adopted hooks hear nothing then; `hooktray release {agent}` puts them back."
    return ""


def _adopter(site: Site, agent: str) -> Adopter:
    if agent == "shelley":
        raise HooktrayError("hooks of shelley are not moved by this command", hint=SHELLEY)
    if site.scope != "user":
        raise HooktrayError("a project's hooks stay with their project", hint="leave out --scope")
    return ADOPTERS[agent]


def _entry(site: Site, agent: str) -> Mapping[str, Any]:
    return {agent: str(adopted(site, agent)), "agent": agent}
