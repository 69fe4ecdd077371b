"""Programs that are not what was approved: one question for each, whichever hooks use it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from os import pathsep

from tray.approvals.guarded_settings import GuardedSetting
from tray.approvals.program_check import ProgramChange, ProgramChecker
from tray.language import count
from tray.model.hook import Command
from tray.store.copies import Bundle, Copies, DamagedError
from tray.store.ledger import ApprovedHook, LedgerState
from tray.store.pins import PROGRAM

MAX_NAMES = 5  # hooks that a question names


def questions(
    ledger_state: LedgerState, checker: ProgramChecker, search: Callable[[], str]
) -> Iterator[GuardedSetting]:
    """What a person may approve in the place of a program that changed, moved or has another one before it."""
    users: dict[str, tuple[ProgramChange, list[str]]] = {}
    for one in ledger_state.ordered:
        if one.pins is None or checker.is_unchanged(one.pins):
            continue
        for change in checker.changes(one.pins, search().split(pathsep)):
            users.setdefault(change.path, (change, []))[1].append(one.hook.name)
    for change, names in users.values():
        if change.now is None:
            continue
        key, digest = f"{PROGRAM}{change.path}", change.now.digest
        yield GuardedSetting(
            key=key,
            text=_text(change, names),
            digest=digest,
            definition=change.now.definition,
            confirmed=False,
            denied=(key, digest) in ledger_state.denied,
        )


def _text(change: ProgramChange, names: list[str]) -> str:
    users = ", ".join(names[:MAX_NAMES]) + (", …" if len(names) > MAX_NAMES else "")
    assert change.now is not None
    if change.now.path == change.path:
        return count(
            "{program} changed: {n} hook uses it ({names}) and fails until you approve the program again",
            "{program} changed: {n} hooks use it ({names}) and fail until you approve the program again",
            len(names), program=change.path, names=users,
        )  # fmt: skip
    return count(
        "{program} is {now} now: {n} hook uses it ({names}) and fails until you approve that",
        "{program} is {now} now: {n} hooks use it ({names}) and fail until you approve that",
        len(names), program=change.path, now=change.now.path, names=users,
    )  # fmt: skip


def is_only_programs(copies: Copies, bundle: Bundle, approved: ApprovedHook) -> bool:
    """Whether nothing of a hook changed but its interpreter, which is a question of its own."""
    action = bundle.hook.action
    if approved.pins is None or not isinstance(action, Command) or bundle.digest == approved.digest:
        return False
    try:
        before = copies.check(approved.digest)
    except DamagedError:
        return False
    paths = {*before.pinned, *bundle.pinned}
    changed = {path for path in paths if before.pinned.get(path) != bundle.pinned.get(path)}
    is_same = before.definition == bundle.hook.definition and before.files == bundle.file_digests
    return is_same and changed <= approved.pins.approved.keys()
