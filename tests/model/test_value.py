"""Values of the model: equal by what they hold, usable as keys, replaced and never written to."""

from dataclasses import replace
from pathlib import Path

from mypy import api

from tray.model.decision import EMPTY_ANSWER, NO_OPINION, Answer, Decision, Verdict
from tray.model.event import EventKind, EventSpec


def test_values_are_compared_and_hashed_by_what_they_hold() -> None:
    assert Answer() == EMPTY_ANSWER
    assert len({Answer(code=1), Answer(code=1), Answer(code=2)}) == 2
    assert hash(EventSpec(kind=EventKind.OTHER)) == hash(EventSpec(kind=EventKind.OTHER))


def test_another_value_is_made_and_the_old_one_stays() -> None:
    assert replace(NO_OPINION, verdict=Verdict.DENY).verdict is Verdict.DENY
    assert Decision() == NO_OPINION


def test_the_type_checkers_take_them_for_frozen_dataclasses(tmp_path: Path) -> None:
    """They alone keep a value from being written to."""
    (tmp_path / "writes.py").write_text("from tray.model.decision import Answer\nAnswer().code = 2\n")
    said, _, _ = api.run(["--strict", "--cache-dir", str(tmp_path), str(tmp_path / "writes.py")])
    assert 'Property "code" defined in "Answer" is read-only' in said
