#!/usr/bin/env node
// Checks the syntax of what an agent is about to write, before it is on the disk.
//
// Answers in: x-code. Needs Node 18, and each checker for its own kind of file.
// It looks at the new content, not at the old file. A kind of file without a checker, or whose checker is not
// installed, passes. When it breaks it exits 1, which is "failed".
//
// Declare (or below cached.py, as hooktray.yaml beside this file does):
//     - {event: tool_before, tool: Write|Edit, command: ./lint_before_write.mjs, dialect: x-code}
// Try:
//     echo '{"event":"PreToolUse","tool":{"name":"writeFile","args":{"path":"a.json","content":"{"}}}' |
//         hooktray test PreToolUse --agent x-code --hook lint_before_write --payload - --expect deny

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join, resolve } from "node:path";

const PARSE = "import ast, sys; ast.parse(open(sys.argv[1], 'rb').read(), sys.argv[2])";
// What checks a file of this kind: the words of a command, from the path of the file.
const CHECKERS = {
  ".bash": (path) => ["bash", "-n", path],
  ".cjs": (path) => [process.execPath, "--check", path],
  ".js": (path) => [process.execPath, "--check", path],
  ".mjs": (path) => [process.execPath, "--check", path],
  ".py": (path, name) => ["python3", "-I", "-c", PARSE, path, name],
  ".sh": (path) => ["sh", "-n", path],
};

const event = JSON.parse(readFileSync(0, "utf8"));
const args = event.tool?.args ?? {};
const name = [args.filePath, args.path, args.file_path].find((path) => typeof path === "string") ?? "";
const content = written(args, resolve(String(event.session?.cwd ?? "."), name));
const fault = name && content !== null ? check(name, content) : "";
const answer = fault ? { decision: "deny", reason: `${name} would not parse:\n${fault}` } : { decision: "allow" };
console.log(JSON.stringify(answer));

/** The whole text as it will be; null when we cannot know. */
function written(args, path) {
  if (typeof args.content === "string") return args.content;
  const { oldString, newString } = args;
  if (typeof oldString !== "string" || typeof newString !== "string") return null;
  try {
    const text = readFileSync(path, "utf8");
    return args.replaceAll ? text.split(oldString).join(newString) : text.replace(oldString, () => newString);
  } catch {
    return null;
  }
}

/** What is wrong with the text; "" when nothing is, or nobody here can say. */
function check(name, text) {
  if (extname(name) === ".json") return parses(text);
  const checker = CHECKERS[extname(name)];
  if (!checker) return "";
  const folder = mkdtempSync(join(tmpdir(), "lint-"));
  try {
    const path = join(folder, `new${extname(name)}`);
    writeFileSync(path, text);
    const [program, ...words] = checker(path, name);
    const done = spawnSync(program, words, { encoding: "utf8", timeout: 4000 });
    return done.status ? done.stderr.replaceAll(path, name).trim().slice(0, 2000) || `${program} refuses it` : "";
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function parses(text) {
  try {
    JSON.parse(text);
    return "";
  } catch (error) {
    return String(error.message);
  }
}
