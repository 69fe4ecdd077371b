"""The hooks that guard both the real clients and the stand-ins of agents, so that each is asked the same."""

from __future__ import annotations

import shlex
import sys

REFUSED = {
    "name": "no",
    "event": "tool_before",
    "type": "rule",
    "matcher": "forbidden",
    "decision": "deny",
    "reason": "refused-by-a-rule",
}
ASKED = REFUSED | {"decision": "ask", "reason": "asked-by-a-rule"}
NO_PROMPT = {
    "name": "quiet",
    "event": "prompt",
    "type": "rule",
    "matcher": "secret",
    "decision": "deny",
    "reason": "refused-prompt",
}
REWRITE = {"name": "other", "event": "tool_before", "matcher": "original", "command": "./rewrite.sh"}
REWRITE_SCRIPT = """cat >/dev/null; echo '{"tool_input": {"command": "touch rewritten"}}'"""
HALT = {"name": "halt", "event": "prompt", "command": "./halt.sh", "dialect": "claude-code"}
HALT_SCRIPT = """cat >/dev/null; echo '{"continue": false, "stopReason": "halted-by-a-hook"}'"""
# The output with another word in it, in the shape that it came in.
MASK = {"name": "mask", "event": "tool_after", "matcher": "first-secret", "command": "./mask.sh",
        "dialect": "claude-code"}  # fmt: skip
MASK_SCRIPT = f"""exec {shlex.quote(sys.executable)} -Sc '
import json, sys
output = json.dumps(json.load(sys.stdin)["tool_response"]).replace("first-secret", "masked-output")
said = {{"hookEventName": "PostToolUse", "updatedToolOutput": json.loads(output)}}
print(json.dumps({{"hookSpecificOutput": said}}))'"""
SLOW = {"name": "slow", "event": "tool_before", "command": "./slow.sh", "timeout": 60}
SLOW_SCRIPT = 'cat >/dev/null; touch "$HOME/began"; sleep 60; touch "$HOME/judged"'
ONCE_MORE = {"name": "stop", "event": "turn_end", "command": "./stop.sh", "dialect": "claude-code"}
