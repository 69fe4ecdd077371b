"""A broken hook is announced once an hour for each cause, with the remedy in the text."""

from __future__ import annotations

from clock import Clock
from every import every

from tray.engine.hook_output import BROKEN_PROGRAM
from tray.model.decision import Gate, HookOutput, Outcome, Status, Verdict
from tray.notify.alert import BODY_LIMIT, AlertClass
from tray.notify.policy import describe, find_problem, without_folders
from tray.notify.service import HOUR, ProblemTracker


def broken(cause: str = "killed by signal 9", **more: object) -> Outcome:
    return Outcome(**({"hook": "guard", "status": Status.FAILED, "cause": cause} | more))  # type: ignore[arg-type]


FINE = Outcome(hook="guard", status=Status.OK, ms=10, limit=10)


def test_a_refusal_of_a_broken_program_is_a_problem_with_its_own_remedy() -> None:
    error = BROKEN_PROGRAM.format("guard.sh: line 2: syntax error: No such file or directory")
    output = HookOutput(verdict=Verdict.DENY, warning=error)

    one = find_problem(Outcome(hook="guard", status=Status.OK, cause=error, output=output))

    assert one is not None
    assert (one.cls, one.cause) == (AlertClass.HOOK_FAILED, error)
    assert one.remedy == "correct the script or its command in its file, then approve the change"


@every(
    ("outcome", "said"),
    [
        (broken("not found: ./x"),
         "guard: not found: ./x · install it, or correct the command in its file, then approve the change"),
        (broken("Permission denied"), "guard: Permission denied · chmod +x its file"),
        (broken("not executable: /home/me/my hooks/x.sh"),
         "guard: not executable · chmod +x '/home/me/my hooks/x.sh'"),
        (broken(status=Status.TIMED_OUT, cause="timed out after 10 s"),
         "guard: timed out after 10 s · make it quicker, or raise its `timeout:` in its file"),
        (Outcome(hook="guard", status=Status.OK, cause="no JSON", output=HookOutput(warning="no JSON")),
         "guard: no JSON · print JSON or nothing on stdout, and words for people on stderr"),
        (Outcome(hook="guard", status=Status.OK, ms=8100, limit=10),
         "guard: took 8.1 of its 10 s · make it quicker, or raise its `timeout:` in its file"),
        (broken("refused 8 times", gate=Gate.LOOP_CAP), "guard: refused 8 times"),
    ],
)  # fmt: skip
def test_the_words_name_the_cure(outcome: Outcome, said: str) -> None:
    one = find_problem(outcome)

    assert one is not None
    assert describe(one) == said


def test_a_long_cause_is_cut_before_its_cure_is() -> None:
    one = find_problem(broken("x" * 1000))

    assert one is not None
    assert len(describe(one)) <= BODY_LIMIT
    assert describe(one).endswith("show what it wrote")
    assert find_problem(Outcome(hook="guard", status=Status.OK, ms=8000, limit=10)) is None, "not slow yet"


def test_the_same_cause_is_told_once_an_hour_and_another_one_at_once() -> None:
    clock = Clock()
    tracker = ProblemTracker(clock)
    assert len(tracker.fresh([broken("exit 1 after 12 ms")])) == 1

    assert tracker.fresh([broken("exit 1 after 15 ms")]) == []
    assert len(tracker.fresh([broken("killed")])) == 1
    clock.now += HOUR
    assert len(tracker.fresh([broken("exit 1 after 12 ms")])) == 1


def test_a_hook_is_counted_until_it_has_had_a_good_turn() -> None:
    tracker = ProblemTracker(Clock())

    tracker.fresh([broken(), broken(), broken(hook="other")])
    assert sorted(one.hook for one in tracker.current) == ["guard", "other"]
    tracker.fresh([Outcome(hook="guard", status=Status.SKIPPED), FINE])

    assert [one.hook for one in tracker.current] == ["other"]


@every(
    ("cause", "shown"),
    [
        ("/home/ada/.local/state/hooktray/copies/1a2b/guard.sh: not executable", "guard.sh: not executable"),
        ("not found: jq", "not found: jq"),
        ("~/.config/hooktray/hooktray.yaml:3:1: bad", "hooktray.yaml:3:1: bad"),
        (r"'C:\Users\ada\h.ps1': not found", "'h.ps1': not found"),
        ("https://example.com/a/b: 404", "https://example.com/a/b: 404"),
    ],
)
def test_a_cause_names_files_and_not_where_they_are(cause: str, shown: str) -> None:
    assert without_folders(cause) == shown


def test_hooks_that_have_no_model_to_ask_are_told_of_once_with_the_cure() -> None:
    clock = Clock()
    tracker = ProblemTracker(clock)
    first, second = (broken("no llm configured", hook=name) for name in ("one", "two"))

    (told,) = tracker.fresh([first, second])
    clock.now += 2 * HOUR
    again = tracker.fresh([first, second])

    assert describe(told).endswith("write `llm:` in hooktray.yaml and confirm it in the tray's menu")
    assert again == []
    assert len(tracker.current) == 2
