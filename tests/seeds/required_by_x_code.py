"""What X-Code's document on plugin hooks requires."""

from __future__ import annotations

from typing import Any

from seeds.requirement import Answers, Reads, Requirement

R = Requirement
A = "x-code"
PRE, POST, PROMPT, TURN = "PreToolUse", "PostToolUse", "UserPromptSubmit", "TurnComplete"
DENY = '{"decision":"deny","reason":"no"}'
DENIED = {"decision": "deny", "reason": "no"}
INLINE = ("a_plugin_may_say_it_inline_by_path_or_in_the_usual_place",)
PRINTED = ("a_printed_configuration_is_read_as_it_stands",)
SERIAL = ("the_hooks_of_a_plugin_run_one_after_another_and_a_refusal_ends_it",)
STOPS = ("an_abort_kills_what_runs_and_starts_nothing_more",)
LINT = ("the_lint_hook_finds_its_path_on_every_agent",)
SEEN = ("one_can_see_that_an_x_code_hook_ran_and_what_it_decided_or_that_it_failed",)
OBSERVED = ("PostCompact", "PreCompact", "SessionEnd", "SessionStart", "SubagentStart", "SubagentStop", TURN)


def says(number: str, text: str, event: str, out: str, answer: Any = "", **more: Any) -> Requirement:
    return R(number=number, text=text, case=Answers(agent=A, event=event, out=out, answer=answer, **more))


def reads(number: str, event: str, key: str, **payload: Any) -> Requirement:
    return R(
        number=number,
        text=f"{event} has `{key}`",
        case=Reads(agent=A, event=event, finds={key: ...}, payload=payload),
    )


