/**
 * Compares the second request of a chat with that of the AI SDK's own loop, after the same recorded reply.
 *
 * Both loops have the same tools, each of which answers "ok" or in the form of its provider, and allow what a provider asks. After a
 * reply without a call for the program, the user says one thing more.
 *
 * @module
 */
import { openai } from "@ai-sdk/openai"
import { Chat, Engine, tool, user } from "@troupe/chat"
import { Thread } from "@troupe/chat/messages"
import { Tool } from "@troupe/chat/tools"
import { aiSdk } from "@troupe/providers/AiSdk"
import {
  isStepCount,
  jsonSchema,
  type LanguageModel,
  type ModelMessage,
  streamText,
  tool as sdkTool,
  type ToolSet
} from "ai"
import { closing } from "./closing.ts"
import { bodyOf } from "./dialects.ts"
import { modelFor } from "./models.ts"
import { readRecording, type Recording } from "./recording.ts"

/** What came of a comparison: `unread` is a reply of which the package reads nothing, such as an error. */
interface Compared {
  readonly file: string
  readonly verdict: "equal" | "explained" | "different" | "unread"
  /** Why both differ. */
  readonly reason?: string | undefined
  /** The first place that differs, with both values: ours, then the AI SDK's. */
  readonly where?: string
  readonly ours?: unknown
  readonly theirs?: unknown
}

const go = { role: "user", content: "Go on." } as const
const more = { role: "user", content: "And now?" } as const
const schema = { type: "object", properties: {} } as const

/** A tool that OpenAI declares, for replies that match, and its result if the program runs it. */
const declared: ReadonlyArray<readonly [RegExp, string, (args: object) => ToolSet[string], object, unknown?]> = [
  [/"shell_call_output"/, "shell", openai.tools.shell, { environment: { type: "containerAuto" } }],
  [/"shell_call"/, "shell", openai.tools.shell, {}, { output: [] }],
  [/"local_shell_call"/, "local_shell", openai.tools.localShell, {}, { output: "ok" }],
  [/"apply_patch_call"/, "apply_patch", openai.tools.applyPatch, {}, { status: "completed", output: "ok" }],
  [/"execution":"client"/, "tool_search", openai.tools.toolSearch, { execution: "client" }, { tools: [] }],
  [/"tool_search_call"/, "tool_search", openai.tools.toolSearch, {}],
  [/"program"/, "programmatic_tool_calling", openai.tools.programmaticToolCalling, {}],
  [/"mcp_approval_request"/, "mcp", openai.tools.mcp as never, { serverLabel: "mcp", serverUrl: "https://mcp.example" }]
]

/** The tools of both loops. */
const toolsFor = ({ data, toolNames }: Recording) => {
  const text = data.join("\n")
  const theirs: ToolSet = {}
  const ours = []
  const free = new Set(Array.from(text.matchAll(/"type":"custom_tool_call"[^}]*"name":"(\w+)"/g), ([, name]) => name))
  for (const name of toolNames.filter((one) => Tool.nameProblem(one) === undefined)) {
    const execute = () => "ok"
    const provider = free.has(name) ? openai.tools.customTool({}) : undefined
    theirs[name] = provider ? { ...provider, execute } : sdkTool({ inputSchema: jsonSchema(schema), execute })
    ours.push(tool({ name, execute, ...(provider ? { provider } : { parameters: schema }) }))
  }
  for (const [pattern, name, make, args, result] of declared) {
    if (theirs[name] !== undefined || !pattern.test(text)) continue
    const made = make(args) as ToolSet[string] & { readonly id: string; readonly args: Record<string, unknown> }
    theirs[name] = (result === undefined ? made : { ...made, execute: () => result }) as ToolSet[string]
    const { id, args: settings } = made
    if (result === undefined) ours.push({ type: "provider" as const, id, name, args: settings })
    else ours.push(tool({ name, provider: made, execute: () => result }))
  }
  return { ours, theirs }
}

/** A model whose first reply is the recording, and every later one a text. */
const scripted = (recording: Recording) => {
  const bodies: Array<string> = []
  const { dialect, data, status = 200 } = recording
  const fetch = async (_: unknown, init?: { readonly body?: unknown }): Promise<Response> => {
    const isFirst = bodies.push(String(init?.body)) === 1
    if (isFirst && status !== 200) return new Response(data.join("\n"), { status })
    const text = isFirst ? data.map((line) => `data: ${line}\n\n`).join("") : bodyOf(dialect, closing[dialect])
    return new Response(text, { headers: { "content-type": "text/event-stream" } })
  }
  return { model: modelFor(recording, { fetch }), bodies }
}

const ourBodies = async (recording: Recording) => {
  const { model, bodies } = scripted(recording)
  const engine = Engine.make({ adapter: aiSdk(model), tools: toolsFor(recording).ours, retry: false })
  const options = { maxTurns: 2, onUnknownTool: "continue", permissions: { mode: "trusted" } } as const
  const { thread, haltedReason } = await Chat.run(engine, [user(go.content)], options)
  if (bodies.length < 2) await Chat.run(engine, Thread.append(thread, user(more.content)), options)
  return { bodies, isBroken: haltedReason === "error" }
}

