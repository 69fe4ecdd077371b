#!/bin/sh
# Tells the model what is in reminder.txt beside this script, with every prompt.
#
# Answers in: claude-code, where plain text after a prompt is context for the model. Needs a POSIX shell.
# The text is listed under `files:`, so it is approved with the script: what you edit there counts once you have
# approved it. Without the file, or with an empty one, nothing is said.
#
# Declare (Starchild takes context before a model call, the others with a prompt):
#     - {event: prompt, agent: [claude-code, shelley, x-code], name: reminder, command: ./context_reminder.sh, dialect: claude-code, files: [reminder.txt]}
#     - {event: model_before, agent: starchild, name: reminder for starchild, command: ./context_reminder.sh, dialect: claude-code, files: [reminder.txt]}
# Try:
#     hooktray test UserPromptSubmit --hook reminder --expect abstain
set -eu

# $0 is the approved copy; the files that belong to it lie beside it as they did here.
text=$(dirname "$0")/reminder.txt
if [ -s "$text" ]; then
    cat "$text"
fi
