"""The check of ordinary Python finds each thing that it is for, and nothing in what is usual."""

from __future__ import annotations

from every import every
from ordinary_python import ASSIGNMENT, EXCEPTIONS, EXECUTION, MODULE_WRITE, PRIVATE, Module, problems

FOUND = {
    "import sys\nsys.modules['a'] = 1": MODULE_WRITE,
    "import sys\ndel sys.modules['a']": MODULE_WRITE,
    "import sys\nsys.modules |= {}": MODULE_WRITE,
    "from sys import modules\nmodules.update(a=1)": MODULE_WRITE,
    "import json\njson.dumps = print": ASSIGNMENT,
    "import json\ndel json.dumps": ASSIGNMENT,
    "from threading import Thread\nThread.start = print": ASSIGNMENT,
    "def f(library):\n  setattr(library, 'dumps', print)": ASSIGNMENT,
    "eval('1')": EXECUTION,
    "import builtins\nbuiltins.exec('1')": EXECUTION,
    "import _thread": PRIVATE,
    "from argparse import _SubParsersAction": PRIVATE,
    "import sys\ngetattr(sys, '_base_executable', '')": PRIVATE,
    "def f(icon):\n  return icon._display": PRIVATE,
    "import http.client\nclass C(http.client.HTTPConnection):\n  def f(self):\n    return self._buffer": PRIVATE,
    "from typing import Protocol\nclass Icon(Protocol):\n  _x: int\ndef f(icon: Icon):\n  return icon._x": PRIVATE,
}
USUAL = (
    "import sys\nloaded = sys.modules.get('a')",
    "import threading\nthreading.excepthook = print",
    "import os\nos.environ['A'] = ''\nos._exit(0)",
    "import re\nre.compile('a')",
    "class A:\n  def __init__(self):\n    self._x = 1\n  def same(self, other):\n    return self._x == other._x",
    "from tray.a import A\nclass B(A):\n  def _load(self):\n    return super()._inherited()",
)


@every(("text", "rule"), FOUND.items())
def test_unusual_python_is_reported_by_its_rule(text: str, rule: str) -> None:
    assert {found[1] for found in Module(text).findings()} == {rule}


@every("text", USUAL)
def test_ordinary_python_is_not_reported(text: str) -> None:
    assert list(Module(text, known={"_inherited"}).findings()) == []


def test_a_finding_has_its_place_and_an_exception_that_is_not_needed_is_reported() -> None:
    found = list(problems({"tray/a.py": "exec('1')"}))

    assert found[0] == f"tray/a.py:1: {EXECUTION}: exec('1')"
    assert len(found) == 1 + len(EXCEPTIONS)
