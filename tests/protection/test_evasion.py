"""Agents that are started without their user's hooks, and the tray ended, by whatever line."""

from __future__ import annotations

from every import every
from protection.calls import lines, pairs, shell

from tray.agents.registry import AGENTS
from tray.model.decision import Verdict

PROGRAMS = [(agent, program) for agent in AGENTS.values() for program in sorted(agent.programs)]
VARIABLES = [
    (program, name)
    for agent, program in PROGRAMS
    for name in sorted({*agent.off_variables, agent.home_variable} - {""})
]
OPTIONS = [(program, name) for agent, program in PROGRAMS for name in sorted(agent.off_options)]


@every("program", [name for _, name in PROGRAMS])
def test_an_agent_is_started_freely_with_its_users_hooks(program: str) -> None:
    starts = ["{0} -p hi", "{0}", "FOO=1 {0} -p hi", "timeout 60 {0}", "tmux new -d '{0}'", "unset FOO; {0}"]
    others = ["HOME=/tmp make {0}", "env A=1 ls {0}", "docker build -t {0} .", "docker logs {0}", "which {0}"]
    others += ["docker run --name {0} redis", "sudo apt-get install {0}", "git commit -m '{0} --pure --bare'"]

    found = {line: shell(line.format(program)) for line in (*starts, *others)}

    assert found == dict.fromkeys(found, Verdict.ABSTAIN)


@every(("switch", "line"), pairs(VARIABLES, lines("a variable that turns hooks off")))
def test_a_variable_that_turns_an_agents_hooks_off_asks_the_user(switch: tuple[str, str], line: str) -> None:
    program, variable = switch

    assert shell(line.format(p=program, v=variable)) is Verdict.ASK


@every(("switch", "line"), pairs(OPTIONS, lines("an option that turns hooks off")))
def test_an_option_that_turns_an_agents_hooks_off_asks_the_user(switch: tuple[str, str], line: str) -> None:
    program, option = switch

    assert shell(line.format(p=program, o=option)) is Verdict.ASK


@every(("program", "line"), pairs([name for _, name in PROGRAMS], lines("a place without the user's hooks")))
def test_starting_an_agent_away_from_its_hooks_asks_the_user(program: str, line: str) -> None:
    assert shell(line.format(program)) is Verdict.ASK


def test_the_switches_that_are_known_are_in_the_agents_tables() -> None:
    known = {name for agent in AGENTS.values() for name in (*agent.off_variables, *agent.off_options)}

    assert known >= {"CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE", "--safe-mode", "--setting-sources", "--settings"}
    assert known >= {"--bare", "--pure", "OPENCODE_PURE", "CURSOR_CONFIG_DIR", "XDG_CONFIG_HOME"}


@every("line", lines("code that answers for hooks"))
def test_code_that_answers_for_hooks_is_brought_by_a_person(line: str) -> None:
    assert shell(line) is Verdict.DENY


@every("line", ["claude plugin list", "claude mcp list", "claude -p 'fix plugin add x'", "gemini extensions list"])
def test_what_brings_no_code_is_free(line: str) -> None:
    assert shell(line) is Verdict.ABSTAIN


@every("line", lines("ending the tray"))
def test_ending_or_altering_the_tray_is_asked_about(line: str) -> None:
    assert shell(line) is Verdict.ASK


@every("line", lines("what starts the tray"))
def test_what_starts_the_tray_is_a_persons_to_change(line: str) -> None:
    assert shell(line) is Verdict.DENY


@every("line", lines("other processes"))
def test_other_processes_and_services_are_free(line: str) -> None:
    assert shell(line) is Verdict.ABSTAIN
