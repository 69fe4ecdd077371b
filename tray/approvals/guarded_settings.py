"""The settings that loosen a gate: each counts only once a person confirmed exactly its text (decision 32)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from tray.settings import Llm, Settings
from tray.store.ledger import Ledger, LedgerAction, LedgerState
from tray.store.pins import PROGRAM


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardedSetting:
    """One of them, as the file has it."""

    key: str
    text: str
    digest: str
    definition: str  # what the ledger keeps of it; "" where the digest says enough
    confirmed: bool
    denied: bool

    @property
    def waiting(self) -> bool:
        return not self.confirmed and not self.denied

    @property
    def is_program(self) -> bool:
        """Whether it is a program that hooks use, and no setting."""
        return self.key.startswith(PROGRAM)


def guarded_settings(settings: Settings, ledger_state: LedgerState) -> tuple[GuardedSetting, ...]:
    """Those that the file sets, and the state of each."""
    model = msgspec.json.encode(settings.llm).decode()
    removed = [agent for agent in _recorded_agents(ledger_state) if agent not in settings.ask_on_desktop.agents]
    texts = (
        *_setting_texts(settings),
        *((f"ask_on_desktop {agent}", f"ask_on_desktop: off for {agent}") for agent in removed),
    )
    return tuple(_setting(key, text, model if key == "llm" else "", ledger_state) for key, text in texts)


def without_tray(settings: Settings, ledger_state: LedgerState) -> str:
    """What relays shall do without us; `allow` only when a person confirmed it."""
    return "allow" if _confirmed("without_tray", settings, ledger_state) else "once"


def llm(settings: Settings, ledger_state: LedgerState) -> Llm | None:
    """The model to ask: the last one that a person confirmed, so that an edit takes no prompt hook out of force.

    None without one, and when the file names none any more.
    """
    if settings.llm is None or _confirmed("llm", settings, ledger_state):
        return settings.llm
    try:
        return msgspec.json.decode(ledger_state.setting_texts.get("setting:llm", ""), type=Llm)
    except msgspec.DecodeError:
        return None  # confirmed by a version that kept no text, or never


def exceptions(settings: Settings, ledger_state: LedgerState) -> tuple[str, ...]:
    """What the self-protection lets agents do; nothing that no person confirmed."""
    return tuple(settings.protection.allow) if _confirmed("protection", settings, ledger_state) else ()


def desktop_agents(settings: Settings, ledger_state: LedgerState) -> frozenset[str]:
    """The agents whose questions are put to the user: on as soon as the file says so, off once that is confirmed."""
    return frozenset((*settings.ask_on_desktop.agents, *_recorded_agents(ledger_state)))


def record_desktop_agents(settings: Settings, ledger: Ledger) -> None:
    """So that taking an agent out of the file later, also while no tray runs, turns nothing off by itself."""
    for agent in settings.ask_on_desktop.agents:
        key, digest = f"setting:ask_on_desktop {agent}", _digest(_asking_text(agent))
        if ledger.state.settings.get(key) != digest:
            ledger.append(LedgerAction.APPROVE, key, digest, definition="", position=(0, 0), channel="file")


def _recorded_agents(ledger_state: LedgerState) -> Iterator[str]:
    for key, digest in ledger_state.settings.items():
        agent = key.removeprefix("setting:ask_on_desktop ")
        if agent != key and digest == _digest(_asking_text(agent)):
            yield agent


def _asking_text(agent: str) -> str:
    return f"ask_on_desktop: on for {agent}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _setting_texts(settings: Settings) -> Iterator[tuple[str, str]]:
    if settings.without_tray == "allow":
        yield "without_tray", "without_tray: allow"
    if settings.protection.allow:
        yield "protection", f"protection: allow {', '.join(settings.protection.allow)}"
    if settings.llm is not None:
        key = f", key from {settings.llm.api_key_env}" if settings.llm.api_key_env else ""
        yield "llm", f"llm: {settings.llm.base_url}, model {settings.llm.model}{key}"


def _setting(name: str, text: str, definition: str, ledger_state: LedgerState) -> GuardedSetting:
    digest = _digest(text)
    key = f"setting:{name}"
    return GuardedSetting(
        key=key,
        text=text,
        digest=digest,
        definition=definition,
        confirmed=ledger_state.settings.get(key) == digest,
        denied=(key, digest) in ledger_state.denied,
    )


def _confirmed(name: str, settings: Settings, ledger_state: LedgerState) -> bool:
    return any(one.confirmed for one in guarded_settings(settings, ledger_state) if one.key == f"setting:{name}")
