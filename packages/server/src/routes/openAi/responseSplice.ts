/**
 * Joins the events of one response, from several homes.
 *
 * RESPSPLICE1. A client gets each step that is over once. An item that a step was writing when it was cut ends as `incomplete`, and the
 *              step begins again behind it. A call that was being written has no end: the client runs no part of it.
 * RESPSPLICE2. Numbers of events and places of items only grow. The last event has the items of the conversation.
 */
import type { Splice } from "../../http/index.ts"
import { eventFrame } from "../../wire/index.ts"

interface Item {
  readonly id: string
  readonly type: string
}

/** An event of the stream, as far as the splice reads it. */
interface Sent {
  readonly type: string
  readonly sequence_number?: number
  readonly output_index?: number
  readonly item?: Item
  readonly item_id?: string
  readonly delta?: string
  readonly response?: object
  readonly [field: string]: unknown
}

/** An item that the client has of the present step: its events, and the whole item once it is done. */
interface Begun {
  readonly events: Array<Sent>
  done: string | undefined
}

/** A join: the steps of the present answer so far, its items in the steps that the client has, and the frames of one that may be known. */
interface Join {
  seen: number
  items: number
  base: number
  readonly begun: ReadonlyArray<Begun>
  held: Array<Sent>
}

const sentIn = (frame: string): Sent | undefined => {
  const from = frame.indexOf("data: {")
  return from === -1 ? undefined : (JSON.parse(frame.slice(from + "data: ".length)) as Sent)
}

/** An item without its id, which has its place. */
const contentOf = ({ item }: Sent): string => JSON.stringify({ ...item, id: "" })

const isAdded = (frame: string): boolean => frame.startsWith("event: response.output_item.added\n")

const endTypes: ReadonlySet<string> = new Set(["response.completed", "response.incomplete", "response.failed"])

/** The end of an item that was cut; nothing for a call. */
const endingOf = ({ events, done }: Begun): ReadonlyArray<Sent> => {
  const { item, output_index } = events[0] ?? {}
  if (done !== undefined || item === undefined || output_index === undefined) return []
  const parts = events.filter(({ type }) => type.endsWith("_part.added")).length
  const at = { item_id: item.id, output_index }
  const textOf = (index: number, name: string) =>
    events.flatMap((event) => (event[name] === index && event.delta !== undefined ? [event.delta] : [])).join("")
  const end = (fields: object) => ({
    type: "response.output_item.done",
    output_index,
    item: { ...item, status: "incomplete", ...fields }
  })
  if (item.type === "message") {
    const text = textOf(0, "content_index")
    const part = { type: "output_text", text, annotations: [], logprobs: [] }
    return [
      { type: "response.output_text.done", ...at, content_index: 0, text, logprobs: [] },
      { type: "response.content_part.done", ...at, content_index: 0, part },
      end({ content: [part] })
    ]
  }
  if (item.type !== "reasoning") return []
  const summary = Array.from({ length: parts }, (_, index) => ({
    type: "summary_text",
    text: textOf(index, "summary_index")
  }))
  const last = { ...at, summary_index: parts - 1 }
  const { text } = summary.at(-1) ?? { text: "" }
  return [
    { type: "response.reasoning_summary_text.done", ...last, text },
    { type: "response.reasoning_summary_part.done", ...last, part: { type: "summary_text", text } },
    end({ summary })
  ]
}

/** Makes one for the stream of a response. */
export const responseSplice = (): Splice => {
  let steps = 0
  /** The items of the client, those in front of the present step, and how far a home's places are behind the client's. */
  let [items, before, shift] = [0, 0, 0]
  let step: Array<string> = []
  let newest: string | undefined
  let created: string | undefined
  let number = -1
  let join: Join | undefined
  let hasMoved = false

  const passed = (frame: string): string => {
    if (frame.startsWith(": step")) {
      steps += 1
      before = items
      step = []
      return frame
    }
    if (isAdded(frame)) items += 1
    if (frame.startsWith("event: ")) newest = frame
    created ??= newest
    step.push(frame)
    return frame
  }

  /** Sends an event behind the last one, at the place that its item has for the client. */
  const send = (sent: Sent): string => {
    const { output_index: index, item, item_id: id, type } = sent
    const moved = (name: string): string => (shift === 0 ? name : name.replace(/\.\d+$/u, `.${(index ?? 0) + shift}`))
    number += type.endsWith(".delta") ? (sent.delta ?? "").length : 1
    const event = {
      ...sent,
      ...(index !== undefined && { output_index: index + shift }),
      ...(item !== undefined && { item: { ...item, id: moved(item.id) } }),
      ...(id !== undefined && { item_id: moved(id) }),
      sequence_number: number
    }
    return passed(eventFrame(event))
  }

  /** Ends the items of the step that was cut. What comes has its place behind them. */
  const cut = ({ begun, held, base }: Join, at: number): string => {
    join = undefined
    shift = 0
    const ends = begun.slice(at).flatMap(endingOf).map(send).join("")
    shift = items - base - at
    return ends + held.map(send).join("")
  }

  const compared = (present: Join, sent: Sent): string => {
    const at = (sent.output_index ?? 0) - present.base
    const known = present.begun[at]
    if (known?.done === undefined) return cut(present, at) + send(sent)
    present.held.push(sent)
    if (sent.type !== "response.output_item.done") return ""
    if (contentOf(sent) !== known.done) return cut(present, at)
    present.held = []
    return ""
  }

  const joined = (frame: string): string => {
    if (frame.startsWith(": step")) {
      if (join === undefined) return passed(frame)
      join.seen += 1
      if (join.seen === steps) join.base = join.items
      if (join.seen <= steps) return ""
      return cut(join, join.items - join.base) + passed(frame)
    }
    const sent = sentIn(frame)
    if (sent === undefined || sent.type === "response.created" || sent.type === "response.in_progress") return ""
    if (join === undefined) return send(sent)
    if (endTypes.has(sent.type)) return cut(join, join.items - join.base) + send(sent)
    if (join.seen < steps) {
      if (isAdded(frame)) join.items += 1
      return ""
    }
    const out = compared(join, sent)
    if (join !== undefined && sent.type === "response.output_item.done") join.items += 1
    return out
  }

  const begunIn = (frames: ReadonlyArray<string>): ReadonlyArray<Begun> => {
    const begun: Array<Begun> = []
    for (const sent of frames.flatMap((frame) => sentIn(frame) ?? [])) {
      if (sent.output_index === undefined) continue
      const at = sent.output_index - before
      const one = (begun[at] ??= { events: [], done: undefined })
      one.events.push(sent)
      if (sent.type === "response.output_item.done") one.done = contentOf(sent)
    }
    return begun
  }

  return {
    push: (frame) => (hasMoved ? joined(frame) : passed(frame)),
    again: (headers) => {
      number = newest === undefined ? -1 : (sentIn(newest)?.sequence_number ?? -1)
      hasMoved = true
      join = { seen: 0, items: 0, base: 0, begun: begunIn(step), held: [] }
      return headers
    },
    failed: () => {
      const { response } = (created === undefined ? undefined : sentIn(created)) ?? {}
      const error = { code: "server_error", message: "The conversation moves; ask again" }
      if (!hasMoved) number = newest === undefined ? -1 : (sentIn(newest)?.sequence_number ?? -1)
      return send({ type: "response.failed", response: { ...response, status: "failed", error } })
    }
  }
}
