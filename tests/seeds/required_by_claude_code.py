"""What Claude Code's two documents on hooks require: the advanced use cases (A) and the schemas (C)."""

from __future__ import annotations

from typing import Any

from seeds.requirement import Answers, Reads, Requirement

R = Requirement
A = "claude-code"
PRE, POST, PROMPT, STOP, SUBSTOP = "PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop", "SubagentStop"
START, END, COMPACT, NOTE, REQUEST = "SessionStart", "SessionEnd", "PreCompact", "Notification", "PermissionRequest"
BLOCK = '{"decision":"block","reason":"no"}'
BLOCKED = {"decision": "block", "reason": "no"}
DENY_INPUT = {
    "hookSpecificOutput": {"hookEventName": PRE, "permissionDecision": "deny", "permissionDecisionReason": "no"}
}
SCRIPT = ("a_printed_script_runs_as_it_stands",)
PRINTED = ("a_printed_configuration_is_read_as_it_stands",)
MODEL = ("a_model_that_objects_blocks",)
DEPENDS = ("a_hook_that_depends_on_a_variable_checks_only_where_it_is_meant_to",)
GRACEFULLY = ("a_malformed_answer_to_claudes_question_fails_and_stops_nothing",)
READ = ("a_printed_handler_is_read_as_it_stands",)
USUAL = ("claude_code/::a_settings_file_yields_its_hooks_for_every_agent",)
TASK_KEYS = ("task_description", "teammate_name", "team_name")
SKILLS = ("a_skills_hooks_are_read_with_their_own_lines_and_only_for_that_skill",)
TURN = ("a_skill_is_in_force_from_its_invocation_to_the_end_of_the_turn",)
ASYNC = ("the_answer_is_there_before_the_hook_has_ended",)
MATCHERS = ("a_claude_event_is_matched_by_its_own_subject",)
DONE = ("an_example_does_its_work_on_every_agent_that_has_its_event",)
AGENT_HOOK = ("an_agent_hook_reads_below_the_working_folder_alone",)
# A shell command and a file's write as other agents send them.
SHELLS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("starchild", "pre_tool_call", {"tool_name": "bash", "tool_input": {"command": "ls"}}),
    ("x-code", "PreToolUse", {"tool": {"name": "shell", "args": {"command": "ls"}, "callId": "1"}}),
)
WRITES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("starchild", "pre_tool_call", {"tool_name": "write_file", "tool_input": {"path": "a.ts"}}),
    ("x-code", "PreToolUse", {"tool": {"name": "writeFile", "args": {"filePath": "a.ts"}, "callId": "1"}}),
)
MCP = {"tool_name": "mcp__db__query", "tool_response": [{"type": "text", "text": "secret"}]}


