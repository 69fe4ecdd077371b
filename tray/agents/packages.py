"""Finds the agents that installed packages provide as entry points of the group `hooktray.agents`."""

from __future__ import annotations

import contextlib
import io
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from tray.agents.agent import Agent, is_uncertain
from tray.errors import PACKAGE_ERRORS, AgentError
from tray.files import content
from tray.text import sanitise

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "hooktray.agents"
ID = r"[a-z][a-z0-9-]*"
SHOWN = 200  # characters of a package's text that are shown


class BrokenAgent(msgspec.Struct, frozen=True, kw_only=True):
    """An agent that cannot be used: its package, the problem, and the remedy."""

    agent: str
    package: str
    problem: str
    remedy: str

    @property
    def text(self) -> str:
        return f"the package {self.package} brings an agent that cannot be used: {self.problem}"


class PackagedAgents(msgspec.Struct, frozen=True, kw_only=True):
    """The usable agents of packages by id, the name and version of each one's package, and the unusable agents."""

    agents: Mapping[str, Agent] = {}
    packages: Mapping[str, str] = {}
    broken: tuple[BrokenAgent, ...] = ()


def packaged_agents(reserved: Collection[str]) -> PackagedAgents:
    """Returns the agents of all packages; one with a `reserved` id is broken. Never raises because of a package."""
    points = {(one.name, one.value): one for one in reversed([*entry_points(sys.path)])}  # Python takes the first
    count = Counter(id for id, _ in points)
    agents: dict[str, Agent] = {}
    packages: dict[str, str] = {}
    broken = []
    for id, value in sorted(points):
        point = points[id, value]
        package = sanitise(f"{point.dist.name} {point.dist.version}" if point.dist else "", SHOWN)
        try:
            if id in reserved:
                raise AgentError("its id is taken by Hooktray itself")
            if count[id] > 1:
                raise AgentError("another package has an agent with this id")
            agents[id] = _load(point)
            packages[id] = package
        except PACKAGE_ERRORS as error:
            what = "" if isinstance(error, AgentError) else f"it cannot be imported: {type(error).__name__}: "
            shown, problem = sanitise(id, SHOWN), sanitise(f"{what}{error}", SHOWN)
            broken.append(BrokenAgent(agent=shown, package=package, problem=problem, remedy=remedy(package)))
    return PackagedAgents(agents=agents, packages=packages, broken=tuple(broken))


def remedy(package: str) -> str:
    """Returns what to do about a package that fails; `package` is its name and version."""
    return f"update or uninstall {package.partition(' ')[0]}"


def entry_points(path: Sequence[str]) -> Iterator[EntryPoint]:
    """Yields the entry points of the group in the folders `path`.

    It imports `importlib.metadata`, which takes 50 ms, only if an `entry_points.txt` names the group.
    """
    for folder in dict.fromkeys(filter(None, path)):
        for file in sorted(Path(folder).glob("*-info/entry_points.txt")):
            with contextlib.suppress(OSError, TypeError, ValueError):  # another package's file may be damaged
                if GROUP.encode() in content(str(file)):
                    from importlib.metadata import Distribution

                    yield from Distribution.at(file.parent).entry_points.select(group=GROUP)


def _load(point: EntryPoint) -> Agent:
    """Import the agent, and make its marks yield to a built-in agent that has certainly sent the payload.

    Raises AgentError, or any exception of the package.
    """
    if not re.fullmatch(ID, point.name):
        raise AgentError("its id is not a word of lower-case letters, digits and `-`")
    with contextlib.redirect_stdout(io.StringIO()):  # its output must not become part of an answer to an agent
        agent: object = point.load()
    if not isinstance(agent, Agent):
        raise AgentError(f"its entry point names a {type(agent).__name__}, not an Agent")
    if agent.id != point.name:
        raise AgentError(f"its entry point is called `{point.name}`, and the Agent has the id {agent.id!r:.60}")
    marks = agent.marks
    words = (*agent.programs, *agent.variables, *agent.path_words, *marks.keys, *marks.variables, marks.transcript)
    if not all(isinstance(word, str) for word in words):  # events of all agents are compared with these
        raise AgentError("its programs, variables, path_words and marks have to be texts")
    return replace(agent, marks=replace(marks, yields=True, is_certain=is_uncertain))
