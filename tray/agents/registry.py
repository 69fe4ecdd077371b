"""The agents by their ids: the built-in ones, whose modules are imported on demand, and those of packages."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Iterator, Mapping
from functools import cache, cached_property, lru_cache

from tray.agents.agent import Agent, HookRules, KnownAgent
from tray.agents.packages import PackagedAgents, packaged_agents, remedy
from tray.agents.unsupported import UNSUPPORTED as UNSUPPORTED
from tray.errors import AgentError
from tray.text import sanitise
from tray.text.words import word_set

BUILT_IN: Mapping[str, str] = {  # by id: the module that has the agent's AGENT
    "antigravity": "tray.agents.google_antigravity",
    "claude-code": "tray.agents.claude_code",
    "cline": "tray.agents.cline",
    "codex": "tray.agents.codex",
    "copilot-cli": "tray.agents.copilot_cli",
    "cursor": "tray.agents.cursor",
    "devin": "tray.agents.devin",
    "droid": "tray.agents.droid",
    "gemini-cli": "tray.agents.gemini_cli",
    "grok": "tray.agents.grok",
    "kimi-code": "tray.agents.kimi_code",
    "kiro": "tray.agents.kiro",
    "opencode": "tray.agents.opencode",
    "qwen-code": "tray.agents.qwen_code",
    "shelley": "tray.agents.shelley",
    "starchild": "tray.agents.starchild",
    "x-code": "tray.agents.x_code",
}
OWN_FORMAT = "starchild"  # the format of hooktray.yaml is a superset of this agent's
CANONICAL = "claude-code"  # the agent whose names for tools and arguments are the canonical ones
USUAL_RULES = HookRules()
UNKNOWN = "unknown"  # the agent of a payload that no supported agent sends
# The ids that a package's agent cannot have: `agent` is a key in `sources`, `hooktray` the source of our own hooks.
RESERVED = frozenset({*BUILT_IN, *UNSUPPORTED, UNKNOWN, "agent", "hooktray"})

FOUND_SIZE = 256  # ids whose agents are remembered; they come from outside

# Other agents, of which only these are known, so that Hooktray does not take one for a person.
OTHER_PROGRAMS = word_set("aider amp crush goose")
OTHER_VARIABLES = word_set("AI_AGENT AMP_THREAD_ID GOOSE_TERMINAL")
# Windows in which agents run as well as the terminals of people: they are no agents, their extension hosts may be.
EDITORS = word_set(
    "clion code code-insiders code-oss codium cursor emacs goland idea java nvim phpstorm pycharm rider rubymine "
    "rustrover vim webstorm windsurf zed zed-editor zeditor"
)


class SupportedAgents(Mapping[str, Agent]):
    """The built-in agents, then those of packages.

    A look-up imports the agent's module; for a built-in agent, it does not search for packages. Listing the ids
    imports no module. `find` is a cached `get`, for code that runs at every event.
    """

    def __init__(self, modules: Mapping[str, str]) -> None:
        self._modules = modules
        self._loaded: dict[str, Agent] = {}
        self.find = lru_cache(maxsize=FOUND_SIZE)(self.get)
        self.failures: dict[str, AgentError] = {}  # the first failure of each package's agent, by id

    def __getitem__(self, id: str) -> Agent:
        if id not in self._loaded:
            self._loaded[id] = self._load(id)
        return self._loaded[id]

    @cached_property
    def packaged(self) -> PackagedAgents:
        """The agents of packages; the first use searches for them."""
        return packaged_agents(RESERVED)

    def __contains__(self, id: object) -> bool:
        return id in self._modules or (id not in RESERVED and id in self.packaged.agents)

    def __iter__(self) -> Iterator[str]:
        yield from self._modules
        yield from self.packaged.agents

    def __len__(self) -> int:
        return len(self._modules) + len(self.packaged.agents)

    @property
    def built_in(self) -> Mapping[str, Agent]:
        """The built-in agents only."""
        return {id: self[id] for id in self._modules}

    def package(self, id: str) -> str:
        """The distribution that provides this agent, with its version; "" for a built-in one."""
        return "" if id in self._modules else self.packaged.packages.get(id, "")

    def failure(self, id: str, function: str, error: BaseException) -> AgentError:
        """Returns the AgentError for an exception of a package's agent; logs and keeps the agent's first one.

        Raises `error` itself if the agent is built in.
        """
        package = self.package(id)
        if not package:
            raise error
        text = f"`{function}` of the agent {id} in the package {package} failed: {type(error).__name__}: {error}"
        failure = AgentError(sanitise(text, 300), hint=remedy(package))
        if self.failures.setdefault(id, failure) is failure:
            log = logging.getLogger(__name__)
            log.addHandler(logging.NullHandler())  # a command shows the AgentError without a traceback
            log.error("%s", failure.message, exc_info=error)
        return failure

    def _load(self, id: str) -> Agent:
        if id not in self._modules and id not in RESERVED:
            return self.packaged.agents[id]
        agent: Agent = importlib.import_module(self._modules[id]).AGENT  # KeyError: an id that no package can have
        assert agent.id == id
        return agent


AGENTS = SupportedAgents(BUILT_IN)


def known_agents() -> Iterator[KnownAgent]:
    """Every agent that Hooktray supports or recognises."""
    yield from AGENTS.values()
    yield from UNSUPPORTED.values()


def known_agent(id: str) -> KnownAgent:
    """Raises KeyError for an agent that Hooktray neither supports nor recognises."""
    return UNSUPPORTED[id] if id in UNSUPPORTED else AGENTS[id]


def hook_rules(id: str) -> HookRules:
    """The rules for hooks of an agent's format; the default rules for our own format ("") or an unknown agent."""
    known = AGENTS.find(id) if id else None
    return known.rules if known else USUAL_RULES


@cache
def program_names() -> frozenset[str]:
    """The names of agents' processes."""
    return OTHER_PROGRAMS.union(*(agent.programs for agent in known_agents()))


@cache
def inherited_variables() -> frozenset[str]:
    """The variables that agents set for their child processes, and that people do not set."""
    return OTHER_VARIABLES.union(*(agent.variables for agent in known_agents()))


def display_name(id: str) -> str:
    """What people call an agent."""
    try:
        return known_agent(id).name
    except KeyError:
        return id
