"""The agents of packages: which are found, which are left out and why, and that failures stay contained."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from agents.packaged import CALL, PINE, write_package

from tray.agents import protocol, recognition
from tray.agents.agent import Agent
from tray.agents.packages import PackagedAgents, entry_points, packaged_agents
from tray.agents.registry import BUILT_IN, RECOGNISED, RESERVED, UNKNOWN, SupportedAgents
from tray.errors import AgentError
from tray.model.decision import NO_OPINION
from tray.model.event import Event, EventKind, RelayRequest

NUMBERS = itertools.count()


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on `sys.path`."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(folder)
    before = set(sys.modules)
    yield folder
    for name in set(sys.modules) - before:
        if name.startswith("pine_"):
            del sys.modules[name]


def broken(site: Path, module: str = PINE, *, id: str = "pine", value: str = "") -> str:
    """The problem of a package that provides this agent only."""
    value = value or f"pine_{next(NUMBERS)}:AGENT"
    write_package(site, id=id, value=value, module=module)
    found = packaged_agents(RESERVED, [str(site)])
    assert not found.agents
    (one,) = found.broken
    assert one.package == "hooktray-pine 1.0"
    assert one.remedy == "update or uninstall hooktray-pine"
    return one.problem


def good(site: Path, module: str = PINE) -> Agent:
    write_package(site, value=f"pine_{next(NUMBERS)}:AGENT", module=module)
    return packaged_agents(RESERVED, [str(site)]).agents["pine"]


def changed(field: str) -> str:
    """Pine with other fields."""
    return f"{PINE}\nfrom dataclasses import replace\nAGENT = replace(AGENT, {field})\n"


def request() -> RelayRequest:
    return RelayRequest(agent="pine", event="before_tool", id="1", body=b"{}")


# ---- the table


def never_found() -> PackagedAgents:
    raise AssertionError("packages were looked for")


def test_looking_up_a_built_in_agent_does_not_search_for_packages() -> None:
    agents = SupportedAgents(BUILT_IN, never_found)

    assert [agents[id].id for id in BUILT_IN] == list(BUILT_IN)
    assert all(id in agents and not agents.package(id) for id in BUILT_IN)
    for id in (*RECOGNISED, UNKNOWN):
        assert id not in agents
        assert agents.get(id) is None


def test_agents_of_packages_come_after_the_built_in_ones(site: Path) -> None:
    pine = good(site)
    agents = SupportedAgents(
        BUILT_IN, lambda: PackagedAgents(agents={"pine": pine}, packages={"pine": "hooktray-pine 1.0"})
    )

    assert list(agents) == [*BUILT_IN, "pine"]
    assert len(agents) == len(BUILT_IN) + 1
    assert agents["pine"] is pine
    assert "pine" in agents
    assert agents.package("pine") == "hooktray-pine 1.0"
    assert agents.package("oak") == ""
    assert agents.get("oak") is None
    assert list(agents.built_in) == list(BUILT_IN)


def test_packages_are_searched_once() -> None:
    calls = []

    def find() -> PackagedAgents:
        calls.append(1)
        return PackagedAgents()

    agents = SupportedAgents(BUILT_IN, find)
    for _ in range(3):
        assert "oak" not in agents
        assert list(agents.values())

    assert calls == [1]


def test_finding_packages_does_not_import_the_slow_library() -> None:
    code = (
        "import sys; from tray.agents.registry import AGENTS; list(AGENTS.values()); AGENTS.broken;"
        "sys.exit('importlib.metadata' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-I", "-c", code], check=False, timeout=60).returncode == 0


# ---- what is found


def test_the_package_that_python_imports_first_counts(site: Path, tmp_path: Path) -> None:
    write_package(site, "Hooktray_Pine", version="2.0")
    write_package(tmp_path / "later", "hooktray-pine", version="1.0")

    found = list(entry_points([str(site), str(site), str(tmp_path / "later"), str(tmp_path / "missing"), ""]))

    assert [point.package for point in found] == ["Hooktray_Pine 2.0"]


@pytest.mark.parametrize(
    ("folder", "metadata", "package"),
    [
        ("hooktray_pine-1.0.dist-info", "", "hooktray_pine 1.0"),
        ("hooktray_pine.egg-info", "PKG-INFO", "pine-of-mine 3"),
        ("hooktray_pine-1.0-py3.11.egg-info", "", "hooktray_pine 1.0"),
    ],
)
def test_a_packages_name_is_found_however_it_was_installed(
    tmp_path: Path, folder: str, metadata: str, package: str
) -> None:
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "entry_points.txt").write_text(
        "; ours\n[ hooktray.agents ]\n# one\npine=a.b : C\n[x]\ny = z\n"
    )
    if metadata:
        (tmp_path / folder / metadata).write_text("Name: pine-of-mine\nVersion: 3\n\nName: x\n")

    (found,) = entry_points([str(tmp_path)])

    assert (found.id, found.value, found.package) == ("pine", "a.b : C", package)


def test_foreign_metadata_that_is_broken_hides_no_agent(site: Path) -> None:
    for name, content in {
        "a": b"\xff\xfe[hooktray.agents",
        "b": b"no group\n[hooktray.agents]\n\n",
        "c": b"",
    }.items():
        (site / f"{name}-1.dist-info").mkdir()
        (site / f"{name}-1.dist-info" / "entry_points.txt").write_bytes(content)
    (site / "d-1.dist-info" / "entry_points.txt").mkdir(parents=True)

    assert good(site).name == "Pine"


def test_output_of_a_package_during_its_import_is_not_part_of_an_answer(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert good(site, f"{PINE}\nprint('hello')\n").id == "pine"

    assert capsys.readouterr().out == ""


# ---- what is left out


@pytest.mark.parametrize(
    ("module", "problem"),
    [
        ("import no_such_module\n", "cannot be imported: ModuleNotFoundError: No module named 'no_such_module'"),
        ("def broken(:\n", "cannot be imported: SyntaxError"),
        ("raise RuntimeError('\\x1b[2J no')\n", "cannot be imported: RuntimeError: no"),
        ("import sys\nsys.exit(3)\n", "cannot be imported: SystemExit: 3"),
        ("OTHER = 1\n", "cannot be imported: AttributeError"),
        ("AGENT = 1\n", "its entry point names a int, not an Agent"),
        (
            "from tray.agents.agent import KnownAgent\nAGENT = KnownAgent(id='pine', name='Pine')\n",
            "its entry point names a KnownAgent, not an Agent",
        ),
        (changed("id='oak'"), "is called `pine`, and the Agent has the id 'oak'"),
    ],
)
def test_a_package_whose_agent_cannot_be_loaded_is_left_out(site: Path, module: str, problem: str) -> None:
    assert problem in broken(site, module)


@pytest.mark.parametrize(
    ("field", "problem"),
    [
        ("events=[]", "`events` of its Agent has to be a mapping of names to EventSpec"),
        ("events={'done': 'turn_end'}", "`events` of its Agent"),
        ("events={'done': EventSpec(kind='turn_end')}", "`events` of its Agent"),
        ("events={'done': EventSpec(kind=EventKind.TURN_END, timeout='1')}", "`events` of its Agent"),
        (
            "protocol=object()",
            "`protocol` of its Agent has to be a module or an object with the functions event_name,",
        ),
        ("name=' '", "`name` of its Agent has to be a text on one line"),
        ("name='Pine\\x1b[2J'", "`name` of its Agent has to be a text on one line"),
        ("programs='pine'", "`programs` of its Agent has to be a frozenset of texts"),
        ("variables={'PINE'}", "`variables` of its Agent has to be a frozenset of texts"),
        ("protected=('.*',)", "`protected` of its Agent has to be a tuple of ProtectedFiles"),
        ("path_words='pine'", "`path_words` of its Agent has to be a tuple of texts"),
        ("without_hooks='-x'", "`without_hooks` of its Agent has to be a compiled pattern of text or None"),
        ("tools={'Bash': 'sh'}", "`tools` of its Agent has to be a mapping of canonical names to NativeTool"),
        ("extra_can={'done': 1}", "`extra_can` of its Agent has to be a mapping of names to Capability"),
        ("rules=None", "`rules` of its Agent has to be HookRules"),
        ("connector=1", "`connector` of its Agent has to be a function or None"),
        ("marks=None", "`marks` of its Agent has to be Marks"),
        ("marks=Marks(keys='id')", "`marks.keys` of its Agent has to be a tuple of texts"),
        ("marks=Marks(is_alike=None)", "`marks.is_alike` of its Agent has to be a function"),
    ],
)
def test_an_agent_with_a_field_of_a_wrong_type_is_left_out(site: Path, field: str, problem: str) -> None:
    assert problem in broken(site, changed(field))


@pytest.mark.parametrize("id", [*BUILT_IN, *RECOGNISED, UNKNOWN, "agent", "hooktray"])
def test_a_package_cannot_use_a_reserved_id(site: Path, id: str) -> None:
    assert broken(site, PINE.replace('id="pine"', f'id="{id}"'), id=id) == "its id is taken by Hooktray itself"


@pytest.mark.parametrize("id", ["Pine", "1pine", "pi_ne", "pi ne", "päne", "-pine", "../pine", "pine\x1b[2J"])
def test_an_id_is_a_plain_word(site: Path, id: str) -> None:
    assert broken(site, id=id) == "its id is not a word of lower-case letters, digits and `-`"


@pytest.mark.parametrize("value", ["", "pine_x", ":AGENT", "pine_x:", "pine_x:AGENT.", "pine x:AGENT"])
def test_an_entry_point_names_a_module_and_an_object(site: Path, value: str) -> None:
    folder = write_package(site, value="pine_x:AGENT")
    (folder / "entry_points.txt").write_text(f"[hooktray.agents]\npine = {value}\n")

    (one,) = packaged_agents(RESERVED, [str(site)]).broken

    assert "`module:AGENT`" in one.problem or "cannot be imported" in one.problem


def test_of_two_packages_with_the_same_id_neither_counts(site: Path) -> None:
    write_package(site, "hooktray-pine", value="pine_a:AGENT")
    write_package(site, "pine-hooks", value="pine_b:AGENT", version="2")

    found = packaged_agents(RESERVED, [str(site)])

    assert not found.agents
    assert [(one.package, one.problem, one.remedy) for one in found.broken] == [
        ("hooktray-pine 1.0", "its id is also that of the agent in pine-hooks 2", "uninstall hooktray-pine"),
        ("pine-hooks 2", "its id is also that of the agent in hooktray-pine 1.0", "uninstall pine-hooks"),
    ]


def test_a_broken_package_does_not_affect_another(site: Path) -> None:
    write_package(site, "hooktray-oak", id="oak", value="pine_oak:AGENT", module="1 / 0\n")

    assert good(site).name == "Pine"


# ---- functions that fail


def test_a_mark_whose_function_fails_does_not_count(
    site: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    marks = "Marks(keys=('folder', 'hook_event_name'), is_sender=fail, is_certain=fail, is_alike=fail, event=fail)"
    pine = good(site, changed(f"marks={marks}"))
    agents = SupportedAgents(BUILT_IN, lambda: PackagedAgents(agents={"pine": pine}))
    monkeypatch.setattr(recognition, "AGENTS", agents)
    recognition._marks.cache_clear()

    try:
        own = recognition.recognise("claude-code", "PreToolUse", {"hook_event_name": "PreToolUse", "folder": "/"}, {})
        foreign = recognition.recognise("shelley", "", {"conversation_id": "1", "hook_event_name": "x"}, {})
    finally:
        recognition._marks.cache_clear()

    assert own is None
    assert foreign is None or foreign.agent != "pine"
    assert pine.marks.event({}, "word") == "word"
    assert (
        sum(
            "`marks.is_sender` of the agent pine in the package hooktray-pine 1.0" in text for text in caplog.messages
        )
        == 1
    )


def test_a_sender_on_its_own_line_is_itself_and_on_anothers_gets_its_own_neutral_answer(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marks = "marks=Marks(keys=('folder',), is_sender=lambda payload: True)"
    text = changed(marks).replace(
        "def neutral(name, body):\n    return Answer()", "def neutral(name, body):\n    return Answer(stdout=b'{}')"
    )
    pine = good(site, text)
    agents = SupportedAgents(BUILT_IN, lambda: PackagedAgents(agents={"pine": pine}))
    monkeypatch.setattr(recognition, "AGENTS", agents)
    monkeypatch.setattr(protocol, "AGENTS", agents)
    recognition._marks.cache_clear()
    body = b'{"folder": "/", "name": "before_tool"}'

    try:
        own = recognition.recognise("pine", "before_tool", {"folder": "/", "name": "before_tool"}, {})
        answer = recognition.neutral("claude-code", "PreToolUse", body, {})
    finally:
        recognition._marks.cache_clear()

    assert own is None
    assert answer.stdout == b"{}"


def test_a_package_that_claims_every_payload_gets_none_that_is_certainly_anothers(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    greedy = "lambda *_: True"
    marks = f"Marks(keys=('cwd', 'turn_id'), is_sender={greedy}, is_certain={greedy}, is_alike={greedy})"
    pine = good(site, changed(f"marks={marks}"))
    found = PackagedAgents(agents={"pine": pine}, packages={"pine": "hooktray-pine 1.0"})
    monkeypatch.setattr(recognition, "AGENTS", SupportedAgents(BUILT_IN, lambda: found))
    recognition._marks.cache_clear()
    claude = {"session_id": "s", "transcript_path": "/h/.claude/projects/p/s.jsonl", "cwd": "/p"}
    codex = {"hook_event_name": "Stop", "cwd": "/p", "turn_id": "1", "model": "m"}

    try:
        own = recognition.recognise("claude-code", "Stop", claude | {"hook_event_name": "Stop"}, {})
        foreign = recognition.recognise("claude-code", "Stop", codex, {})
    finally:
        recognition._marks.cache_clear()

    assert own is None
    assert foreign is not None
    assert foreign.agent == "codex"


@pytest.mark.parametrize("failure", ["fail", "sys.exit", "lambda *_: 1.5"])
def test_a_protocol_function_that_fails_raises_an_error_that_names_the_package(site: Path, failure: str) -> None:
    names = (
        "event_name",
        "tool",
        "parse",
        "render",
        "neutral",
        "rewrite_problem",
        "stdin",
        "read",
        "sample",
    )
    protocol = good(site, PINE + "".join(f"\n{name} = {failure}" for name in names)).protocol

    assert protocol.event_name({}) == ""
    assert protocol.neutral("done", b"").stdout == b""
    event = Event(id="1", agent="pine", name="before_tool", kind=EventKind.TOOL_BEFORE)
    assert protocol.rewrite_problem(event, NO_OPINION) == "its package fails on"
    for call in (
        lambda: protocol.tool("before_tool", {}),
        lambda: protocol.parse(request(), "before_tool", {}),
        lambda: protocol.sample("done"),
    ):
        with pytest.raises(AgentError, match="of the agent pine in the package hooktray-pine"):
            call()


def test_a_working_protocol_is_the_packages_own(site: Path) -> None:
    pine = good(site)
    event = pine.protocol.parse(request(), "before_tool", CALL)

    assert (event.agent, event.kind, event.session, event.tool and event.tool.name) == (
        "pine",
        EventKind.TOOL_BEFORE,
        "s1",
        "Bash",
    )
    assert pine.protocol.stdin(event)
    assert pine.protocol.tool("done", {}) is None
    assert replace(pine).marks.is_alike(CALL)


ASKING = """
from dataclasses import replace
from tray.agents import forms
from tray.agents.agent import FormFormat
from tray.model.decision import Rewrite, Target


