"""The check of ordinary Python finds each thing that it is for, and nothing in what is usual."""

from __future__ import annotations

import pytest
from ordinary_python import (
    ASSIGNMENT,
    EXCEPTIONS,
    EXECUTION,
    MODULE_WRITE,
    MOST_CALLABLES,
    MOST_FORWARDERS,
    MOST_IMPORTS,
    PRIVATE,
    Module,
    problems,
)

FOUND = {
    MODULE_WRITE: (
        "import sys\nsys.modules['a'] = 1",
        "import sys\ndel sys.modules['a']",
        "import sys\nsys.modules.pop('a')",
        "import sys\nsys.modules |= {}",
        "from sys import modules\nmodules.update(a=1)",
        "import sys as system\nsystem.modules.setdefault('a', 1)",
    ),
    ASSIGNMENT: (
        "import json\njson.dumps = print",
        "import os.path\nos.path.sep = ''",
        "import json\ndel json.dumps",
        "import sys\nsys.flags += 1",
        "from threading import Thread\nThread.start = print",
        "import json\nsetattr(json, 'dumps', print)",
        "def f(library):\n  setattr(library, 'dumps', print)",
    ),
    EXECUTION: ("exec('1')", "eval('1')", "compile('1', '', 'exec')", "import builtins\nbuiltins.exec('1')"),
    PRIVATE: (
        "import _thread",
        "from argparse import _SubParsersAction",
        "from encodings._x import y",
        "import atexit\natexit._run_exitfuncs()",
        "import sys\ngetattr(sys, '_base_executable', '')",
        "def f(icon):\n  return icon._display",
        "def f(icon):\n  icon._display.flush = print",
        "def f(bus):\n  return getattr(bus, '_writer', None)",
        "import http.client\nclass C(http.client.HTTPConnection):\n  def f(self):\n    return self._buffer",
        "import http.client\nclass C(http.client.HTTPConnection):\n  def _output(self):\n    super()._output()",
        "from typing import Protocol\nclass Icon(Protocol):\n  _x: int\ndef f(icon: Icon):\n  return icon._x",
    ),
}
USUAL = (
    "import sys\nloaded = sys.modules.get('a')",
    "import threading\nthreading.excepthook = print",
    "import os\nos.environ['A'] = ''\nos._exit(0)",
    "import re\nre.compile('a')",
    "class A:\n  def __init__(self):\n    self._x = 1\n  def same(self, other):\n    return self._x == other._x",
    "from tray.a import A\nclass B(A):\n  def _load(self):\n    return super()._load()",
    "import sys\nprint(sys.version_info.__class__)",
)


@pytest.mark.parametrize(("rule", "text"), [(rule, text) for rule, texts in FOUND.items() for text in texts])
def test_unusual_python_is_reported_by_its_rule(rule: str, text: str) -> None:
    assert {finding.rule for finding in Module(text).findings()} == {rule}


@pytest.mark.parametrize("text", USUAL)
def test_ordinary_python_is_not_reported(text: str) -> None:
    assert list(Module(text, known={"_load"}).findings()) == []


def test_imports_inside_functions_are_counted_once() -> None:
    text = "import a\ndef f():\n  import b\n  def g():\n    from c import d\nclass C:\n  import e\n"

    assert Module(text).imports_in_functions() == 2


def test_functions_that_only_pass_a_call_on_are_counted() -> None:
    text = """
from functools import partial
a = lambda: b()
c = partial(print, 1)
def d():
    def only_forwards():
        \"""Some words.\"""
        return e()
    def does_more():
        f = e()
        return f
    return only_forwards, does_more
"""

    assert Module(text).forwarders() == 3


def test_parameters_and_fields_that_hold_a_function_are_counted() -> None:
    text = """
Work = Callable[[], None]
class Judge(Protocol):
    def __call__(self, pid: int) -> bool: ...
class Part:
    work: Work
    name: str
    def __init__(self, each: Sequence[Callable[[], None]], judge: "Judge | None", *, seconds: float) -> None: ...
    def work_of(self) -> Work: ...
"""
    module = Module(text)

    assert list(module.callable_types()) == ["Work", "Judge"]
    assert module.callables(["Work", "Judge"]) == 3


def test_each_problem_is_named() -> None:
    many = "".join(f"def f{number}():\n  import json\n" for number in range(MOST_IMPORTS + 1))
    many += "a = lambda: 1\n" * (MOST_FORWARDERS + 1)
    many += "".join(f"def g{number}(work: Callable[[], None]): ...\n" for number in range(MOST_CALLABLES + 1))
    found = list(problems({"tray/a.py": "exec('1')", "tray/b.py": many}))

    assert f"tray/a.py:1: {EXECUTION}: exec('1')" in found
    assert f"{MOST_IMPORTS + 1} imports inside functions, at most {MOST_IMPORTS}" in found
    assert any(line.startswith(f"{MOST_FORWARDERS + 1} lambdas") for line in found)
    assert any(line.startswith(f"{MOST_CALLABLES + 1} parameters") for line in found)
    exceptions = [path for files in EXCEPTIONS.values() for path in files]
    assert [path for path in exceptions if not any(line.startswith(f"{path}: no longer") for line in found)] == []