def inner(event: str, **fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": event, **fields}}


def says(number: str, text: str, event: str, out: str, answer: Any = "", **more: Any) -> Requirement:
    return R(number=number, text=text, case=Answers(agent=A, event=event, out=out, answer=answer, **more))


def shown(number: str, text: str, *tests: str) -> Requirement:
    return R(number=number, text=text, tests=tests)


def reads(number: str, event: str, key: str) -> Requirement:
    return R(number=number, text=f"{event} has `{key}`", case=Reads(agent=A, event=event, finds={key: ...}))


ADVANCED = (
    shown("A001", "command and prompt hooks stand beside each other for one matcher", *PRINTED),
    shown("A002", "the printed first check lets safe commands pass", *SCRIPT),
    shown(
        "A003", "a prompt hook gets the tool's input as $TOOL_INPUT", "a_question_may_ask_for_the_tools_input_only"
    ),
    shown("A004", "hooks may depend on a variable such as CI", *SCRIPT, *DEPENDS),
    shown("A005", "hooks may depend on the user's name", *SCRIPT, *DEPENDS),
    shown(
        "A006",
        "hooks of later events find what earlier ones left in files",
        "a_hook_finds_what_an_earlier_events_hook_left_in_a_file",
    ),
    shown(
        "A007",
        "a hook finds CLAUDE_PROJECT_DIR, and the project's own configuration below it",
        "a_hook_reads_the_projects_own_configuration_below_claude_project_dir",
    ),
    R(
        number="A008",
        text="the printed dynamic configuration runs",
        state="ruled out",
        why="it is not valid shell: its branches hold nothing but comments",
        tests=("a_script_that_is_no_valid_shell_is_named_before_its_approval",),
    ),
    shown(
        "A009",
        "doctor names a script that is not valid shell, before and after its approval",
        "a_script_that_is_no_valid_shell_is_named_before_its_approval",
        "a_script_that_is_no_valid_shell_is_broken_after_its_approval",
    ),
    shown(
        "A010",
        "$TRANSCRIPT_PATH in a prompt is the end of the transcript",
        "the_transcripts_end_is_inlined_without_its_secrets",
    ),
    shown("A011", "a model's consent stops nothing", "a_models_consent_is_no_opinion"),
    shown("A012", "a model's answer is `ok` with a reason", *MODEL),
    shown("A013", "an agent hook has up to 50 turns", "an_agent_hook_that_never_ends_has_failed_after_50_turns"),
    shown("A014", "an agent hook has 60 s by default", "claudes_questions_have_its_own_times"),
    shown(
        "A015",
        "the printed cache answers the second time from its file",
        "the_printed_cache_answers_the_second_time_from_its_file",
    ),
    shown(
        "A016",
        "hooks of one event run at the same time",
        "hooks_of_one_event_run_side_by_side",
        "eight_hooks_run_at_the_same_time_and_answer_in_their_order",
    ),
    shown("A017", "each handler has its own time-out in seconds", "time_is_in_seconds_unless_that_cannot_be_meant"),
    shown("A018", "the printed session tracking starts, counts and refuses the end", *SCRIPT, *DONE),
    shown(
        "A019",
        "a hook finds a tool's output as `tool_result` too",
        "a_hook_finds_a_tools_output_under_its_older_names_too",
        *SCRIPT,
    ),
    R(
        number="A020",
        text="exit 2 refuses the end of a turn, and stderr is the reason",
        case=Answers(agent=A, event=STOP, code=2, err="no", answer=BLOCKED),
    ),
    shown("A021", "a hook may post to a service and refuse", *SCRIPT, *DONE),
    shown(
        "A022",
        "SLACK_WEBHOOK and DATABASE_URL reach hooks of a settings file, once a person grants them",
        "the_slack_hook_of_a_settings_file_gets_its_webhook_once_a_person_grants_it",
        "a_secret_reaches_only_the_hook_that_lists_it",
    ),
    shown("A023", "a hook may write to a database", *DONE),
    shown("A024", "a hook may send metrics", *DONE),
    shown("A025", "the printed rate limit runs", *SCRIPT, *DONE),
    shown("A026", "the printed audit log grows in the user's home", "the_audit_log_grows_in_the_users_own_home"),
    shown("A027", "the printed search for secrets refuses", *SCRIPT, "an_example_guard_refuses_on_every_agent"),
    R(
        number="A028",
        text="exit 2 beside JSON on stderr: the text is the reason as it stands",
        case=Answers(agent=A, event=PRE, code=2, err='{"decision": "deny"}', answer='{\\"decision\\": \\"deny\\"}'),
    ),
    shown(
        "A029",
        "hooks can be tried with a payload and an expected verdict",
        "one_hook_is_held_to_what_is_expected_of_it",
    ),
    shown(
        "A030", "the order of hooks does not depend on who is first", "the_strictest_verdict_wins_whoever_spoke_first"
    ),
    shown("A031", "a hook that takes too long is ended", "a_hook_that_takes_too_long_is_ended"),
    R(
        number="A032",
        text="a script that crashes stops nothing",
        case=Answers(agent=A, event=PRE, code=1, err="cat: no such file"),
    ),
    R(
        number="A033",
        text="JSON on stderr with exit 0 means nothing",
        case=Answers(agent=A, event=PRE, err='{"continue": true, "systemMessage": "x"}'),
    ),
    shown("A034", "hooks in a skill's frontmatter are read", *SKILLS),
    shown("A035", "hooks in an agent's frontmatter are read", "an_agents_stop_is_the_end_of_a_subagent"),
    shown("A036", "a skill's hooks are asked while it is in use", *TURN),
    shown("A037", "a skill's hooks end with its turn", *TURN),
    shown("A038", "Stop in an agent's frontmatter is SubagentStop", "an_agents_stop_is_the_end_of_a_subagent"),
    shown(
        "A039",
        "hooks in frontmatter come beside those of settings",
        "a_settings_file_brings_the_skills_commands_and_agents_beside_it",
    ),
    shown("A040", "a plugin's hooks.json is read", "a_plugins_usual_file_and_its_manifest_both_count_once"),
    shown("A041", "hooks.json may have its events at the top", "hooks_json_without_the_key_hooks_is_read", *PRINTED),
    shown("A042", "${CLAUDE_PLUGIN_ROOT} is the plugin's folder", "claude_plugin_root_is_the_plugins_folder"),
    shown(
        "A043",
        "at an end of turn `stop` consents and `continue` refuses",
        "at_the_end_of_a_turn_continue_means_go_on",
        "at_the_end_of_a_turn_stop_means_done",
    ),
    shown("A044", "the agent hook for Stop is read", *PRINTED),
    shown("A045", "an agent hook reads files of the project", *AGENT_HOOK),
    R(
        number="A046",
        text="an agent hook runs commands",
        state="ruled out",
        why="what a model chooses to run nobody has approved",
        tests=AGENT_HOOK,
    ),
    shown(
        "A047",
        "an agent hook has the 120 s that its file says",
        "a_printed_agent_hook_has_the_time_that_its_file_says",
        "a_question_to_a_model_has_all_of_the_hooks_time",
    ),
    shown("A048", "`once` runs a hook once in a session", *READ, "once_is_once_in_a_session"),
    shown(
        "A049",
        "`statusMessage` is shown while the hook runs",
        *READ,
        "the_menu_says_what_a_hook_does_just_now",
        "what_a_hook_wants_shown_stands_in_the_menu_and_the_tooltip_until_it_ends",
    ),
    *(
        shown(f"A{50 + at:03}", f"{event} is matched by its own subject", *MATCHERS)
        for at, event in enumerate((START, END, NOTE, COMPACT, "SubagentStart", SUBSTOP, PRE))
    ),
    says(
        "A057",
        "permissionDecision allow lets the call go on without a question",
        PRE,
        '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}',
        inner(PRE, permissionDecision="allow"),
    ),
    says(
        "A058",
        "permissionDecision deny refuses",
        PRE,
        '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}',
        DENY_INPUT,
    ),
    says(
        "A059",
        "permissionDecision ask asks the user",
        PRE,
        '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"sure"}}',
        inner(PRE, permissionDecision="ask", permissionDecisionReason="sure"),
    ),
    says(
        "A060",
        "updatedInput replaces the input",
        PRE,
        '{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"true"}}}',
        inner(PRE, updatedInput={"command": "true"}),
    ),
    says(
        "A061",
        "additionalContext is context",
        PRE,
        '{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"c"}}',
        inner(PRE, additionalContext="c"),
    ),
    says(
        "A062",
        "a permission request can be allowed",
        REQUEST,
        '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}',
        inner(REQUEST, decision={"behavior": "allow"}),
    ),
    says(
        "A063",
        "a permission request can be denied with a message",
        REQUEST,
        '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"no"}}}',
        inner(REQUEST, decision={"behavior": "deny", "message": "no"}),
    ),
    says(
        "A064",
        "an allowed request may have another input",
        REQUEST,
        '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{"command":"true"}}}}',
        '"updatedInput":{"command":"true"}',
    ),
    says(
        "A065",
        "the printed allow of a request, with its empty `updatedPermissions`, allows",
        REQUEST,
        '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{},"updatedPermissions":{},"message":"Reason","interrupt":false}}}',
        '"behavior":"allow"',
    ),
    says(
        "A066",
        "a denied request may interrupt",
        REQUEST,
        '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"no","interrupt":true}}}',
        '"interrupt":true',
    ),
    says("A067", "decision block after a tool is told to the model", POST, BLOCK, BLOCKED),
    says("A068", "decision block refuses the end", STOP, BLOCK, BLOCKED),
    says("A069", "decision block refuses a prompt", PROMPT, BLOCK, BLOCKED),
    R(
        number="A070",
        text="updatedMCPToolOutput as a text replaces the output",
        case=Answers(
            agent=A,
            event=POST,
            payload=MCP,
            out='{"updatedMCPToolOutput":"[redacted]"}',
            answer='[{"type":"text","text":"[redacted]"}]',
        ),
    ),
    says("A071", "updatedMCPToolOutput counts for MCP tools only", POST, '{"updatedMCPToolOutput":"x"}'),
    says(
        "A072",
        "a failed tool takes context",
        "PostToolUseFailure",
        '{"additionalContext":"c"}',
        inner("PostToolUseFailure", additionalContext="c"),
    ),
    *(
        R(number=f"A{73 + 2 * at:03}", text=f"{event} goes on with exit 0", case=Answers(agent=A, event=event))
        for at, event in enumerate(("TeammateIdle", "TaskCompleted"))
    ),
    *(
        R(
            number=f"A{74 + 2 * at:03}",
            text=f"{event} is refused with exit 2 and stderr",
            case=Answers(agent=A, event=event, code=2, err="no", exits=2, answer="no"),
        )
        for at, event in enumerate(("TeammateIdle", "TaskCompleted"))
    ),
    says(
        "A077",
        "continue: false stops with stopReason",
        PRE,
        '{"continue":false,"stopReason":"halt"}',
        {"continue": False, "stopReason": "halt"},
    ),
    says(
        "A078", "systemMessage is shown to the user", PRE, '{"systemMessage":"careful"}', {"systemMessage": "careful"}
    ),
    R(
        number="A079",
        text="suppressOutput hides a hook's output",
        state="ruled out",
        why="the agent never gets the hook's output, only the decision",
        case=Answers(agent=A, event=PRE, out='{"suppressOutput":true}'),
    ),
    *(
        reads(f"A{80 + at:03}", event, key)
        for at, (event, key) in enumerate(
            (
                ("TeammateIdle", "teammate_name"),
                ("TeammateIdle", "team_name"),
                ("TaskCompleted", "task_id"),
                ("TaskCompleted", "task_subject"),
            )
        )
    ),
    shown("A084", "the printed hooks for teammates and tasks are read", *PRINTED),
    shown("A085", "an async hook does not delay the answer", *READ, *ASYNC),
    shown("A086", "an async hook decides nothing", "a_verdict_beside_the_answer_is_none_and_the_journal_says_so"),
    shown("A087", "`async` counts for commands only", "async_counts_for_commands_only"),
    shown("A088", "a hook without a timeout has 600 s", *USUAL),
    *(reads(f"A{89 + at:03}", "TaskCompleted", key) for at, key in enumerate(TASK_KEYS)),
    says(
        "A092",
        "an allowed request may change permissions",
        REQUEST,
        '{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedPermissions":[{"type":"setMode","mode":"plan","destination":"session"}]}}}',
        '"updatedPermissions":[',
    ),
    R(
        number="A093",
        text="agent hooks are for Stop and SubagentStop only",
        state="ruled out",
        why="Claude Code runs them wherever it asks a model, and so does Hooktray",
        tests=("an_agent_hook_is_read_at_every_event_at_which_a_model_is_asked",),
    ),
    R(
        number="A094",
        text="hooks in frontmatter are for PreToolUse, PostToolUse and Stop only",
        state="ruled out",
        why="Claude Code takes each event there, and so does Hooktray",
        tests=("a_skills_hooks_may_be_for_any_event",),
    ),
)

COMMON = ("session_id", "transcript_path", "cwd", "permission_mode", "hook_event_name")
SCHEMAS = (
    *(reads(f"C{1 + at:03}", PRE, key) for at, key in enumerate(COMMON)),
    *(
        reads(f"C{6 + at:03}", event, key)
        for at, (event, key) in enumerate(
            (
                (PRE, "tool_name"),
                (PRE, "tool_input"),
                (POST, "tool_name"),
                (POST, "tool_input"),
                (POST, "tool_output"),
                (POST, "hook_event_name"),
                (PROMPT, "prompt"),
                (STOP, "stop_hook_active"),
                (SUBSTOP, "stop_hook_active"),
                (START, "source"),
                (END, "reason"),
                (COMPACT, "trigger"),
                (COMPACT, "custom_instructions"),
                (NOTE, "session_id"),
                (NOTE, "hook_event_name"),
            )
        )
    ),
    says(
        "C021",
        "decision approve lets a tool call go on",
        PRE,
        '{"decision":"approve","reason":"ok"}',
        inner(PRE, permissionDecision="allow", permissionDecisionReason="ok"),
    ),
    says("C022", "decision block refuses a tool call", PRE, BLOCK, DENY_INPUT),
    says(
        "C023",
        "permissionDecision at the top is understood",
        PRE,
        '{"permissionDecision":"deny","permissionDecisionReason":"no"}',
        DENY_INPUT,
    ),
    says("C024", "permissionDecision ask at the top is understood", PRE, '{"permissionDecision":"ask"}', '"ask"'),
    says(
        "C025",
        "updatedInput at the top is merged into the input",
        PRE,
        '{"updatedInput":{"command":"true"}}',
        inner(PRE, updatedInput={"command": "true"}),
        payload={"tool_name": "Bash", "tool_input": {"command": "ls"}},
    ),
    says(
        "C026",
        "keys that updatedInput at the top leaves out stay",
        PRE,
        '{"updatedInput":{"command":"true"}}',
        inner(PRE, updatedInput={"command": "true", "timeout": 5}),
        payload={"tool_name": "Bash", "tool_input": {"command": "ls", "timeout": 5}},
    ),
    says("C027", "systemMessage goes to the user", PRE, '{"systemMessage":"careful"}', {"systemMessage": "careful"}),
    says("C028", "suppressOutput is understood", PRE, '{"suppressOutput":false}'),
    says("C029", "continue: true changes nothing", PRE, '{"continue":true}'),
    says(
        "C030",
        "after a tool, systemMessage goes to the user",
        POST,
        '{"systemMessage":"formatted"}',
        {"systemMessage": "formatted"},
    ),
    says("C031", "decision approve on a prompt changes nothing", PROMPT, '{"decision":"approve"}'),
    says("C032", "decision block on a prompt refuses it", PROMPT, BLOCK, BLOCKED),
    says(
        "C033", "a prompt's systemMessage goes to the user", PROMPT, '{"systemMessage":"m"}', {"systemMessage": "m"}
    ),
    says("C034", "an end without a decision ends", STOP, "{}"),
    says("C035", "an end is refused with its reason", STOP, BLOCK, BLOCKED),
    says("C036", "a subagent's end is refused with its reason", SUBSTOP, BLOCK, BLOCKED),
    says(
        "C037",
        "continue: true beside a block is the block",
        STOP,
        '{"continue":true,"decision":"block","reason":"no"}',
        BLOCKED,
    ),
    R(
        number="C038",
        text="stopReason beside a block is shown to the user",
        case=Answers(
            agent=A,
            event=STOP,
            out='{"decision":"block","reason":"no","continue":true,"stopReason":"Cannot stop yet"}',
            answer={**BLOCKED, "systemMessage": "Cannot stop yet"},
        ),
    ),
    shown(
        "C039",
        "a hook that always refuses the end does not loop for ever",
        "after_eight_refusals_in_a_row_the_agent_may_end",
    ),
    says(
        "C040",
        "additionalContext at a session's start is context",
        START,
        '{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"Sprint 23"}}',
        inner(START, additionalContext="Sprint 23"),
    ),
    shown(
        "C041",
        "contexts of several hooks are put together",
        "contexts_are_joined_by_a_blank_line_and_notes_kept_apart",
    ),
    says("C042", "a session's end takes no answer", END, BLOCK),
    says("C043", "decision approve before compaction changes nothing", COMPACT, '{"decision":"approve"}'),
    says("C044", "decision block keeps the context uncompacted", COMPACT, BLOCK, BLOCKED),
    says("C045", "a notification takes no answer", NOTE, BLOCK),
    says(
        "C046",
        "continue: false stops after a tool",
        POST,
        '{"continue":false,"stopReason":"halt"}',
        {"continue": False, "stopReason": "halt"},
    ),
    shown(
        "C047",
        "a model's `decision` approve and block are understood",
        "a_model_that_says_block_blocks",
        "a_models_consent_is_no_opinion",
    ),
    shown("C048", "a model's systemMessage goes to the user", "a_model_may_stop_the_agent_and_leave_the_user_a_note"),
    shown(
        "C049",
        "a model's continue: false with stopReason stops",
        "a_model_may_stop_the_agent_and_leave_the_user_a_note",
    ),
    shown("C050", "$ARGUMENTS is the hook's input", *MODEL),
    *(
        R(
            number=f"C{51 + at:03}",
            text=f"a hook finds {tool}'s `{key}`",
            case=Reads(
                agent=A,
                event=PRE,
                payload={"tool_name": tool, "tool_input": {key: "v"}},
                finds={f"tool_input.{key}": "v"},
            ),
        )
        for at, (tool, key) in enumerate(
            (
                ("Bash", "command"),
                ("Bash", "description"),
                ("Bash", "timeout"),
                ("Bash", "run_in_background"),
                ("Write", "file_path"),
                ("Write", "content"),
                ("Edit", "old_string"),
                ("Edit", "new_string"),
                ("Edit", "replace_all"),
                ("Read", "offset"),
                ("Read", "limit"),
                ("Grep", "pattern"),
                ("Grep", "output_mode"),
                ("mcp__db__query", "sql"),
            )
        )
    ),
    *(
        R(
            number=f"C{65 + at:03}",
            text=f"a hook finds `command` of {agent}'s shell",
            case=Reads(
                agent=agent,
                event=event,
                hook=A,
                payload=payload,
                finds={"tool_input.command": "ls", "tool_name": "Bash"},
            ),
        )
        for at, (agent, event, payload) in enumerate(SHELLS)
    ),
    *(
        R(
            number=f"C{67 + at:03}",
            text=f"a hook finds `file_path` of {agent}'s file tool",
            case=Reads(
                agent=agent,
                event=event,
                hook=A,
                payload=payload,
                finds={"tool_input.file_path": "a.ts"},
            ),
        )
        for at, (agent, event, payload) in enumerate(WRITES)
    ),
    R(
        number="C069",
        text="exit 1 is an error that stops nothing",
        case=Answers(agent=A, event=PRE, code=1, err='{"decision": "block", "reason": "Error occurred"}'),
    ),
    R(
        number="C076",
        text="systemMessage is context for the model",
        state="ruled out",
        why="the other document and Claude Code itself show it to the user; context is `additionalContext`",
        case=Answers(
            agent=A,
            event=STOP,
            out='{"systemMessage":"Additional context"}',
            answer={"systemMessage": "Additional context"},
        ),
    ),
    shown("C071", "a model's answer that is no JSON fails and stops nothing", *GRACEFULLY),
    shown("C072", "a timeout of 30000 is read as milliseconds", "time_is_in_seconds_unless_that_cannot_be_meant"),
    R(
        number="C073",
        text="a hook without a timeout has 60 s",
        state="ruled out",
        why="600 s in every current version",
        tests=USUAL,
    ),
    shown(
        "C074",
        "the switch `disableAllHooks` turns the hooks of its file off",
        "the_agents_own_switch_ends_its_hooks_though_they_are_approved",
        "a_source_that_its_host_switched_off_is_inactive",
    ),
    shown(
        "C075",
        "the user's other hooks go on below another file's switch",
        "a_projects_switch_silences_no_hook_of_the_users_own",
    ),
)

CLAUDE_CODE = (*ADVANCED, *SCHEMAS)
