// Hooktray's plugin for OpenCode: `hooktray connect opencode` writes it, `hooktray disconnect opencode` removes it.
// Each event goes to the relay as one JSON object, and OpenCode does what the relay's answer says. Without an answer
// (Hooktray is gone, failed or late) nothing happens. Events and answers: docs/agents/opencode.md of Hooktray.
import { spawn } from "node:child_process"

const RELAY = []
const LIMITS = {} // seconds for each event's answer
const GOODBYE = 5 // seconds that OpenCode waits for the relay when it quits
const IS_RUN = process.argv.includes("run") // `opencode run` ends with its turn

const output = (event, fields, signal) =>
  new Promise((resolve, reject) => {
    const payload = JSON.stringify({ hook_event_name: event, opencode_plugin: 1, ...fields })
    const relay = spawn(RELAY[0], [...RELAY.slice(1), event], { stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
    const end = () => relay.kill("SIGKILL")
    const timer = setTimeout(end, LIMITS[event] * 1000)
    const parts = []
    signal?.addEventListener("abort", end)
    relay.on("error", reject)
    relay.on("close", () => {
      clearTimeout(timer)
      signal?.removeEventListener("abort", end)
      resolve(Buffer.concat(parts).toString())
    })
    relay.stdout.on("data", (part) => parts.push(part))
    relay.stdin.on("error", () => {})
    relay.stdin.end(payload)
  })
const ask = (...given) => output(...given).then((text) => JSON.parse(text || "{}")).catch(() => ({}))
const specific = (answer) => answer.hookSpecificOutput ?? {}

// OpenCode keeps the object, so a new input must become its content.
const replace = (object, content) => {
  for (const key of Object.keys(object)) if (!(key in content)) delete object[key]
  Object.assign(object, content)
}
const judge = async (answer, args) => {
  const { permissionDecision, permissionDecisionReason, updatedInput } = specific(await answer)
  if (permissionDecision === "deny") throw new Error(permissionDecisionReason)
  if (updatedInput) replace(args, updatedInput)
}

let isVersion1 = false
const server = async ({ client, directory }) => {
  isVersion1 = true
  const sessions = new Map()
  const calls = new Map() // by session and id, until they end
  const open = new Map() // what ends the wait for an answer to OpenCode's own questions, by their id
  const unfinished = new Set()
  const gone = new AbortController()
  const key = (sessionID, callID) => `${sessionID} ${callID}`
  const session = (id) => sessions.get(id) ?? sessions.set(id, { id }).get(id)
  const post = (path, body) => client._client.post({ url: path, body, headers: { "Content-Type": "application/json" } })
  const send = (event, { id, parent, agent }, fields, signal) => {
    const inside = parent ? { agent_id: id, agent_type: agent, parent_session_id: parent } : {}
    const signals = AbortSignal.any([gone.signal, ...(signal ? [signal] : [])])
    const answer = ask(event, { session_id: id, cwd: directory, ...inside, ...fields }, signals)
    unfinished.add(answer)
    return answer.finally(() => unfinished.delete(answer))
  }
  const question = async (event, asked, fields) => {
    const wait = new AbortController()
    open.set(asked.id, wait)
    const answer = specific(await send(event, session(asked.sessionID), fields, wait.signal))
    return open.delete(asked.id) ? answer : {} // its user was quicker
  }
  const refuse = (reason) => {
    const show = () => client.tui.showToast({ body: { title: "Hooktray", message: reason, variant: "warning" } })
    if (IS_RUN) console.error(`Hooktray: ${reason}`)
    else setTimeout(() => show().catch(() => {}), 2000) // OpenCode shows "Unexpected server error" in the same place
    throw new Error(reason)
  }

  const begin = async (one) => {
    one.begun = true
    const found = one.created ? {} : await client.session.get({ path: { id: one.id } }).catch(() => ({}))
    one.parent ??= found.data?.parentID
    return send(one.parent ? "SubagentStart" : "SessionStart", one, { source: one.created ? "startup" : "resume" })
  }
  const endTurn = async (one) => {
    if (!one.isBusy) return
    one.isBusy = false
    const event = one.parent ? "SubagentStop" : IS_RUN ? "RunStop" : "Stop"
    const fields = { stop_hook_active: !!one.isRefused, last_assistant_message: one.text }
    const { decision, reason } = await send(event, one, fields)
    one.isRefused = decision === "block"
    if (!one.isRefused) return
    const parts = [{ type: "text", text: reason, metadata: { hooktray: true } }]
    await client.session.promptAsync({ path: { id: one.id }, body: { agent: one.agent, model: one.model, parts } })
  }
  const failTurn = (one, { name, data }) => {
    one.isBusy = false
    return send(name === "MessageAbortedError" ? "Interrupt" : "StopFailure", one, { error: name, message: data?.message })
  }
  const permission = async (asked) => {
    const { tool = asked.permission, input = asked.metadata } = calls.get(key(asked.sessionID, asked.tool?.callID)) ?? {}
    const message = `${asked.permission}: ${asked.patterns.join(", ")}`
    const call = { tool_name: tool, tool_input: input, tool_use_id: asked.tool?.callID }
    const { decision } = await question("PermissionRequest", asked, { ...call, message, permission: asked.permission })
    if (!decision) return
    const reply = decision.behavior === "allow" ? { reply: "once" } : { reply: "reject", message: decision.message }
    await post(`/permission/${asked.id}/reply`, reply)
  }
  const form = async (asked) => {
    const fields = { message: asked.questions.map((one) => one.question).join("\n"), questions: asked.questions }
    const { action, content = {} } = await question("Elicitation", asked, fields)
    const answers = asked.questions.map((one) => [content[one.question] ?? []].flat())
    if (action === "accept") await post(`/question/${asked.id}/reply`, { answers })
    else if (action) await post(`/question/${asked.id}/reject`, {})
  }
  const part = (one, { type, text, time, tool, callID, state }) => {
    if (type === "text" && time?.end) one.text = text
    const begun = type === "tool" && state.status === "error" && calls.get(key(one.id, callID))
    if (!begun) return
    calls.delete(key(one.id, callID))
    const call = { tool_name: tool, tool_input: state.input, tool_use_id: callID, error: state.error }
    if (!begun.isRefused) return send("PostToolUseFailure", one, call)
  }
  const answered = ({ requestID }) => {
    open.get(requestID)?.abort()
    open.delete(requestID)
  }
  const reactions = {
    "message.part.updated": (one, { part: changed }) => part(one, changed),
    "permission.asked": (one, asked) => permission(asked),
    "permission.replied": (one, reply) => answered(reply),
    "question.asked": (one, asked) => form(asked),
    "question.rejected": (one, reply) => answered(reply),
    "question.replied": (one, reply) => answered(reply),
    "session.compacted": (one) => send("PostCompact", one, {}),
    "session.created": (one, { info }) => void Object.assign(one, { created: true, parent: info.parentID }),
    "session.deleted": (one) => sessions.delete(one.id) && one.begun && send("SessionEnd", one, { reason: "deleted" }),
    "session.error": (one, { error }) => error && failTurn(one, error),
    "session.status": (one, { status }) => status.type === "idle" && endTurn(one),
  }

  return {
    event: async ({ event: { type, properties } }) => {
      const id = properties?.sessionID ?? properties?.part?.sessionID
      if (id && type in reactions) await Promise.resolve(reactions[type](session(id), properties)).catch(() => {})
    },
    "chat.message": async ({ sessionID }, { message, parts }) => {
      const one = session(sessionID)
      Object.assign(one, { agent: message.agent, model: message.model, isBusy: true })
      if (parts.some((each) => each.metadata?.hooktray)) return
      one.isRefused = false
      const answers = one.begun ? [] : [await begin(one)]
      const prompt = parts.filter((each) => each.type === "text" && !each.synthetic).map((each) => each.text).join("\n")
      if (!one.parent) answers.push(await send("UserPromptSubmit", one, { prompt, model: message.model?.modelID }))
      const { decision, reason } = answers.at(-1)
      if (decision === "block") refuse(reason)
      const contexts = answers.map((answer) => specific(answer).additionalContext).filter(Boolean)
      const place = { sessionID, messageID: message.id, type: "text", synthetic: true }
      contexts.forEach((text, index) => parts.push({ ...place, id: `${parts[0].id}hooktray${index}`, text }))
    },
    "tool.execute.before": async ({ tool, sessionID, callID }, { args }) => {
      const call = { tool, input: args }
      calls.set(key(sessionID, callID), call)
      const fields = { tool_name: tool, tool_input: args, tool_use_id: callID }
      const answer = send("PreToolUse", session(sessionID), fields)
      await judge(answer, args).catch((error) => ((call.isRefused = true), Promise.reject(error)))
    },
    "tool.execute.after": async ({ tool, sessionID, callID, args }, result) => {
      calls.delete(key(sessionID, callID))
      const place = typeof result.output === "string" ? "output" : "content" // a tool of an MCP server has a list
      const add = (text) => (place === "output" ? `${result.output}\n\n${text}` : [...(result.content ?? []), as(text)])
      const as = (text) => ({ type: "text", text })
      const call = { tool_name: tool, tool_input: args, tool_use_id: callID, tool_response: result[place] }
      const answer = await send("PostToolUse", session(sessionID), call)
      const { updatedToolOutput, additionalContext } = specific(answer)
      if (updatedToolOutput !== undefined) result[place] = updatedToolOutput
      if (answer.decision === "block") result[place] = place === "output" ? answer.reason : [as(answer.reason)]
      if (additionalContext) result[place] = add(additionalContext)
    },
    "experimental.session.compacting": async ({ sessionID }, output) => {
      const { additionalContext } = specific(await send("PreCompact", session(sessionID), {}))
      if (additionalContext) output.context.push(additionalContext)
    },
    dispose: async () => {
      open.forEach((wait) => wait.abort())
      const main = [...sessions.values()].filter((one) => one.begun && !one.parent)
      const ends = main.map((one) => send("SessionEnd", one, { reason: "other" }))
      await Promise.race([Promise.all([...ends, ...unfinished]), new Promise((done) => setTimeout(done, GOODBYE * 1000))])
      gone.abort()
    },
  }
}

// OpenCode 2 calls `setup`, and `server` no longer. Its hook before a tool is the only one that is known here.
const setup = async ({ tool, location }) => {
  await tool?.hook?.("execute.before", async (call) => {
    if (isVersion1) return
    const fields = { session_id: call.sessionID, cwd: location?.directory, tool_name: call.tool, tool_input: call.input }
    await judge(ask("PreToolUse", { ...fields, tool_use_id: call.callID }), call.input)
  })
}

export default { id: "hooktray", server, setup }
