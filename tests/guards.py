"""The hooks that guard both the real clients and the stand-ins of agents, so that each is asked the same."""

from __future__ import annotations

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
ONCE_MORE = {"name": "stop", "event": "turn_end", "command": "./stop.sh", "dialect": "claude-code"}
