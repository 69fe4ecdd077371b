"""Imports a library without what it can do without: modules installed for others, patterns that are not used yet."""

from __future__ import annotations

import contextlib
import functools
import importlib
import re
import sys
from collections.abc import Iterator
from types import ModuleType

from tray.lazy_pattern import lazy_pattern


@contextlib.contextmanager
def hidden(*names: str) -> Iterator[None]:
    """Meanwhile these modules cannot be imported, as where they are not installed; what is imported already stays."""
    absent = [name for name in names if name not in sys.modules]
    sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type]  # None is how Python marks what must fail
    try:
        yield
    finally:
        for name in absent:
            del sys.modules[name]


@contextlib.contextmanager
def lazy_patterns() -> Iterator[None]:
    """Meanwhile `re.compile` makes lazy patterns; while no other thread runs."""
    compile_now = re.compile
    re.compile = lazy_pattern
    try:
        yield
    finally:
        re.compile = compile_now


def load_lazily(*names: str) -> None:
    """From now on these modules are loaded when something of them is used, not when they are imported."""
    for name in names:
        if name not in sys.modules:
            sys.modules[name] = module = ModuleType(name)
            vars(module)["__getattr__"] = functools.partial(_load, module)
            parent, _, last = name.rpartition(".")
            if parent:
                setattr(importlib.import_module(parent), last, module)


def _load(module: ModuleType, attribute: str) -> object:
    if sys.modules.get(module.__name__) is module:
        del sys.modules[module.__name__]
    return getattr(importlib.import_module(module.__name__), attribute)
