#!/bin/sh
# `/files a.go b.go please summarize`: puts the files into the message, so that the model need not look for them.
#
# Answers in: shelley. As a Shelley hook of its own it is called slash/files. Needs a POSIX shell.
# Only files in the conversation's folder and below are read, at most 64 KB of each. Leading words that are files
# are taken, the rest is what you want done with them. When nothing is a file the message stays as it is.
# It exits 1 only without a folder to stand in: the message is then refused.
#
# Declare:
#     - {event: slash/files, agent: shelley, command: ./slash_files.sh, dialect: shelley, failure: block}
# Try:
#     hooktray test slash/files --agent shelley --print
set -eu
set -f # a * in a message is a star

cd "${SHELLEY_CWD:-.}" || exit 1
here=$(pwd -P)

# Whether a word names a readable file below this folder, also after links.
inside() {
    [ -f "$1" ] && [ -r "$1" ] && [ ! -L "$1" ] || return 1
    folder=$(cd "$(dirname -- "$1")" && pwd -P) || return 1
    case $folder/ in "$here"/*) return 0 ;; esac
    return 1
}

# shellcheck disable=SC2086 # words are what we want
set -- ${SHELLEY_SLASH_ARGS-}
found=no
while [ $# -gt 0 ] && inside "$1"; do
    [ "$found" = yes ] || printf 'Here are the files:\n'
    found=yes
    printf '\n=== %s ===\n' "$1"
    head -c 65536 -- "$1"
    printf '\n'
    shift
done
if [ "$found" = yes ]; then
    printf '\n%s\n' "$*"
fi
