"""`push:` of hooktray.yaml: what is wrong is named with its place and cure, and no error shows a URL."""

from __future__ import annotations

import pytest
from every import every

from tray.errors import ConfigError
from tray.settings import PushTarget, Settings
from tray.sources.configuration import parse
from tray.text import push_urls

SECRET = "x9topic"


def settings(text: str) -> Settings:
    return parse(text.encode(), "/c/hooktray.yaml").settings


def test_an_address_has_defaults() -> None:
    assert settings("push: [{url: ntfy://x9topic}]").push == [
        PushTarget(url="ntfy://x9topic", when="away", classes=["needs_you", "asked", "turn_end"], show_input=False)
    ]


@every(
    ("text", "place", "what"),
    [
        ("push: x9topic", "1:1: push", "a list"),
        ("push: {url: ntfy://x9topic}", "1:1: push", "a list"),
        ("push: [ntfy://x9topic]", "1:8: push[0]", "keys"),
        ("push: [{url: x9topic}]", "push[0].url", "Apprise URL"),
        ("push: [{url: [ntfy://x9topic]}]", "push[0].url", "text"),
        ("push: [{url: 'ntfy://x9topic with words'}]", "push[0].url", "Apprise URL"),
        ("push: [{url: ntfy://x9topic}, {url: ntfy://x9topic}]", "push[1].url", "there already"),
        ("push: [{url: ntfy://x9topic, when: awy}]", "push[0].when", "did you mean `away`?"),
        ("push: [{url: ntfy://x9topic, when: always, classes: [turn_ended]}]", "push[0].classes[0]", "`turn_end`?"),
        ("push: [{url: ntfy://x9topic, whem: away}]", "push[0].whem", "did you mean `when`?"),
        ("push: [{ntfy://x9topic: away}]", "push[0].ntfy://…", "unknown key"),
        ("push: [{when: away}]", "push[0]", "`url`"),
        ("push: [" + ", ".join(f"{{url: 'ntfy://x9topic{n}'}}" for n in range(9)) + "]", "push", "at most 8"),
    ],
)
def test_an_error_names_place_and_cure_and_shows_no_url(text: str, place: str, what: str) -> None:
    with pytest.raises(ConfigError) as raised:
        settings(text)

    said = str(raised.value)
    assert place in said
    assert what in said
    assert SECRET not in said


def test_a_reference_says_the_service_and_nothing_else() -> None:
    reference = push_urls.reference("Ntfys://user:word@host/x9topic")

    assert reference.startswith("secret:ntfys:")
    assert push_urls.reference(reference) == reference
    assert push_urls.label(reference) == push_urls.label("ntfys://x") == "ntfys://…"
    assert settings(f"push: [{{url: '{reference}'}}]").push[0].url == reference


@every(
    "text",
    [
        "push:\n  - url: ntfy://x9topic\n    when: away\n",
        'push: [{url: "https://discord.com/api/webhooks/1/x9topic"}]\n',
        "push:\n\n# mine\n- {url: 'json://u:x9topic@host'}\n",
        "push :\n  - url: >-\n      ntfy://x9topic\n",
    ],
)
def test_in_a_settings_files_text_only_what_is_pushed_to_is_masked(text: str) -> None:
    masked = push_urls.masked_settings("llm: {base_url: https://llm.example.com/v1}\n" + text + "volume: 1\n")

    assert SECRET not in masked
    assert "https://llm.example.com/v1" in masked
    assert "volume: 1" in masked
