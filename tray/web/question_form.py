"""The form of an agent's questions on the page: the names of its fields, and the answers that come back in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from tray.engine.user_questions import UserQuestion
from tray.errors import HooktrayError
from tray.language import say
from tray.model.form import Answers, Form, FormOption, FormQuestion

OWN = "own"  # the value of the choice that is the user's own words


class OptionField(msgspec.Struct, frozen=True, kw_only=True):
    """One choice: the name and the value of its field."""

    name: str
    value: str
    option: FormOption


class QuestionFields(msgspec.Struct, frozen=True, kw_only=True):
    """One question: its choices, and the name of the field for the user's own words ("" where it takes none).

    Each box of a question that takes several answers has a name of its own, so that a form which keeps one value for
    each name loses none.
    """

    question: FormQuestion
    name: str  # of the choices of a question that takes one answer
    choices: tuple[OptionField, ...]
    own: str


class QuestionPage(msgspec.Struct, frozen=True, kw_only=True):
    """What the page of one open question shows; `token` works once."""

    question: UserQuestion
    fields: tuple[QuestionFields, ...]
    token: str


def fields(form: Form) -> tuple[QuestionFields, ...]:
    found = []
    for number, one in enumerate(form.questions):
        name = f"q{number}"
        choices = tuple(
            OptionField(name=f"{name}.{index}" if one.multiple else name, value=str(index), option=option)
            for index, option in enumerate(one.options)
        )
        own = f"own{number}" if one.takes_own_words else ""
        found.append(QuestionFields(question=one, name=name, choices=choices, own=own))
    return tuple(found)


def answers(form: Form, sent: Mapping[str, str]) -> Answers:
    """The answers that were sent. Raises HooktrayError when a question has none."""
    found = {one.question.text: tuple(_answers(one, sent)) for one in fields(form)}
    missing = form.unanswered(found)
    if missing is not None:
        why = say("“{question}” has no answer yet", question=missing.header or missing.text)
        raise HooktrayError(why, hint=say("go back and answer each question"))
    return found


def _answers(one: QuestionFields, sent: Mapping[str, str]) -> Iterator[str]:
    """What is chosen counts; own words without a choice count as chosen."""
    for choice in one.choices:
        if sent.get(choice.name) == choice.value:
            yield choice.option.label
    own = sent.get(one.own, "").strip() if one.own else ""
    if own and (one.question.multiple or sent.get(one.name, OWN) == OWN):
        yield own
