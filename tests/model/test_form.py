"""Which answers a form takes."""

from __future__ import annotations

import pytest

from tray.model.form import ANSWER_LIMIT, Form, FormOption, FormQuestion

OPTIONS = (FormOption(label="Red"), FormOption(label="Blue"))
ONE = FormQuestion(text="Which colour?", options=OPTIONS)
SEVERAL = FormQuestion(text="Which sizes?", options=OPTIONS, multiple=True)
FIXED = FormQuestion(text="Sure?", options=OPTIONS, takes_own_words=False)


@pytest.mark.parametrize(
    ("question", "answers", "is_taken"),
    [
        (ONE, ("Red",), True),
        (ONE, ("a warm one",), True),
        (ONE, (), False),
        (ONE, ("Red", "Blue"), False),
        (ONE, (" ",), False),
        (ONE, ("x" * (ANSWER_LIMIT + 1),), False),
        (SEVERAL, ("Red",), True),
        (SEVERAL, ("Red", "Blue", "and a third"), True),
        (SEVERAL, ("Red", "Red"), False),
        (SEVERAL, (), False),
        (FIXED, ("Blue",), True),
        (FIXED, ("a warm one",), False),
    ],
)
def test_a_question_takes(question: FormQuestion, answers: tuple[str, ...], is_taken: bool) -> None:
    assert question.accepts(answers) is is_taken


def test_every_question_wants_an_answer_and_no_other_one_counts() -> None:
    form = Form(questions=(ONE, SEVERAL))

    assert form.unanswered({ONE.text: ("Red",)}) is SEVERAL
    assert form.accepts({ONE.text: ("Red",), SEVERAL.text: ("Blue",)})
    assert not form.accepts({ONE.text: ("Red",), SEVERAL.text: ("Blue",), "Another?": ("yes",)})


def test_one_press_answers_a_single_question_with_one_answer() -> None:
    assert Form(questions=(ONE,)).choice is ONE
    assert Form(questions=(SEVERAL,)).choice is None
    assert Form(questions=(ONE, FIXED)).choice is None
    assert Form(questions=(FormQuestion(text="Which name?"),)).choice is None
