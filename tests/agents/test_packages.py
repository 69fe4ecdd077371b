"""The agents of packages: which are found, which are left out and why, and what happens if their code fails."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import pytest
from agents.packaged import CALL, PINE, write_package

from tray.agents import protocol, recognition, registry, relay_table
from tray.agents.agent import Agent
from tray.agents.overview import whole_overview
from tray.agents.packages import PackagedAgents, entry_points, packaged_agents
from tray.agents.registry import AGENTS, BUILT_IN, RESERVED, UNKNOWN, UNSUPPORTED, SupportedAgents
from tray.connect import connectors
from tray.errors import AgentError, HooktrayError
from tray.model.decision import NO_OPINION, Answer, Decision, Rewrite, Target, Verdict
from tray.model.event import EventKind, RelayRequest

NUMBERS = itertools.count()
FAILURES = ("fail", "sys.exit")
NO_PACKAGES = PackagedAgents()
TWICE = "another package has an agent with this id"


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


@pytest.fixture
def install(site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Agent]]:
    """Installs a package with this module, and returns its agent, which is then one of AGENTS."""

    def install(module: str) -> Agent:
        pine = good(site, module)
        monkeypatch.setitem(AGENTS.__dict__, "packaged", packaged_agents(RESERVED))
        forget()
        return pine

    yield install
    monkeypatch.undo()
    forget()


def forget() -> None:
    """What this process remembers of agents."""
    AGENTS.failures.clear()
    AGENTS.__dict__["_loaded"].pop("pine", None)
    remembered = (AGENTS.find, protocol.spec, whole_overview, recognition._fields, connectors)
    for one in remembered:
        one.cache_clear()


def broken(site: Path, module: str = PINE, *, id: str = "pine", value: str = "") -> str:
    """The problem of a package that provides this agent only."""
    value = value or f"pine_{next(NUMBERS)}:AGENT"
    write_package(site, id=id, value=value, module=module)
    found = packaged_agents(RESERVED)
    assert not found.agents
    (one,) = found.broken
    assert one.package == "hooktray-pine 1.0"
    assert one.remedy == "update or uninstall hooktray-pine"
    return one.problem


def good(site: Path, module: str = PINE) -> Agent:
    write_package(site, value=f"pine_{next(NUMBERS)}:AGENT", module=module)
    return packaged_agents(RESERVED).agents["pine"]


def changed(field: str) -> str:
    """Pine with other fields."""
    return f"{PINE}\nfrom msgspec.structs import replace\nAGENT = replace(AGENT, {field})\n"


def request(name: str = "before_tool", payload: object = CALL) -> RelayRequest:
    return RelayRequest(agent="pine", event=name, id="1", body=json.dumps(payload).encode())


def failure() -> str:
    """Returns the failure that the doctor shows for the agent."""
    found = AGENTS.failures["pine"]
    assert found.hint == "update or uninstall hooktray-pine"
    return found.message


# ---- the table


class FoundPackages:
    """Stands in for the search for packages, and counts the searches."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, found: PackagedAgents = NO_PACKAGES) -> None:
        self.found = found
        self.searches = 0
        monkeypatch.setattr(registry, "packaged_agents", self.search)

    def search(self, reserved: Collection[str]) -> PackagedAgents:
        self.searches += 1
        return self.found


def test_looking_up_a_built_in_agent_does_not_search_for_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    packages = FoundPackages(monkeypatch)
    agents = SupportedAgents(BUILT_IN)

    assert [agents[id].id for id in BUILT_IN] == list(BUILT_IN)
    assert all(id in agents and not agents.package(id) for id in BUILT_IN)
    for id in (*UNSUPPORTED, UNKNOWN):
        assert id not in agents
        assert agents.get(id) is None
    assert packages.searches == 0


