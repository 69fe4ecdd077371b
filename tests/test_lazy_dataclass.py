"""A lazy dataclass behaves like one of the standard library, in every form that the product uses."""

from __future__ import annotations

import ast
import copy
import dataclasses
import importlib
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from tray import lazy_dataclass

ROOT = Path(__file__).parent.parent
OPTIONS: tuple[Mapping[str, bool], ...] = (
    {"frozen": True, "slots": True, "kw_only": True},
    {"frozen": True, "slots": True},
    {"frozen": True},
    {"frozen": True, "eq": False},
    {"slots": True},
)


def built(module: Any, options: Mapping[str, bool]) -> Any:
    @module.dataclass(**options)
    class Value:
        """A value."""

        name: str
        size: int = 0
        parts: list[str] = module.field(default_factory=list)
        note: str = module.field(default="", compare=False, repr=False)
        words: tuple[str, ...] = module.field(default=(), hash=False)
        length: int = module.field(init=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "length", len(self.name))

    return Value


def result(work: Callable[[], object]) -> object:
    try:
        return work()
    except (AttributeError, TypeError) as error:
        return type(error)


WORK: Mapping[str, Callable[[Any], object]] = {
    "fields": lambda cls: [getattr(cls(name="x"), one.name) for one in dataclasses.fields(cls)],
    "field options": lambda cls: [(one.name, one.compare, one.repr, one.init) for one in dataclasses.fields(cls)],
    "positional": lambda cls: dataclasses.astuple(cls("x", 1, ["y"], "z")),
    "too many": lambda cls: cls("x", 1, [], "z", (), 1),
    "missing": lambda cls: cls(size=1),
    "unknown": lambda cls: cls(name="x", colour="red"),
    "copied": lambda cls: dataclasses.astuple(copy.deepcopy(cls(name="x", parts=["y"]))),
    "not in init": lambda cls: cls(name="x", length=3),
    "lists of their own": lambda cls: cls(name="x").parts is cls(name="x").parts,
    "equal": lambda cls: cls(name="x", note="a") == cls(name="x", note="b"),
    "not equal": lambda cls: cls(name="x") != cls(name="y"),
    "not equal to others": lambda cls: cls(name="x") == ("x", 0, [], "", (), 1),
    "hash": lambda cls: len({cls(name="x", parts=(), words=words) for words in ([], ["y"])}),
    "same hash": lambda cls: len({*map(hash, [cls(name="x", parts=(), words=words) for words in ([], ["y"])])}),
    "repr": lambda cls: repr(cls(name="x", size=2)).rpartition(".")[2],
    "assign": lambda cls: setattr(cls(name="x"), "name", "y"),
    "delete": lambda cls: delattr(cls(name="x"), "name"),
    "replace": lambda cls: dataclasses.astuple(dataclasses.replace(cls(name="x"), size=3)),
    "match": lambda cls: cls.__match_args__,
    "asdict": lambda cls: dataclasses.asdict(cls(name="x")),
    "class attribute": lambda cls: isinstance(cls.size, int),
    "dictionary": lambda cls: hasattr(cls(name="x"), "__dict__"),
    "name": lambda cls: (cls.__name__, cls.__qualname__, cls.__doc__, cls.__module__),
}


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("work", WORK)
def test_it_does_what_a_dataclass_does(work: str, options: Mapping[str, bool]) -> None:
    lazy, real = built(lazy_dataclass, options), built(dataclasses, options)

    assert result(lambda: WORK[work](lazy)) == result(lambda: WORK[work](real))


def test_replace_is_the_one_of_dataclasses_for_classes_of_others() -> None:
    for module in (lazy_dataclass, dataclasses):
        replaced = lazy_dataclass.replace(built(module, OPTIONS[0])(name="x"), name="long")

        assert (replaced.name, replaced.length) == ("long", 4)


def test_a_subclass_has_the_fields_of_its_bases_first_and_keeps_what_is_cached() -> None:
    @lazy_dataclass.dataclass(frozen=True)
    class Base:
        name: str
        size: int = 1

    @lazy_dataclass.dataclass(frozen=True, kw_only=True)
    class Derived(Base):
        size: int = 2
        colour: str = "red"

        @cached_property
        def both(self) -> str:
            return f"{self.name} {self.colour}"

    derived = Derived("x")

    assert (derived.both, derived.size, derived == Derived("x"), derived == Base("x", 2)) == ("x red", 2, True, False)
    assert [one.name for one in dataclasses.fields(derived)] == ["name", "size", "colour"]


