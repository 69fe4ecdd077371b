#!/bin/sh
# Appends every event to a file of your own, one JSON object a line: when, and what the agent said.
#
# Answers in: starchild, claude-code and x-code, unchanged: it never answers. Needs a POSIX shell.
# The file is ~/.local/state/hooktray-examples/audit.jsonl (or below $XDG_STATE_HOME), readable by you alone. It holds
# payloads as they came, secrets too; Hooktray's own journal is redacted. When it cannot write it exits 1: "failed".
#
# Declare, one line an event that you want on record:
#     - {event: tool_before, name: audit calls, command: ./audit_log.sh}
#     - {event: tool_after, name: audit results, command: ./audit_log.sh}
# Try:
#     hooktray test PreToolUse --hook "audit calls" --expect abstain
set -eu
umask 077

folder=${XDG_STATE_HOME:-$HOME/.local/state}/hooktray-examples
mkdir -p "$folder"
# A line break inside a JSON text is written \n, so those that are left only make it pretty.
payload=$(tr -d '\r\n')
mark="${HOOKTRAY_TEST:+\"test\":true,}"
# Appended in one piece, so that what other calls write at the same moment comes before or after it.
printf '%s\n' "{\"at\":\"$(date -u +%Y-%m-%dT%H:%M:%SZ)\",$mark\"event\":${payload:-null}}" >>"$folder/audit.jsonl"
