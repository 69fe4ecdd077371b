"""Modules of the standard library that are loaded when an event without the tray needs more than a function of them.

A lazy module has a few functions, mostly from the module in C below the real one. If anything else of it is used, it
loads the real module and answers with that. So an event loads no OpenSSL, no `logging` before a line is logged, and
nothing that those import: a seventh of its processor time.
"""

from __future__ import annotations

import importlib
import sys
from _thread import RLock
from types import ModuleType

TYPE_CHECKING = False  # type checkers know it by its name; `typing` itself takes as long as OpenSSL
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PACKAGES = frozenset({"logging", "sqlite3"})
LOGGING = frozenset({"critical", "debug", "error", "exception", "info", "log", "warning"})
SHORT = 1 << 16  # bytes, for which OpenSSL is not worth loading; for more it is quicker
UNQUOTED = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/"


class LazyModule(ModuleType):
    """Loads the module of its name when something is used that it was not given."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.then: list[Callable[[], object]] = []
        self._loading = RLock()  # no thread uses the real module before `then` was called

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
            while self.then:
                self.then.pop()()
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
    """From here on in this process, all of them unless some are named; what is imported already stays as it is."""
    for name, given in GIVEN.items():
        if name in sys.modules or (names and name not in names):
            continue
        module = LazyModule(name)
        try:
            vars(module).update(given(module))
        except ImportError:  # another Python has it elsewhere
            continue
        sys.modules[name] = module
        parent, _, last = name.rpartition(".")
        if parent:
            setattr(importlib.import_module(parent), last, module)


def when_loaded(name: str, then: Callable[[], object]) -> None:
    """Calls `then` once the real module is there: now, or after the lazy one has loaded it."""
    module = sys.modules.get(name)
    if isinstance(module, LazyModule):
        module.then.append(then)
    else:
        then()


def _hashlib(module: LazyModule) -> Mapping[str, object]:
    quick = importlib.import_module("_sha256" if sys.version_info < (3, 12) else "_sha2").sha256
    return {"sha256": lambda data=b"": quick(data) if len(data) <= SHORT else module.load().sha256(data)}


def _logging(module: LazyModule) -> Mapping[str, object]:
    return {"getLogger": lambda name: LazyLogger(module, name)}


def _in_c(module: LazyModule) -> Mapping[str, object]:
    """All that is in C: of `signal` without the enums of its numbers, of `sqlite3` without adapters of dates."""
    return {
        name: value for name, value in vars(importlib.import_module(f"_{module.__name__}")).items() if name[0] != "_"
    }


def _urllib_parse(module: LazyModule) -> Mapping[str, object]:
    """`pathlib` imports this function, which makes the address of a database from its path."""

    def quote_from_bytes(text: bytes) -> str:
        if not text.translate(None, UNQUOTED):
            return text.decode()
        quoted: str = module.load().quote_from_bytes(text)
        return quoted

    return {"quote_from_bytes": quote_from_bytes}


GIVEN: Mapping[str, Callable[[LazyModule], Mapping[str, object]]] = {
    "hashlib": _hashlib,
    "logging": _logging,
    "shlex": lambda module: {},
    "signal": _in_c,
    "sqlite3": _in_c,
    "urllib.parse": _urllib_parse,
}
