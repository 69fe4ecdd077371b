"""The settings that count only once a person confirmed exactly what they say: those that loosen a gate (decision 32),
that reduce notifications, and that send data out (decision 39)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

import msgspec

from tray.approvals.notification_settings import (
    NotificationSettings,
    decode,
    loudest,
    notification_settings,
    reductions,
    with_notifications,
)
from tray.lazy_dataclass import dataclass
from tray.settings import KEYS, Llm, PushTarget, Settings
from tray.store.ledger import Ledger, LedgerAction, LedgerState
from tray.text import push_urls

PUSH = "push"
DATA_KEYS = (
    "fleet",
    PUSH,
    "remote",
)  # of hooktray.yaml, as far as there are such; they send data out
INPUT = "show_input"
INPUT_KEY = f"setting:{INPUT}"
INPUT_HIDDEN = "show_input: false"
WITHDRAWN_KEYS = ("protection", "without_tray", *DATA_KEYS)  # without them in the file, they wait for a person again
NOTIFICATIONS = "notifications"
NOTIFICATIONS_KEY = f"setting:{NOTIFICATIONS}"
FILE_CHANNEL = "file"
USUAL = Settings()


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardedSetting:
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
    """Those that the file sets, and the state of each."""
    removed = [agent for agent in _recorded_agents(ledger_state) if agent not in settings.ask_on_desktop.agents]
    texts = (
        *_setting_texts(settings),
        *((f"ask_on_desktop {agent}", f"ask_on_desktop: off for {agent}", "") for agent in removed),
    )
    found = (
        _setting(key, text, _digest(_basis(key, text, definition)), definition, ledger_state)
        for key, text, definition in texts
    )
    return (*found, *_notifications(settings, ledger_state), *_input(settings, ledger_state))


def settings_in_force(settings: Settings, ledger_state: LedgerState) -> Settings:
    """The settings as they count: with the confirmed values where the file's wait for a person."""
    new, old = notification_settings(settings), _confirmed_notifications(ledger_state)
    counted = loudest(new, old)
    if counted is not new:
        settings = with_notifications(settings, counted)
    held = {key: _last_confirmed(key, ledger_state) for key in _data_keys(settings, ledger_state)}
    if _is_input_hidden(ledger_state):
        held[INPUT] = False
    return msgspec.structs.replace(settings, **held) if held else settings


def record_additions(settings: Settings, ledger: Ledger) -> None:
    """Note what the file has added or withdrawn, so that the next edit is judged by it, also after a restart.

    What was added (an agent whose questions are asked, a notification) cannot be taken away again only by an edit;
    what was withdrawn waits for a person when it comes back.
    """
    record_desktop_agents(settings, ledger)
    if not settings.show_input and not _is_input_hidden(ledger.state):
        _record(ledger, LedgerAction.APPROVE, INPUT_KEY, _digest(INPUT_HIDDEN), "")
    old = _confirmed_notifications(ledger.state)
    counted = loudest(notification_settings(settings), old)
    if reductions(old, counted):
        definition = counted.encode()
        _record(ledger, LedgerAction.APPROVE, NOTIFICATIONS_KEY, _digest(definition), definition)
    proposed = {key for key, _, _ in _setting_texts(settings)}
    for name in WITHDRAWN_KEYS:
        digest = ledger.state.settings.get(f"setting:{name}")
        if digest and name not in proposed:
            _record(ledger, LedgerAction.REVOKE, f"setting:{name}", digest, "")


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
        return None  # confirmed by a version that kept no text, or never


def exceptions(settings: Settings, ledger_state: LedgerState) -> tuple[str, ...]:
    """What the self-protection lets agents do; nothing that no person confirmed."""
    return tuple(settings.protection.allow) if _confirmed("protection", settings, ledger_state) else ()


def desktop_agents(settings: Settings, ledger_state: LedgerState) -> frozenset[str]:
    """The agents whose questions are put to the user: on as soon as the file has them, off once that is confirmed."""
    return frozenset((*settings.ask_on_desktop.agents, *_recorded_agents(ledger_state)))


def record_desktop_agents(settings: Settings, ledger: Ledger) -> None:
    """So that taking an agent out of the file later, also while no tray runs, turns nothing off by itself."""
    for agent in settings.ask_on_desktop.agents:
        key, digest = f"setting:ask_on_desktop {agent}", _digest(_asking_text(agent))
        if ledger.state.settings.get(key) != digest:
            _record(ledger, LedgerAction.APPROVE, key, digest, "")


