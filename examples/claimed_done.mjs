#!/usr/bin/env node
// Refuses an end that says "published", "pushed" or "sent" when no tool was used that could have done so.
//
// Answers in: starchild and claude-code, unchanged. Needs Node 18.
// Starchild names the tools of the turn; for Claude Code they are read from the transcript. When neither is to be had
// it has no opinion: it never accuses without evidence. It speaks once; an agent that goes on because of it may stop.
// When it breaks it exits 1, which is "failed".
//
// Declare:
//     - {event: completion_claim, agent: starchild, name: claimed done, command: ./claimed_done.mjs}
//     - {event: turn_end, agent: claude-code, name: claimed at stop, command: ./claimed_done.mjs, dialect: claude-code}
// Try:
//     hooktray test on_completion_claim --agent starchild --hook "claimed done" --expect deny

import { readFileSync } from "node:fs";

// A claim, and the tools that could have made it true. A shell can do anything.
const CLAIMS = [
  [/\b(?:published|deployed|released|shipped)\b/i, /bash|shell|publish|deploy|release/i],
  [/\b(?:pushed|merged)\b/i, /bash|shell|git|push|merge/i],
  [/\b(?:sent|emailed|e-mailed|posted|notified)\b/i, /bash|shell|send|mail|post|notify|message|webhook/i],
];
// What makes a claim none: "not yet published", "can be deployed", "once it is merged".
const UNSAID = /\b(?:not|never|cannot|\w+n't|will|would|can|could|should|to|once|when|if|before|until|ready)\b[\w\s-]{0,20}$/i;

const event = JSON.parse(readFileSync(0, "utf8"));
const words = [event.summary, event.response, event.last_assistant_message].find((text) => typeof text === "string" && text) ?? "";
const tools = event.stop_hook_active === true ? null : used(event);
const claim = tools && CLAIMS.map(([said, done]) => unproved(words, said, done, tools)).find(Boolean);
if (claim) {
  const list = tools.length ? tools.join(", ") : "none";
  const reason = `You say "${claim}", but nothing that could do so was used (tools: ${list}). Do it, or say what is left.`;
  console.log(JSON.stringify({ decision: "block", reason }));
}

/** The claiming word, when it is said and no tool bears it out. */
function unproved(text, said, done, tools) {
  const found = said.exec(text);
  if (!found || UNSAID.test(text.slice(0, found.index)) || tools.some((tool) => done.test(tool))) return "";
  return found[0];
}

/** The tools of this turn; null when nobody can tell. */
function used(event) {
  if (Array.isArray(event.tool_names)) return event.tool_names.map(String);
  if (typeof event.transcript_path !== "string" || !event.transcript_path) return null;
  try {
    return fromTranscript(readFileSync(event.transcript_path, "utf8"));
  } catch {
    return null;
  }
}

/** Tool calls since the user last spoke, one JSON object a line; what cannot be read is passed over. */
function fromTranscript(text) {
  let tools = [];
  for (const line of text.split("\n")) {
    let entry;
    try {
      entry = JSON.parse(line);
    } catch {
      continue;
    }
    const content = entry?.message?.content;
    const parts = Array.isArray(content) ? content : [];
    if (entry?.type === "user" && !parts.some((part) => part?.type === "tool_result")) tools = [];
    tools.push(...parts.filter((part) => part?.type === "tool_use").map((part) => String(part.name)));
  }
  return tools;
}
