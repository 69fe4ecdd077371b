#!/usr/bin/env node
// Gives every `curl` without a time limit one of a minute, so that a dead server does not hold the agent.
//
// Answers in: starchild and claude-code, unchanged: Starchild's own form is {"tool_input": {…}}, it takes Claude's too.
// Needs Node 18. What stands in quotes is text and stays. When it breaks it exits 1, which is "failed": the command
// then runs as it was.
//
// Declare:
//     - {event: tool_before, tool: Bash, matcher: curl, command: ./curl_time_limit.mjs}
// Try:
//     echo '{"tool_name":"Bash","tool_input":{"command":"curl https://example.com"}}' |
//         hooktray test PreToolUse --hook curl_time_limit --payload - --expect abstain

import { readFileSync } from "node:fs";

const LIMIT = "--max-time 60";
const PIECES = /'[^']*'|"(?:\\.|[^"\\])*"|[^'"]+|['"]/g; // quoted texts, and what is between them
const CALL = /(^|[;&|(\n]\s*|\b(?:sudo|then|do|time)\s+)curl(?=\s)/g;
const LIMITED = /\s(?:--max-time|-m)(?:[\s=]|\d)/;

const event = JSON.parse(readFileSync(0, "utf8"));
const input = event.tool_input ?? {};
if (typeof input.command === "string" && !LIMITED.test(input.command)) {
  const command = limited(input.command);
  if (command !== input.command) {
    const updatedInput = { ...input, command };
    console.log(JSON.stringify({ hookSpecificOutput: { hookEventName: "PreToolUse", updatedInput } }));
  }
}

/** The same command; a piece that follows a quoted one does not begin a command by itself. */
function limited(command) {
  let first = true;
  return command.replace(PIECES, (piece) => {
    const begins = first;
    first = false;
    if (piece[0] === "'" || piece[0] === '"') return piece;
    return piece.replace(CALL, (call, before, at) => (at === 0 && !before && !begins ? call : `${before}curl ${LIMIT}`));
  });
}
