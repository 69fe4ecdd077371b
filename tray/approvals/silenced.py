"""Finds edits of hooktray.yaml that silence notifications of guards, and undoes them (decision 49).

Such an edit takes effect at once. The ledger records which notifications the file silenced when the tray last read
it, so each edit is announced once, even one made while no tray ran.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from tray.approvals.guarded_settings import digest_of, record_edit
from tray.edit.file_changes import File, FileChange, apply, read_state, resolve_links
from tray.errors import ConfigError, HooktrayError
from tray.files import user_file
from tray.language import say
from tray.settings import AlertRule, Settings
from tray.store.ledger import Ledger, LedgerAction
from tray.strict.document import Document
from tray.strict.yaml_reader import load_yaml
from tray.text import sanitise

CLASSES = ("asked", "blocked", "hook_failed", "hook_timed_out")
KEY = "setting:silenced"

Place = tuple[str, ...]  # path of a rule in the file: ("alerts", CLASS) or ("projects", PROJECT, CLASS)
Notify = Mapping[Place, bool]  # the value of `notify` in each rule that has it


class Silenced(msgspec.Struct, frozen=True, kw_only=True):
    """What one edit silenced."""

    config: Path
    classes: tuple[tuple[str | None, str], ...]  # (project, class); project None means every project
    places: tuple[Place, ...]  # of the rules that silence them

    @property
    def text(self) -> str:
        """Returns the sentence for the user, with the line of the first such rule if it is known."""
        try:
            marks = load_yaml(user_file(self.config), str(self.config)).marks
        except (OSError, ConfigError):
            marks = {}
        lines = [marks[place].line for place in self.places if place in marks]
        file = f"{self.config.name}:{min(lines)}" if lines else self.config.name
        return say("{file} silences {classes}", file=file, classes=self._names())

    def _names(self) -> str:
        everywhere = [cls for project, cls in self.classes if project is None]
        others = [
            f"{sanitise(project, 40)}: {cls}"
            for project, cls in self.classes
            if project is not None and cls not in everywhere
        ]
        return ", ".join([*everywhere, *others])

    def undo(self) -> str:
        """Write `notify: true` into these rules. Returns the sentence for the user. Raises HooktrayError."""
        path = resolve_links(self.config)
        before = read_state(path)
        text = before.text if isinstance(before, File) else b""
        after = File(text=_notifying(text, str(self.config), self.places), mode=getattr(before, "mode", 0o600))
        apply([FileChange(path=path, before=before, after=after)])
        return say("{file} no longer silences {classes}", file=self.config.name, classes=self._names())


def record(settings: Settings, ledger: Ledger, config: Path) -> Silenced | None:
    """Record which notifications the file silences.

    Returns those that it did not silence before, or None if there are none. Raises StoreError.
    """
    new, old = _notify(settings), _recorded(ledger)
    if new == old:
        return None
    text = msgspec.json.encode(sorted(new.items())).decode()
    record_edit(ledger, LedgerAction.APPROVE, KEY, digest_of(text), text)
    projects = (None, *(place[1] for place in (*new, *old) if place[0] == "projects"))
    every = [(project, cls) for project in dict.fromkeys(projects) for cls in CLASSES]
    classes = tuple(one for one in every if _is_silent(new, *one) and not _is_silent(old, *one))
    places = dict.fromkeys(_place(new, *one) for one in classes)
    return Silenced(config=config, classes=classes, places=tuple(places)) if classes else None


def _notify(settings: Settings) -> Notify:
    rules: dict[Place, AlertRule] = {("alerts", cls): rule for cls, rule in settings.alerts.items()}
    for project, own in settings.projects.items():
        rules |= {("projects", project, cls): rule for cls, rule in own.items()}
    return {place: rule.notify for place, rule in rules.items() if place[-1] in CLASSES and rule.notify is not None}


def _recorded(ledger: Ledger) -> Notify:
    try:
        rows = msgspec.json.decode(ledger.state.setting_texts.get(KEY, "[]"), type=list[tuple[Place, bool]])
    except msgspec.DecodeError:
        return {}
    return dict(rows)


def _is_silent(notify: Notify, project: str | None, cls: str) -> bool:
    everywhere = notify.get(("alerts", cls), True)
    return not (everywhere if project is None else notify.get(("projects", project, cls), everywhere))


def _place(notify: Notify, project: str | None, cls: str) -> Place:
    """Returns the place of the rule that decides `notify` for this class."""
    own = ("projects", project or "", cls)
    return own if project is not None and own in notify else ("alerts", cls)


def _notifying(text: bytes, path: str, places: tuple[Place, ...]) -> bytes:
    """Returns `text` with `notify: true` in these rules and otherwise unchanged. Raises HooktrayError."""
    document = load_yaml(text, path)
    silent = [place for place in places if _rule(document, place).get("notify") is False]
    if not silent:
        raise HooktrayError(say("it has been decided anew since"))
    edited, lines = text.decode(), document.text.split("\n")
    begin = len(edited) - len(document.text)  # after a byte order mark
    for line, column in sorted((document.value_marks[(*place, "notify")] for place in silent), reverse=True):
        at = begin + sum(len(one) + 1 for one in lines[: line - 1]) + column - 1
        edited = f"{edited[:at]}true{edited[at + len('false') :]}"
    for place in silent:
        _rule(document, place)["notify"] = True
    try:
        is_changed = load_yaml(edited, "").value == document.value
    except ConfigError:
        is_changed = False
    if not is_changed:
        raise HooktrayError(
            say("{file} is written in a way that Hooktray does not edit", file=path),
            hint=say("write `notify: true` there"),
        )
    return edited.encode()


def _rule(document: Document, place: Place) -> dict[str, object]:
    """Returns the rule at this place, or an empty one."""
    value = document.value
    for step in place:
        value = value.get(step) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}
