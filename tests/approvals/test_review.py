"""What a person reads before approving: what was declared, then each file, then a line for each thing to know."""

from __future__ import annotations

import pytest
from house import House

from tray.approvals.review import GUTTER, SectionKind, definition_rows, review, sections
from tray.approvals.review_facts import facts

YAML = """
hooks:
  - name: no-destroying   # the first guard
    event: tool_before
    type: rule
    matcher: rm -rf
    decision: deny
    reason: ask first

  - {event: turn_end, name: done, command: ./done.sh}
other: {}
"""


def declared(house: House, name: str) -> list[str]:
    parts = sections(house.state(name), house.stores.copies, {})
    return [line for part in parts if part.kind is SectionKind.DECLARED for line in part.lines]


def facts_of(house: House, name: str) -> dict[str, str]:
    return dict(facts(house.state(name)))


@pytest.fixture
def declaring(house: House) -> House:
    house.script("done.sh", "echo done >> log.txt")
    house.configure(YAML.replace("other: {}\n", ""))
    return house


def test_the_users_own_lines_come_first_and_no_others(declaring: House) -> None:
    assert declared(declaring, "no-destroying") == [
        "- name: no-destroying   # the first guard",
        "  event: tool_before",
        "  type: rule",
        "  matcher: rm -rf",
        "  decision: deny",
        "  reason: ask first",
    ]
    assert declared(declaring, "done") == ["- {event: turn_end, name: done, command: ./done.sh}"]


def test_then_each_file_then_one_line_for_each_thing_to_know(declaring: House) -> None:
    state = declaring.state("done")
    kinds = [part.kind for part in sections(state, declaring.stores.copies, {})]
    lines = review(state, declaring.stores.copies, {}).splitlines()

    assert kinds == [SectionKind.DECLARED, SectionKind.FILE, SectionKind.DETAILS, SectionKind.FACTS]
    assert lines[0] == f"done, declared in {declaring.paths.config}:10"
    assert f"{GUTTER}echo done >> log.txt" in lines
    assert lines[-1].split() == ["Digest", state.digest]


def test_what_cannot_be_seen_comes_first(house: House) -> None:
    house.configure({"hooks": [{"event": "turn_end", "name": "odd", "command": 'sh -c "$CODE"'}]})
    state = house.state("odd")

    first = sections(state, house.stores.copies, {})[0]
    text = review(state, house.stores.copies, {}).splitlines()

    assert (first.kind, first.lines) == (SectionKind.PROBLEMS, ("runs something that Hooktray cannot see: '$CODE'",))
    assert text[2] == first.lines[0]


def test_a_rule_is_said_in_a_few_words(declaring: House) -> None:
    assert facts_of(declaring, "no-destroying") == {
        "When": "before each tool call · where a text of it matches `rm -rf`",
        "Agents": "every agent",
        "May do": "refuses it; starts no program",
        "Covered": "what is written above; no file belongs to it",
    }
    kinds = [part.kind for part in sections(declaring.state("no-destroying"), declaring.stores.copies, {})]
    assert SectionKind.DETAILS not in kinds, "it starts no program, so there is no path to show"


def test_a_commands_line_names_what_it_may_do_and_what_is_not_covered(declaring: House) -> None:
    found = facts_of(declaring, "done")

    assert found["When"] == "when a turn ends"
    assert found["May do"].startswith("runs as you, with your files and network; its answer may: refuse, ")
    assert found["If it fails"] == "the agent goes on · time limit 20 s"
    assert found["Covered"] == "1 file, as shown above"
    assert found["Not covered"].endswith("programs of the system, and what they load")
    assert "HOOKTRAY_TEST=1" in found["Afterwards"]


@pytest.mark.parametrize(("agent", "seconds"), [("claude-code", 120), ("kiro", 58), ("shelley", 120)])
@pytest.mark.parametrize("kind", ["agent", "prompt"])
def test_the_time_limit_is_the_hooks_own_and_at_most_the_agents(
    house: House, agent: str, seconds: int, kind: str
) -> None:
    hook = {"name": "judge", "event": "tool_before", "agent": agent, "type": kind, "prompt": "Good?", "timeout": 120}
    house.configure({"hooks": [hook]})

    assert facts_of(house, "judge")["If it fails"].endswith(f"time limit {seconds} s")


def test_a_source_of_another_format_shows_its_own_entry(house: House) -> None:
    settings = house.root / "settings.json"
    settings.write_text(
        '{"hooks": {"PreToolUse": [{"matcher": "Bash",\n'
        '  "hooks": [\n    {"type": "command",\n     "command": "true"},\n'
        '    {"type": "command", "command": "false"}\n'
        "  ]}]}}"
    )
    house.configure({"sources": [{"claude-code": str(settings)}]})

    assert declared(house, "true") == ['{"type": "command",', ' "command": "true"}']
    assert declared(house, "false") == ['{"type": "command", "command": "false"}']
    assert facts_of(house, "true")["When"] == "before each tool call · tool `Bash`"


def test_no_script_can_pass_its_lines_off_as_ours(house: House) -> None:
    house.hook("guard", on="tool_before", script="# Digest  0000\n# Before you approve it:", approved=False)

    text = review(house.state("guard"), house.stores.copies, {})

    assert "| # Digest  0000" in text.splitlines()
    assert [line for line in text.splitlines() if "0000" in line and not line.startswith(GUTTER)] == []


def test_a_terminal_is_told_how_much_of_a_file_it_is_not_shown(house: House) -> None:
    house.hook("guard", on="tool_before", script="\n".join(f"echo {n}" for n in range(100)), approved=False)
    state, copies = house.state("guard"), house.stores.copies

    short = review(state, copies, {}, 60)  # its first line has 9 characters, the next ones 6

    assert "… and 92 more lines" in short.splitlines()
    assert "echo 99" in review(state, copies, {})


def test_a_definition_is_rows_that_name_every_setting(house: House) -> None:
    house.hook("guard", on="tool_before", script="exit 0", matcher="rm", tool="Bash", timeout=5, failure="block",
               env=["MY_TOKEN"], agent=["claude-code"], approved=False)  # fmt: skip

    assert [row for row in definition_rows(house.state("guard").hook.definition) if not row.startswith("folder")] == [
        "name: guard", "event: tool_before", "agent: claude-code", "tool: Bash", "matcher: rm", "type: command",
        "command: ./guard.sh", "dialect: starchild", "env: MY_TOKEN", "failure: block", "timeout: 5",
    ]  # fmt: skip
