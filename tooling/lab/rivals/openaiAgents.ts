/** The agents of the OpenAI Agents SDK for the probes: agents as tools, a session in a file, and the state of an interrupted run. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import {
  Agent,
  type AgentInputItem,
  type AgentOutputItem,
  type Model,
  run,
  RunState,
  type Session,
  setTracingDisabled,
  tool,
  Usage
} from "@openai/agents"
import { z } from "zod"
import type { Cast, Company, Ended, Framework, ProbeTool } from "../probes/framework.ts"
import { type Asked, type Model as ScriptedModel, replyTokens } from "../probes/model.ts"

setTracingDisabled(true)

const textOf = (value: unknown): string => {
  if (typeof value === "string") return value
  if (Array.isArray(value)) return value.map(textOf).join("")
  return typeof value === "object" && value !== null && "text" in value ? String(value.text) : ""
}

const askedOf = (given: string | ReadonlyArray<AgentInputItem>): Asked => {
  if (typeof given === "string") return { input: given, results: [] }
  const at = given.findLastIndex((item) => "role" in item && item.role === "user")
  const last = given[at]
  return {
    input: last !== undefined && "content" in last ? textOf(last.content) : "",
    results: given.slice(at).flatMap((item) => (item.type === "function_call_result" ? [textOf(item.output)] : []))
  }
}

/** The scripted model as a model of the SDK. */
const modelOf = (model: ScriptedModel): Model => ({
  getResponse: async ({ input, signal }) => {
    const { text, calls } = await model.whole(askedOf(input), signal)
    const output: Array<AgentOutputItem> = calls.map(({ id: callId, name, json }) => {
      return { type: "function_call", callId, name, arguments: json, status: "completed" }
    })
    if (text !== "") {
      output.push({ type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text }] })
    }
    return { usage: new Usage({ requests: 1, outputTokens: replyTokens, totalTokens: replyTokens }), output }
  },
  getStreamedResponse: () => {
    throw new Error("the probes do not stream the root")
  }
})

const toolOf = ({ name, isApproved = false, run: execute }: ProbeTool) =>
  tool({
    name,
    description: name,
    parameters: z.object({}),
    needsApproval: isApproved,
    execute: (_args, _, details) => execute(details?.signal)
  })

const maxTurns = 100

/** A sub-agent as a tool. A deadline is set on the tool, as `asTool` has no option for one. */
const subagentOf = (cast: Cast, name: string) => {
  const made = agentOf(cast, name).asTool({ toolName: name, toolDescription: name, runOptions: { maxTurns } })
  return cast.deadlineMs === undefined ? made : { ...made, timeoutMs: cast.deadlineMs }
}

const agentOf = (cast: Cast, name: string): Agent => {
  const role = cast.roles[name]
  if (role === undefined) throw new Error(`there is no agent ${name}`)
  const { model, tools = [], agents = [] } = role
  return new Agent({
    name,
    model: modelOf(model),
    modelSettings: { retry: { maxRetries: 2, policy: () => true, backoff: { initialDelayMs: 10 } } },
    tools: [...tools.map(toolOf), ...agents.map((agent) => subagentOf(cast, agent))]
  })
}

/** A session in a file. */
const sessionIn = (path: string): Session => {
  const items = (): Array<AgentInputItem> =>
    existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Array<AgentInputItem>) : []
  const write = (all: ReadonlyArray<AgentInputItem>): void => writeFileSync(path, JSON.stringify(all))
  return {
    getSessionId: async () => "probe",
    getItems: async (limit) => (limit === undefined ? items() : items().slice(-limit)),
    addItems: async (added) => write([...items(), ...added]),
    popItem: async () => {
      const all = items()
      write(all.slice(0, -1))
      return all.at(-1)
    },
    clearSession: async () => rmSync(path, { force: true })
  }
}

const start = async (cast: Cast, folder: string): Promise<Company> => {
  const root = agentOf(cast, "boss")
  const session = sessionIn(join(folder, "session.json"))
  const kept = join(folder, "state.json")
  const stored = async () =>
    existsSync(kept)
      ? (RunState.fromString(root as never, readFileSync(kept, "utf8")) as Promise<RunState<undefined, Agent>>)
      : undefined
  let abort = new AbortController()
  const ended = async (input: Parameters<typeof run<Agent>>[1]): Promise<Ended> => {
    abort = new AbortController()
    const result = await run(root, input, { maxTurns, session, signal: abort.signal })
    const isWaiting = result.interruptions.length > 0
    if (isWaiting) writeFileSync(kept, result.state.toString())
    else rmSync(kept, { force: true })
    return isWaiting ? { reason: "interrupted", text: "" } : { reason: "completed", text: textOf(result.finalOutput) }
  }
  const addressOf = ({ rawItem }: { readonly rawItem: object }): string =>
    "callId" in rawItem ? String(rawItem.callId) : ""
  return {
    send: ended,
    // No state of a running turn is stored: the next run begins from the session.
    retry: async () => ended((await stored()) ?? "go"),
    cancel: async () => abort.abort(),
    waiting: async () => (await stored())?.getInterruptions().map(addressOf) ?? [],
    allow: async (address) => {
      const state = await stored()
      const found = state?.getInterruptions().find((one) => addressOf(one) === address)
      if (state === undefined || found === undefined) throw new Error(`nothing waits at ${address}`)
      state.approve(found)
      return ended(state)
    },
    close: async () => abort.abort()
  }
}

const mail = "an agent has no mailbox: nothing but its caller gives it an input, when it begins"
const background = "a call of a tool ends before the next request"

/** The OpenAI Agents SDK. */
export const framework: Framework = {
  name: "OpenAI Agents SDK",
  module: import.meta.url,
  cannot: {
    parent: "an agent has no process that can die alone",
    budget: "no budget of tokens counts for a run and the agents below it; `maxTurns` counts for one run",
    background,
    "child-background": background,
    "tell-running": mail,
    "tell-finished": mail,
    "tell-unloaded": mail,
    "tell-moved": mail,
    "tell-dead": mail,
    interrupt: background,
    "background-question": background,
    rewind: "an agent as a tool begins anew with each call: it has no thread that a later call continues",
    cycle: mail
  },
  start
}
