"""What each recording becomes, byte for byte, in all directions; kept in goldens/, and written by running this.

`stdin/` is what a hook of each other dialect reads; `events/` the words that a payload is read as;
`answers/` what the agent is told when a hook of each dialect says one of outputs.json. An event that nobody could
record yet stands there with the dialect's own sample.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
from agents import fidelity, hook_outputs
from agents import recordings as recorder
from agents.fidelity import FidelityRow

from tray.agents.registry import AGENTS
from tray.model.decision import HookOutput, Result
from tray.model.event import Event

FOLDER = Path(__file__).parent / "goldens"
OUTPUTS: dict[str, dict[str, dict[str, Any]]] = json.loads((FOLDER / "outputs.json").read_text(encoding="utf-8"))
ROWS: dict[tuple[str, str], FidelityRow] = {(row.agent, row.event): row for row in fidelity.rows()}
SAMPLE = "sample "
# Fields that the goldens leave out: they repeat the request, or follow from the agent and the name of the event.
FRAME = ("id", "agent", "spec", "sender", "payload", "body", "environment", "pid")


def recorded() -> list[tuple[str, str]]:
    """Every recording: agent and name."""
    return [(path.parent.name, path.stem) for path in sorted(recorder.FOLDER.glob("*/*.json"))]


def cases() -> list[tuple[str, str]]:
    """Every recording, and the sample of each event that has none."""
    real = recorded()
    known = {(agent, _family(recorder.address(agent, name))) for agent, name in real}
    bare = [(agent, event) for agent, event in ROWS if (agent, event) not in known]
    return [*real, *((agent, SAMPLE + event) for agent, event in bare)]


def _family(event: str) -> str:
    return "slash/<command>" if event.startswith("slash/") else event


def event(agent: str, name: str) -> Event:
    if name.startswith(SAMPLE):
        return recorder.sampled(agent, name.removeprefix(SAMPLE))
    return recorder.recorded(agent, name)


def stdin(agent: str, name: str, dialect: str) -> str:
    return AGENTS[dialect].protocol.stdin(event(agent, name)).decode()


def words(agent: str, name: str) -> dict[str, Any]:
    """The fields of the Event that are not empty."""
    found = event(agent, name)
    filled = _filled(found, Event(id="", agent="", name="", kind=found.kind), FRAME) | {"kind": found.kind.value}
    if found.tool and not found.tool.lines:
        del filled["tool"]["lines"]
    return filled


def outputs(agent: str, name: str, dialect: str) -> dict[str, dict[str, Any]]:
    """What a hook of this dialect may say of the event: for every event, and for its name in the hook's input."""
    hook_event = ROWS[agent, _family(event(agent, name).name)].hook_event_names[dialect]
    table = OUTPUTS[dialect]
    return table["*"] | table.get(_family(hook_event), {})


def answered(agent: str, name: str, dialect: str, output: dict[str, Any]) -> dict[str, Any]:
    """How the hook's words are read, and what the agent gets for them."""
    agent_event = event(agent, name)
    result = Result(
        code=output.get("code", 0), stdout=output.get("out", "").encode(), stderr=output.get("err", "").encode()
    )
    hook_output = AGENTS[dialect].protocol.read(agent_event, result)
    answer = hook_outputs.answered(agent_event, hook_output)
    parts = {"out": answer.stdout.decode(), "err": answer.stderr.decode(), "code": answer.code}
    filled = {key: value for key, value in parts.items() if value}
    return {"output": _filled(hook_output, HookOutput(), ("plain",)), "answer": filled}


def _filled(value: Any, empty: Any, without: tuple[str, ...] = ()) -> dict[str, Any]:
    """The fields that are not empty, as JSON holds them."""
    names = [name for name in value.__struct_fields__ if name not in without]
    fields = {name: getattr(value, name) for name in names if getattr(value, name) != getattr(empty, name)}
    filled: dict[str, Any] = json.loads(json.dumps(msgspec.to_builtins(fields)))
    return filled


def kept(kind: str, agent: str) -> dict[str, Any]:
    goldens: dict[str, Any] = json.loads((FOLDER / kind / f"{agent}.json").read_text(encoding="utf-8"))
    return goldens


def main() -> None:
    for agent in AGENTS:
        names = [name for one, name in cases() if one == agent]
        _write("events", agent, {name: words(agent, name) for name in names})
        others = [dialect for dialect in AGENTS if dialect != agent]
        _write("stdin", agent, {f"{other} {name}": stdin(agent, name, other) for name in names for other in others})
        answers = {
            f"{dialect} {name}: {title}": answered(agent, name, dialect, output)
            for name in names
            for dialect in AGENTS
            for title, output in outputs(agent, name, dialect).items()
        }
        _write("answers", agent, answers)


def _write(kind: str, agent: str, goldens: dict[str, Any]) -> None:
    """One golden a line, so that a difference can be read."""
    (FOLDER / kind).mkdir(parents=True, exist_ok=True)
    rows = (f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" for key, value in goldens.items())
    (FOLDER / kind / f"{agent}.json").write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
