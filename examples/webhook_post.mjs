#!/usr/bin/env node
// Posts a short JSON message to a webhook when a turn ends or an agent needs you.
//
// Answers in: starchild and claude-code, unchanged: it reads both and never answers. Needs Node 18.
// The address stands in WEBHOOK_URL. Names like this look like secrets and are withheld from hooks: `env:` asks for it,
// and the approval shows that. Only facts and the first 200 characters of a message leave the machine. A post that
// fails exits 1, which is "failed" and alerts you; nothing is tried again.
//
// Declare:
//     - {event: turn_end, name: post turn end, command: ./webhook_post.mjs, env: [WEBHOOK_URL]}
//     - {event: notification, name: post needs you, command: ./webhook_post.mjs, env: [WEBHOOK_URL]}
// Try:
//     hooktray test turn_end --hook "post turn end"

import { readFileSync } from "node:fs";
import { basename } from "node:path";

const url = process.env.WEBHOOK_URL;
if (!url) {
  console.error("WEBHOOK_URL is not set where the agent runs, or `env: [WEBHOOK_URL]` is missing");
  process.exit(1);
}
const event = JSON.parse(readFileSync(0, "utf8"));
const said = [event.last_assistant_message, event.response, event.message].find((text) => typeof text === "string") ?? "";
const body = {
  event: event.event ?? event.hook_event_name ?? "unknown",
  project: basename(String(event.cwd ?? "")),
  text: said.slice(0, 200),
  test: process.env.HOOKTRAY_TEST === "1",
};
const headers = { "content-type": "application/json" };
try {
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body), signal: AbortSignal.timeout(5000) });
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
} catch (error) {
  console.error(`could not post: ${error.cause?.code ?? error.message}`); // never the address: it is a secret
  process.exitCode = 1;
}
