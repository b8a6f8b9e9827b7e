/** Ways to pull an adapter. */
import type { AdapterEvent } from "@troupe/chat/events"
import { Adapter, type Request } from "@troupe/chat/models"

/** A request that says hello, with what a test adds. */
export const asking = (more: Partial<Request> = {}): Request => ({
  messages: [{ role: "user", content: "hello" }],
  tools: [],
  ...more
})

/** Adapter.Adapter options with a signal of the test's own. */
export const adapterOptions = (more: Partial<Adapter.AdapterOptions> = {}): Adapter.AdapterOptions => ({
  signal: new AbortController().signal,
  requestId: "request-1",
  includeRawChunks: false,
  adapterOptions: {},
  ...more
})

/** Every event of one request. */
export const pull = async (
  adapter: Adapter.Adapter,
  request: Request = asking(),
  options: Adapter.AdapterOptions = adapterOptions()
): Promise<ReadonlyArray<AdapterEvent>> => {
  const events: Array<AdapterEvent> = []
  for await (const event of Adapter.eventsOf(await adapter.stream(request, options))) events.push(event)
  return events
}

/** The tags of events, in order. */
export const tagsOf = (events: ReadonlyArray<AdapterEvent>): ReadonlyArray<string> => events.map((event) => event.type)

/** The one event with a tag. */
export const only = <T extends AdapterEvent["type"]>(
  events: ReadonlyArray<AdapterEvent>,
  type: T
): Extract<AdapterEvent, { readonly type: T }> => {
  const found = events.filter((event): event is Extract<AdapterEvent, { readonly type: T }> => event.type === type)
  const [first] = found
  if (first === undefined || found.length > 1) throw new Error(`${found.length} events are ${type}`)
  return first
}
