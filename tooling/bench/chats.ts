/** Many chats at once: one model turn with two tool calls of 50 ms, then one of 50 text deltas. */
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises"
import { Chat, Engine, type RunningTroupe, tool, Troupe, user } from "@troupe/chat"
import type { AdapterEvent } from "@troupe/chat/events"
import type { Adapter } from "@troupe/chat/models"
import { Observation } from "@troupe/chat/observe"

const toolMs = 50
const words = 50
const ids = ["c0", "c1"] as const

/**
 * The timing of a model's deltas.
 *
 * - `"at once"`: all of them are ready, without a wait between two
 * - `"by turns"`: each in a turn of the event loop, as from a socket
 */
export type Pace = "at once" | "by turns"

async function* wantsTools(): AsyncGenerator<AdapterEvent, void> {
  yield { type: "message_started", message: { role: "assistant", content: "" } }
  for (const id of ids) {
    yield { type: "tool_call_started", id, name: "wait" }
    yield { type: "tool_call_completed", id, name: "wait", arguments: { id }, rawArguments: `{"id":"${id}"}` }
  }
  yield { type: "message_completed", message: { role: "assistant", content: "" }, finishReason: "tool_calls" }
}

async function* answers(pace: Pace): AsyncGenerator<AdapterEvent, void> {
  yield { type: "message_started", message: { role: "assistant", content: "" } }
  for (let word = 0; word < words; word++) {
    if (pace === "by turns") await nextTurn()
    yield { type: "text_delta", id: null, delta: "word " }
  }
  yield { type: "message_completed", message: { role: "assistant", content: "" }, finishReason: "stop" }
}

const adapter = (pace: Pace): Adapter.Adapter => ({
  name: "bench",
  stream: (request) => (request.messages.at(-1)?.role === "tool" ? answers(pace) : wantsTools())
})

const work = async (id: unknown): Promise<unknown> => {
  await sleep(toolMs)
  return id
}

const wait = tool({ name: "wait", description: "Waits a moment", effect: "read", execute: ({ id }) => work(id) })

const expected = "word ".repeat(words)

const read = async (events: AsyncIterable<{ readonly type: string; readonly delta?: string }>): Promise<void> => {
  let text = ""
  for await (const event of events) if (event.type === "text_delta") text += event.delta ?? ""
  if (text !== expected) throw new Error(`a chat said ${text.length} characters instead of ${expected.length}`)
}

/** The same model and tools, with only a loop that calls them. */
async function* loop(pace: Pace) {
  yield* wantsTools()
  for (const id of await Promise.all(ids.map(work))) {
    yield { type: "tool_execution_started", id }
    yield { type: "tool_execution_completed", id }
    yield { type: "tool_result_encoded", id }
  }
  yield { type: "step_completed" }
  yield* answers(pace)
  yield { type: "step_completed" }
  yield { type: "chat_completed" }
}

const all = async (count: number, one: (index: number) => Promise<void>): Promise<void> => {
  await Promise.all(Array.from({ length: count }, (_, index) => one(index)))
}

/** Nested async generators. */
export const chatsOnGenerators = (count: number, pace: Pace): Promise<void> => all(count, () => read(loop(pace)))

/** `Chat.stream` on an engine and a thread. */
export const chatsOnValues = (count: number, pace: Pace): Promise<void> => {
  const engine = Engine.make({ adapter: adapter(pace), tools: [wait] })
  return all(count, async () => read(await Chat.stream(engine, [user("go")])))
}

/**
 * The parts of a Troupe that an observer watches.
 *
 * - `"nothing"`: there is no observer
 * - `"the tree"`
 * - `"all it can"`: the tree, the supervisor of all chats, and the timeline of one of them
 */
export type Watch = "nothing" | "the tree" | "all it can"

const watch = (troupe: RunningTroupe, watches: Watch): ReadonlyArray<() => void> => {
  if (watches === "nothing") return []
  const { tree, process, timeline } = Observation.make(troupe)
  const watched = [tree.subscribe(() => {})]
  const supervisor = tree.getState()?.tree[0]?.children.at(-1)
  if (watches === "the tree" || supervisor === undefined) return watched
  return [...watched, process(supervisor.id).subscribe(() => {}), timeline("chat-0").subscribe(() => {})]
}

/** Chat processes under a supervisor, each sent one message. */
export const chatsOnTroupe = async (count: number, pace: Pace, watches: Watch = "nothing"): Promise<void> => {
  const troupe = await Troupe.start({ adapter: adapter(pace), tools: [wait] })
  const leave = watch(troupe, watches)
  await all(count, async (index) => {
    const chat = await troupe.chat(`chat-${index}`)
    await read(chat.send("go"))
  })
  for (const left of leave) left()
  await troupe.stop()
}
