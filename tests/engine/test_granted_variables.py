"""Withheld variables: a person lets one through to one hook, and takes it back."""

from __future__ import annotations

from pathlib import Path

import pytest
from engine.declared import built_hook, claude, declare
from house import House
from user_controls import Announced

from tray.approvals.review import review
from tray.approvals.variables import asked_for
from tray.engine.stores import open_stores
from tray.errors import HooktrayError
from tray.model.hook import ApprovalState
from tray.notify.policy import find_problem

SECRET = {"MY_TOKEN": "s3cret", "OTHER_TOKEN": "other", "LD_PRELOAD": "/x.so"}
TELLS = 'cat >/dev/null; echo "${MY_TOKEN:-nothing} ${OTHER_TOKEN:-nothing}" >&2; exit 2'


def reason(house: House) -> str:
    answer = house.tool("ls", environment=SECRET)
    text = str(answer["hookSpecificOutput"]["permissionDecisionReason"])
    return "\n".join(line.rpartition("(Hooktray): ")[2] for line in text.splitlines())


def test_a_variable_that_a_person_let_through_reaches_that_hook_and_no_other(house: House) -> None:
    first = house.hook("first", on="tool_before", script=f"{TELLS.replace('echo ', 'echo first: ')}")
    house.hook("second", on="tool_before", script=f"{TELLS.replace('echo ', 'echo second: ')}")
    before = reason(house)

    house.consent.grant(first.key, ["MY_TOKEN"], "test")

    assert before.splitlines() == ["first: nothing nothing", "second: nothing nothing"]
    assert reason(house).splitlines() == ["first: s3cret nothing", "second: nothing nothing"]
    house.consent.withhold(first.key, ["MY_TOKEN"], "test")
    assert reason(house) == before


def test_a_hook_of_a_source_is_given_one_and_a_header_is_filled(house: House) -> None:
    path = claude(house.root, {"command": str(house.script("told.sh", TELLS))})
    declare(house, {"claude-code": str(path)})
    state = house.state("told")

    house.consent.grant(state.key, ["MY_TOKEN"], "test")

    assert reason(house) == "s3cret nothing"


def test_a_new_process_and_one_after_a_restart_know_it(house: House) -> None:
    state = house.hook("guard", on="tool_before", script=TELLS)
    house.consent.grant(state.key, ["MY_TOKEN"], "test")

    stores = open_stores(house.paths, create=False)

    (approved,) = stores.ledger.in_order()
    stores.journal.close()
    assert approved.granted == ("MY_TOKEN",)
    assert approved.hook.env == (), "the definition is what was approved"
    assert house.state("guard").state is ApprovalState.APPROVED


@pytest.mark.parametrize("name", ["LD_PRELOAD", "PYTHONPATH", "GIT_DIR", "NODE_OPTIONS", "a b", "", "X=1"])
def test_what_makes_programs_run_other_code_is_let_through_to_no_hook(house: House, name: str) -> None:
    state = house.hook("guard", on="tool_before", script=TELLS)

    with pytest.raises(HooktrayError):
        house.consent.grant(state.key, [name], "test")

    assert house.stores.ledger.in_order()[0].granted == ()


def test_nothing_is_let_through_to_a_hook_that_waits_or_is_a_rule(house: House) -> None:
    waiting = house.hook("guard", on="tool_before", script=TELLS, approved=False)
    rule = house.hook("rule", on="tool_before", type="rule", decision="deny")

    for state in (waiting, rule):
        with pytest.raises(HooktrayError):
            house.consent.grant(state.key, ["MY_TOKEN"], "test")


def test_with_its_approval_a_hook_loses_its_variables(house: House) -> None:
    state = house.hook("guard", on="tool_before", script=TELLS)
    house.consent.grant(state.key, ["MY_TOKEN"], "test")

    house.consent.revoke(state.key, "test")
    house.consent.approve(state.key, state.digest, "test")

    assert reason(house) == "nothing nothing"


def test_undo_takes_the_variable_and_nothing_else_back(house: House) -> None:
    state = house.hook("guard", on="tool_before", script=TELLS)
    announced = Announced()
    controls = house.controls(announced)
    controls.grant(state.key, ["MY_TOKEN"], "tray")
    assert reason(house) == "s3cret nothing"

    announced.undos[0].undo()

    assert reason(house) == "nothing nothing"


def test_review_names_what_it_asks_for_with_the_command_and_what_it_gets(house: House) -> None:
    house.hook("guard", on="tool_before", script='curl -H "Authorization: $MY_TOKEN" x')
    asked = review(house.state("guard"), house.stores.copies, {})

    house.consent.grant(house.state("guard").key, ["MY_TOKEN"], "test")
    given = review(house.state("guard"), house.stores.copies, {})

    assert "MY_TOKEN is withheld from it: `hooktray approve --env MY_TOKEN guard` lets it through" in asked
    assert "you let through MY_TOKEN" in given
    assert "withheld" not in given


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (b'echo "$MY_TOKEN ${API_KEY:-x} $HOME $PATH"', ("API_KEY", "MY_TOKEN")),
        (b'import os\nos.environ["MY_TOKEN"]; os.environ.get("DB_PASSWORD"); os.getenv("USER")',
         ("DB_PASSWORD", "MY_TOKEN")),
        (b"fetch(process.env.SLACK_WEBHOOK, process.env['NPM_TOKEN'])", ("NPM_TOKEN", "SLACK_WEBHOOK")),
        (b"TOKEN=$(cat token)\necho $TOKEN", ()),
        (b"# MY_TOKEN is not used\n", ()),
        (b"echo $LD_PRELOAD $PYTHONPATH", ()),
    ],
)  # fmt: skip
def test_the_variables_that_a_script_asks_for_are_found(text: bytes, names: tuple[str, ...]) -> None:
    assert asked_for(built_hook(), [text], {}) == names


def test_a_hook_that_failed_for_want_of_a_variable_names_the_command(house: House, tmp_path: Path) -> None:
    script = 'cat >/dev/null; echo "MY_TOKEN: not set" >&2; exit 1'
    house.hook("my guard", on="tool_before", script=script, command=r"./my\ guard.sh")
    house.tool("ls", environment=SECRET)

    (outcome,) = house.decisions[-1][1].outcomes
    problem = find_problem(outcome)

    assert outcome.cause.endswith("; MY_TOKEN is withheld from it")
    assert problem is not None
    assert problem.remedy == "`hooktray approve --env MY_TOKEN 'my guard'` lets it through"
