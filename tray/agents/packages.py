"""Finds the agents that installed packages provide in the entry point group `hooktray.agents`, and checks them."""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from operator import attrgetter

from tray.agents.agent import Agent
from tray.files import content
from tray.lazy_dataclass import dataclass, field
from tray.text import sanitise

GROUP = "hooktray.agents"
METADATA = {".dist-info": "METADATA", ".egg-info": "PKG-INFO"}  # by the suffix of the folder's name
ID = r"[a-z][a-z0-9-]*"
VALUE = r"([\w.]+)\s*:\s*([\w.]+)\s*(?:\[.*\])?"  # module:attribute
SIZE_LIMIT = 1 << 20  # bytes of a metadata file that are read
SHOWN = 200  # characters of a package's text that are shown


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentEntryPoint:
    """An agent as a package declares it."""

    id: str
    value: str  # "module:AGENT"
    distribution: str  # "hooktray-pine"
    version: str

    @property
    def package(self) -> str:
        return sanitise(f"{self.distribution} {self.version}", SHOWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokenAgent:
    """An agent that cannot be used: its package, the problem, and the remedy."""

    agent: str
    package: str
    problem: str
    remedy: str

    @property
    def text(self) -> str:
        return f"the package {self.package} brings an agent that cannot be used: {self.problem}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PackagedAgents:
    """The usable agents of packages by id, in alphabetical order, the package of each, and the unusable agents."""

    agents: Mapping[str, Agent] = field(default_factory=dict)
    packages: Mapping[str, str] = field(default_factory=dict)
    broken: tuple[BrokenAgent, ...] = ()


class UnusableAgentError(Exception):
    """Why an agent of a package cannot be used."""


def packaged_agents(reserved: Collection[str], path: Sequence[str] | None = None) -> PackagedAgents:
    """The agents of all packages in `path` (default: `sys.path`). Never raises because of a package.

    `reserved` are the ids that a package cannot use.
    """
    points = sorted(entry_points(sys.path if path is None else path), key=attrgetter("id", "distribution"))
    count = Counter(point.id for point in points)
    agents: dict[str, Agent] = {}
    packages: dict[str, str] = {}
    broken = []
    for point in points:
        try:
            if point.id in reserved:
                raise UnusableAgentError("its id is taken by Hooktray itself")
            if count[point.id] > 1:
                others = (other.package for other in points if other.id == point.id and other is not point)
                raise UnusableAgentError(f"its id is also that of the agent in {', '.join(others)}")
            agents[point.id] = _load(point)
            packages[point.id] = point.package
        except UnusableAgentError as error:
            name = sanitise(point.distribution, SHOWN)
            remedy = f"uninstall {name}" if count[point.id] > 1 else f"update or uninstall {name}"
            id = sanitise(point.id, 40) or "?"
            broken.append(BrokenAgent(agent=id, package=point.package, problem=str(error), remedy=remedy))
    return PackagedAgents(agents=agents, packages=packages, broken=tuple(broken))


def entry_points(path: Sequence[str]) -> Iterator[AgentEntryPoint]:
    """The entry points of the packages in these folders. Python imports the first of two folders of a distribution.

    Reading the files takes 3 ms; `importlib.metadata` takes 50 ms, which is longer than most commands.
    """
    seen = set()
    for folder in dict.fromkeys(filter(None, path)):
        for name, text in _declarations(folder):
            distribution, version = _name_and_version(folder, name)
            key = re.sub(r"[-_.]+", "-", distribution).lower()
            if key not in seen:
                seen.add(key)
                for id, value in _parse(text):
                    yield AgentEntryPoint(id=id, value=value, distribution=distribution, version=version)


def _declarations(folder: str) -> Iterator[tuple[str, str]]:
    """The metadata folders whose `entry_points.txt` names our group, and its text."""
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208 - the one-shot engine waits for this
    except OSError:
        return
    for name in names:
        if name.endswith(tuple(METADATA)) and GROUP.encode() in (text := _read(folder, name, "entry_points.txt")):
            yield name, _decode(text)


def _read(*path: str) -> bytes:
    """The start of the file, up to SIZE_LIMIT; b"" when it cannot be read."""
    try:
        return content(os.path.join(*path), SIZE_LIMIT)  # noqa: PTH118
    except OSError:
        return b""


def _decode(text: bytes) -> str:
    return text.decode("utf-8", "replace")


def _parse(text: str) -> Iterator[tuple[str, str]]:
    """The names and values of our group in an `entry_points.txt`."""
    group = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            group = line.strip("[] \t")
        elif group == GROUP and line and line[0] not in "#;":
            id, _, value = line.partition("=")
            yield id.strip(), value.strip()


def _name_and_version(folder: str, name: str) -> tuple[str, str]:
    """The package's name and version from its metadata, else from the folder's name."""
    stem, ending = os.path.splitext(name)  # noqa: PTH122
    fields = dict.fromkeys(("Name", "Version"), "")
    for line in _decode(_read(folder, name, METADATA[ending])).splitlines():
        if not line:
            break  # the description follows
        key, _, value = line.partition(":")
        if key in fields:
            fields[key] = fields[key] or value.strip()
    distribution, _, version = stem.partition("-")
    return fields["Name"] or distribution, fields["Version"] or version.partition("-")[0]


def _load(point: AgentEntryPoint) -> Agent:
    """Import and check the agent. Raises UnusableAgentError."""
    from tray.agents.agent_check import field_problem  # only imported when a package provides an agent
    from tray.agents.package_failures import guarded

    if not re.fullmatch(ID, point.id):
        raise UnusableAgentError("its id is not a word of lower-case letters, digits and `-`")
    place = re.fullmatch(VALUE, point.value)
    if place is None:
        raise UnusableAgentError(f"its entry point `{sanitise(point.value, SHOWN)}` is not `module:AGENT`")
    try:
        with contextlib.redirect_stdout(io.StringIO()):  # what it prints is not part of an answer to an agent
            agent = attrgetter(place[2])(importlib.import_module(place[1]))
            if problem := field_problem(agent, point.id):
                raise UnusableAgentError(problem)
            return guarded(agent, point.package)
    except UnusableAgentError:
        raise
    except (Exception, SystemExit) as error:  # a package's module may raise anything
        text = sanitise(f"{type(error).__name__}: {error}", SHOWN)
        raise UnusableAgentError(f"it cannot be imported: {text}") from error
