/** One long answer: the cost of a delta. */
import { Chat, Engine, Troupe, user } from "@troupe/chat"
import type { Event } from "@troupe/chat/events"
import type { Adapter } from "@troupe/chat/models"

async function* answer(deltas: number): AsyncGenerator<Event.AdapterEvent, void> {
  yield { type: "message_started", message: { role: "assistant", content: "" } }
  for (let delta = 0; delta < deltas; delta++) yield { type: "text_delta", id: null, delta: "word " }
  yield { type: "message_completed", message: { role: "assistant", content: "" }, finishReason: "stop" }
}

/** The number of deltas that an adapter yields at once, as from one packet. */
export const packet = 16

async function* packets(deltas: number): AsyncGenerator<Adapter.Yielded, void> {
  yield { type: "message_started", message: { role: "assistant", content: "" } }
  for (let sent = 0; sent < deltas; sent += packet) {
    yield Array.from({ length: packet }, () => ({ type: "text_delta", id: null, delta: "word " }) as const)
  }
  yield { type: "message_completed", message: { role: "assistant", content: "" }, finishReason: "stop" }
}

const adapter = (deltas: number): Adapter.Adapter => ({ name: "long", stream: () => answer(deltas) })

const read = async (events: AsyncIterable<Event.Event>, deltas: number): Promise<void> => {
  let length = 0
  for await (const event of events) if (event.type === "text_delta") length += event.delta.length
  if (length !== deltas * "word ".length) throw new Error(`read ${length} characters`)
}

/** The adapter's own generator, read directly. */
export const deltasOnGenerators = (deltas: number): Promise<void> => read(answer(deltas), deltas)

/** The same through `Chat.stream`. */
export const deltasOnValues = async (deltas: number): Promise<void> =>
  read(await Chat.stream(Engine.make({ adapter: adapter(deltas) }), [user("go")]), deltas)

/** `Chat.stream`, of an adapter that yields arrays of {@link packet} deltas. */
export const deltasInPackets = async (deltas: number): Promise<void> => {
  const engine = Engine.make({ adapter: { name: "packets", stream: () => packets(deltas) } })
  await read(await Chat.stream(engine, [user("go")]), deltas)
}

/** The same through a chat process and its supervisor. */
export const deltasOnTroupe = async (deltas: number): Promise<void> => {
  const troupe = await Troupe.start({ adapter: adapter(deltas) })
  const chat = await troupe.chat("long")
  await read(chat.send("go"), deltas)
  await troupe.stop()
}
