"""The settings that loosen a gate: each counts only once a person confirmed it as it stands (RULINGS 32)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tray.store.ledger import Book

if TYPE_CHECKING:  # reading YAML is none of the business of `once`
    from tray.settings import Llm, Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One of them, as the file has it."""

    key: str
    text: str
    digest: str
    confirmed: bool
    denied: bool

    @property
    def waiting(self) -> bool:
        return not self.confirmed and not self.denied


def gated(settings: Settings, book: Book) -> tuple[Setting, ...]:
    """Those that the file sets, and where they stand."""
    return tuple(_setting(key, text, book) for key, text in _texts(settings))


def when_down(settings: Settings, book: Book) -> str:
    """What relays shall do without us; `allow` only when a person confirmed it."""
    return "allow" if _confirmed("when_down", settings, book) else "once"


def llm(settings: Settings, book: Book) -> Llm | None:
    """The model to ask; None without one that a person confirmed."""
    return settings.llm if _confirmed("llm", settings, book) else None


def exceptions(settings: Settings, book: Book) -> tuple[str, ...]:
    """What the self-protection lets agents do; nothing that no person confirmed."""
    return tuple(settings.protection.allow) if _confirmed("protection", settings, book) else ()


def _texts(settings: Settings) -> Iterator[tuple[str, str]]:
    if settings.when_down == "allow":
        yield "when_down", "when_down: allow"
    if settings.protection.allow:
        yield "protection", f"protection: allow {', '.join(settings.protection.allow)}"
    if settings.llm is not None:
        key = f", key from {settings.llm.api_key_env}" if settings.llm.api_key_env else ""
        yield "llm", f"llm: {settings.llm.base_url}, model {settings.llm.model}{key}"


def _setting(name: str, text: str, book: Book) -> Setting:
    digest = hashlib.sha256(text.encode()).hexdigest()
    key = f"setting:{name}"
    return Setting(
        key=key,
        text=text,
        digest=digest,
        confirmed=book.settings.get(key) == digest,
        denied=(key, digest) in book.denied,
    )


def _confirmed(name: str, settings: Settings, book: Book) -> bool:
    return any(one.confirmed for one in gated(settings, book) if one.key == f"setting:{name}")
