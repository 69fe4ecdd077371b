"""A case of the requirements for each agent and format once more, through the installed relay and a real tray."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator

import pytest
from desk import wait
from every import every
from seeds.product import Product
from seeds.requirement import Answers, Reads, event_of, source
from seeds.requirements import CASES

pytestmark = pytest.mark.xdist_group("requirements")  # one worker, so one tray

PLAIN = "system-prompt"  # its payload is no JSON: test_effects.py sends one
NAMED = re.compile(r"[\w/.-]+ \(Hooktray\): ")  # what a reason begins with
TIMES = {"x-code": {"timeout": 30000}}  # a loaded machine needs more than its usual five seconds


def name(case: Answers | Reads) -> str:
    """Returns the name of the hook for a case: there is one for each agent, format and failure policy.

    A hook that answers is in a source of its format. A hook that reads is in hooktray.yaml, which is for any agent.
    """
    if isinstance(case, Answers):
        return f"{case.agent}-says-{case.policy.value}"
    return f"{case.agent}-reads-{case.hook or case.agent}"


# If a hook has several cases, its last answered case.
TRIED = {
    name(case): case
    for case in sorted(CASES.values(), key=lambda case: isinstance(case, Answers) and bool(case.answer))
    if case.event != PLAIN
}
ANSWERS = {name: case for name, case in TRIED.items() if isinstance(case, Answers)}
READS = {name: case for name, case in TRIED.items() if isinstance(case, Reads)}
# A variable of the agent selects the hook, which keeps its input and prints the prepared output.
HOOK = """#!/bin/sh
[ "$1" = "$HOOK" ] || exit 0
cat >"{folder}/$1.part" && mv "{folder}/$1.part" "{folder}/$1.in"
cat "{folder}/$1.out"
cat "{folder}/$1.err" >&2
exit "$(cat "{folder}/$1.code")"
"""


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """One tray with these hooks."""
    if sys.platform == "win32":
        pytest.skip("the hook is for a POSIX shell")
    with pytest.MonkeyPatch.context() as patch:
        product = Product(tmp_path_factory.mktemp("requirements"))
        patch.setenv("HOME", str(product.home))
        script = product.write("h/config/hook.sh", HOOK.format(folder=product.home))
        for name, case in TRIED.items():
            says = case if isinstance(case, Answers) else Answers(case.agent, case.event)
            for end, text in (("out", says.out), ("err", says.err), ("code", str(says.code))):
                product.write(f"{name}.{end}", text)
            if isinstance(case, Answers):
                entry = {**case.entry, "command": f"{script} {name}", **TIMES.get(case.agent, {})}
                place = source(product.home / f"source-{name}", case.agent, case.event, entry)
                product.source(case.agent, place, only=[case.agent])
            else:
                kind = event_of(case.agent, case.event, {}).kind.value
                words = {"name": name, "agent": case.agent, "event": kind, "dialect": case.hook or case.agent}
                product.hook(**words, command=f"./hook.sh {name}")
        yield product.start()
        product.close()


@every("name", ANSWERS)
def test_an_agent_is_answered_as_required(product: Product, name: str) -> None:
    case = ANSWERS[name]

    done = product.ask(case.agent, case.event, case.sent(), env={"HOOK": name})

    case.judge(NAMED.sub("", (done.stdout + done.stderr).decode()), done.returncode)


@every("name", READS)
def test_a_hook_finds_what_is_required(product: Product, name: str) -> None:
    case = READS[name]
    found = product.home / f"{name}.in"

    product.send(case.agent, case.event, case.sent(), env={"HOOK": name})

    wait(found.exists, 60, f"the hook for {name} has run")
    case.judge(json.loads(found.read_bytes()))
