"""Reads the questions that several agents put to their users in the same shape. Pure.

[{"question": "Which colour?", "header": "Colour", "options": [{"label": "Red", "description": "warm"}, …]}, …]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tray.agents import wire
from tray.model.form import Form, FormOption, FormQuestion


def read(questions: Any, *, multiple: str, own_words: str = "") -> Form | None:
    """The form; None for what has not exactly this shape, which the user can only answer in the agent itself.

    `multiple` and `own_words` are the agent's keys for a question that takes several answers, and for one that takes
    the user's own words (which every question does unless it declines that).
    """
    if not isinstance(questions, list) or not questions:
        return None
    read = tuple(_question(each, multiple, own_words) for each in questions)
    found = tuple(one for one in read if one is not None)
    if len(found) != len(questions) or len({one.text for one in found}) != len(found):
        return None
    return Form(questions=found)


def _question(given: Any, multiple: str, own_words: str) -> FormQuestion | None:
    if not isinstance(given, Mapping) or given.get("kind", "choice") != "choice" or not _exact(given, "question"):
        return None
    options = given.get("options", [])
    if not isinstance(options, list) or not all(isinstance(one, Mapping) and _exact(one, "label") for one in options):
        return None
    labels = {wire.text(one, "label") for one in options}
    takes_own_words = given.get(own_words) is not False
    if len(labels) != len(options) or not (labels or takes_own_words):
        return None
    return FormQuestion(
        text=wire.text(given, "question"),
        header=wire.text(given, "header"),
        options=tuple(
            FormOption(label=wire.text(one, "label"), description=wire.text(one, "description")) for one in options
        ),
        multiple=given.get(multiple) is True,
        takes_own_words=takes_own_words,
    )


def _exact(fields: Mapping[str, Any], key: str) -> bool:
    """Whether it is a text that can be sent back as it is: answers name their question and its options."""
    text = wire.text(fields, key)
    return bool(text.strip()) and text == fields[key]
