"""Approvals by an earlier Hooktray whose identity is another one now, although the person changed nothing.

An earlier version covered other files, and wrote `failure: allow` as it wrote no `failure:`. Its approved copies go
on running.
"""

from __future__ import annotations

from tray.lazy_dataclass import replace
from tray.model.hook import Command, Failure, Hook
from tray.store.copies import Bundle, Copies, DamagedError
from tray.store.ledger import ApprovedHook


def is_only_upgrade(copies: Copies, bundle: Bundle, approved: ApprovedHook) -> bool:
    """Whether each file that was approved is the same, unless it is not covered any more, and so is the definition.

    A hook whose identity stayed the same got its notes about programs at the first start of this version. So what
    changes later, such as a new file beside a script, does not count. Files may be newly covered: Review shows them.
    """
    if approved.pins is not None or bundle.digest == approved.digest or not isinstance(bundle.hook.action, Command):
        return False
    try:
        before = copies.check(approved.digest)
    except DamagedError:
        return False
    now = {**bundle.file_digests, **bundle.pinned}
    known = {**before.files, **before.pinned}
    return _as_before(bundle.hook) == approved.hook.definition and all(
        now[path] == sha256 for path, sha256 in known.items() if path in now
    )


def _as_before(hook: Hook) -> str:
    is_explicit = hook.failure is Failure.EXPLICIT_ALLOW
    return (replace(hook, failure=Failure.ALLOW) if is_explicit else hook).definition
