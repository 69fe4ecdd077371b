"""The files that an approved hook runs or names and that its approval does not cover, as the ledger has them.

The hook goes by them as they are at each start, so that self-protection keeps agents' tools from changing them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping

UNCOVERED_BY = "setting:uncovered by "  # followed by the digest of the hook's approved copy


def uncovered_row(digest: str, paths: Iterable[str]) -> tuple[str, str, str]:
    """The key, the digest and the definition of the row about the copy called `digest`."""
    definition = json.dumps(sorted(set(paths)), ensure_ascii=False)
    return f"{UNCOVERED_BY}{digest}", hashlib.sha256(definition.encode("utf-8", "replace")).hexdigest(), definition


def uncovered_of(digest: str, texts: Mapping[str, str]) -> tuple[str, ...]:
    """The paths, out of the texts of the ledger's rows; none where the row cannot be read."""
    try:
        return tuple(str(path) for path in json.loads(texts.get(f"{UNCOVERED_BY}{digest}", "[]")))
    except (ValueError, TypeError, RecursionError):
        return ()
