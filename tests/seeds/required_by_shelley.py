"""What Shelley's document on hooks requires."""

from __future__ import annotations

from functools import partial

from seeds.requirement import Answers, Cases, Reads

A = "shelley"
NEW, CHAT, END, SLASH, SYSTEM = "new-conversation", "chat-message", "end-of-turn", "slash/files", "system-prompt"
FOO = "slash/foo"
says, reads = partial(Answers, A), partial(Reads, A)
SHELLEY: Cases = {
    "S05": says(CHAT, answer="failed", code=1, exits=1),
    "S06": says(CHAT, "no json", "output", exits=1),
    "S07": says(END, code=1),
    "S11": says(SYSTEM, "Be brief.", "Be brief."),
    "S13": reads(NEW, "prompt"),
    "S14": reads(NEW, "model"),
    "S15": reads(NEW, "cwd"),
    "S16": reads(NEW, "readonly.conversation_id"),
    "S17": reads(NEW, {"readonly.is_subagent": False}),
    "S18": reads(
        NEW,
        {"readonly.parent_id": "c1"},
        payload={"readonly": {"conversation_id": "c2", "is_subagent": True, "parent_id": "c1"}},
    ),
    "S19": reads(
        NEW,
        {"readonly.is_orchestrator": True},
        payload={"readonly": {"conversation_id": "c", "is_orchestrator": True}},
    ),
    "S20": reads(NEW, {"readonly.headers.0": ["X-Exedev-Email", "user@example.com"]}),
    "S21": says(NEW, '{"prompt":"x"}', {"prompt": "x"}),
    "S22": says(NEW, '{"model":"m"}', {"model": "m"}),
    "S23": says(NEW, '{"cwd":"/x"}', {"cwd": "/x"}),
    "S24": says(NEW, '{"slug":"s"}', {"slug": "s"}),
    "S25": says(NEW, '{"prompt":"","model":"","cwd":"","slug":""}'),
    "S26": says(NEW, '{"readonly":{"conversation_id":"x"}}'),
    "S27": says(NEW),
    "S28": says(NEW, answer="failed", code=1, exits=1),
    "S29": reads(CHAT, "message"),
    "S30": reads(CHAT, "readonly.conversation_id"),
    "S31": reads(CHAT, "readonly.model"),
    "S32": reads(CHAT, {"readonly.queued": False}),
    "S33": says(CHAT, '{"message":"x"}', {"message": "x"}),
    "S34": says(CHAT, '{"message":""}'),
    "S35": says(CHAT, '{"message":"the user\'s chat message"}'),
    "S36": says(CHAT),
    "S37": reads(END, {"type": "end_of_turn"}),
    "S38": reads(END, "conversation_id"),
    "S39": reads(END, "timestamp"),
    "S40": reads(END, {"hostname": ..., "vm_name": ..., "slug": ...}),
    "S41": reads(END, "model"),
    "S42": reads(END, "conversation_url"),
    "S43": reads(END, "final_response"),
    "S44": says(END, '{"message":"x"}'),
    "S49": says(SLASH, "text\n", "text\n"),
    "S50": says(SLASH),
    "S51": reads(FOO, "command"),
    "S52": reads(FOO, "args"),
    "S53": reads(FOO, "raw_message"),
    "S54": reads(FOO, {"conversation_id": ..., "is_new_conversation": ...}),
    "S55": reads(FOO, {"cwd": ..., "model": ..., "user_email": ...}),
    "S56": reads(SLASH, {"is_orchestrator": False}, payload={"is_orchestrator": False}),
}
