/** Many concurrent conversations: their memory, and the cost of each as their number grows. */
import { setTimeout as sleep } from "node:timers/promises"
import { type ChatRef, type RunningTroupe, tool, Troupe } from "@troupe/chat"
import type { AdapterEvent } from "@troupe/chat/events"
import type { Adapter } from "@troupe/chat/models"

const toolMs = 10
const words = 10
const ids = ["c0", "c1"] as const

async function* wantsTools(): AsyncGenerator<AdapterEvent, void> {
  yield { type: "message_started", message: { role: "assistant", content: "" } }
  for (const id of ids) {
    yield { type: "tool_call_started", id, name: "wait" }
    yield { type: "tool_call_completed", id, name: "wait", arguments: { id }, rawArguments: `{"id":"${id}"}` }
  }
  yield { type: "message_completed", message: { role: "assistant", content: "" }, finishReason: "tool_calls" }
}

async function* answers(count: number): AsyncGenerator<AdapterEvent, void> {
  yield { type: "message_started", message: { role: "assistant", content: "" } }
  for (let word = 0; word < count; word++) yield { type: "text_delta", id: null, delta: "word " }
  yield { type: "message_completed", message: { role: "assistant", content: "" }, finishReason: "stop" }
}

const adapter: Adapter.Adapter = {
  name: "bench",
  stream: (request) => (request.messages.at(-1)?.role === "tool" ? answers(words) : wantsTools())
}

const wait = tool({
  name: "wait",
  description: "Waits a moment",
  effect: "read",
  execute: async ({ id }) => {
    await sleep(toolMs)
    return id
  }
})

const collect = (): void => (globalThis as { readonly gc?: () => void }).gc?.()

const heapMb = (): number => process.memoryUsage().heapUsed / 1e6

/** The cost of a crowd of conversations. */
export interface CrowdCost {
  readonly wallMs: number
  readonly cpuMs: number
  /** The peak of the heap above the heap before, including garbage that was not collected yet. */
  readonly peakMb: number
  /** The heap of the conversations when all have ended their turns. */
  readonly idleMb: number
}

const finish = async (chat: ChatRef): Promise<void> => {
  for (let turn = 0; turn < 2; turn++) {
    const { haltedReason, ...result } = await chat.send("go").result()
    if (haltedReason !== "completed") throw new Error(`a chat ended ${haltedReason}`, { cause: result })
  }
}

/** Conversations of two turns, each with two tool calls, all at the same time. */
export const crowd = async (count: number): Promise<CrowdCost> => {
  collect()
  const before = heapMb()
  let peak = before
  const sampling = setInterval(() => (peak = Math.max(peak, heapMb())), 5)
  const cpu = process.cpuUsage()
  const start = performance.now()
  const troupe = await Troupe.start({ adapter, tools: [wait] })
  await Promise.all(Array.from({ length: count }, async (_, index) => finish(await troupe.chat(`chat-${index}`))))
  const wallMs = performance.now() - start
  const { user, system } = process.cpuUsage(cpu)
  clearInterval(sampling)
  collect()
  const idleMb = heapMb() - before
  await troupe.stop()
  return { wallMs, cpuMs: (user + system) / 1_000, peakMb: peak - before, idleMb }
}

/** One answer of so many deltas in a live chat, with so many subscribers to its snapshots. */
export const deltasWithSubscribers = async (deltas: number, subscribers: number): Promise<void> => {
  const troupe: RunningTroupe = await Troupe.start({ adapter: { name: "long", stream: () => answers(deltas) } })
  const chat = await troupe.chat("watched")
  let seen = 0
  for (let index = 0; index < subscribers; index++) {
    chat.subscribe(
      ({ context }) => (seen = Math.max(seen, context.partial.text.length, context.thread.messages.length))
    )
  }
  const { finalResponse } = await chat.send("go").result()
  if (finalResponse?.outputText.length !== deltas * "word ".length) throw new Error("an answer was cut short")
  if (subscribers > 0 && seen === 0) throw new Error("no subscriber heard of the answer")
  await troupe.stop()
}

/** One answer of so many deltas in a live chat, with so many attachments, which read at once or when it is over. */
export const deltasWithReaders = async (deltas: number, readers: number, reads: "at once" | "later"): Promise<void> => {
  const troupe: RunningTroupe = await Troupe.start({ adapter: { name: "long", stream: () => answers(deltas) } })
  const chat = await troupe.chat("followed")
  const attached = Array.from({ length: readers }, () => chat.attach({ cursor: "turn" }))
  const prompt = reads === "at once" ? attached.map(lengthRead) : []
  const { finalResponse } = await chat.send("go").result()
  const lengths = await Promise.all(reads === "at once" ? prompt : attached.map(lengthRead))
  await troupe.stop()
  const expected = deltas * "word ".length
  for (const length of [finalResponse?.outputText.length, ...lengths]) {
    if (length !== expected) throw new Error(`${length} characters of ${expected}`)
  }
}

const lengthRead = async (attached: ReturnType<ChatRef["attach"]>): Promise<number> => {
  let length = 0
  for await (const item of attached) {
    if (item.type !== "event") continue
    if (item.event.type === "text_delta") length += item.event.delta.length
    if (item.event.type === "chat_completed") break
  }
  return length
}