def test_agents_of_packages_come_after_the_built_in_ones(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pine = good(site)
    found = PackagedAgents(agents={"pine": pine}, packages={"pine": "hooktray-pine 1.0"})
    packages = FoundPackages(monkeypatch, found)
    agents = SupportedAgents(BUILT_IN)

    assert list(agents) == [*BUILT_IN, "pine"]
    assert len(agents) == len(BUILT_IN) + 1
    assert agents["pine"] is pine
    assert "pine" in agents
    assert agents.package("pine") == "hooktray-pine 1.0"
    assert agents.package("oak") == ""
    assert agents.get("oak") is None
    assert list(agents.built_in) == list(BUILT_IN)
    assert packages.searches == 1


def test_finding_packages_does_not_import_the_slow_library() -> None:
    code = (
        "import sys; from tray.agents.registry import AGENTS; list(AGENTS.values()); AGENTS.packaged.broken;"
        "sys.exit('importlib.metadata' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-I", "-c", code], check=False, timeout=60).returncode == 0


# ---- what is found


def test_the_package_that_python_imports_first_counts(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_package(site, "Hooktray_Pine", version="2.0", value="pine_first:AGENT")
    write_package(tmp_path / "later", version="1.0", value="pine_first:AGENT")
    monkeypatch.setattr(sys, "path", [*sys.path, str(site), str(tmp_path / "later"), str(tmp_path / "missing"), ""])

    assert packaged_agents(RESERVED).packages == {"pine": "Hooktray_Pine 2.0"}


def test_an_egg_is_a_package_too(site: Path) -> None:
    (site / "hooktray_pine.egg-info").mkdir()
    (site / "hooktray_pine.egg-info" / "entry_points.txt").write_text("[hooktray.agents]\npine = a.b:C\n")
    (site / "hooktray_pine.egg-info" / "PKG-INFO").write_text("Name: hooktray-pine\nVersion: 3\n\nName: x\n")

    (found,) = entry_points([str(site)])

    assert (found.name, found.value, found.dist and found.dist.version) == ("pine", "a.b:C", "3")


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
        (changed("path_words=None"), "TypeError: Value after * "),
        (changed("programs=None"), "TypeError: Value after * "),
        (changed("marks=Marks(keys=None)"), "TypeError: Value after * "),
        (changed("marks=Marks(transcript=5)"), "its programs, variables, path_words and marks have to be texts"),
    ],
)
def test_a_package_whose_agent_cannot_be_loaded_is_left_out(site: Path, module: str, problem: str) -> None:
    assert problem in broken(site, module)


@pytest.mark.parametrize("id", [*BUILT_IN, *UNSUPPORTED, UNKNOWN, "agent", "hooktray"])
def test_a_package_cannot_use_a_reserved_id(site: Path, id: str) -> None:
    assert broken(site, PINE.replace('id="pine"', f'id="{id}"'), id=id) == "its id is taken by Hooktray itself"


@pytest.mark.parametrize("id", ["Pine", "1pine", "pi_ne", "pi ne", "päne", "-pine", "../pine", "pine\x1b[2J"])
def test_an_id_is_a_plain_word(site: Path, id: str) -> None:
    assert broken(site, id=id) == "its id is not a word of lower-case letters, digits and `-`"


def test_of_two_packages_with_the_same_id_neither_counts(site: Path) -> None:
    write_package(site, "hooktray-pine", value="pine_a:AGENT")
    write_package(site, "pine-hooks", value="pine_b:AGENT", version="2")

    found = packaged_agents(RESERVED)

    assert not found.agents
    assert [(one.package, one.problem, one.remedy) for one in found.broken] == [
        ("hooktray-pine 1.0", TWICE, "update or uninstall hooktray-pine"),
        ("pine-hooks 2", TWICE, "update or uninstall pine-hooks"),
    ]


def test_a_broken_package_does_not_affect_another(site: Path) -> None:
    write_package(site, "hooktray-oak", id="oak", value="pine_oak:AGENT", module="1 / 0\n")

    assert good(site).name == "Pine"


# ---- functions that fail


