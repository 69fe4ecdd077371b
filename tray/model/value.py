"""Values: made once, never changed. The type checkers see to that; at run time it is a third of the work."""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["value"]

if TYPE_CHECKING:
    from dataclasses import dataclass as value
else:
    from dataclasses import dataclass

    def value(*, frozen, slots, kw_only):
        """A dataclass; a frozen one has a hash, and nobody whose types were checked writes to it."""
        return dataclass(slots=slots, kw_only=kw_only, unsafe_hash=frozen)
