"""Which failed turn a usage limit ended, and when the limit ends."""

from __future__ import annotations

import pytest

from tray.model.event import Event, EventKind
from tray.notify.usage_limit import is_usage_limit, reset_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("You've hit your session limit · resets 3pm (Europe/Berlin)", "resets 3pm (Europe/Berlin)"),
        ("Weekly limit reached ∙ Resets Mon 9am. More at https://example.com", "Resets Mon 9am"),
        ("Quota exceeded. Try again at 10:00.", "Try again at 10:00"),
        ("Please try again in 2.5 hours", "try again in 2.5 hours"),
        ("The service is busy.", ""),
        ("", ""),
    ],
)
def test_the_part_with_the_time_is_found(text: str, words: str) -> None:
    assert reset_words(text) == words


@pytest.mark.parametrize("kind", [EventKind.TURN_END, EventKind.NOTIFICATION, EventKind.TOOL_FAILED])
def test_what_only_talks_about_a_limit_is_none(kind: EventKind) -> None:
    assert not is_usage_limit(Event(id="e", agent="codex", name="X", kind=kind, message="You hit your usage limit"))