def read_form(event):
    return forms.read(event.payload.get("questions"), multiple="many")


def fill_form(event, answers):
    return Rewrite(target=Target.ANSWER, value={text: list(given) for text, given in answers.items()})


def render(event, decision):
    return Answer(stdout=wire.dumps_line({"answers": decision.rewrite.value})) if decision.rewrite else Answer()


EVENTS["asks"] = EventSpec(kind=EventKind.ELICITATION, can=Capability.REWRITE_ANSWER, timeout=30)
AGENT = replace(AGENT, forms=FormFormat(read=read_form, fill=fill_form))
"""
ASKED = {
    "name": "asks",
    "questions": [
        {"question": "Which colour?", "options": [{"label": "Red"}, {"label": "Blue"}]},
        {"question": "Which sizes?", "many": True, "options": [{"label": "S"}, {"label": "M"}]},
    ],
}
ANSWERS = {"Which colour?": ("Blue",), "Which sizes?": ("S", "M")}


@pytest.fixture
def ask(site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Event]]:
    """The event with questions of an agent that this module brings."""

    def ask(module: str) -> Event:
        agents = SupportedAgents(BUILT_IN, lambda: PackagedAgents(agents={"pine": good(site, module)}))
        monkeypatch.setattr(protocol, "AGENTS", agents)
        protocol.spec.cache_clear()
        return protocol.parse(replace(request(), event="asks", body=json.dumps(ASKED).encode()))

    yield ask
    protocol.spec.cache_clear()


def test_the_questions_of_a_packages_agent_are_answered_in_its_own_words(ask: Callable[[str], Event]) -> None:
    event = ask(PINE + ASKING)

    form = protocol.form(event)
    decision = protocol.fit(event, protocol.answered(event, NO_OPINION, ANSWERS))

    assert form is not None
    assert [(one.text, one.multiple) for one in form.questions] == [("Which colour?", False), ("Which sizes?", True)]
    assert [one.label for one in form.questions[0].options] == ["Red", "Blue"]
    said = json.loads(protocol.render(event, decision).stdout)
    assert said == {"answers": {"Which colour?": ["Blue"], "Which sizes?": ["S", "M"]}}


@pytest.mark.parametrize("failure", ["fail", "sys.exit", "lambda *_: 1.5"])
def test_questions_that_a_package_fails_on_are_answered_in_its_agent(
    ask: Callable[[str], Event], failure: str
) -> None:
    event = ask(f"{PINE}{ASKING}\nAGENT = replace(AGENT, forms=FormFormat(read={failure}, fill={failure}))\n")

    assert protocol.form(event) is None
    assert protocol.answered(event, NO_OPINION, ANSWERS) is NO_OPINION


def test_a_connector_that_fails_raises_an_error_that_names_the_package(site: Path) -> None:
    pine = good(site, changed("connector=fail, reader=fail, importer=fail, connect_options=fail"))
    assert pine.connector
    assert pine.reader
    assert pine.importer

    here: object = None
    assert pine.connector().is_installed(here) is False  # type: ignore[arg-type]
    assert pine.importer().has_imported(here) is False  # type: ignore[arg-type]
    assert pine.connect_options(here, ()) == ""  # type: ignore[arg-type]
    for call in (pine.connector().connect, pine.connector().relay_entries, pine.connector().trust):
        with pytest.raises(AgentError, match="failed: RuntimeError: the package is broken"):
            call(here)  # type: ignore[arg-type]
    with pytest.raises(AgentError):
        pine.reader().read(Path("/x"), (), {})


def test_a_package_may_look_at_the_agents_while_it_is_imported(site: Path) -> None:
    write_package(site, module=f"from tray.agents.registry import AGENTS\nlist(AGENTS.values())\n{PINE}")
    code = f"import sys; sys.path.insert(0, {str(site)!r}); from tray.agents.registry import AGENTS; print(*AGENTS)"

    found = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, check=False, timeout=60)

    assert found.stdout.split()[-1] == b"pine", found.stderr
