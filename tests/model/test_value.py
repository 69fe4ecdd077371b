"""Values of the model are immutable, because threads exchange them."""

import enum
import importlib
from typing import Protocol

import msgspec


def test_every_class_of_the_model_is_frozen_or_an_enum() -> None:
    for name in ("decision", "event", "hook", "place", "session"):
        module = importlib.import_module(f"tray.model.{name}")
        for one in vars(module).values():
            is_class = isinstance(one, type) and one.__module__ == module.__name__
            if is_class and Protocol not in one.__bases__ and not issubclass(one, (enum.Enum, tuple)):
                assert issubclass(one, msgspec.Struct), one.__qualname__
                assert one.__struct_config__.frozen, f"{one.__qualname__} can be written to"
