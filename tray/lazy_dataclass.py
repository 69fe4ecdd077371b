"""Dataclasses that compile their methods when these are used: an event needs few of those that it imports.

`dataclasses` compiles six methods of each class and imports `inspect`, which took a third of the one-shot engine's
time. `__init__` is compiled at its ninth call: most classes have one or two instances in an event, and compiling
takes as long as making some fifty instances without it. What is seldom needed (`repr`, `fields`, `asdict`) still
comes from `dataclasses`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import replace as replace
    from typing import NoReturn, TypedDict, TypeVar, Unpack

    from _typeshed import DataclassInstance

    Value = TypeVar("Value", bound=DataclassInstance)

    class FieldOptions(TypedDict, total=False):
        """What `field` takes."""

        default: object
        default_factory: Callable[[], object]
        init: bool
        repr: bool
        hash: bool
        compare: bool


_INTERPRETED = 8  # calls of an `__init__` until it is compiled
_IN_SHORT_PROCESS = False
_FIELDS, _REAL = "__lazy_fields__", ("__dataclass_fields__", "__dataclass_params__")


class LazyField:
    """What `field` was called with, by which class, for which of its fields."""

    __slots__ = ("keyword", "options")

    def __init__(self, options: FieldOptions, keyword: bool = False) -> None:
        self.options, self.keyword = options, keyword


class _RealAttribute:
    """What `dataclasses` puts on its classes, made when it is looked for."""

    def __init__(self, name: str, complete: Callable[[], object]) -> None:
        self._name, self._complete = name, complete

    def __get__(self, instance: object, owner: type) -> object:
        self._complete()
        return getattr(owner, self._name)


def skip_slots() -> None:
    """Make dataclasses without slots in this process: slots save memory, but each class must be made twice."""
    global _IN_SHORT_PROCESS
    _IN_SHORT_PROCESS = True


def _field(**options: Unpack[FieldOptions]) -> LazyField:
    return LazyField(options)


def _dataclass(
    *, frozen: bool = False, slots: bool = False, kw_only: bool = False, eq: bool = True
) -> Callable[[type], type]:
    """As `dataclasses.dataclass`; no ClassVar, no InitVar."""

    def decorate(original: type) -> type:
        body = dict(vars(original))
        own = {name: _lazy(body, name, kw_only) for name in body.get("__annotations__", ())}
        fields = _inherited(original) | own

        def complete() -> Callable[..., str]:
            return _complete(cls, body, own, frozen=frozen, kw_only=kw_only, eq=eq)

        added: dict[str, object] = {name: _RealAttribute(name, complete) for name in _REAL}
        placed = (name for name, one in fields.items() if not one.keyword and one.options.get("init", True))
        added |= {_FIELDS: fields, "__match_args__": tuple(placed)}
        added["__init__"] = _interpreted_init(lambda: cls, fields)
        added["__repr__"] = _first(lambda: cls, "__repr__", complete)
        if frozen:
            added |= {"__setattr__": _refuse, "__delattr__": _refuse, "__setstate__": _set_state}
        if eq:
            added["__eq__"] = _first(lambda: cls, "__eq__", lambda: _compile_eq(fields))
            added["__hash__"] = _first(lambda: cls, "__hash__", lambda: _compile_hash(fields)) if frozen else None
        if slots and not _IN_SHORT_PROCESS:
            cls = _with_slots(original, added | body, tuple(own))
        else:
            cls = _without_slots(original, body, own, added)
        return cls

    return decorate


def _replace(value: Value, /, **changes: object) -> Value:
    cls: Callable[..., Value] = type(value)
    fields = vars(cls).get(_FIELDS)
    if fields is None:  # a package's own subclass has fields beside those of its base
        from dataclasses import replace

        return replace(value, **changes)
    for name, one in fields.items():
        if name not in changes and one.options.get("init", True):
            changes[name] = getattr(value, name)
    return cls(**changes)


def _lazy(body: Mapping[str, object], name: str, keyword: bool) -> LazyField:
    given = body.get(name, _lazy)
    if isinstance(given, LazyField):
        return LazyField(given.options, keyword)
    return LazyField({} if given is _lazy else {"default": given}, keyword)


def _inherited(cls: type) -> dict[str, LazyField]:
    found: dict[str, LazyField] = {}
    for base in reversed(cls.__mro__[1:]):
        found |= vars(base).get(_FIELDS, {})
    return found


def _with_slots(original: type, body: Mapping[str, object], own: tuple[str, ...]) -> type:
    """The same class with slots: they have to be there when a class is made."""
    dropped = {*own, "__dict__", "__weakref__"}
    left = {name: value for name, value in body.items() if name not in dropped}
    cls: type = type(original)(original.__name__, original.__bases__, left | {"__slots__": own})
    cls.__qualname__ = original.__qualname__
    return cls


def _without_slots(
    cls: type, body: Mapping[str, object], own: Mapping[str, LazyField], added: Mapping[str, object]
) -> type:
    for name, one in own.items():
        if "default" in one.options:
            setattr(cls, name, one.options["default"])
        elif name in body:
            delattr(cls, name)
    for name, value in added.items():
        if name not in body:
            setattr(cls, name, value)
    return cls


def _first(
    owner: Callable[[], type], name: str, compiled: Callable[[], Callable[..., object]]
) -> Callable[..., object]:
    """A method that is compiled at its first call."""

    def first(self: object, /, *given: object, **named: object) -> object:
        cls, method = owner(), compiled()
        method.__qualname__ = f"{cls.__qualname__}.{name}"
        setattr(cls, name, method)
        return method(self, *given, **named)

    return first


def _interpreted_init(owner: Callable[[], type], fields: Mapping[str, LazyField]) -> Callable[..., None]:
    """An `__init__` that is slow but needs no compiling; for arguments that do not fit it calls the compiled one."""
    compiled, calls = _first(owner, "__init__", lambda: _compile_init(owner(), fields)), 0

    def init(self: object, /, *given: object, **named: object) -> None:
        nonlocal calls
        calls += 1
        values = _values(fields, given, named) if calls <= _INTERPRETED else None
        if values is None:
            compiled(self, *given, **named)
            return
        if _IN_SHORT_PROCESS:  # without slots
            vars(self).update(values)
        else:
            for name, value in values.items():
                object.__setattr__(self, name, value)
        if hasattr(self, "__post_init__"):
            self.__post_init__()

    return init


def _values(
    fields: Mapping[str, LazyField], given: tuple[object, ...], named: Mapping[str, object]
) -> dict[str, object] | None:
    """The value of each field; None for arguments that are missing, too many or unknown."""
    values: dict[str, object] = {}
    place = used = 0
    for name, one in fields.items():
        options, taken = one.options, one.options.get("init", True)
        if taken and not one.keyword and place < len(given):
            values[name] = given[place]
            place += 1
        elif taken and name in named:
            values[name] = named[name]
            used += 1
        elif "default" in options:
            values[name] = options["default"]
        elif "default_factory" in options:
            values[name] = options["default_factory"]()
        elif taken:
            return None
    return values if (place, used) == (len(given), len(named)) else None


def _compile_init(cls: type, fields: Mapping[str, LazyField]) -> Callable[..., object]:
    space: dict[str, object] = {"_missing": _lazy, "_set": object.__setattr__}
    heads: dict[bool, list[str]] = {False: [], True: []}
    lines = []
    for name, one in fields.items():
        default, factory = one.options.get("default", _lazy), one.options.get("default_factory")
        space |= {f"_default_{name}": default, f"_new_{name}": factory}
        value = f"_new_{name}() if {name} is _missing else {name}" if factory else name
        if one.options.get("init", True):
            optional = factory is not None or default is not _lazy
            heads[one.keyword].append(f"{name}=_default_{name}" if optional else name)
        elif factory or default is not _lazy:
            value = f"_new_{name}()" if factory else f"_default_{name}"
        else:
            continue
        slot: object = getattr(cls, name, None)
        if hasattr(slot, "__set__"):  # quicker than by its name, and a frozen class has no other way
            space[f"_set_{name}"] = slot.__set__
            lines.append(f" _set_{name}(self, {value})")
        else:
            lines.append(f" _set(self, {name!r}, {value})")
    lines += [" self.__post_init__()"] if hasattr(cls, "__post_init__") else []
    head = ", ".join(["self", *heads[False], *(["*", *heads[True]] if heads[True] else [])])
    return _compile(f"def __init__({head}):\n" + ("\n".join(lines) or " pass"), space)


def _compile_eq(fields: Mapping[str, LazyField]) -> Callable[..., object]:
    mine, others = (_tuple_of(name, _compared(fields)) for name in ("self", "other"))
    return _compile(
        f"def __eq__(self, other):\n if other.__class__ is self.__class__:\n  return {mine} == {others}\n"
        " return NotImplemented",
        {},
    )


def _compile_hash(fields: Mapping[str, LazyField]) -> Callable[..., object]:
    names = [name for name in _compared(fields) if fields[name].options.get("hash", True)]
    return _compile(f"def __hash__(self):\n return hash({_tuple_of('self', names)})", {})


def _compile(text: str, space: dict[str, object]) -> Callable[..., object]:
    exec(text, space)
    method = space[text.split("(", 1)[0].removeprefix("def ")]
    assert callable(method)
    return method


def _compared(fields: Mapping[str, LazyField]) -> Iterator[str]:
    return (name for name, one in fields.items() if one.options.get("compare", True))


def _tuple_of(value: str, names: Iterator[str] | list[str]) -> str:
    return "(" + "".join(f"{value}.{name}," for name in names) + ")"


def _complete(
    cls: type, body: Mapping[str, object], own: Mapping[str, LazyField], *, frozen: bool, kw_only: bool, eq: bool
) -> Callable[..., str]:
    """Let `dataclasses` make a class of the same fields, and take what it has put there; its `__repr__`."""
    import dataclasses

    kept = ("__annotations__", "__doc__", "__module__", "__qualname__")
    twin_body = {name: body[name] for name in kept if name in body}
    make_field: Callable[..., object] = dataclasses.field
    twin_body |= {name: make_field(**one.options) for name, one in own.items() if one.options}
    twin: type = type(cls)(cls.__name__, cls.__bases__, twin_body)
    twin = dataclasses.dataclass(frozen=frozen, kw_only=kw_only, eq=eq)(twin)
    for name in _REAL:
        setattr(cls, name, getattr(twin, name))
    represent: Callable[..., str] = twin.__repr__
    return represent


def _refuse(self: object, name: str, *value: object) -> NoReturn:
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot {'assign to' if value else 'delete'} field {name!r}")


def _set_state(self: object, state: tuple[Mapping[str, object] | None, ...] | Mapping[str, object] | None) -> None:
    """For a copy, which is made without `__init__`."""
    variables, slots = state if isinstance(state, tuple) else (state, None)
    for name, value in {**(variables or {}), **(slots or {})}.items():
        object.__setattr__(self, name, value)


if not TYPE_CHECKING:
    dataclass, field, replace = _dataclass, _field, _replace
