#!/bin/sh
# Sends the agent back to work when the tests fail at the end of its turn.
#
#     tests_before_stop.sh COMMAND [ARGUMENT ...]      run in the agent's folder
#
# Answers in: starchild and claude-code, unchanged: exit 2 refuses, and stderr is the reason. Needs a POSIX shell.
# It refuses once: when the agent goes on because of a refusal, it may stop, or it would try for ever. Give it a
# `timeout:` that the tests can keep. COMMAND is looked up when it runs, so whatever your project has there runs;
# when there is no such command it exits 127, which is "failed".
#
# Declare:
#     - {event: turn_end, agent: [claude-code, starchild], command: ./tests_before_stop.sh make -s test, timeout: 300}
# Try:
#     hooktray test Stop --hook tests_before_stop
set -u

if [ $# -eq 0 ]; then
    echo 'name the command that runs the tests' >&2
    exit 1
fi

# A quote inside a text is written \", so this finds the field and no talk about it.
if tr -d '\r\n' | grep -q '[{,][[:space:]]*"stop_hook_active"[[:space:]]*:[[:space:]]*true'; then
    exit 0
fi
output=$("$@" 2>&1)
code=$?
case $code in
0) exit 0 ;;
126 | 127) echo "$1 cannot be run here: $output" >&2 && exit 127 ;;
esac
printf 'The tests fail (%s, exit %s). Make them pass before you stop. They end with:\n' "$*" "$code" >&2
printf '%s\n' "$output" | tail -n 20 >&2
exit 2
