"""Lazy replacements of modules of the standard library, for events without the tray and for the tray's start.

A lazy module has a few functions, most of them from the C module on which the real one is built. When code uses any
other name of it, it loads the real module and returns the name from there. So an event loads no OpenSSL, no `logging`
until a line is logged, and nothing that these import. This saves a seventh of an event's processor time, and a tenth
of that of the tray's start.
"""

from __future__ import annotations

import importlib
import sys
from _thread import RLock
from types import ModuleType

TYPE_CHECKING = False  # type checkers know this name; importing `typing` takes as long as OpenSSL
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Protocol as Protocol
else:
    Protocol = object  # only type checkers need the real one

PACKAGES = frozenset({"logging", "sqlite3"})
LOGGING = frozenset({"critical", "debug", "error", "exception", "info", "log", "warning"})
SHORT = 1 << 16  # bytes, up to which loading OpenSSL takes longer than it saves
UNQUOTED = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/"


class LazyModule(ModuleType):
    """Loads the module of its name when a name is used that it does not have."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.callbacks: list[Callable[[], object]] = []
        self._loading = RLock()  # no thread uses the real module before the callbacks ran

    def __getattr__(self, attribute: str) -> object:
        if attribute == "__path__" and self.__name__ not in PACKAGES:
            raise AttributeError(attribute)  # each `from … import` looks for it
        return getattr(self.load(), attribute)

    def load(self) -> ModuleType:
        """The real module."""
        with self._loading:
            if sys.modules.get(self.__name__) is self:
                del sys.modules[self.__name__]
            loaded = importlib.import_module(self.__name__)
            while self.callbacks:
                self.callbacks.pop()()
            return loaded


class LazyLogger:
    """Loads `logging` when it is called."""

    __slots__ = ("_logging", "_name")

    def __init__(self, logging: LazyModule, name: str) -> None:
        self._logging, self._name = logging, name

    def __getattr__(self, attribute: str) -> object:
        if attribute not in LOGGING:
            return getattr(self._logging.load().getLogger(self._name), attribute)

        def call(*given: object, **named: object) -> object:
            return getattr(self._logging.load().getLogger(self._name), attribute)(*given, **named)

        return call


def use_lazy_modules(*names: str) -> None:
    """Put lazy modules in place for this process: those named, or all of GIVEN; an imported module stays as it is."""
    for name in names or GIVEN:
        if name in sys.modules:
            continue
        module = LazyModule(name)
        try:
            vars(module).update(GIVEN[name](module) if name in GIVEN else {})
        except ImportError:  # another Python has it elsewhere
            continue
        sys.modules[name] = module
        parent, _, last = name.rpartition(".")
        if parent:
            setattr(importlib.import_module(parent), last, module)


def load_modules(*names: str) -> None:
    """Load those that are still lazy: what uses them may have to work when no file can be opened any more."""
    for name in names:
        module = sys.modules.get(name)
        if isinstance(module, LazyModule):
            module.load()


def when_loaded(name: str, callback: Callable[[], object]) -> None:
    """Calls `callback` once the real module is loaded: now, or when the lazy one loads it."""
    module = sys.modules.get(name)
    if isinstance(module, LazyModule):
        module.callbacks.append(callback)
    else:
        callback()


def _hashlib(module: LazyModule) -> Mapping[str, object]:
    quick = importlib.import_module("_sha256" if sys.version_info < (3, 12) else "_sha2").sha256
    return {"sha256": lambda data=b"": quick(data) if len(data) <= SHORT else module.load().sha256(data)}


def _logging(module: LazyModule) -> Mapping[str, object]:
    return {"getLogger": lambda name: LazyLogger(module, name)}


def _in_c(module: LazyModule) -> Mapping[str, object]:
    """The public names of the C module: `signal` without its enums, `sqlite3` without its adapters of dates."""
    return {
        name: value for name, value in vars(importlib.import_module(f"_{module.__name__}")).items() if name[0] != "_"
    }


def _selectors(module: LazyModule) -> Mapping[str, object]:
    """The class that `subprocess` names when it is imported, and uses to talk to a process by more than one pipe."""

    def poll_selector() -> object:
        selectors = module.load()
        return getattr(selectors, "PollSelector", selectors.SelectSelector)()  # a system may have no poll()

    return {"PollSelector": poll_selector}


def _urllib_parse(module: LazyModule) -> Mapping[str, object]:
    """What `pathlib` imports, to make the URI of a database from its path, and what reads the relay's table."""

    def quote_from_bytes(text: bytes, safe: str = "/") -> str:
        if safe == "/" and not text.translate(None, UNQUOTED):
            return text.decode()
        quoted: str = module.load().quote_from_bytes(text, safe)
        return quoted

    def unquote_to_bytes(quoted: bytes) -> bytes:
        if b"%" not in quoted:
            return quoted
        text: bytes = module.load().unquote_to_bytes(quoted)
        return text

    return {"quote_from_bytes": quote_from_bytes, "unquote_to_bytes": unquote_to_bytes}


GIVEN: Mapping[str, Callable[[LazyModule], Mapping[str, object]]] = {
    "binascii": lambda module: {},
    "hashlib": _hashlib,
    "locale": lambda module: {},
    "logging": _logging,
    "ntpath": lambda module: {},
    "selectors": _selectors,
    "shlex": lambda module: {},
    "signal": _in_c,
    "sqlite3": _in_c,
    "typing": lambda module: {"TYPE_CHECKING": False},
    "unicodedata": lambda module: {},
    "urllib.parse": _urllib_parse,
}