def test_replace_keeps_the_fields_of_a_packages_subclass() -> None:
    @dataclasses.dataclass(frozen=True)
    class Theirs(built(lazy_dataclass, OPTIONS[2])):  # type: ignore[misc]
        colour: str = "red"

    assert lazy_dataclass.replace(Theirs("x", colour="blue"), size=3).colour == "blue"  # type: ignore[call-arg]


def test_a_method_of_the_class_itself_is_kept() -> None:
    @lazy_dataclass.dataclass(frozen=True, slots=True)
    class Quiet:
        secret: str

        def __repr__(self) -> str:
            return "Quiet()"

    assert repr(Quiet("x")) == "Quiet()"


def test_values_are_made_compared_and_replaced_without_the_library() -> None:
    program = (
        "import sys; from tray.lazy_dataclass import dataclass, replace\n"
        "@dataclass(frozen=True, slots=True)\nclass A:\n  b: int = 0\n"
        "assert {A(): replace(A(), b=1)} == {A(): A(1)}\n"
        "print([name for name in ('dataclasses', 'inspect') if name in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def test_a_process_of_one_event_makes_no_slots_and_its_values_are_the_same_otherwise() -> None:
    program = (
        "from tray.lazy_dataclass import dataclass, field, replace, skip_slots\nskip_slots()\n"
        "@dataclass(frozen=True, slots=True)\nclass A:\n"
        "  b: int\n  c: list = field(default_factory=list)\n  d: str = 'x'\n"
        "one = A(1)\nprint(hasattr(A, '__slots__'), one == A(1, [], 'x'), replace(one, b=2), A.__match_args__)\n"
        "try:\n  one.b = 3\nexcept AttributeError as error:\n  print(error)"
    )

    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout.splitlines() == [
        "False True A(b=2, c=[], d='x') ('b', 'c', 'd')",
        "cannot assign to field 'b'",
    ]


def declared_frozen(path: Path) -> list[str]:
    """The names of the module's classes that are declared frozen."""
    return [
        node.name
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef)
        and any("dataclass(" in (text := ast.unparse(one)) and "frozen=True" in text for one in node.decorator_list)
    ]


def test_every_value_of_the_product_that_is_declared_frozen_is_frozen_at_run_time() -> None:
    tried = 0
    for path in sorted((ROOT / "tray").glob("**/*.py")):
        names = declared_frozen(path)
        if not names:
            continue
        try:
            module = importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
        except (AssertionError, ImportError):  # of another system, or of an extra that is not installed
            continue
        for name in names:
            cls = getattr(module, name)
            value, field = object.__new__(cls), next(iter(cls.__match_args__), "anything")
            with pytest.raises(dataclasses.FrozenInstanceError):
                setattr(value, field, 1)
            with pytest.raises(dataclasses.FrozenInstanceError):
                delattr(value, field)
            tried += 1

    assert tried > 200


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_value_is_made_the_same_way_before_and_after_its_class_is_compiled(options: Mapping[str, bool]) -> None:
    lazy = built(lazy_dataclass, options)

    values = [dataclasses.astuple(lazy(name="x", parts=[], note="z")) for _ in range(20)]
    errors = [result(lambda: lazy(name="x", colour="red")) for _ in range(20)]

    assert values == [("x", 0, [], "z", (), 1)] * 20
    assert errors == [TypeError] * 20


def test_a_class_of_which_few_values_are_made_is_never_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    compile_text = lazy_dataclass._compile

    def record(text: str, space: dict[str, Any]) -> Callable[..., Any]:
        compiled.append(text)
        return compile_text(text, space)

    monkeypatch.setattr(lazy_dataclass, "_compile", record)
    lazy = built(lazy_dataclass, OPTIONS[0])

    counts = [(lazy(name="x"), len(compiled))[1] for _ in range(10)]

    assert counts == [0] * 8 + [1, 1]
