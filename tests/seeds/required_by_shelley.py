"""What Shelley's document on hooks requires."""

from __future__ import annotations

from typing import Any

from seeds.requirement import Answers, Reads, Requirement

R = Requirement
A = "shelley"
NEW, CHAT, END, SLASH, SYSTEM = "new-conversation", "chat-message", "end-of-turn", "slash/files", "system-prompt"
FOO = "slash/foo"
CONNECTED = ("shelley_gets_its_four_executables_and_loses_them_again",)
LISTED = ("each_executable_of_a_known_name_is_a_hook",)
SLASHES = ("the_slash_command_puts_the_files_into_the_message",)


def reads(number: str, text: str, event: str, key: str, value: Any = ..., **payload: Any) -> Requirement:
    return R(number=number, text=text, case=Reads(agent=A, event=event, finds={key: value}, payload=payload))


SHELLEY = (
    R(number="S01", text="an executable of a hook's name in the hooks folder is that hook", tests=LISTED),
    R(number="S02", text="a missing file is not a hook", tests=LISTED),
    R(
        number="S03",
        text="a file without an executable bit is not a hook",
        tests=("a_file_that_cannot_be_executed_is_no_hook_and_is_told",),
    ),
    R(
        number="S04",
        text="a hook has 30 s",
        tests=("an_event_has_its_agents_own_time_limit", "a_shelley_hook_of_27_seconds_is_heard"),
    ),
    R(
        number="S05",
        text="a non-zero exit of chat-message aborts the message",
        case=Answers(agent=A, event=CHAT, code=1, exits=1, answer="failed"),
    ),
    R(
        number="S06",
        text="output that cannot be read aborts the operation",
        case=Answers(agent=A, event=CHAT, out="no json", exits=1, answer="output"),
    ),
    R(number="S07", text="a failing end-of-turn hook aborts nothing", case=Answers(agent=A, event=END, code=1)),
    R(
        number="S08",
        text="Cookie, Set-Cookie, Authorization and Proxy-Authorization never reach a hook",
        tests=("a_header_that_bears_credentials_never_reaches_a_hook",),
    ),
    R(
        number="S09",
        text="other headers are left as they are",
        tests=(
            "a_header_that_bears_credentials_never_reaches_a_hook",
            "headers_of_another_form_are_left_as_they_are",
        ),
    ),
    R(
        number="S10",
        text="system-prompt gets the prompt as plain text",
        tests=("a_system_prompt_hook_gets_the_prompt_as_plain_text_and_replaces_it",),
    ),
    R(
        number="S11",
        text="system-prompt's output replaces the prompt",
        case=Answers(agent=A, event=SYSTEM, out="Be brief.", answer="Be brief."),
    ),
    R(
        number="S12",
        text="system-prompt is never answered with nothing, which would abort",
        tests=("shelleys_system_prompt_is_never_answered_with_nothing",),
    ),
    R(
        number="S13",
        text="new-conversation runs when a conversation is made, with `prompt`",
        case=Reads(agent=A, event=NEW, finds={"prompt": ...}),
    ),
    reads("S14", "new-conversation has `model`", NEW, "model"),
    reads("S15", "new-conversation has `cwd`", NEW, "cwd"),
    reads("S16", "new-conversation has `readonly.conversation_id`", NEW, "readonly.conversation_id"),
    reads("S17", "new-conversation has `readonly.is_subagent`", NEW, "readonly.is_subagent", False),
    reads(
        "S18",
        "new-conversation has `readonly.parent_id` for a subagent",
        NEW,
        "readonly.parent_id",
        "c1",
        readonly={"conversation_id": "c2", "is_subagent": True, "parent_id": "c1"},
    ),
    reads(
        "S19",
        "`readonly.is_orchestrator` of older versions reaches the hook",
        NEW,
        "readonly.is_orchestrator",
        True,
        readonly={"conversation_id": "c", "is_orchestrator": True},
    ),
    reads(
        "S20",
        "headers are pairs of name and value",
        NEW,
        "readonly.headers.0",
        ["X-Exedev-Email", "user@example.com"],
    ),
    R(
        number="S21",
        text="`prompt` in the answer is the first message",
        case=Answers(agent=A, event=NEW, out='{"prompt":"x"}', answer={"prompt": "x"}),
    ),
    R(
        number="S22",
        text="`model` in the answer is the conversation's model",
        case=Answers(agent=A, event=NEW, out='{"model":"m"}', answer={"model": "m"}),
    ),
    R(
        number="S23",
        text="`cwd` in the answer is the conversation's folder",
        case=Answers(agent=A, event=NEW, out='{"cwd":"/x"}', answer={"cwd": "/x"}),
    ),
    R(
        number="S24",
        text="`slug` in the answer names the conversation",
        case=Answers(agent=A, event=NEW, out='{"slug":"s"}', answer={"slug": "s"}),
    ),
    R(
        number="S25",
        text="empty fields change nothing",
        case=Answers(agent=A, event=NEW, out='{"prompt":"","model":"","cwd":"","slug":""}'),
    ),
    R(
        number="S26",
        text="`readonly` in the answer is ignored",
        case=Answers(agent=A, event=NEW, out='{"readonly":{"conversation_id":"x"}}'),
    ),
    R(number="S27", text="empty output changes nothing", case=Answers(agent=A, event=NEW)),
    R(
        number="S28",
        text="a failing new-conversation hook aborts",
        case=Answers(agent=A, event=NEW, code=1, exits=1, answer="failed"),
    ),
    reads("S29", "chat-message has `message`", CHAT, "message"),
    reads("S30", "chat-message has `readonly.conversation_id`", CHAT, "readonly.conversation_id"),
    reads("S31", "chat-message has `readonly.model`", CHAT, "readonly.model"),
    reads("S32", "chat-message has `readonly.queued`", CHAT, "readonly.queued", False),
    R(
        number="S33",
        text="`message` in the answer replaces the message",
        case=Answers(agent=A, event=CHAT, out='{"message":"x"}', answer={"message": "x"}),
    ),
    R(number="S34", text="an empty message changes nothing", case=Answers(agent=A, event=CHAT, out='{"message":""}')),
    R(
        number="S35",
        text="an identical message changes nothing",
        case=Answers(agent=A, event=CHAT, out='{"message":"the user\'s chat message"}'),
    ),
    R(number="S36", text="empty output leaves the message", case=Answers(agent=A, event=CHAT)),
    reads("S37", "end-of-turn has `type`", END, "type", "end_of_turn"),
    reads("S38", "end-of-turn has `conversation_id`", END, "conversation_id"),
    reads("S39", "end-of-turn has `timestamp`", END, "timestamp"),
    R(
        number="S40",
        text="end-of-turn has `hostname`, `vm_name` and `slug`",
        case=Reads(agent=A, event=END, finds={"hostname": ..., "vm_name": ..., "slug": ...}),
    ),
    reads("S41", "end-of-turn has `model`", END, "model"),
    reads("S42", "end-of-turn has `conversation_url`", END, "conversation_url"),
    reads("S43", "end-of-turn has `final_response`", END, "final_response"),
    R(number="S44", text="stdout of end-of-turn is ignored", case=Answers(agent=A, event=END, out='{"message":"x"}')),
    R(
        number="S45",
        text="end-of-turn is answered at once and its hook runs on",
        tests=("an_agent_waits_for_no_hook_of_an_event_that_is_over",),
    ),
    R(
        number="S46",
        text="end-of-turn raises the notification of a turn's end",
        tests=("a_turn_of_shelley_that_ended_is_notified", "an_event_and_its_decision_are_told_in_these_words"),
    ),
    R(
        number="S47",
        text="each executable below `slash/` is a command",
        tests=("slash_commands_are_listed_by_their_names",),
    ),
    R(
        number="S48",
        text="a command's name begins with a letter, digit or underscore and holds no other signs than those and `-`",
        tests=("what_is_no_commands_name_is_no_event",),
    ),
    R(
        number="S49",
        text="a slash command's output replaces the message",
        case=Answers(agent=A, event=SLASH, out="text\n", answer="text\n"),
    ),
    R(number="S50", text="empty output of a slash command keeps the message", case=Answers(agent=A, event=SLASH)),
    reads("S51", "a slash command has `command`", FOO, "command"),
    reads("S52", "a slash command has `args`", FOO, "args"),
    reads("S53", "a slash command has `raw_message`", FOO, "raw_message"),
    R(
        number="S54",
        text="a slash command has `conversation_id` and `is_new_conversation`",
        case=Reads(agent=A, event=FOO, finds={"conversation_id": ..., "is_new_conversation": ...}),
    ),
    R(
        number="S55",
        text="a slash command has `cwd`, `model` and `user_email`",
        case=Reads(agent=A, event=FOO, finds={"cwd": ..., "model": ..., "user_email": ...}),
    ),
    reads(
        "S56",
        "`is_orchestrator` of older versions reaches a slash command",
        SLASH,
        "is_orchestrator",
        False,
        is_orchestrator=False,
    ),
    R(
        number="S57",
        text="six SHELLEY_ variables are always set for a slash command",
        tests=("a_slash_hook_always_finds_six_variables",),
    ),
    R(
        number="S58",
        text="a failing slash command refuses the message, and its stderr reaches the user",
        tests=SLASHES,
    ),
    R(number="S59", text="the printed `files` command puts the contents of files into the message", tests=SLASHES),
    R(
        number="S60",
        text="a command without an executable is an ordinary message",
        tests=("a_slash_command_without_an_executable_is_an_ordinary_message",),
    ),
    R(
        number="S61",
        text="a slash command that is added after `connect` runs through Hooktray",
        state="ruled out",
        why="Shelley runs any new file by itself; doctor names `hooktray connect shelley`, which takes it in",
        tests=("a_slash_command_that_came_after_connect_is_told_of_with_the_command_that_takes_it_in",),
    ),
    R(
        number="S62",
        text="connecting adds our executables beside the user's, and disconnecting restores them",
        tests=(*CONNECTED, "the_users_own_executables_move_and_wait_as_hooks"),
    ),
    R(
        number="S63",
        text="without Hooktray's files Shelley goes on",
        tests=("with_the_program_gone_shelley_goes_on",),
    ),
    R(
        number="S64",
        text="doctor tries a slash command with a sample that it can understand",
        tests=("doctor_does_not_call_a_hook_broken_that_its_own_matcher_keeps_out",),
    ),
    R(
        number="S65",
        text="a Shelley hook does not disturb agents that cannot carry its rewrite",
        tests=(
            "a_shelley_source_without_agents_leaves_the_prompts_of_others_alone",
            "a_shelley_hook_rewrites_the_prompt_of_agents_that_can_carry_it_and_of_no_other",
        ),
    ),
)
