"""One sentence says what happened, wherever it is shown."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from every import every
from house import House
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tray.engine.record import READ_LIMIT, subject
from tray.engine.sentence import ENDINGS, decision_ending, event_sentence, sentence
from tray.model.decision import Decision, HookOutput, Outcome, Record, SkipReason, Status, Verdict
from tray.model.event import Event, EventKind, Tool

GUARD = {"name": "no-destroying", "status": "ok", "verdict": "deny", "reason": "ask first"}
ROW = Record(
    id="1", at=0, agent="claude-code", session="s", project="shop", event="PreToolUse", kind="tool_before",
    verdict=Verdict.DENY, reason="no-destroying: ask first", ms=1, hooks=(GUARD,), tool="Bash",
    subject="rm -rf build/",
)  # fmt: skip
QUIET = replace(ROW, verdict=Verdict.ABSTAIN, reason="", hooks=())
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def call(name: str = "Bash", cwd: str = "/home/ada/shop", **arguments: Any) -> Event:
    tool = Tool(name=name, input=arguments)
    return Event(id="1", agent="claude-code", name="PreToolUse", kind=EventKind.TOOL_BEFORE, tool=tool, cwd=cwd)


def hook(**words: Any) -> dict[str, Any]:
    return {**GUARD, **words}


@every(
    ("record", "said"),
    [
        (ROW, "Bash · rm -rf build/ · blocked by no-destroying: ask first"),
        (replace(ROW, subject=""), "Bash · blocked by no-destroying: ask first"),
        (replace(ROW, hooks=(), reason="too often"), "Bash · rm -rf build/ · blocked: too often"),
        (replace(ROW, hooks=(hook(verdict="ask"),)), "Bash · rm -rf build/ · blocked by no-destroying: ask first"),
        (
            replace(ROW, hooks=(GUARD, hook(name="b", reason='{"reason": "not b"}'))),
            "Bash · rm -rf build/ · blocked by no-destroying, b: ask first; not b",
        ),
        (
            replace(ROW, verdict=Verdict.ASK, hooks=(hook(verdict="ask"),)),
            "Bash · rm -rf build/ · no-destroying asks you: ask first",
        ),
        (
            replace(QUIET, hooks=(hook(status="timed_out", verdict="abstain", cause="timed out after 2 s"),)),
            "Bash · rm -rf build/ · no-destroying failed: timed out after 2 s",
        ),
        (
            replace(QUIET, rewrites=("input",), hooks=(hook(verdict="abstain", rewrites="input"),)),
            "Bash · rm -rf build/ · rewritten by no-destroying",
        ),
        (
            replace(QUIET, verdict=Verdict.ALLOW, hooks=(hook(verdict="allow", reason="fine"),)),
            "Bash · rm -rf build/ · allowed by no-destroying",
        ),
        (QUIET, "Bash · rm -rf build/ · no hook was asked"),
        (replace(QUIET, hooks=(hook(verdict="abstain"),)), "Bash · rm -rf build/ · no-destroying had no objection"),
        (
            replace(QUIET, hooks=(hook(verdict="abstain"), hook(name="sprint", verdict="abstain", added="context"))),
            "Bash · rm -rf build/ · sprint added context",
        ),
        (
            replace(QUIET, hooks=(hook(verdict="abstain", added="of a later version"),)),
            "Bash · rm -rf build/ · no-destroying had no objection",
        ),
        (
            replace(QUIET, hooks=(hook(status="skipped", cause="switch off"),)),
            "Bash · rm -rf build/ · 1 hook skipped: switch off",
        ),
        (replace(QUIET, kind="tool_after"), "Bash done · rm -rf build/ · no hook was asked"),
        (replace(QUIET, tool="", kind="prompt", subject="mend it"), "Prompt · mend it · no hook was asked"),
        (replace(QUIET, tool="", kind="other", event="Brandnew", subject=""), "Brandnew · no hook was asked"),
        (replace(QUIET, problem="not JSON", tool="", subject=""), "Tool before · not read: not JSON"),
        (
            replace(QUIET, reason=SkipReason.NOT_SUPPORTED, agent="grok"),
            "Bash · rm -rf build/ · grok is not supported yet: no hook was asked",
        ),
    ],
)
def test_a_row_says_what_the_call_did_and_who_stopped_it(record: Record, said: str) -> None:
    assert sentence(record) == said


def test_what_is_too_long_loses_its_middle_and_never_its_ending() -> None:
    long = replace(ROW, subject="rm -rf " + "deep/" * 50, hooks=(hook(reason="because " * 50),))

    said = sentence(long, 90)

    assert len(said) <= 90
    assert said.startswith("Bash · rm -rf deep/")
    assert "… · blocked by no-destroying: because" in said


@given(st.text(max_size=400), st.text(max_size=400), st.text(max_size=200), st.integers(min_value=1, max_value=250))
def test_it_is_one_line_of_at_most_so_many_characters(about: str, reason: str, name: str, limit: int) -> None:
    said = sentence(replace(ROW, subject=about, hooks=(hook(name=name, reason=reason),)), limit)

    assert len(said) <= limit
    assert "\n" not in said


@every(
    ("event", "about"),
    [
        (call(command="rm -rf build/\nls", description="tidy"), "rm -rf build/ ls"),
        (call("Write", file_path="/home/ada/shop/src/a.py", content="x"), str(PurePath("src/a.py"))),
        (call("Write", file_path="/home/ada/shopping/a.py"), "/home/ada/shopping/a.py"),
        (call("WebFetch", url="https://example.com", prompt="read it"), "https://example.com"),
        (call("mcp__mail__send", to="bob", text="hi"), "to: bob"),
        (call("mcp__vault__read", password="hunter2 is it"), "password: [masked password "),
        (call(command=f"curl -H 'Authorization: Bearer {TOKEN}' x"), "curl -H 'Authorization: "),
        (call("TodoWrite", todos=[]), ""),
    ],
)
def test_the_subject_is_the_argument_that_says_most_without_its_secrets(event: Event, about: str) -> None:
    found = subject(event)

    assert found == about if not about.endswith(" ") else found.startswith(about)
    assert TOKEN not in found
    assert "hunter2" not in found


def test_a_secret_that_is_not_read_to_its_end_is_not_shown_by_halves() -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\n" + "A" * READ_LIMIT

    assert "AAAA" not in subject(call(command=key))


def test_a_notification_has_the_same_sentence_as_the_row_of_its_event(house: House) -> None:
    house.hook("no-secrets", on="tool_before", script="""echo '{"decision": "block", "reason": "ask first"}'""")
    house.tool("rm -rf build/")
    event, decision, record = house.decisions[-1]

    assert event_sentence(event, decision_ending(decision)) == sentence(record)
    assert sentence(record) == "Bash · rm -rf build/ · blocked by no-secrets: ask first"
    assert event_sentence(event, decision_ending(decision), show_input=False) == (
        "Bash · blocked by no-secrets: ask first"
    )


def test_a_reason_in_a_notification_loses_its_secrets_and_a_hook_keeps_its_name() -> None:
    output = HookOutput(verdict=Verdict.DENY, reason=f"stay in .env, not {TOKEN}")
    decision = Decision(verdict=Verdict.DENY, outcomes=(Outcome(hook="no-secrets", status=Status.OK, output=output),))

    said = event_sentence(call(command="ls"), decision_ending(decision))

    assert said == "Bash · ls · blocked by no-secrets: stay in .env, not [masked github]"


def test_every_verdict_that_says_something_has_an_ending() -> None:
    assert set(ENDINGS) == {"deny", "stop", "ask", "trouble", "rewrite", "allow"}
