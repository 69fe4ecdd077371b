"""Installed packages that provide agents: folders as pip makes them, and commands and trays that import them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from live import PYTHON, Live
from plain import Plain

from tray.paths import locate

PINE = '''"""Pine: {"name": "before_tool", "id": "s1", "folder": "/p", "tool": "Bash", "input": {…}}."""

import sys

from tray.agents import wire
from tray.agents.agent import Agent, Marks
from tray.agents.connection import PROBE_EVENT, Plan
from tray.model.decision import Answer, HookOutput, Verdict
from tray.model.event import Capability, Event, EventKind, EventSpec

EVENTS = {
    "before_tool": EventSpec(kind=EventKind.TOOL_BEFORE, can=Capability.DENY, timeout=30),
    "done": EventSpec(kind=EventKind.TURN_END, timeout=30),
}


def event_name(payload):
    return wire.event_name(payload, "name")


def session(request, payload):
    return wire.text(payload, "id")


def tool(name, payload):
    return wire.tool(payload, name="tool", input="input", call="", output="")


def parse(request, name, payload):
    return Event(
        **wire.request_fields(request, payload),
        name=name,
        kind=wire.spec(EVENTS, name).kind,
        session=session(request, payload),
        cwd=wire.text(payload, "folder"),
        tool=tool(name, payload),
    )


def neutral(name, body):
    return Answer()


def rewrite_problem(event, decision):
    return ""


def render(event, decision):
    if decision.verdict is Verdict.DENY:
        return Answer(stdout=wire.dumps_line({"refuse": decision.reason or wire.DEFAULT_REASON}))
    return Answer()


def hook_event_name(event):
    return event.name if event.agent == "pine" else event.kind.value


def stdin(event):
    fields = {"name": hook_event_name(event), "id": event.session, "folder": event.cwd}
    return wire.dumps(fields | ({"tool": event.tool.name, "input": event.tool.input} if event.tool else {}))


def environment(event):
    return {}


def read(event, result):
    if problem := wire.run_problem(result):
        return HookOutput(problem=problem)
    return HookOutput(verdict=Verdict.DENY, reason=wire.stderr(result)) if result.code else HookOutput()


def sample(name):
    more = {"tool": "Bash", "input": {"command": "ls -la"}} if name == "before_tool" else {}
    return wire.dumps({"name": name, "id": "s1", "folder": "/home/dev/project", **more})


class Connector:
    def is_installed(self, site):
        return (site.home / ".pine").is_dir()

    def connect(self, site):
        return Plan()

    disconnect = connect

    def relay_entries(self, site):
        return ()

    def trust(self, site):
        return ""

    def probe_payload(self, session, cwd):
        return {"name": PROBE_EVENT, "id": session, "folder": cwd}


def is_alike(payload):
    return "folder" in payload and "name" in payload


def fail(*given):
    raise RuntimeError("the package is broken")


AGENT = Agent(
    id="pine",
    name="Pine",
    marks=Marks(is_alike=is_alike, variables=("PINE_SESSION",)),
    programs=frozenset({"pine"}),
    events=EVENTS,
    protocol=sys.modules[__name__],
    connector=Connector,
)
'''
CALL: Mapping[str, Any] = {
    "name": "before_tool",
    "id": "s1",
    "folder": "/",
    "tool": "Bash",
    "input": {"command": "hooktray off"},
}


def write_package(
    site: Path,
    name: str = "hooktray-pine",
    *,
    id: str = "pine",
    value: str = "hooktray_pine:AGENT",
    module: str = PINE,
    version: str = "1.0",
) -> Path:
    """The metadata folder of a package with one agent; its module is named as `value` has it."""
    site.mkdir(exist_ok=True)
    folder = site / f"{name.replace('-', '_')}-{version}.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n\nName: other\n")
    (folder / "entry_points.txt").write_text(f"[console_scripts]\n{id} = x:y\n\n[hooktray.agents]\n{id} = {value}\n")
    (site / f"{value.partition(':')[0]}.py").write_text(module)
    return folder


class PackagedLive(Live):
    """An installation whose commands and tray import from `site`, too."""

    def __init__(self, folder: Path, site: Path) -> None:
        place = Plain(folder)
        place.environment["PYTHONPATH"] = str(site)
        super().__init__(place, folder / "h")
        locate(str(self.home)).prepare()

    def start(self, *argv: str) -> None:
        self.process = self.place.start([*self.argv("run"), *argv])
        self.place.wait(lambda: self.is_running() or None, what="the tray answers")

    def argv(self, *words: str) -> list[str]:
        return [PYTHON, "-m", "tray", "--home", str(self.home), *words]

    def once(self, agent: str, payload: Mapping[str, Any], event: str = "") -> subprocess.CompletedProcess[bytes]:
        words = [PYTHON, "-m", "tray", "once", "--home", str(self.home), agent, *([event] if event else [])]
        return self.place.run(words, input=json.dumps(payload).encode())

    def states(self) -> dict[str, str]:
        """The states as a process has them that knows the package."""
        rows = map(json.loads, self.cli("list", "--json").stdout.splitlines())
        return {row["name"]: row["state"] for row in rows}

    def approve_all(self) -> None:
        """What a person does, in a process that knows the package."""
        code = (
            "import sys; sys.path.extend(sys.argv[2:]); from pathlib import Path;"
            " from connect.trays import approve_all; from live import Live; from plain import Plain;"
            " folder = Path(sys.argv[1]); approve_all(Live(Plain(folder), folder / 'h'))"
        )
        tests = Path(__file__).parents[1]
        done = self.place.run([PYTHON, "-c", code, str(self.place.folder), str(tests), str(tests / "agents")])
        assert done.returncode == 0, done.stderr.decode()

    def logged(self) -> str:
        file = locate(str(self.home)).logs / "hooktray.log"
        return file.read_text() if file.exists() else ""