const theirBodies = async (recording: Recording): Promise<ReadonlyArray<string>> => {
  const { model, bodies } = scripted(recording)
  const settings = {
    model: model as LanguageModel,
    tools: toolsFor(recording).theirs,
    maxRetries: 0,
    onError: () => {}
  }
  const ask = async (messages: Array<ModelMessage>) => {
    const result = streamText({ ...settings, messages, stopWhen: isStepCount(2) })
    await result.consumeStream({ onError: () => {} })
    return result
  }
  const first = await ask([go])
  if (bodies.length >= 2) return bodies
  const [{ messages }, content] = await Promise.all([first.response, first.content])
  const asked = content.flatMap((part) => (part.type === "tool-approval-request" ? [part.approvalId] : []))
  const answers = asked.map(
    (approvalId) => ({ type: "tool-approval-response", approvalId, approved: true, providerExecuted: true }) as const
  )
  await ask([go, ...messages, answers.length > 0 ? { role: "tool", content: answers } : more])
  return bodies
}

/** The conversation in the body of a request. Ids that are not in the recording were made by the package. */
const conversation = (body: string, recorded: string): unknown => {
  const made = new Map<string, string>()
  const { messages, input, contents, system, systemInstruction } = JSON.parse(body, (key, value: unknown) => {
    if (!/^(?:id|call_id|tool_call_id)$/.test(key) || typeof value !== "string" || recorded.includes(value))
      return value
    if (!made.has(value)) made.set(value, `#${made.size}`)
    return made.get(value)
  }) as Record<string, unknown>
  return { messages, input, contents, system, systemInstruction }
}

/** The first difference of two values of JSON. */
const difference = (
  ours: unknown,
  theirs: unknown,
  at = ""
): Pick<Compared, "where" | "ours" | "theirs"> | undefined => {
  if (JSON.stringify(ours) === JSON.stringify(theirs)) return undefined
  if (typeof ours !== "object" || typeof theirs !== "object" || ours === null || theirs === null)
    return { where: at, ours, theirs }
  const keys = new Set([...Object.keys(ours), ...Object.keys(theirs)])
  const found = [...keys].map((key) => difference(Reflect.get(ours, key), Reflect.get(theirs, key), `${at}/${key}`))
  return found.find((one) => one !== undefined)
}

/** The ids of items and of results, with how often each is there. */
const idsIn = (value: unknown): ReadonlyMap<string, number> => {
  const found = new Map<string, number>()
  for (const [, id = ""] of JSON.stringify(value).matchAll(/"(?:tool_use_id|id)":"([^"]+)"/g))
    found.set(id, (found.get(id) ?? 0) + 1)
  return found
}

/** Why our request differs from that of the AI SDK, or `undefined`. */
const reasonFor = (
  recorded: string,
  { ours, theirs }: ReturnType<typeof difference> & object,
  isRepeated: boolean
): string | undefined => {
  if (isRepeated) return "the AI SDK sends a result or an item twice"
  const text: unknown = typeof theirs === "object" && theirs !== null ? Reflect.get(theirs, "text") : theirs
  if (typeof text === "string" && text.trim() === "") return "a blank text is left out (PROMPT1)"
  if (typeof theirs !== "string") return undefined
  if (recorded.includes(`"${theirs}","type":"program_output"`))
    return "the result of a call of an earlier reply is left out without its call (PROMPT1)"
  const isNewId = typeof ours === "string" && ours.startsWith("#") && recorded.includes(theirs)
  return isNewId ? "the id has the form that the provider accepts (FOREIGN1)" : undefined
}

/** Compares both loops after one recording. */
export const compareLoops = async (path: string, file: string): Promise<Compared> => {
  const recording = readRecording(path)
  const { bodies, isBroken } = await ourBodies(recording).catch(() => ({ bodies: [], isBroken: true }))
  const theirBody = (
    await theirBodies(recording).catch((error: unknown) => ["", JSON.stringify({ input: String(error) })])
  )[1]
  const recorded = recording.data.join("\n")
  const [ours, theirs] = [conversation(bodies[1] ?? "{}", recorded), conversation(theirBody ?? "{}", recorded)]
  const read = /"role":"(?:assistant|model)"|"type":"(?:item_reference|function_call)"/
  if (!read.test(JSON.stringify([ours, theirs]))) return { file, verdict: "unread" }
  const found = difference(ours, theirs)
  if (found === undefined) return { file, verdict: "equal" }
  const own = idsIn(ours)
  const isRepeated = [...idsIn(theirs)].some(([id, count]) => own.has(id) && (own.get(id) ?? 0) < count)
  const reason = isBroken
    ? "the reply broke: its reasoning and its references are left out (PROMPT1)"
    : reasonFor(recorded, found, isRepeated)
  return { file, verdict: reason === undefined ? "different" : "explained", reason, ...found }
}