@pytest.mark.parametrize("fail", FAILURES)
def test_an_event_that_its_package_fails_to_read_has_a_problem(
    install: Callable[[str], Agent], fail: str, caplog: pytest.LogCaptureFixture
) -> None:
    install(f"{PINE}\nparse = {fail}\n")

    events = [protocol.parse(request()) for _ in range(2)]

    assert {(event.kind, event.problem) for event in events} == {(EventKind.TOOL_BEFORE, failure())}
    assert failure().startswith("`parse` of the agent pine in the package hooktray-pine 1.0 failed: ")
    assert caplog.messages == [failure()]


@pytest.mark.parametrize("fail", FAILURES)
def test_an_agent_gets_silence_if_its_package_cannot_answer(install: Callable[[str], Agent], fail: str) -> None:
    install(f"{PINE}\nneutral = render = {fail}\n")
    event = protocol.parse(request())

    assert recognition.neutral("pine", "before_tool", b"{}", {}) == Answer()
    for decision in (NO_OPINION, Decision(verdict=Verdict.DENY)):
        with pytest.raises(AgentError, match="`render` of the agent pine in the package hooktray-pine"):
            protocol.render(event, decision)
    assert "`neutral`" in failure()  # the first failure is kept


def test_a_rewrite_becomes_a_refusal_if_the_package_fails(install: Callable[[str], Agent]) -> None:
    can = "can=Capability.DENY | Capability.REWRITE_INPUT"
    install(PINE.replace("can=Capability.DENY", can) + "\nrewrite_problem = fail\n")
    event = protocol.parse(request())

    fitted = protocol.fit(event, Decision(rewrite=Rewrite(target=Target.INPUT, value={"command": "ls"})))

    assert (fitted.verdict, fitted.rewrite) == (Verdict.DENY, None)
    assert "its package fails on" in fitted.reason


def test_an_event_has_no_sample_when_its_package_fails(install: Callable[[str], Agent]) -> None:
    install(f"{PINE}\nsample = tool = fail\n")

    with pytest.raises(AgentError, match="`sample` of the agent pine"):
        protocol.sample("pine", "before_tool")
    assert list(relay_table._place_rows("pine", ["before_tool"])) == []


def test_an_exception_of_a_built_in_agent_is_raised_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ZeroDivisionError):
        AGENTS.failure("claude-code", "parse", ZeroDivisionError())

    assert AGENTS.failures == {}


def test_a_tool_that_is_none_leaves_out_the_rows_of_the_table(install: Callable[[str], None]) -> None:
    install(f"{PINE}\ndef tool(name, payload):\n    return 'exec'\n")

    assert list(relay_table._place_rows("pine", ["before_tool"])) == []
    assert failure().startswith("`tool` of the agent pine ")


# ---- recognition


def test_a_mark_whose_function_fails_does_not_count(install: Callable[[str], Agent]) -> None:
    install(changed("marks=Marks(keys=('folder', 'hook_event_name'), is_sender=fail, is_alike=fail, event=fail)"))

    own = recognition.recognise("claude-code", "PreToolUse", {"hook_event_name": "PreToolUse", "folder": "/"}, {})
    foreign = recognition.recognise("shelley", "", {"conversation_id": "1", "hook_event_name": "x"}, {})

    assert own is None
    assert foreign is None or foreign.agent != "pine"
    assert "`marks` of the agent pine" in failure()


def test_the_event_is_that_of_the_command_if_the_package_cannot_name_it(
    install: Callable[[str], Agent],
) -> None:
    install(changed("marks=Marks(keys=('folder',), is_sender=lambda payload: True)") + "\nevent_name = fail\n")

    caller = recognition.recognise("claude-code", "PreToolUse", {"folder": "/", "name": "before_tool"}, {})

    assert caller is not None
    assert (caller.agent, caller.event) == ("pine", "PreToolUse")
    assert "`event_name` of the agent pine" in failure()


def test_a_sender_on_its_own_line_is_itself_and_on_anothers_gets_its_own_neutral_answer(
    install: Callable[[str], Agent],
) -> None:
    text = changed("marks=Marks(keys=('folder',), is_sender=lambda payload: True)").replace(
        "def neutral(name, body):\n    return Answer()", "def neutral(name, body):\n    return Answer(stdout=b'{}')"
    )
    install(text)
    payload = {"folder": "/", "name": "before_tool"}

    own = recognition.recognise("pine", "before_tool", payload, {})
    answer = recognition.neutral("claude-code", "PreToolUse", json.dumps(payload).encode(), {})

    assert own is None
    assert answer.stdout == b"{}"


