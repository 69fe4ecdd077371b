"""What Starchild's document on agent hooks requires."""

from __future__ import annotations

from typing import Any

from seeds.requirement import Answers, Reads, Requirement

R = Requirement
A = "starchild"
PRE, POST, RESULT, MODEL, OUT = (
    "pre_tool_call",
    "post_tool_call",
    "transform_tool_result",
    "pre_llm_call",
    "on_outbound_message",
)
CLAIM, START, END = "on_completion_claim", "on_session_start", "on_session_end"
SECRET = '{"decision":"block","reason":"no"}'
BLOCKED = {"decision": "block", "reason": "no"}
SWITCH = (
    "the_hosts_own_switch_makes_a_source_inactive",
    "the_agents_own_switch_ends_its_hooks_though_they_are_approved",
)
TYPED = ("hooks_without_a_word_lists", "list_names_every_hook_with_its_event_and_state")
MINIMAL = ("the_minimal_example_blocks_a_destructive_command_and_lets_others_pass",)
BAD_URL = ("a_url_that_no_hook_may_ask_is_refused_with_its_line_and_the_other_hooks_are_asked",)
HEALTH = (*TYPED, "list_says_what_is_wrong_with_a_hook")
ENTRY = ("starchild/::a_full_entry_becomes_a_hook",)
APPROVES = ("approve_finds_a_hook_by_its_event_and_command_as_the_source_writes_them",)


def reads(number: str, event: str, key: str) -> Requirement:
    return R(number=number, text=f"{event} has `{key}`", case=Reads(agent=A, event=event, finds={key: ...}))


def says(number: str, text: str, event: str, out: str, answer: Any = "", **more: Any) -> Requirement:
    return R(number=number, text=text, case=Answers(agent=A, event=event, out=out, answer=answer, **more))


