"""What a new hooktray.yaml has: nothing yet, and every key with its default, commented out."""

STARTER_TEXT = """\
# yaml-language-server: $schema=./hooktray.schema.json
##
## Your hooks. Each waits for your approval, in the tray's menu or on its page, before it runs.
## Remove the `# ` from the lines that you want. `hooktray config check` shows what is wrong.
##
# hooks:
#   - event: tool_before            # before a tool runs; docs/generated/fidelity.md lists all events
#     matcher: "rm -rf|mkfs"        # a pattern, searched in the tool's input; default: everything
#     command: ./guards/no-rm.sh    # a path beside this file; no shell
#     agent: [claude-code, x-code]  # default: every agent
#     tool: Bash|Write              # by tool name; default: every tool
#     type: command                 # or rule, http, prompt, agent
#     name: no-rm                   # default: the script's name
#     dialect: starchild            # the script's format: one of those below
#     timeout: 20                   # seconds
#     failure: ask                  # what follows if it fails: ask, allow or block; default: docs/writing-hooks.md
#     enabled: true
#     env: []                       # withheld variables that it gets
#     files: []                     # globs of more files that its approval covers
#     background_seconds: 600       # seconds that its children may outlive it
#     once: false                   # true: run once in a session
#   - {event: tool_before, type: rule, matcher: "curl .*sh", decision: ask, reason: "it runs what it downloads"}
#   - {event: tool_before, type: http, url: "https://guard.example.com/hook", headers: {}, allow_local: []}
#   - {event: turn_end, type: prompt, prompt: "Are the tests run? $TRANSCRIPT_PATH", model: ""}
##
## Files with hooks in another format: antigravity, claude-code, cline, codex,
## copilot-cli, cursor, devin, droid, gemini-cli, grok, kimi-code, kiro, qwen-code, shelley,
## starchild, x-code.
# sources: []
##
## What each class of alerts does.
# alerts:
#   turn_end: {notify: true, sound: chime}
##
## The same for one project, by the last part of its folder.
# projects: {}
##
## Hours with critical notifications only, and without sounds. Default: none.
# quiet_hours: {from: "22:00", to: "07:30", days: [mon, tue, wed, thu, fri]}
##
## Whether alerts show a tool's input, secrets masked, or only the tool's name.
# show_input: true
##
## Seconds that a turn must have taken for an alert at its end.
# min_turn_seconds: 0
##
## Alerts in sessions without a user; at the end of a turn that you watched; minutes without a key until you are away.
# notify_headless: false
# while_looking: hold
# away_after: 5
##
## Notifications to your phone or chat. Needs hooktray[push]; it counts only after you confirm it: docs/push.md.
# push: []
##
## The folder of a sound pack; whether words are spoken after a sound.
# sound_pack: ""
# speak: false
##
## How loud sounds are, from 0 to 1.
# volume: 1.0
##
## Agents whose questions are shown on the desktop, and for how many seconds.
# ask_on_desktop: {agents: [], seconds: 60}
##
## How much the journal keeps.
# journal: {days: 90, rows: 200000, megabytes: 500}
##
## Without the tray, `once` runs the hooks all the same. `allow` counts only after you confirm it.
# without_tray: once
##
## Seconds of quiet after which an X-Code round counts as the end of a turn.
# turn_quiet_seconds: 3
##
## Seconds that a hook's background children may outlive it; 0 ends them at once.
# background_seconds: 600
##
## What the self-protection lets agents do. It counts only after you confirm it.
# protection: {allow: []}
##
## The model that `prompt` and `agent` hooks ask. It counts only after you confirm it. Default: none.
# llm: {base_url: "https://llm.example.com/v1", model: small, api_key_env: ""}
"""
