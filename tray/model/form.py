"""A form: questions of an agent that its user answers by choosing, or in words of their own."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

ANSWER_LIMIT = 10_000  # characters of one answer

Answers = Mapping[str, tuple[str, ...]]  # what was chosen or written, by the question's text


class FormOption(msgspec.Struct, frozen=True, kw_only=True):
    """One of the answers that a question offers."""

    label: str
    description: str = ""


class FormQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """One question. Several answers count only where it is `multiple`, the user's own words where it takes them."""

    text: str
    header: str = ""  # a word or two that name it
    options: tuple[FormOption, ...] = ()
    multiple: bool = False
    takes_own_words: bool = True

    def accepts(self, answers: tuple[str, ...]) -> bool:
        labels = {option.label for option in self.options}
        own = [answer for answer in answers if answer not in labels]
        is_number_right = len(answers) == 1 or (self.multiple and len(set(answers)) == len(answers) > 1)
        are_own_right = not own or (self.takes_own_words and all(0 < len(one.strip()) <= ANSWER_LIMIT for one in own))
        return is_number_right and are_own_right


class Form(msgspec.Struct, frozen=True, kw_only=True):
    """Questions that are answered together. Their texts differ."""

    questions: tuple[FormQuestion, ...]

    def unanswered(self, answers: Answers) -> FormQuestion | None:
        """The first question without an answer that it takes."""
        return next((one for one in self.questions if not one.accepts(answers.get(one.text, ()))), None)

    def accepts(self, answers: Answers) -> bool:
        return self.unanswered(answers) is None and len(answers) == len(self.questions)

    @property
    def choice(self) -> FormQuestion | None:
        """The only question, if one word decides it: a press on a button can answer it."""
        one = self.questions[0]
        return one if len(self.questions) == 1 and one.options and not one.multiple else None
