"""Each configuration that the formats' documents print is read as it stands; test_sixteen_pairs.py has the scripts.

`claude-project-config.sh` is not valid shell, because its branches contain only comments: the test checks Hooktray's
message instead. Starchild's question to a model imports its host's own package and is not here.
"""

from __future__ import annotations

import pytest
from connect.trays import approve_all
from seeds.product import SCRIPTS, Product


def test_a_script_that_is_no_valid_shell_is_named_before_its_approval(product: Product) -> None:
    script = product.script("hooks/config.sh", seed="claude-project-config.sh")
    product.claude("PreToolUse", {"command": f"bash {script}"})

    found = product.live.cli("doctor", "--static").stdout.decode()

    (line,) = [line for line in found.splitlines() if "syntax" in line]
    assert "config" in line


def test_a_script_that_is_no_valid_shell_is_broken_after_its_approval(product: Product) -> None:
    script = product.script("hooks/config.sh", seed="claude-project-config.sh")
    product.claude("PreToolUse", {"command": f"bash {script}"}).start()

    done = product.live.cli("doctor")

    (line,) = [line for line in done.stdout.decode().splitlines() if "syntax" in line]
    assert line.startswith("broken     hook: config: ")
    assert done.returncode == 1


CONFIGURATIONS = {
    "claude-multi-stage.json": {"quick-check": "PreToolUse", "PreToolUse prompt": "PreToolUse"},
    "claude-parallel.jsonc": {
        "check-path": "PreToolUse", "check-size": "PreToolUse", "PreToolUse prompt": "PreToolUse",
    },
    "claude-stop-agent.json": {"Stop agent": "Stop"},
    "claude-stop-prompt.json": {"Stop prompt": "Stop"},
    "claude-task.json": {"verify-task": "TaskCompleted"},
    "claude-teammate.json": {"check-teammate": "TeammateIdle"},
    "starchild-hooks.yaml": {"block_secrets": "pre_tool_call"},
    "starchild-http.yaml": {"my-guard.example.com": "pre_tool_call"},
    "x-code-lint-manifest.jsonc": {"lint": "PreToolUse"},
    "x-code-manifest.jsonc": {"Lint before writing": "PreToolUse", "inject-context": "UserPromptSubmit"},
}  # fmt: skip
PLACES = {"claude": "hooks/hooks.json", "starchild": "config/shell_hooks.yaml", "x-code": "plugin.json"}
FILES = (
    "check-size.sh", "check-path.sh", "hooks/lint.js", "hooks/inject-context.sh", "scripts/quick-check.sh",
    "scripts/check-teammate.sh", "scripts/verify-task.sh", "extensions/shell_hooks/examples/block_secrets.py",
    "hooks/check-size.sh", "hooks/check-path.sh",
)  # fmt: skip


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_a_printed_configuration_is_read_as_it_stands(product: Product, name: str) -> None:
    agent = next(agent for agent in PLACES if name.startswith(agent))
    for file in FILES:
        product.write(f"seed/{file}", "#!/bin/sh\n")
    path = product.write(f"seed/{PLACES[agent]}", (SCRIPTS / name).read_text(), 0o644)
    product.source({"claude": "claude-code"}.get(agent, agent), path.parent if agent == "x-code" else path)
    approve_all(product.live)

    states = product.live.states()

    assert states == dict.fromkeys(CONFIGURATIONS[name], "approved")


def test_every_printed_configuration_is_read() -> None:
    names = {path.name for path in SCRIPTS.iterdir() if path.suffix not in (".sh", ".js")}

    assert {name for name in names if not name.startswith("claude-handler-")} == set(CONFIGURATIONS)