def _recorded_agents(ledger_state: LedgerState) -> Iterator[str]:
    for key, digest in ledger_state.settings.items():
        agent = key.removeprefix("setting:ask_on_desktop ")
        if agent != key and digest == _digest(_asking_text(agent)):
            yield agent


def _asking_text(agent: str) -> str:
    return f"ask_on_desktop: on for {agent}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _record(ledger: Ledger, action: LedgerAction, key: str, digest: str, definition: str) -> None:
    ledger.append(action, key, digest, definition=definition, position=(0, 0), channel=FILE_CHANNEL)


def _notifications(settings: Settings, ledger_state: LedgerState) -> Iterator[GuardedSetting]:
    """What the file takes away from the notifications; confirmed, it is what the file is judged by from then on."""
    part = notification_settings(settings)
    if reduced := reductions(part, _confirmed_notifications(ledger_state)):
        text, definition = f"{NOTIFICATIONS}: {', '.join(reduced)}", part.encode()
        yield _setting(NOTIFICATIONS, text, _digest(definition), definition, ledger_state)


def _input(settings: Settings, ledger_state: LedgerState) -> Iterator[GuardedSetting]:
    """To show what tools get again, once the file has hidden it."""
    if settings.show_input and _is_input_hidden(ledger_state):
        text = "show_input: true"
        yield _setting(INPUT, text, _digest(text), "", ledger_state)


def _is_input_hidden(ledger_state: LedgerState) -> bool:
    return ledger_state.settings.get(INPUT_KEY) == _digest(INPUT_HIDDEN)


def _confirmed_notifications(ledger_state: LedgerState) -> NotificationSettings:
    return decode(ledger_state.setting_texts.get(NOTIFICATIONS_KEY, ""))


def _data_keys(settings: Settings, ledger_state: LedgerState) -> list[str]:
    """Those that the file sets and that are not confirmed as they are."""
    bases = {key: _basis(key, *more) for key, *more in _setting_texts(settings) if key in DATA_KEYS}
    return [key for key, basis in bases.items() if ledger_state.settings.get(f"setting:{key}") != _digest(basis)]


def _last_confirmed(key: str, ledger_state: LedgerState) -> object:
    field = next(one for one in msgspec.structs.fields(Settings) if one.name == key)
    usual = getattr(Settings(), key)
    text = ledger_state.setting_texts.get(f"setting:{key}", "") if f"setting:{key}" in ledger_state.settings else ""
    try:
        return msgspec.json.decode(text, type=field.type) if text else usual
    except msgspec.DecodeError:
        return usual


def _setting_texts(settings: Settings) -> Iterator[tuple[str, str, str]]:
    """Key, text and definition of each that the file sets."""
    if settings.without_tray == "allow":
        yield "without_tray", "without_tray: allow", ""
    if settings.protection.allow:
        yield "protection", f"protection: allow {', '.join(settings.protection.allow)}", ""
    if settings.llm is not None:
        key = f", key from {settings.llm.api_key_env}" if settings.llm.api_key_env else ""
        text = f"llm: {settings.llm.base_url}, model {settings.llm.model}{key}"
        yield "llm", text, msgspec.json.encode(settings.llm).decode()
    for name in KEYS:  # `msgspec.structs.fields` would evaluate the types, which takes 1 ms at each call
        value = getattr(settings, name)
        if name == PUSH:
            if value:
                yield PUSH, f"{PUSH}: {', '.join(map(_push_text, value))}", _push_definition(value)
        elif name in DATA_KEYS and value != getattr(USUAL, name):
            definition = msgspec.json.encode(value).decode()
            yield name, f"{name}: {definition}", definition


def _basis(key: str, text: str, definition: str) -> str:
    """What is confirmed: the text that is shown, except of URLs that are not shown."""
    return definition if key == PUSH else text


def _push_text(target: PushTarget) -> str:
    text = ", with its text" if target.show_input else ""
    return f"{push_urls.label(target.url)} when {target.when} ({' '.join(target.classes)}{text})"


def _push_definition(targets: Sequence[PushTarget]) -> str:
    """The secret store has the URLs: the ledger only gets their references."""
    kept = [msgspec.structs.replace(one, url=push_urls.reference(one.url)) for one in targets]
    return msgspec.json.encode(kept, order="deterministic").decode()


def _setting(name: str, text: str, digest: str, definition: str, ledger_state: LedgerState) -> GuardedSetting:
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