KEYS = (
    (PRE, "event"),
    (PRE, "session.cwd"),
    (PRE, "session.modelId"),
    (PRE, "plugin.id"),
    (PRE, "plugin.dir"),
    (PRE, "tool.name"),
    (PRE, "tool.args"),
    (PRE, "tool.callId"),
    (POST, "tool.name"),
    (POST, "tool.args"),
    (POST, "tool.callId"),
    (POST, "tool.output"),
    (POST, "tool.isError"),
    (PROMPT, "prompt"),
    (TURN, "turn"),
    (TURN, "tokenUsage.inputTokens"),
    (TURN, "tokenUsage.outputTokens"),
    (TURN, "tokenUsage.totalTokens"),
    ("PreCompact", "trigger"),
    ("PreCompact", "messageCount"),
    ("PreCompact", "tokenEstimate"),
    ("PostCompact", "trigger"),
    ("PostCompact", "messageCount"),
    ("PostCompact", "summary"),
    ("SubagentStart", "agent.name"),
    ("SubagentStart", "agent.description"),
    ("SubagentStart", "agent.prompt"),
    ("SubagentStop", "agent.name"),
    ("SubagentStop", "durationMs"),
    ("SubagentStop", "outcome"),
    ("SubagentStop", "tokenUsage.totalTokens"),
    ("SessionStart", "session.cwd"),
    ("SessionEnd", "session.cwd"),
)
X_CODE = (
    R(number="X001", text="a hook is a shell command of a plugin", tests=("x_code/::a_full_entry_becomes_a_hook",)),
    R(
        number="X002",
        text="a hook gets its event on stdin as one line of JSON",
        tests=("the_newline_that_an_agent_sends_is_there_even_when_the_relay_lost_it",),
    ),
    R(
        number="X003",
        text="ten events are connected",
        tests=("x_code_gets_one_plugin_with_ten_events_and_loses_it_again",),
    ),
    *(says(f"X{4 + at:03}", f"{event} takes no decision", event, DENY) for at, event in enumerate(OBSERVED)),
    says("X011", "UserPromptSubmit can be denied", PROMPT, DENY, DENIED),
    says("X012", "UserPromptSubmit takes context", PROMPT, '{"decision":"allow","context":"Sprint 42"}', "Sprint 42"),
    says("X013", "PreToolUse can be denied", PRE, DENY, DENIED),
    says(
        "X014",
        "PreToolUse can be modified",
        PRE,
        '{"decision":"modify","args":{"command":"true"}}',
        {"decision": "modify", "args": {"command": "true"}},
    ),
    says(
        "X015",
        "PostToolUse's output can be modified",
        POST,
        '{"decision":"modify","output":"[redacted]"}',
        "[redacted]",
    ),
    says("X016", "a deny after the tool has run is ignored", POST, DENY, ""),
    R(
        number="X017",
        text="SessionEnd is not waited for",
        tests=("an_agent_waits_for_no_hook_of_an_event_that_is_over",),
    ),
    R(number="X018", text="plugin.json declares hooks inline", tests=INLINE),
    R(number="X019", text="plugin.json names a file with its hooks", tests=INLINE),
    R(number="X020", text="that file has the events at its top", tests=INLINE),
    R(number="X021", text="the printed manifest is read with its comments and commas", tests=PRINTED),
    R(
        number="X022",
        text="`matcher` is a pattern for the tool's name",
        tests=("x_code/::a_full_entry_becomes_a_hook", "a_matcher_is_a_list_of_names_there_and_a_pattern_here"),
    ),
    R(
        number="X023",
        text="commandWindows, commandDarwin and commandLinux replace the command on their system",
        tests=("each_system_has_its_own_line", "a_system_without_a_line_of_its_own_has_the_usual_one"),
    ),
    R(
        number="X024",
        text="`timeout` is in milliseconds, 5000 by default",
        tests=("x_code/::what_is_not_said_is_as_the_agent_has_it", "only_x_code_counts_in_milliseconds"),
    ),
    R(number="X025", text="`timeout` is at most 30000", tests=("too_long_a_time_is_cut_and_takes_nobody_down",)),
    R(
        number="X026",
        text="a hook of nearly 30 s is heard",
        tests=("an_x_code_hook_has_28_of_its_30_seconds_and_then_its_policy_counts",),
    ),
    R(number="X027", text="`description` names the hook", tests=PRINTED),
    R(
        number="X028",
        text="`failurePolicy` is `allow` by default",
        tests=("x_code/::what_is_not_said_is_as_the_agent_has_it",),
    ),
    R(number="X029", text="`failurePolicy: block` makes a failure a refusal", tests=("x_codes_failure_policy",)),
    R(number="X030", text="${pluginDir} is the plugin's folder", tests=LINT),
    R(
        number="X031",
        text="${pluginDataDir} is a folder that survives upgrades and is made on first use",
        tests=(
            "a_plugins_own_storage_is_the_real_one_and_is_made_on_first_use",
            "a_plugins_own_storage_is_where_the_agent_has_it",
        ),
    ),
    R(
        number="X032",
        text="a data file (.json, .log, .txt …) that a hook writes into ${pluginDir} is there at its next run",
        tests=("a_file_that_a_plugins_hook_writes_into_its_folder_is_there_the_next_time",),
    ),
    R(
        number="X033",
        text="${cwd}, ${homedir} and ${sep} are filled in",
        tests=("a_plugins_placeholders_are_filled_in",),
    ),
    R(
        number="X034",
        text="${env:NAME} is the variable, empty when it is not set",
        tests=("a_plugins_placeholders_are_filled_in",),
    ),
    R(
        number="X035",
        text="${env:GITHUB_TOKEN} and other secrets are filled in, once a person grants them",
        tests=("a_plugin_finds_its_token_once_a_person_grants_it",),
    ),
    R(number="X036", text="an unknown placeholder is left as it is", tests=("a_plugins_placeholders_are_filled_in",)),
    *(reads(f"X{37 + at:03}", event, key) for at, (event, key) in enumerate(KEYS)),
    R(number="X071", text="an empty output allows", case=Answers(agent=A, event=PRE)),
    R(
        number="X072",
        text="`allow` is no more than going on: it skips no question",
        case=Answers(agent=A, event=PRE, out='{"decision":"allow"}'),
    ),
    R(
        number="X073",
        text="output that is no JSON allows, with a trace in the journal",
        tests=("output_that_is_no_json_lets_an_x_code_call_through_and_leaves_a_trace",),
    ),
    says(
        "X074",
        "modify of a prompt adds its context",
        PROMPT,
        '{"decision":"modify","context":"Sprint 42"}',
        "Sprint 42",
    ),
    says("X075", "context before a tool is ignored", PRE, '{"decision":"allow","context":"c"}'),
    says("X076", "context after a tool is ignored", POST, '{"decision":"allow","context":"c"}'),
    says("X077", "an output in the answer before a tool is ignored", PRE, '{"decision":"modify","output":"x"}'),
    R(number="X078", text="hooks of one event run one after another in their order", tests=SERIAL),
    R(number="X079", text="a deny ends the sequence", tests=SERIAL),
    R(
        number="X080",
        text="of several modifies the last one counts",
        tests=("the_last_declared_rewrite_counts_and_the_conflict_is_noted",),
    ),
    R(
        number="X081",
        text="observed events run their hooks side by side",
        tests=("hooks_of_one_event_run_side_by_side",),
    ),
    R(number="X082", text="a crash allows by default", case=Answers(agent=A, event=PRE, code=1, out=DENY)),
    R(
        number="X083",
        text="a non-zero exit with failurePolicy block denies",
        case=Answers(agent=A, event=PRE, code=1, entry={"failurePolicy": "block"}, answer="failed"),
    ),
    R(number="X084", text="a failure is written down", tests=SEEN),
    R(
        number="X085",
        text="one can see that a hook ran, and what it decided",
        tests=SEEN,
    ),
    R(number="X086", text="an abort by the user kills a slow hook", tests=STOPS),
    R(number="X087", text="the printed lint example denies a file that fails", tests=LINT),
    R(number="X088", text="its reason has what the linter said", tests=LINT),
    R(
        number="X089",
        text="the lint example works on other agents' file tools",
        tests=("an_example_guard_refuses_on_every_agent",),
    ),
    R(
        number="X090",
        text="the lint example finds `path` where the agent sends `filePath`",
        case=Reads(
            agent=A,
            event=PRE,
            payload={"tool": {"name": "writeFile", "args": {"filePath": "a"}, "callId": "1"}},
            finds={"tool.args.path": "a"},
        ),
    ),
    R(
        number="X091",
        text="an agent that a hook starts is guarded by all other hooks",
        tests=(
            "an_agent_below_a_hook_is_guarded_by_every_hook_but_that_one",
            "the_same_holds_when_one_shot_engines_judge",
        ),
    ),
    R(
        number="X092",
        text="a bad pattern matches every tool, as in X-Code",
        tests=("an_invalid_pattern_matches_every_tool_and_is_told",),
    ),
    R(
        number="X093",
        text="`xc --no-hooks` runs none",
        state="ruled out",
        why="X-Code then starts no hook, and Hooktray hears of nothing; an agent's tool is asked about",
        tests=("an_agent_without_the_users_hooks_is_asked_about",),
    ),
    R(
        number="X094",
        text="a plugin of a project is for that project",
        tests=("a_projects_own_plugin_is_for_that_project",),
    ),
    R(number="X095", text="a hook is told which plugin it belongs to", tests=("its_hooks_are_told_whose_they_are",)),
    R(number="X096", text="the other plugins stay as they are when connecting", tests=("other_plugins_stay",)),
)