STARCHILD = (
    R(
        number="T001",
        text="a hook may block a dangerous command before it runs",
        tests=("an_example_guard_refuses_on_every_agent",),
    ),
    says("T002", "a hook may refuse a message that leaves", OUT, SECRET, BLOCKED),
    R(
        number="T003",
        text="a hook may log every tool call",
        tests=("every_tool_call_of_starchild_is_logged_and_nothing_is_answered",),
    ),
    says(
        "T004",
        "a hook may remind the agent before each model call",
        MODEL,
        '{"context":"mind x"}',
        {"context": "mind x"},
    ),
    says("T005", "a hook may refuse a false claim of completion", CLAIM, SECRET, BLOCKED),
    R(number="T006", text="hooks come from shell_hooks.yaml in the workspace's config", tests=ENTRY),
    R(
        number="T007",
        text="only a person activates a hook",
        tests=("an_unapproved_hook_never_runs", "an_agent_with_the_cookie_can_approve_nothing"),
    ),
    R(number="T008", text="a hook that is not approved does not run", tests=("an_unapproved_hook_never_runs",)),
    R(
        number="T009",
        text="both gates have to hold: the master switch and the approval",
        tests=("the_master_switch_skips_every_hook_and_the_journal_says_so", "an_unapproved_hook_never_runs"),
    ),
    R(number="T010", text="`shell_hooks.enabled: false` in agent.yaml turns the hooks of the file off", tests=SWITCH),
    R(
        number="T011",
        text="without agent.yaml the hooks of the file are off",
        state="ruled out",
        why="what somebody names as a source and approves is meant to run; only a switch that says `false` ends it",
        tests=("the_hosts_own_switch_makes_a_source_inactive",),
    ),
    R(
        number="T012",
        text="STARCHILD_SHELL_HOOKS=1 turns them on whatever the file says",
        tests=("the_hosts_own_switch_makes_a_source_inactive",),
    ),
    R(
        number="T013",
        text="an approval is for one event and one command",
        tests=("an_approval_is_for_one_event_and_one_command",),
    ),
    R(
        number="T014",
        text="a later edit of the script is flagged",
        tests=("after_an_edit_the_approved_copy_goes_on_and_the_change_is_flagged",),
    ),
    R(
        number="T015",
        text="a swapped script never runs",
        tests=("after_an_edit_the_approved_copy_goes_on_and_the_change_is_flagged",),
    ),
    R(number="T016", text="a hook that waits is marked ✗ in the list", tests=TYPED),
    R(number="T017", text="an approved hook is marked ✓ in the list", tests=TYPED),
    R(number="T018", text="`/hooks` alone lists", tests=TYPED),
    R(number="T019", text="`/hooks list` has the master switch", tests=TYPED),
    R(number="T020", text="`/hooks list` has the path of the file", tests=TYPED),
    R(number="T021", text="`/hooks list` has every hook's approval and health", tests=HEALTH),
    R(number="T022", text="`/hooks on` switches on at once", tests=("on_is_done_at_once_for_it_loosens_nothing",)),
    R(
        number="T023",
        text="`/hooks off` switches off at once",
        state="ruled out",
        why="a prompt can be forged: it waits for a person's click",
        tests=("what_loosens_is_asked_for_and_not_done",),
    ),
    R(
        number="T024",
        text="the switch needs no restart",
        tests=("the_master_switch_skips_every_hook_and_the_journal_says_so",),
    ),
    R(
        number="T025",
        text="`/hooks doctor` runs each approved hook on a synthetic event",
        tests=(
            "doctor_typed_into_an_agent_runs_each_approved_hook",
            "typed_it_tries_each_hook_in_force_on_a_test_event",
        ),
    ),
    R(
        number="T026",
        text="`hooktray doctor` runs each approved hook on a synthetic event",
        tests=("doctor_does_not_call_a_hook_broken_that_its_own_matcher_keeps_out",),
    ),
    R(number="T027", text="`/hooks approve EVENT COMMAND` names the hook by what the file says", tests=APPROVES),
    R(
        number="T028",
        text="`/hooks approve` approves",
        state="ruled out",
        why="a prompt can be forged: the hook waits for a person's click",
        tests=("an_approval_waits_where_it_stood_before",),
    ),
    R(
        number="T029",
        text="`/hooks revoke COMMAND` revokes, at a person's click",
        tests=(
            "what_loosens_is_asked_for_and_not_done",
            "a_revocation_typed_into_an_agent_is_done_at_a_persons_click",
        ),
    ),
    R(number="T030", text="`/hooks help` shows the usage", tests=("help_says_what_is_answered_and_what_waits",)),
    R(
        number="T031",
        text="typed commands never reach the model",
        tests=("it_never_reaches_the_model_where_it_can_be_blocked",),
    ),
    R(
        number="T032",
        text="the list has the line to paste for a hook that waits",
        tests=("list_names_every_hook_with_its_event_and_state",),
    ),
    says("T033", "pre_tool_call blocks", PRE, SECRET, BLOCKED),
    says(
        "T034",
        "pre_tool_call rewrites the input",
        PRE,
        '{"tool_input":{"command":"true"}}',
        {"tool_input": {"command": "true"}},
    ),
    says("T035", "post_tool_call only observes", POST, SECRET),
    says("T036", "transform_tool_result adds a note", RESULT, '{"systemMessage":"note"}', {"systemMessage": "note"}),
    says(
        "T037",
        "transform_tool_result takes add_warning as the same note",
        RESULT,
        '{"add_warning":"note"}',
        {"systemMessage": "note"},
    ),
    says("T038", "pre_llm_call blocks", MODEL, SECRET, BLOCKED),
    says("T039", "post_llm_call only observes", "post_llm_call", SECRET),
    says(
        "T040",
        "on_outbound_message rewrites the message",
        OUT,
        '{"notification":"masked"}',
        {"notification": "masked"},
    ),
    says("T041", "on_session_start takes context", START, '{"context":"c"}', {"context": "c"}),
    says("T042", "on_session_end only observes", END, SECRET),
    *(
        reads(f"T{43 + at:03}", event, key)
        for at, (event, key) in enumerate(
            [
                (PRE, "tool_name"),
                (PRE, "tool_input"),
                (POST, "tool_name"),
                (POST, "tool_result"),
                (RESULT, "tool_name"),
                (RESULT, "tool_result"),
                (MODEL, "system"),
                (MODEL, "last_user_message"),
                (MODEL, "model"),
                ("post_llm_call", "model"),
                (OUT, "notification"),
                (OUT, "type"),
                (CLAIM, "goal"),
                (CLAIM, "summary"),
                (CLAIM, "response"),
                (CLAIM, "tool_names"),
                (START, "status"),
                (END, "status"),
                (PRE, "event"),
                (PRE, "session_id"),
                (PRE, "agent_id"),
                (PRE, "cwd"),
                (END, "event"),
                (END, "session_id"),
                (END, "agent_id"),
                (END, "cwd"),
            ]
        )
    ),
    says("T070", "an empty output goes on", PRE, ""),
    says("T071", "an empty object goes on", PRE, "{}"),
    says(
        "T072",
        "a rewrite replaces existing keys only",
        PRE,
        '{"tool_input":{"command":"true","new":1}}',
        {"tool_input": {"command": "true"}},
    ),
    R(
        number="T073",
        text="keys that a rewrite adds are dropped with a remark",
        tests=("a_rewrite_with_one_key_too_many_replaces_the_others",),
    ),
    says(
        "T074",
        "systemMessage lets it through and shows the user a note",
        PRE,
        '{"systemMessage":"note"}',
        {"systemMessage": "note"},
    ),
    says("T075", "add_warning is the same", PRE, '{"add_warning":"note"}', {"systemMessage": "note"}),
    says("T076", "a note never gets into the prompt", MODEL, '{"systemMessage":"note"}', {"systemMessage": "note"}),
    says("T077", "context counts before a model call only", PRE, '{"context":"c"}'),
    R(
        number="T078",
        text="the command is split into words and no shell reads it",
        tests=("a_starchild_command_is_split_into_words_and_no_shell_reads_it",),
    ),
    R(
        number="T079",
        text="each hook has a time-out",
        tests=("time_is_20_seconds_and_at_most_120", "a_hook_that_takes_too_long_is_ended"),
    ),
    says("T080", "a script that errors lets it through", PRE, SECRET, code=1),
    says("T081", "output that is no JSON lets it through", PRE, "no json"),
    R(
        number="T082",
        text="a script that times out lets it through",
        tests=("a_starchild_script_that_times_out_lets_the_call_through",),
    ),
    R(number="T083", text="a broken hook never breaks the agent", tests=("starchilds_hooks_never_block_by_failing",)),
    R(number="T084", text="`event:` names the event", tests=ENTRY),
    R(
        number="T085",
        text="`matcher:` is optional and searches the payload's text",
        tests=("a_match_goes_by_agent_event_tool_and_text",),
    ),
    R(
        number="T086",
        text="a script whose matcher does not match is not started",
        tests=("a_script_whose_matcher_does_not_match_is_not_started",),
    ),
    R(number="T087", text="`command:` may be relative to the workspace", tests=ENTRY),
    R(number="T088", text="`timeout:` is in seconds, 20 by default", tests=("time_is_20_seconds_and_at_most_120",)),
    R(
        number="T089",
        text="`timeout:` is at most 120",
        tests=("time_is_20_seconds_and_at_most_120", "a_starchild_guard_has_the_time_that_its_entry_says"),
    ),
    R(
        number="T090",
        text="the printed file is read as it stands",
        tests=("a_printed_configuration_is_read_as_it_stands",),
    ),
    R(
        number="T091",
        text="the printed entry works below `hooks:` of hooktray.yaml",
        tests=("the_starchild_seeds_yaml_is_read_as_hooktrays_own",),
    ),
    R(number="T092", text="`type:` is `command` by default", tests=ENTRY),
    R(
        number="T093",
        text="`type: http` posts the payload and reads the same answer",
        tests=("an_http_hook_posts_to_its_url", "an_http_hook_blocks_by_its_answer"),
    ),
    R(
        number="T094",
        text="a URL has to be http or https",
        tests=(*BAD_URL, "a_url_that_may_not_be_asked_is_refused_with_its_line"),
    ),
    R(
        number="T095",
        text="a loopback or private address is refused when the file is read",
        tests=(*BAD_URL, "a_local_url_is_refused_with_its_line"),
    ),
    R(
        number="T096",
        text="a name that resolves to such an address is refused at the call",
        tests=(
            "a_name_that_leads_to_this_machine_is_refused_when_it_is_asked",
            "no_refused_address_gets_through_a_name_alone_or_in_company",
        ),
    ),
    R(
        number="T097",
        text="the metadata address 169.254.169.254 is refused",
        tests=(
            *BAD_URL,
            "no_refused_address_gets_through_a_name_alone_or_in_company",
        ),
    ),
    R(
        number="T098",
        text="STARCHILD_SHELL_HOOKS_HTTP_ALLOW_LOCAL=1 allows a local service",
        tests=("the_hosts_variable_lets_a_hook_ask_a_local_service", "the_hosts_variable_allows_the_one_local_place"),
    ),
    R(number="T099", text="an HTTP hook is approved by its URL", tests=APPROVES),
    R(
        number="T100",
        text="the list shows an HTTP hook as `POST URL`",
        tests=("the_printed_http_hook_is_listed_as_a_post_and_has_no_file_to_check",),
    ),
    R(
        number="T101",
        text="an HTTP hook has no file to check",
        tests=("the_printed_http_hook_is_listed_as_a_post_and_has_no_file_to_check",),
    ),
    R(number="T102", text="a hook may ask a model", tests=("a_command_hook_asks_a_model_and_its_answer_counts",)),
    R(
        number="T103",
        text="the printed question to a model runs",
        state="ruled out",
        why="it imports a package of its host, which is nowhere else; a script that asks a model by itself works",
        tests=("a_command_hook_asks_a_model_and_its_answer_counts",),
    ),
    R(
        number="T104",
        text="a hook that starts the agent again does not ask itself again",
        tests=("an_agent_below_a_hook_is_guarded_by_every_hook_but_that_one",),
    ),
    R(
        number="T105",
        text="calling a model from a hook does not ask the hooks of pre_llm_call again",
        tests=("a_model_call_from_a_hook_of_model_calls_asks_every_hook_but_that_one",),
    ),
    R(
        number="T106",
        text="the printed minimal example blocks a destructive command",
        tests=(*MINIMAL, "an_example_guard_refuses_on_every_agent"),
    ),
    R(number="T107", text="the printed minimal example lets other commands pass", tests=MINIMAL),
    says(
        "T108",
        "Claude's permissionDecision deny blocks",
        PRE,
        '{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no"}}',
        BLOCKED,
    ),
    says(
        "T109",
        "Claude's additionalContext is context",
        MODEL,
        '{"hookSpecificOutput":{"additionalContext":"c"}}',
        {"context": "c"},
    ),
    says(
        "T110",
        "Claude's updatedInput is a rewrite",
        PRE,
        '{"hookSpecificOutput":{"updatedInput":{"command":"true"}}}',
        {"tool_input": {"command": "true"}},
    ),
    says(
        "T111",
        "Claude's continue: false with stopReason blocks",
        PRE,
        '{"continue":false,"stopReason":"no"}',
        BLOCKED,
    ),
    says("T112", "Claude's systemMessage is a note", PRE, '{"systemMessage":"note"}', {"systemMessage": "note"}),
    says("T113", "suppressOutput means nothing", PRE, '{"suppressOutput":true}'),
    R(
        number="T114",
        text="exit 2 with stderr and no stdout blocks, and stderr is the reason",
        case=Answers(agent=A, event=PRE, code=2, err="no", answer=BLOCKED),
    ),
    R(
        number="T115",
        text="event names stay Starchild's",
        case=Reads(agent="claude-code", event="PreToolUse", hook=A, finds={"event": PRE}),
    ),
    R(
        number="T116",
        text="an event's name that is none is told, with the nearest one",
        tests=("starchild/::a_malformed_entry_takes_no_sibling_down",),
    ),
    R(
        number="T117",
        text="doctor names a script without its executable bit, a time-out and output that is no JSON",
        tests=(
            "a_script_without_its_bit_is_named_with_the_command_that_sets_it",
            "a_hook_that_fails_is_broken_and_has_its_remedy",
            "output_that_is_no_json_deserves_a_look",
        ),
    ),
    R(
        number="T119",
        text="connecting keeps every byte of the user's file",
        tests=("starchilds_hooks_come_and_go", "a_comment_between_our_entries_stays"),
    ),
    R(
        number="T120",
        text="connecting prints what has Starchild approve our entries",
        tests=(
            "one_pasted_line_has_starchild_approve_every_entry",
            "an_older_starchild_takes_each_entry_as_the_file_has_it",
        ),
    ),
    R(
        number="T121",
        text="hooks with relative paths can be imported",
        tests=("the_starchild_seeds_own_example_can_be_imported_with_its_relative_path",),
    ),
    R(
        number="T122",
        text="a false claim is refused however often it comes",
        tests=("a_false_claim_is_refused_however_often_it_comes",),
    ),
)
