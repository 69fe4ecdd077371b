"""What Starchild's document on agent hooks requires."""

from __future__ import annotations

from functools import partial

from seeds.requirement import Answers, Cases, Reads, reading

A = "starchild"
PRE, POST, RESULT = "pre_tool_call", "post_tool_call", "transform_tool_result"
MODEL, OUT = "pre_llm_call", "on_outbound_message"
CLAIM, START, END = "on_completion_claim", "on_session_start", "on_session_end"
SECRET = '{"decision":"block","reason":"no"}'
BLOCKED = {"decision": "block", "reason": "no"}
says, reads = partial(Answers, A), partial(Reads, A)
STARCHILD: Cases = {
    "T002": says(OUT, SECRET, BLOCKED),
    "T004": says(MODEL, '{"context":"mind x"}', {"context": "mind x"}),
    "T005": says(CLAIM, SECRET, BLOCKED),
    "T033": says(PRE, SECRET, BLOCKED),
    "T034": says(PRE, '{"tool_input":{"command":"true"}}', {"tool_input": {"command": "true"}}),
    "T035": says(POST, SECRET),
    "T036": says(RESULT, '{"systemMessage":"note"}', {"systemMessage": "note"}),
    "T037": says(RESULT, '{"add_warning":"note"}', {"systemMessage": "note"}),
    "T038": says(MODEL, SECRET, BLOCKED),
    "T039": says("post_llm_call", SECRET),
    "T040": says(OUT, '{"notification":"masked"}', {"notification": "masked"}),
    "T041": says(START, '{"context":"c"}', {"context": "c"}),
    "T042": says(END, SECRET),
    **reading(
        *(A, "T043"),
        (PRE, "tool_name", "tool_input"),
        (POST, "tool_name", "tool_result"),
        (RESULT, "tool_name", "tool_result"),
        (MODEL, "system", "last_user_message", "model"),
        ("post_llm_call", "model"),
        (OUT, "notification", "type"),
        (CLAIM, "goal", "summary", "response", "tool_names"),
        (START, "status"),
        (END, "status"),
        (PRE, "event", "session_id", "agent_id", "cwd"),
        (END, "event", "session_id", "agent_id", "cwd"),
    ),
    "T070": says(PRE, ""),
    "T071": says(PRE, "{}"),
    "T072": says(PRE, '{"tool_input":{"command":"true","new":1}}', {"tool_input": {"command": "true"}}),
    "T074": says(PRE, '{"systemMessage":"note"}', {"systemMessage": "note"}),
    "T075": says(PRE, '{"add_warning":"note"}', {"systemMessage": "note"}),
    "T076": says(MODEL, '{"systemMessage":"note"}', {"systemMessage": "note"}),
    "T077": says(PRE, '{"context":"c"}'),
    "T080": says(PRE, SECRET, code=1),
    "T081": says(PRE, "no json"),
    "T108": says(
        PRE, '{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no"}}', BLOCKED
    ),
    "T109": says(MODEL, '{"hookSpecificOutput":{"additionalContext":"c"}}', {"context": "c"}),
    "T110": says(
        PRE, '{"hookSpecificOutput":{"updatedInput":{"command":"true"}}}', {"tool_input": {"command": "true"}}
    ),
    "T111": says(PRE, '{"continue":false,"stopReason":"no"}', BLOCKED),
    "T112": says(PRE, '{"systemMessage":"note"}', {"systemMessage": "note"}),
    "T113": says(PRE, '{"suppressOutput":true}'),
    "T114": says(PRE, answer=BLOCKED, code=2, err="no"),
    "T115": Reads("claude-code", "PreToolUse", {"event": PRE}, hook=A),
}
