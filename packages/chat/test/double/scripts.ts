/** Scripts and tools that many tests begin from. */
import type { Event } from "../../src/events/Event.ts"
import { ok } from "../../src/values/HandlerResult.ts"
import { type Message } from "../../src/model/messageShapes.ts"
import { text as textOf, user } from "../../src/model/Message.ts"
import type { FinishReason } from "../../src/model/Response.ts"
import { make } from "../../src/tool/Tool.ts"
import type { Handler, Tool } from "../../src/tool/toolContract.ts"
import type { Script } from "../../src/adapter/Fake.ts"

/** A tool that gives its arguments back. */
export const echo: Tool = make({ name: "echo", handler: (args) => ok(args) })

/** A tool with this handler. */
export const handling = (name: string, handler: Handler): Tool => make({ name, handler })

/** The thread of one greeting. */
export const hi = [user("hi")]

/** What a message says. */
export const said = (message: Message | undefined): string => (message === undefined ? "" : textOf(message))

/** A reply that says something. */
export const says = (text: string, finish: FinishReason = "stop"): Script => [{ text }, { finish }]

/** A reply that calls tools, each by name or with arguments; the ids are c0, c1 and so on. */
export const calls = (...names: ReadonlyArray<string | readonly [string, Record<string, unknown>]>): Script => [
  ...names.map((called, index) => {
    const [name, args] = typeof called === "string" ? [called, {}] : called
    return { toolCall: { id: `c${index}`, name, arguments: args } }
  }),
  { finish: "tool_calls" }
]

/** One call of echo, then a final answer. */
export const callThenAnswer: ReadonlyArray<Script> = [calls(["echo", { x: 1 }]), says("done")]

/** The tags of events. */
export const tagsOf = (events: ReadonlyArray<Event>): ReadonlyArray<Event["type"]> => events.map((event) => event.type)

/** Reads events to their end. */
export const readAll = async (events: AsyncIterable<Event>): Promise<ReadonlyArray<Event>> => {
  const read: Array<Event> = []
  for await (const event of events) read.push(event)
  return read
}

/** Reads events up to the first with this tag, and leaves. */
export const readTo = async (events: AsyncIterable<Event>, tag: Event["type"]): Promise<ReadonlyArray<Event>> => {
  const read: Array<Event> = []
  for await (const event of events) {
    read.push(event)
    if (event.type === tag) break
  }
  return read
}

/** The one event with this tag. */
export const only = <T extends Event["type"]>(
  events: ReadonlyArray<Event>,
  tag: T
): Extract<Event, { readonly type: T }> => {
  const found = events.filter((event): event is Extract<Event, { readonly type: T }> => event.type === tag)
  const [event] = found
  if (event === undefined || found.length > 1) throw new Error(`${found.length} events ${tag}`)
  return event
}
