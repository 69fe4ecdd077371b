"""Judges many cases in one test: `@every(("agent", "event"), PAIRS)` in the place of `pytest.mark.parametrize`.

A case costs a test run a folder, two fixtures and a report to another process. `every` costs none of these, and still
judges every case: the test fails once, and names each case that is wrong. It is for tests that only compute values,
and for those that ask one running tray the same of each agent: the cases share the test's fixtures.
"""

from __future__ import annotations

import functools
import inspect
import traceback
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

FULL = 10  # wrong cases that are shown with the whole explanation; of the others one line is
LONGEST = 120  # letters of a case that has no name


def every(
    names: str | Sequence[str],
    cases: Iterable[Any],
    ids: Callable[[Any], object] | Iterable[object] | None = None,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Call the test for each case, and fail with all the cases that were wrong; two of these judge all combinations.

    `names` and `ids` are those of `pytest.mark.parametrize`.
    """
    single = isinstance(names, str)
    columns = (names,) if isinstance(names, str) else tuple(names)
    rows = [(case,) if single else tuple(case) for case in cases]
    assert rows, "there is no case to judge"
    labels = _labels(rows, ids)

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def judge(**rest: Any) -> None:
            __tracebackhide__ = True
            wrong: list[tuple[str, BaseException]] = []
            for label, row in zip(labels, rows, strict=True):
                try:
                    test(**dict(zip(columns, row, strict=True)), **rest)
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001  # the other cases are judged too
                    wrong.append((label, error))
            if wrong:
                pytest.fail(_explained(wrong, len(rows)), pytrace=False)

        signature = inspect.signature(test)
        left = [one for name, one in signature.parameters.items() if name not in columns]
        judge.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]  # pytest reads it
        return judge

    return decorate


def _labels(rows: Sequence[tuple[Any, ...]], ids: Callable[[Any], object] | Iterable[object] | None) -> list[str]:
    if ids is None:
        shown = [", ".join(map(repr, row)) for row in rows]
        return [f"case {n}: {one if len(one) <= LONGEST else one[:LONGEST] + ' ...'}" for n, one in enumerate(shown)]
    if callable(ids):
        return ["-".join(str(ids(value)) for value in row) for row in rows]
    return [str(one) for one in ids]


def _explained(wrong: Sequence[tuple[str, BaseException]], count: int) -> str:
    lines = [f"{len(wrong)} of {count} cases are wrong"]
    for number, (label, error) in enumerate(wrong):
        frame = traceback.extract_tb(error.__traceback__)[-1]
        is_plain = isinstance(error, AssertionError | pytest.fail.Exception)
        text = str(error) if is_plain else repr(error)
        lines.append(f"\n{label}  ({Path(frame.filename).name}:{frame.lineno})")
        lines.append(text if number < FULL else (text.splitlines() or [""])[0])
    return "\n".join(lines)
