"""The agents by their ids: the built-in ones, and those of packages. Each module is imported on demand."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from typing import TYPE_CHECKING, Generic, TypeVar

from tray.agents import others
from tray.agents.agent import Agent, HookRules, KnownAgent
from tray.errors import HooktrayError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "hooktray.agents"  # the entry points of packages that bring an agent
BUILT_IN: Mapping[str, str] = {  # an id, and the module that has its AGENT
    "claude-code": "tray.agents.claude_code",
    "shelley": "tray.agents.shelley",
    "starchild": "tray.agents.starchild",
    "x-code": "tray.agents.x_code",
}
RECOGNISED: Mapping[str, str] = {  # those that are not supported yet
    "antigravity": "tray.agents.google_antigravity",
    "codex": "tray.agents.codex",
    "copilot-cli": "tray.agents.copilot_cli",
    "cursor": "tray.agents.cursor",
    "devin": "tray.agents.devin",
    "gemini-cli": "tray.agents.gemini_cli",
    "grok": "tray.agents.grok",
    "hermes": "tray.agents.hermes",
    "kimi-code": "tray.agents.kimi_code",
    "qwen-code": "tray.agents.qwen_code",
    "windsurf": "tray.agents.windsurf",
}
OWN_FORMAT = "starchild"  # the format of hooktray.yaml is a superset of this agent's
CANONICAL = "claude-code"  # the agent whose names of tools and arguments are the canonical ones
USUAL_RULES = HookRules()
UNKNOWN = "unknown"  # the agent of a payload that no protocol here understands

SomeAgent = TypeVar("SomeAgent", bound=KnownAgent)


class AgentTable(Mapping[str, SomeAgent], Generic[SomeAgent]):
    """Agents by id. Looking one up imports its module; to list the ids imports nothing."""

    def __init__(self, modules: Mapping[str, str], kind: type[SomeAgent], group: str = "") -> None:
        self._modules = modules
        self._kind = kind
        self._group = group
        self._loaded: dict[str, SomeAgent] = {}

    @cached_property
    def _entry_points(self) -> Mapping[str, EntryPoint]:
        """The agents of packages. One that takes the id of a built-in agent does not count."""
        from importlib.metadata import entry_points  # takes longer than most commands

        found = entry_points(group=self._group) if self._group else ()
        return {point.name: point for point in found if point.name not in {*BUILT_IN, *RECOGNISED}}

    def __getitem__(self, id: str) -> SomeAgent:
        try:
            return self._loaded[id]
        except KeyError:
            return self._loaded.setdefault(id, self._load(id))

    def __contains__(self, id: object) -> bool:
        return id in self._modules or id in self._entry_points

    def __iter__(self) -> Iterator[str]:
        yield from self._modules
        yield from self._entry_points

    def __len__(self) -> int:
        return len(self._modules) + len(self._entry_points)

    def package(self, id: str) -> str:
        """The distribution that brings this agent; "" for a built-in one."""
        if id in self._modules or id not in self._entry_points:
            return ""
        distribution = self._entry_points[id].dist
        return f"{distribution.name} {distribution.version}" if distribution else "a package"

    def _load(self, id: str) -> SomeAgent:
        if id in self._modules:
            agent = importlib.import_module(self._modules[id]).AGENT
        else:
            agent = self._entry_points[id].load()  # KeyError: there is no such agent
        if not isinstance(agent, self._kind) or agent.id != id:
            hint = f"its entry point has to name a {self._kind.__name__} whose id is `{id}`"
            raise HooktrayError(f"the agent `{id}` of {self.package(id)} cannot be used", hint=hint)
        return agent


AGENTS = AgentTable(BUILT_IN, Agent, GROUP)
UNSUPPORTED = AgentTable(RECOGNISED, KnownAgent)


def known_agents() -> Iterator[KnownAgent]:
    """Every agent of which anything is known."""
    yield from AGENTS.values()
    yield from UNSUPPORTED.values()


def known_agent(id: str) -> KnownAgent:
    """KeyError when nothing is known of it."""
    return UNSUPPORTED[id] if id in RECOGNISED else AGENTS[id]


def hook_rules(id: str) -> HookRules:
    """The rules for hooks of an agent's format; the usual ones for our own format ("") and an agent that is gone."""
    return AGENTS[id].rules if id and id in AGENTS else USUAL_RULES


@cache
def program_names() -> frozenset[str]:
    """What the processes of agents are called."""
    return others.PROGRAMS.union(*(agent.programs for agent in known_agents()))


@cache
def inherited_variables() -> frozenset[str]:
    """The variables that agents set for what they run, and that people do not set for themselves."""
    return others.VARIABLES.union(*(agent.variables for agent in known_agents()))


def display_name(id: str) -> str:
    """What people call an agent."""
    try:
        return known_agent(id).name
    except KeyError:
        return id
