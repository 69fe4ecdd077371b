#!/usr/bin/env node
// Counts events in a statsd server: one UDP datagram an event, `hooks.tool_after.bash:1|c`.
//
//     metrics_datagram.mjs [HOST:PORT]        (default 127.0.0.1:8125)
//
// Answers in: starchild and claude-code, unchanged: it reads both and never answers. Needs Node 18.
// Nobody acknowledges a datagram, so a server that is down is not noticed. It says nothing and never fails on
// account of the network.
//
// Declare:
//     - {event: tool_after, name: count tools, command: ./metrics_datagram.mjs 127.0.0.1:8125}
//     - {event: turn_end, name: count turns, command: ./metrics_datagram.mjs 127.0.0.1:8125}
// Try:
//     hooktray test PostToolUse --hook "count tools" --expect abstain

import { createSocket } from "node:dgram";
import { readFileSync } from "node:fs";

const [, host, port] = /^(.*):(\d+)$/.exec(process.argv[2] ?? "127.0.0.1:8125") ?? [];
if (!host) {
  console.error(`${process.argv[2]} is not HOST:PORT`);
  process.exit(1);
}
const event = JSON.parse(readFileSync(0, "utf8"));
const name = [event.event ?? event.hook_event_name ?? "unknown", event.tool_name].filter(Boolean);
const metric = ["hooks", ...name].map((part) => String(part).replace(/[^\w-]+/g, "_").toLowerCase()).join(".");
if (process.env.HOOKTRAY_TEST !== "1") {
  const socket = createSocket(host.includes(":") ? "udp6" : "udp4");
  socket.send(`${metric}:1|c`, Number(port), host, () => socket.close());
}
