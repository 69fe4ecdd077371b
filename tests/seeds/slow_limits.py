"""Hooks that take nearly all the time that their agent gives, in real time; `.ci/full` runs this file by its name."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from seeds.product import Product

BLOCK = '{"decision": "block", "reason": "after a long look"}'
DENY = '{"decision": "deny", "reason": "after a long look"}'


@pytest.mark.parametrize(("seconds", "timeout"), [(17, None), (40, 60), (100, 120)])
def test_a_starchild_guard_has_the_time_that_its_entry_says(
    product: Product, seconds: int, timeout: int | None
) -> None:
    product.write("workspace/slow.sh", f"#!/bin/sh\ncat >/dev/null\nsleep {seconds}\necho '{BLOCK}'\n")
    entry = {"event": "pre_tool_call", "command": "./slow.sh"} | ({"timeout": timeout} if timeout else {})
    product.starchild(entry).start()

    answer = product.answer("starchild", "pre_tool_call")
    assert answer == {"decision": "block", "reason": "slow (Hooktray): after a long look"}


def test_a_shelley_hook_of_27_seconds_is_heard(product: Product) -> None:
    product.write("hooks/chat-message", '#!/bin/sh\ncat >/dev/null\nsleep 27\necho \'{"message": "late"}\'\n')
    product.source("shelley", product.home / "hooks").start()

    assert product.answer("shelley", "chat-message", {"message": "early"}) == {"message": "late"}


def test_an_x_code_hook_has_28_of_its_30_seconds_and_then_its_policy_counts(product: Product, tmp_path: Path) -> None:
    for seconds in (27, 29):
        product.write(f"p{seconds}/slow.sh", f"#!/bin/sh\ncat >/dev/null\nsleep {seconds}\necho '{DENY}'\n")
        entry = {"command": "${pluginDir}/slow.sh", "timeout": 30000, "failurePolicy": "block"}
        matched = {"PreToolUse": [entry | {"matcher": "writeFile" if seconds == 27 else "shell"}]}
        product.write(f"p{seconds}/plugin.json", json.dumps({"name": "slow", "hooks": matched}), 0o644)
        product.source("x-code", product.home / f"p{seconds}")
    product.start()
    calls = ({"name": "writeFile", "args": {"path": "a"}}, {"name": "shell", "args": {"command": "ls"}})

    with ThreadPoolExecutor() as pool:
        answers = list(pool.map(lambda call: product.answer("x-code", "PreToolUse", {"tool": call}), calls))

    assert answers[0] == {"decision": "deny", "reason": "slow (Hooktray): after a long look"}
    assert answers[1]["decision"] == "deny"
    assert "timed out" in answers[1]["reason"]
