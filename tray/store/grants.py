"""The withheld variables that a person lets through to a hook, as the ledger has them, whatever its file has.

The rows are like those of confirmed settings. A revoked hook loses its variables with its approval.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping

GRANTS_OF = "setting:variables of "  # followed by the hook's key


def grants_key(hook_key: str) -> str:
    """The key of the ledger's rows about one hook's variables."""
    return f"{GRANTS_OF}{hook_key}"


def grants_definition(names: Iterable[str]) -> tuple[str, str]:
    """The definition of a row that lets these variables through and no others, and its digest."""
    definition = json.dumps(sorted(set(names)))
    return definition, hashlib.sha256(definition.encode()).hexdigest()


def grants_of(hook_key: str, settings: Mapping[str, str], texts: Mapping[str, str]) -> tuple[str, ...]:
    """The variables that are let through to a hook, out of the ledger's rows; none where a row cannot be read."""
    key = grants_key(hook_key)
    try:
        names = json.loads(texts[key]) if key in settings else []
        return tuple(str(name) for name in names)
    except (KeyError, ValueError, TypeError):
        return ()
