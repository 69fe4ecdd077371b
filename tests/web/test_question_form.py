"""An agent's form on the page: a person answers or declines it there, once."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from chromium import Page
from web.browsing import address
from web.site import Site, status, token

from tray.approvals.callers.click_check import ClickObjection, ClickRejection
from tray.engine.user_questions import UserQuestion
from tray.model.decision import Decision, Verdict
from tray.model.event import Event, EventKind, Tool
from tray.model.form import Answers, Form, FormOption, FormQuestion
from tray.model.session import Session, SessionState

ID = "0123456789abcdef" * 2
COLOUR = FormQuestion(
    text="Which <b>colour</b>?", options=(FormOption(label="Red", description="warm"), FormOption(label="Blue"))
)
SIZES = FormQuestion(text="Which sizes?", options=(FormOption(label="S"), FormOption(label="M")), multiple=True)
NAME = FormQuestion(text="Which name?", header="Name")
FIXED = FormQuestion(text="Sure?", options=(FormOption(label="Yes"), FormOption(label="No")), takes_own_words=False)


def ask(site: Site, *questions: FormQuestion) -> None:
    event = Event(
        id="e" * 32, agent="claude-code", name="PermissionRequest", kind=EventKind.PERMISSION_REQUEST,
        session="s-1", cwd="/w/api", tool=Tool(name="AskUserQuestion", input={}),
    )  # fmt: skip
    decision = Decision(verdict=Verdict.ASK)
    site.questions.asked = (UserQuestion(id=ID, event=event, decision=decision, form=Form(questions=questions)),)


def send(site: Site, **fields: str) -> bytes:
    shown = site.get(f"/questions/{ID}")
    sent = {"question": ID, "token": token(shown), "act": "answer", **fields}
    return site.post("/answer", urlencode(sent))


@pytest.fixture
def entered(site: Site) -> Site:
    site.enter()
    return site


def test_questions_are_answered_by_choices_and_in_own_words(entered: Site) -> None:
    ask(entered, COLOUR, SIZES, NAME)

    answer = send(entered, **{"q0": "1", "q1.0": "0", "q1.1": "1", "own1": " and L ", "own2": "Ada"})

    given = {"Which <b>colour</b>?": ("Blue",), "Which sizes?": ("S", "M", "and L"), "Which name?": ("Ada",)}
    assert status(answer) == 303
    assert entered.questions.answered == [(ID, given, "page")]
    assert b"Answered. The agent goes on." in entered.get(f"/questions/{ID}?done=answer")


@pytest.mark.parametrize(
    ("fields", "given"),
    [
        ({"q0": "own", "own0": "violet"}, {COLOUR.text: ("violet",)}),
        ({"own0": "violet"}, {COLOUR.text: ("violet",)}),
        ({"q0": "0", "own0": "violet"}, {COLOUR.text: ("Red",)}),  # what is chosen counts
        ({"act": "decline"}, None),
    ],
)
def test_the_users_own_words_replace_a_choice_and_a_form_can_be_declined(
    entered: Site, fields: dict[str, str], given: Answers | None
) -> None:
    ask(entered, COLOUR)

    send(entered, **fields)

    assert entered.questions.answered == [(ID, given, "page")]


@pytest.mark.parametrize(
    ("question", "fields"),
    [(COLOUR, {}), (COLOUR, {"q0": "own", "own0": "  "}), (COLOUR, {"q0": "7"}), (FIXED, {"own0": "maybe"})],
)
def test_a_question_without_an_answer_answers_nothing_and_can_be_sent_again(
    entered: Site, question: FormQuestion, fields: dict[str, str]
) -> None:
    ask(entered, question)
    used = {"question": ID, "token": token(entered.get(f"/questions/{ID}")), "act": "answer"}

    refused = entered.post("/answer", urlencode(used | fields))
    entered.post("/answer", urlencode(used | {"q0": "0"}))

    assert status(refused) == 409
    assert b"has no answer yet" in refused
    assert entered.questions.answered == [(ID, {question.text: (question.options[0].label,)}, "page")]


def test_a_closed_question_says_so(entered: Site) -> None:
    ask(entered, COLOUR)
    shown = entered.get(f"/questions/{ID}")
    entered.questions.asked = ()

    late = entered.post("/answer", urlencode({"question": ID, "token": token(shown), "act": "answer", "q0": "0"}))

    assert status(late) == 303
    assert b"This question is closed already" in entered.get(f"/questions/{ID}")
    assert entered.questions.answered == []


def test_a_token_works_once_and_for_its_question_only(entered: Site) -> None:
    ask(entered, COLOUR)
    used = token(entered.get(f"/questions/{ID}"))
    fields = {"question": ID, "act": "answer", "q0": "0"}

    answers = [entered.post("/answer", urlencode(fields | {"token": each})) for each in ("", "x" * 43, used)]
    ask(entered, COLOUR)
    answers.append(entered.post("/answer", urlencode(fields | {"token": used})))
    answers.append(entered.post("/confirm", urlencode({"token": token(entered.get(f"/questions/{ID}"))})))

    assert [status(one) for one in answers] == [409, 409, 303, 409, 409]
    assert len(entered.questions.answered) == 1


def test_a_click_that_does_not_count_answers_nothing(entered: Site) -> None:
    ask(entered, COLOUR)
    shown = token(entered.get(f"/questions/{ID}"))
    entered.finding = ClickRejection(ClickObjection.AGENT, "belongs to an agent")

    refused = entered.post("/answer", urlencode({"question": ID, "token": shown, "act": "answer", "q0": "0"}))

    assert status(refused) == 403
    assert entered.questions.answered == []


def test_a_browser_answers_what_its_user_chose(site: Site, page: Page) -> None:
    ask(site, COLOUR, SIZES)
    waits = Session(agent="claude-code", session="s-1", project="api", state=SessionState.WAITING, since=1.0)
    site.sessions = (waits,)
    page.go(address(site, "/sessions"))
    page.follow(".board a.button", "Answer…")
    assert page.run("document.querySelector('legend').innerText") == "Which <b>colour</b>?"
    choice, label = (
        f"document.querySelector('.choice {part}').getBoundingClientRect()" for part in ("input", "span")
    )
    assert page.run(f"{choice}.width < 30 && {label}.x - {choice}.right < 30")  # each label beside its choice
    for field in ('[name=q0][value="1"]', '[name="q1.0"]', '[name="q1.1"]'):
        page.run(f"document.querySelector('{field}').click()")
    page.follow(".questions button", "Answer")
    page.wait("document.body.innerText.includes('The agent goes on')", "the answer is taken")

    assert site.questions.answered == [(ID, {COLOUR.text: ("Blue",), SIZES.text: ("S", "M")}, "page")]
