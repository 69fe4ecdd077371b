#!/bin/sh
# Warns you when an agent is about to touch production: a path, a cluster context or a database with "prod" in it.
#
# Answers in: starchild and claude-code, unchanged: a note for you, and the agent goes on. Needs a POSIX shell.
# To be asked instead, answer {"permissionDecision":"ask"}; agents that cannot ask are then refused.
# What it does not understand it does not warn of, and it never stops anything.
#
# Declare:
#     - {event: tool_before, tool: Bash|Write|Edit, matcher: "(?i)prod|live", command: ./production_writes.sh}
# Try:
#     echo '{"tool_name":"Write","tool_input":{"file_path":"deploy/production/app.yaml"}}' |
#         hooktray test PreToolUse --hook production_writes --payload - --expect abstain
set -u

payload=$(tr '\r\n' '  ')
text='([^"\\]|\\.)*' # the rest of a JSON text
prod='(prod|production|live)'
edge='([^[:alnum:]]|$)'
clients='(kubectl|helm|terraform|ansible-playbook|psql|mysql|mongosh|redis-cli|aws|gcloud|az|ssh|scp|rsync)'

# says KEYS PATTERN: whether the text of one of these keys holds the pattern, in any case.
says() {
    printf '%s' "$payload" | grep -Eiq "[{,][[:space:]]*\"($1)\"[[:space:]]*:[[:space:]]*\"$2"
}

if says 'file_path|filePath|path|filename' "($text[^[:alnum:]])?$prod$edge"; then
    echo '{"systemMessage": "The agent writes to a file of production."}'
elif says command "($text[^[:alnum:]])?$clients[^[:alnum:]]($text[^[:alnum:]])?$prod$edge"; then
    echo '{"systemMessage": "The agent runs a command against production."}'
fi
