"""The cases of the requirements once more, through the installed relay and a real tray."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest
from desk import wait
from every import every
from seeds.product import Product
from seeds.requirement import Answers, Reads, Requirement, event_of, source
from seeds.requirements import REQUIREMENTS

pytestmark = pytest.mark.xdist_group("requirements")  # one worker, so one tray

PLAIN = "system-prompt"  # its payload is no JSON: test_effects.py sends one
ANSWERS = [one for one in REQUIREMENTS if isinstance(one.case, Answers) and one.case.event != PLAIN]
READS = [one for one in REQUIREMENTS if isinstance(one.case, Reads) and one.case.event != PLAIN]
NAMED = re.compile(r"[\w/.-]+ \(Hooktray\): ")  # what a reason begins with
TIMES = {"x-code": {"timeout": 30000}}  # a loaded machine needs more than its usual five seconds
# Keeps what it gets, and says what a hook says there. The agent's environment has the requirement's number, and which
# hook is meant.
HOOK = """#!/bin/sh
[ "$1" = "$HOOK" ] || exit 0
cd {folder} || exit 9
cat >"$REQUIREMENT.part" && mv "$REQUIREMENT.part" "$REQUIREMENT.stdin"
cat "$REQUIREMENT.stdout"
cat "$REQUIREMENT.stderr" >&2
exit "$(cat "$REQUIREMENT.code")"
"""


def hook_name(requirement: Requirement) -> str:
    """One hook is for all requirements of an agent's event, a format and a failure policy.

    What they say is of a source of that format; what they find, of our own file, for any agent has to find it.
    """
    case = requirement.case
    assert case is not None
    policy = case.policy.value if isinstance(case, Answers) else "reads"
    return f"{case.agent}:{case.event}:{case.hook or case.agent}:{policy}"


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """One tray with these hooks, and beside them what each says."""
    if sys.platform == "win32":
        pytest.skip("the hook is for a POSIX shell")
    with pytest.MonkeyPatch.context() as patch:
        product = Product(tmp_path_factory.mktemp("requirements"))
        patch.setenv("HOME", str(product.home))
        product.write("h/config/hook.sh", HOOK.format(folder=product.home))
        for one in ANSWERS + READS:
            says = one.case if isinstance(one.case, Answers) else Answers(agent="", event="")
            for name, text in (("stdout", says.out), ("stderr", says.err), ("code", str(says.code))):
                product.write(f"{one.number}.{name}", text)
        for number, (name, one) in enumerate({hook_name(one): one for one in ANSWERS}.items()):
            case = one.case
            assert isinstance(case, Answers)
            entry = {**case.entry, "command": f"{product.home}/h/config/hook.sh {name}", **TIMES.get(case.agent, {})}
            place = source(product.home / f"source-{number}", case.agent, case.event, entry)
            product.source(case.agent, place, only=[case.agent])
        for name, one in {hook_name(one): one for one in READS}.items():
            assert one.case is not None
            product.hook(
                name=name,
                agent=one.case.agent,
                event=event_of(one.case.agent, one.case.event, {}).kind.value,
                dialect=name.split(":")[2],
                command=f"./hook.sh {name}",
            )
        yield product.start()
        product.close()


def ask(product: Product, requirement: Requirement) -> subprocess.CompletedProcess[bytes]:
    case = requirement.case
    assert case is not None
    number, name = requirement.number, hook_name(requirement)
    environment = {"REQUIREMENT": number, "HOOK": name}
    if isinstance(case, Reads):
        done = product.send(case.agent, case.event, case.sent(), env=environment)
    else:
        session = {"session_id": number, "conversation_id": number}
        done = product.ask(case.agent, case.event, {**case.sent(), **session}, env=environment)
    asked = product.home / f"{number}.stdin"
    wait(asked.exists, 60, f"the hook for {number} has run")
    return done


@every("requirement", ANSWERS, ids=[one.number for one in ANSWERS])
def test_an_agent_is_answered_as_required(product: Product, requirement: Requirement) -> None:
    case = requirement.case
    assert isinstance(case, Answers)

    done = ask(product, requirement)

    text = (done.stdout + done.stderr).decode()
    case.judge(NAMED.sub("", text), done.returncode)


@every("requirement", READS, ids=[one.number for one in READS])
def test_a_hook_finds_what_is_required(product: Product, requirement: Requirement) -> None:
    case = requirement.case
    assert isinstance(case, Reads)

    ask(product, requirement)

    case.judge(json.loads((product.home / f"{requirement.number}.stdin").read_bytes()))
