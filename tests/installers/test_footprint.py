"""How much `pip install hooktray` brings along: the distributions that it requires, as they are installed here."""

from __future__ import annotations

import sys
import tomllib
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
MAX_DISTRIBUTIONS = 30
MAX_SIZE = 70_000_000  # bytes, byte code included


def installed(requirements: list[str]) -> dict[str, Distribution]:
    """What they lead to, by name; extras that nobody asked for are left out."""
    found: dict[str, Distribution] = {}
    waiting = [Requirement(one) for one in requirements]
    while waiting:
        wanted = waiting.pop()
        name = canonicalize_name(wanted.name)
        if name in found or (wanted.marker and not wanted.marker.evaluate({"extra": ""})):
            continue
        found[name] = distribution(name)
        waiting += [Requirement(one) for one in found[name].requires or ()]
    return found


def size(one: Distribution) -> int:
    paths = (Path(str(one.locate_file(file))) for file in one.files or ())
    return sum(path.stat().st_size for path in paths if path.is_file())


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system's interfaces are packages of their own")
def test_an_installation_has_at_most_thirty_distributions_and_seventy_megabytes() -> None:
    found = installed(PROJECT["dependencies"])

    sizes = {name: size(one) for name, one in found.items()}
    assert len(sizes) <= MAX_DISTRIBUTIONS, sorted(sizes)
    assert sum(sizes.values()) <= MAX_SIZE, sorted(sizes.items(), key=lambda pair: -pair[1])
    assert min(sizes.values()) > 0, "a distribution whose files are not listed counts for nothing"


def test_nothing_of_a_large_framework_comes_along() -> None:
    assert {"babel", "click", "openai", "pydantic", "rich", "setuptools", "typer"} & set(
        installed(PROJECT["dependencies"])
    ) == set()


def test_the_extras_are_those_for_users_and_the_one_for_development() -> None:
    assert set(PROJECT["optional-dependencies"]) <= {"push", "fleet", "dev"}
