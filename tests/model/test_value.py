"""Values of the model: equal by what they hold, usable as keys, replaced and never written to."""

import enum
import importlib
from typing import Protocol

import msgspec
import pytest
from msgspec.structs import replace

from tray.model.decision import EMPTY_ANSWER, NO_OPINION, Answer, Decision, Verdict
from tray.model.event import EventKind, EventSpec


def test_values_are_compared_and_hashed_by_what_they_hold() -> None:
    assert Answer() == EMPTY_ANSWER
    assert len({Answer(code=1), Answer(code=1), Answer(code=2)}) == 2
    assert hash(EventSpec(kind=EventKind.OTHER)) == hash(EventSpec(kind=EventKind.OTHER))


def test_another_value_is_made_and_the_old_one_stays() -> None:
    assert replace(NO_OPINION, verdict=Verdict.DENY).verdict is Verdict.DENY
    assert Decision() == NO_OPINION


@pytest.mark.parametrize("value", [NO_OPINION, EMPTY_ANSWER, EventSpec(kind=EventKind.OTHER)], ids=repr)
def test_a_value_cannot_be_written_to(value: msgspec.Struct) -> None:
    """Threads exchange them."""
    with pytest.raises(AttributeError, match="immutable"):
        setattr(value, value.__struct_fields__[0], None)


def test_every_class_of_the_model_is_frozen_or_an_enum() -> None:
    for name in ("decision", "event", "hook", "place", "session"):
        module = importlib.import_module(f"tray.model.{name}")
        for one in vars(module).values():
            is_class = isinstance(one, type) and one.__module__ == module.__name__
            if is_class and Protocol not in one.__bases__ and not issubclass(one, (enum.Enum, tuple)):
                assert issubclass(one, msgspec.Struct), one.__qualname__
                assert one.__struct_config__.frozen, f"{one.__qualname__} can be written to"