def test_a_package_that_claims_every_payload_gets_none_that_is_certainly_anothers(
    install: Callable[[str], Agent],
) -> None:
    greedy = "lambda *_: True"
    install(
        changed(f"marks=Marks(keys=('cwd', 'turn_id'), is_sender={greedy}, is_certain={greedy}, is_alike={greedy})")
    )
    claude = {"session_id": "s", "transcript_path": "/h/.claude/projects/p/s.jsonl", "cwd": "/p"}
    codex = {"hook_event_name": "Stop", "cwd": "/p", "turn_id": "1", "model": "m"}

    own = recognition.recognise("claude-code", "Stop", claude | {"hook_event_name": "Stop"}, {})
    foreign = recognition.recognise("claude-code", "Stop", codex, {})

    assert own is None
    assert foreign is not None
    assert foreign.agent == "codex"


# ---- questions and connectors


ASKING = """
from msgspec.structs import replace
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


def test_the_questions_of_a_packages_agent_are_answered_in_its_own_words(install: Callable[[str], Agent]) -> None:
    install(PINE + ASKING)
    event = protocol.parse(request("asks", ASKED))

    form = protocol.form(event)
    decision = protocol.fit(event, protocol.answered(event, NO_OPINION, ANSWERS))

    assert form is not None
    assert [(one.text, one.multiple) for one in form.questions] == [("Which colour?", False), ("Which sizes?", True)]
    assert [one.label for one in form.questions[0].options] == ["Red", "Blue"]
    said = json.loads(protocol.render(event, decision).stdout)
    assert said == {"answers": {"Which colour?": ["Blue"], "Which sizes?": ["S", "M"]}}


@pytest.mark.parametrize("fail", FAILURES)
def test_questions_are_answered_in_the_agent_if_its_package_fails(install: Callable[[str], Agent], fail: str) -> None:
    install(f"{PINE}{ASKING}\nAGENT = replace(AGENT, forms=FormFormat(read={fail}, fill={fail}))\n")
    event = protocol.parse(request("asks", ASKED))

    assert protocol.form(event) is None
    assert protocol.answered(event, NO_OPINION, ANSWERS) is NO_OPINION


@pytest.mark.parametrize("fail", FAILURES)
def test_a_connector_that_fails_raises_an_error_that_names_the_package(
    install: Callable[[str], Agent], fail: str
) -> None:
    install(changed(f"connector={fail}"))
    pine, here = connectors()["pine"], object()

    assert pine.is_installed(here) is False  # type: ignore[arg-type]
    assert pine.switch_files(here) == ()  # type: ignore[arg-type]
    for call in (pine.connect, pine.relay_entries, pine.trust):
        with pytest.raises(AgentError, match="of the agent pine in the package hooktray-pine"):
            call(here)  # type: ignore[arg-type]


def test_a_connector_of_a_package_raises_its_own_errors_about_the_users_files(
    install: Callable[[str], Agent],
) -> None:
    connector = PINE.replace(
        "def trust(self, site):\n", "def trust(self, site):\n        raise HooktrayError('no')\n"
    )
    install(connector.replace("import sys\n", "import sys\n\nfrom tray.errors import HooktrayError\n"))

    with pytest.raises(HooktrayError, match="no"):
        connectors()["pine"].trust(object())  # type: ignore[arg-type]
    assert AGENTS.failures == {}


def test_a_package_may_look_at_the_agents_while_it_is_imported(site: Path) -> None:
    write_package(site, module=f"from tray.agents.registry import AGENTS\nlist(AGENTS.values())\n{PINE}")
    code = f"import sys; sys.path.insert(0, {str(site)!r}); from tray.agents.registry import AGENTS; print(*AGENTS)"

    found = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, check=False, timeout=60)

    assert found.stdout.split()[-1] == b"pine", found.stderr
