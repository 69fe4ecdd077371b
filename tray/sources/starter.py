"""What a new hooktray.yaml has: nothing yet, and every key with its default, commented out."""

STARTER_TEXT = """\
# yaml-language-server: $schema=./hooktray.schema.json
##
## What your hooks are. Each one waits for your approval in the tray's menu before it runs.
## Take the `# ` away from the lines that you want. `hooktray config check` says what is wrong.
##
# hooks:
#   - event: tool_before            # before a tool runs; docs/generated/fidelity.md names all the others
#     matcher: "rm -rf|mkfs"        # searched in the tool's input; default: everything
#     command: ./guards/no-rm.sh    # looked up beside this file; no shell
#     agent: [claude-code, x-code]  # default: every agent
#     tool: Bash|Write              # by tool name; default: every tool
#     type: command                 # or rule, http, prompt, agent
#     name: no-rm                   # default: the script's name
#     dialect: starchild            # what the script speaks; or another of the formats below
#     timeout: 20                   # seconds
#     failure: ask                  # what a broken hook means; or allow, block. docs/writing-hooks.md has the default
#     enabled: true
#     env: []                       # withheld variables that it shall have
#     files: []                     # globs of further files that belong to it
#     background_seconds: 600       # seconds that its children may live on
#     once: false                   # one turn in a session
#   - {event: tool_before, type: rule, matcher: "curl .*sh", decision: ask, reason: "runs what the net says"}
#   - {event: tool_before, type: http, url: "https://guard.example.com/hook", headers: {}, allow_local: []}
#   - {event: turn_end, type: prompt, prompt: "Are the tests run? $TRANSCRIPT_PATH", model: ""}
##
## Hooks as they stand in other formats: antigravity, claude-code, cline, codex,
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
## Hours in which only what is critical is shown, and nothing is heard. Default: none.
# quiet_hours: {from: "22:00", to: "07:30", days: [mon, tue, wed, thu, fri]}
##
## Whether alerts show what a tool gets, secrets masked, and not only its name.
# show_input: true
##
## Seconds that a turn must have taken to be told of at its end.
# min_turn_seconds: 0
# notify_headless: false
# while_looking: hold
# away_after: 5
##
## Notifications to your phone or chat. Needs hooktray[push], and counts only once you confirmed it; docs/push.md.
# push: []
##
## The folder of a sound pack, which waits for your confirmation; and whether lines are spoken after a sound.
# sound_pack: ""
# speak: false
##
## How loud sounds are, from 0 to 1.
# volume: 1.0
##
## Whose questions are put to you on the desktop, and for how long; taking an agent out waits for your confirmation.
# ask_on_desktop: {agents: [], seconds: 60}
##
## How much the journal keeps.
# journal: {days: 90, rows: 200000, megabytes: 500}
##
## Without the tray: `once` runs the hooks all the same, `allow` counts only once you confirmed it.
# without_tray: once
##
## Seconds of quiet after which an X-Code round counts as the end of a turn.
# turn_quiet_seconds: 3
##
## Seconds that a hook's background children may live on; 0 ends them at once.
# background_seconds: 600
##
## What the self-protection lets agents do; counts only once you confirmed it.
# protection: {allow: []}
##
## The model that `prompt` and `agent` hooks ask; counts only once you confirmed it. Default: none.
# llm: {base_url: "https://llm.example.com/v1", model: small, api_key_env: ""}
"""
