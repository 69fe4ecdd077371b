"""The settings that loosen a gate or send data out: each value takes effect only after a person has confirmed it
(decision 49)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import msgspec

from tray.settings import Llm, PushTarget, Settings
from tray.store.ledger import Ledger, LedgerAction, LedgerState
from tray.text import push_urls

INPUT_KEY = "setting:show_input"
INPUT_HIDDEN = "show_input: false"
WITHDRAWN_KEYS = ("protection", "push", "without_tray")  # if removed from the file, they wait again when they return
FILE = "file"  # the channel of changes by an edit of hooktray.yaml


class GuardedSetting(msgspec.Struct, frozen=True, kw_only=True):
    """One of them, as the file has it."""

    key: str
    text: str
    digest: str
    definition: str  # what the ledger keeps of it; "" where the digest is enough
    confirmed: bool
    denied: bool

    @property
    def id(self) -> str:
        """Another text of the same key is another setting to confirm."""
        return f"{self.key} {self.digest}"

    @property
    def waiting(self) -> bool:
        return not self.confirmed and not self.denied


def guarded_settings(settings: Settings, ledger_state: LedgerState) -> tuple[GuardedSetting, ...]:
    """Returns the guarded settings that the file sets, each with its state."""
    found = []
    for name, text, definition in _proposed(settings, ledger_state):
        key = f"setting:{name}"
        digest = digest_of(definition if name == "push" else text)  # the text does not contain the URLs
        found.append(
            GuardedSetting(
                key=key, text=text, digest=digest, definition=definition,
                confirmed=ledger_state.settings.get(key) == digest, denied=(key, digest) in ledger_state.denied,
            )
        )  # fmt: skip
    return tuple(found)


def settings_in_force(settings: Settings, ledger_state: LedgerState) -> Settings:
    """Returns the settings in force: the last confirmed value in place of each one that waits."""
    held: dict[str, object] = {}
    if settings.push and not _confirmed("push", settings, ledger_state):
        is_known = "setting:push" in ledger_state.settings
        text = ledger_state.setting_texts.get("setting:push", "") if is_known else ""
        try:  # the targets that a person last confirmed, with references in place of URLs
            held["push"] = msgspec.json.decode(text, type=list[PushTarget])
        except msgspec.DecodeError:
            held["push"] = []
    if _is_input_hidden(ledger_state):
        held["show_input"] = False
    return msgspec.structs.replace(settings, **held) if held else settings


def record_withdrawn(settings: Settings, ledger: Ledger) -> None:
    """Record which settings were removed from the file, so that each waits again if it returns. Raises StoreError."""
    if not settings.show_input and not _is_input_hidden(ledger.state):
        record_edit(ledger, LedgerAction.APPROVE, INPUT_KEY, digest_of(INPUT_HIDDEN), "")
    proposed = {name for name, _, _ in _proposed(settings, ledger.state)}
    for name in WITHDRAWN_KEYS:
        digest = ledger.state.settings.get(f"setting:{name}")
        if digest and name not in proposed:
            record_edit(ledger, LedgerAction.REVOKE, f"setting:{name}", digest, "")


def record_edit(ledger: Ledger, action: LedgerAction, key: str, digest: str, definition: str) -> None:
    """Append to the ledger what an edit changes without confirmation. Raises StoreError."""
    ledger.append(action, key, digest, definition=definition, channel=FILE)


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def without_tray(settings: Settings, ledger_state: LedgerState) -> str:
    """What relays do without us; `allow` only when a person confirmed it."""
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
        return None  # never confirmed


def exceptions(settings: Settings, ledger_state: LedgerState) -> tuple[str, ...]:
    """What the self-protection lets agents do; nothing that no person confirmed."""
    return tuple(settings.protection.allow) if _confirmed("protection", settings, ledger_state) else ()


def _proposed(settings: Settings, ledger_state: LedgerState) -> Iterator[tuple[str, str, str]]:
    """Yields name, text and definition of each guarded setting in the file."""
    if settings.without_tray == "allow":
        yield "without_tray", "without_tray: allow", ""
    if settings.protection.allow:
        yield "protection", f"protection: allow {', '.join(settings.protection.allow)}", ""
    if settings.llm is not None:
        key = f", key from {settings.llm.api_key_env}" if settings.llm.api_key_env else ""
        text = f"llm: {settings.llm.base_url}, model {settings.llm.model}{key}"
        yield "llm", text, msgspec.json.encode(settings.llm).decode()
    if settings.push:
        # The secret store has the URLs: the ledger only gets their references.
        kept = [msgspec.structs.replace(one, url=push_urls.reference(one.url)) for one in settings.push]
        definition = msgspec.json.encode(kept, order="deterministic").decode()
        yield "push", f"push: {', '.join(map(_push_text, settings.push))}", definition
    if settings.show_input and _is_input_hidden(ledger_state):
        yield "show_input", "show_input: true", ""


def _is_input_hidden(ledger_state: LedgerState) -> bool:
    """True if the file once had `show_input: false` and no person has confirmed `show_input: true` since."""
    return ledger_state.settings.get(INPUT_KEY) == digest_of(INPUT_HIDDEN)


def _push_text(target: PushTarget) -> str:
    text = ", with its text" if target.show_input else ""
    return f"{push_urls.label(target.url)} when {target.when} ({' '.join(target.classes)}{text})"


def _confirmed(name: str, settings: Settings, ledger_state: LedgerState) -> bool:
    return any(one.confirmed for one in guarded_settings(settings, ledger_state) if one.key == f"setting:{name}")
