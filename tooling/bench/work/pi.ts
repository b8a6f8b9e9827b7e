/** Program A on an agent of `@earendil-works/pi-agent-core`, with a scripted model. */
import { Agent, type AgentTool, type StreamFn } from "@earendil-works/pi-agent-core"
import {
  type AssistantMessageEventStream,
  createAssistantMessageEventStream,
  createFauxCore,
  fauxAssistantMessage,
  fauxText,
  fauxToolCall
} from "@earendil-works/pi-ai"
import { setImmediate as nextTurn } from "node:timers/promises"
import { callIds, chats, checkLength, type Pace, together, word, words, work } from "./programA.ts"

const model = createFauxCore({}).getModel()

const wantsTools = (stream: AssistantMessageEventStream): void => {
  const message = fauxAssistantMessage([], { stopReason: "toolUse" })
  stream.push({ type: "start", partial: message })
  for (const [contentIndex, id] of callIds.entries()) {
    const toolCall = fauxToolCall("wait", { id }, { id })
    message.content.push(toolCall)
    stream.push({ type: "toolcall_start", contentIndex, partial: message })
    stream.push({ type: "toolcall_end", contentIndex, toolCall, partial: message })
  }
  stream.push({ type: "done", reason: "toolUse", message })
}

const answers = async (stream: AssistantMessageEventStream, pace: Pace, count = words): Promise<void> => {
  const message = fauxAssistantMessage([])
  const content = fauxText("")
  stream.push({ type: "start", partial: message })
  message.content.push(content)
  stream.push({ type: "text_start", contentIndex: 0, partial: message })
  for (let said = 0; said < count; said++) {
    if (pace === "by turns") await nextTurn()
    content.text += word
    stream.push({ type: "text_delta", contentIndex: 0, delta: word, partial: message })
  }
  stream.push({ type: "text_end", contentIndex: 0, content: content.text, partial: message })
  stream.push({ type: "done", reason: "stop", message })
}

const scripted =
  (pace: Pace): StreamFn =>
  (_, { messages }) => {
    const stream = createAssistantMessageEventStream()
    if (messages.at(-1)?.role === "toolResult") void answers(stream, pace)
    else wantsTools(stream)
    return stream
  }

const wait: AgentTool = {
  name: "wait",
  label: "Wait",
  description: "Waits a moment",
  parameters: { type: "object" },
  execute: async (id) => ({ content: [{ type: "text", text: String(await work(id)) }], details: undefined })
}

const one = async (streamFn: StreamFn, tools: Array<AgentTool>, count?: number): Promise<void> => {
  const agent = new Agent({ streamFn, initialState: { model, tools } })
  let text = ""
  agent.subscribe((event) => {
    if (event.type !== "message_update") return
    const { assistantMessageEvent: update } = event
    if (update.type === "text_delta") text += update.delta
  })
  await agent.prompt("go")
  if (agent.state.errorMessage !== undefined) throw new Error(agent.state.errorMessage)
  checkLength(text.length, count)
}

/** Program A in 1,000 agents. */
export const piAgents = (pace: Pace): Promise<void> => together(chats, () => one(scripted(pace), [wait]))

/** One long answer of an agent. */
export const piDeltas = (deltas: number): Promise<void> => {
  const stream = createAssistantMessageEventStream()
  void answers(stream, "at once", deltas)
  return one(() => stream, [], deltas)
}
