/**
 * A chat's events as the output items of one OpenAI response.
 *
 * Owns: the items so far. Does not own the source of the events, nor the response around the items.
 *
 * RESPITEM1. The streamed events add up to the items of the whole response. Each item that was added is done before the
 *            response ends.
 * RESPITEM2. Only calls that the client answers are sent, and those that the provider ran. Calls of the server's own tools
 *            are not.
 * RESPITEM3. The sources of a step are annotations of its last text, or of an empty one behind it if that text has ended. Then
 *            come its calls that the provider ran, and then its images. So the items are the same live and later.
 */
import type { ChatResult } from "@troupe/chat/chats"
import type { Event } from "@troupe/chat/events"
import { Message } from "@troupe/chat/messages"
import { isQuestion, type StepMessages } from "../index.ts"
import {
  type CallItem,
  imageItem,
  type ItemStatus,
  type MessageItem,
  providerCallItem,
  type ReasoningItem,
  type ResponseEvent,
  type ResponseItem,
  textPart,
  type WholeItem
} from "./outputItems.ts"
import { type Citation, citationsOf, imagesOf, providerCallsOf } from "./replyParts.ts"
import type { ResponseIds } from "./responseIds.ts"

interface Open {
  readonly index: number
  text: string
}

type Reply = Parameters<typeof Message.parts>[0]

/** The model's block of reasoning, when its beginning was missed: the next fragment continues it. */
const anyBlock = Symbol("any block")

export class ResponseItems {
  readonly #ids: ResponseIds
  readonly #isManual: (name: string) => boolean
  readonly #items: Array<ResponseItem> = []
  #text: (Open & { readonly annotations: Array<Citation> }) | undefined
  /** The characters of the step's text so far. */
  #said = 0
  #reasoning: (Open & { part: number; of: unknown; readonly parts: Array<string> }) | undefined
  readonly #calls = new Map<string, Open>()
  #result: ChatResult | undefined

  /** `isManual` is whether the client answers the calls of the tool with this name. */
  constructor(ids: ResponseIds, isManual: (name: string) => boolean) {
    this.#ids = ids
    this.#isManual = isManual
  }

  /** The items so far. */
  get output(): ReadonlyArray<ResponseItem> {
    return this.#items
  }

  /** The result of the run, once it is over. */
  get result(): ChatResult | undefined {
    return this.#result
  }

  push(event: Event): ReadonlyArray<ResponseEvent> {
    switch (event.type) {
      case "message_started": {
        const ended = this.end()
        this.#said = 0
        return ended
      }
      case "text_delta":
        return this.#say(event.delta)
      case "text_completed":
        return this.#said > 0 ? [] : this.#say(event.text)
      case "reasoning_delta":
        return event.delta === "" ? [] : this.#reason(event.id, event.delta)
      case "ask_user_requested":
        return [...this.#endText(), ...this.#say(event.question), ...this.#endText()]
      case "tool_call_started":
        return this.#begin(event.id, event.name)
      case "tool_call_delta":
        return this.#write(event.id, event.argumentsDelta)
      case "tool_call_completed": {
        const begun = this.#begin(event.id, event.name)
        const isWritten = this.#calls.get(event.id)?.text !== ""
        return [...begun, ...(isWritten ? [] : this.#write(event.id, event.rawArguments)), ...this.#endCall(event.id)]
      }
      case "message_completed":
        return this.#complete(event.message)
      case "chat_completed":
        this.#result = event.result
        return this.end()
      default:
        return []
    }
  }

  /** Adds a step that is over. Its events are those of the step's own, with whole texts as fragments. */
  step({ said, behind }: StepMessages): ReadonlyArray<ResponseEvent> {
    const events: Array<ResponseEvent> = []
    this.#said = 0
    const answered = new Map(
      behind.flatMap((message) => (message.role === "tool" ? [[message.toolCallId, message.outcome] as const] : []))
    )
    const calls = new Map(said.toolCalls?.map((call) => [call.id, call]))
    for (const part of Message.parts(said)) {
      if (part.type === "reasoning" && part.text !== "") events.push(...this.#reason(part, part.text))
      if (part.type === "text") events.push(...this.#say(part.text))
      const call = part.type === "tool_call" ? calls.get(part.toolCallId) : undefined
      // A call that the server ran has an outcome.
      if (call === undefined || answered.get(call.id) !== undefined || !this.#isManual(call.name)) continue
      events.push(
        ...this.#begin(call.id, call.name),
        ...this.#write(call.id, call.rawArguments ?? JSON.stringify(call.arguments)),
        ...this.#endCall(call.id)
      )
    }
    events.push(...this.#complete(said))
    for (const message of behind.filter(isQuestion)) events.push(...this.#say(Message.text(message)), ...this.end())
    return events
  }

  /** Adds what the running step has said so far. */
  partial(reasoning: string, text: string): ReadonlyArray<ResponseEvent> {
    return [...(reasoning === "" ? [] : this.#reason(anyBlock, reasoning)), ...this.#say(text)]
  }

  /** Ends the open items. */
  end(status: ItemStatus = "completed"): ReadonlyArray<ResponseEvent> {
    return [
      ...this.#endReasoning(),
      ...this.#endText(status),
      ...[...this.#calls.keys()].flatMap((id) => this.#endCall(id, status))
    ]
  }

  /** Adds what the fragments of a reply do not have, and ends it (RESPITEM3). */
  #complete(reply: Reply): ReadonlyArray<ResponseEvent> {
    const parts = Message.parts(reply)
    const citations = citationsOf(parts, (this.#text?.text.length ?? 0) - this.#said)
    const whole = (kind: "mcp" | "ig", make: (id: string, index: number) => WholeItem) =>
      this.#whole(make(this.#ids.item(kind, this.#items.length), this.#items.length))
    return [
      ...(citations.length === 0 ? [] : this.#cite(citations)),
      ...this.end(),
      ...providerCallsOf(parts).flatMap((call) => whole("mcp", (id, index) => providerCallItem(id, index, call))),
      ...imagesOf(parts).flatMap((image) => {
        const { base64 } = image
        return base64 === undefined ? [] : whole("ig", (id, index) => imageItem(id, index, image, base64))
      })
    ]
  }

  #whole({ added, events, done }: WholeItem): ReadonlyArray<ResponseEvent> {
    const begun = this.#add(added)
    const output_index = this.#items.length - 1
    this.#items[output_index] = done
    return [begun, ...events, { type: "response.output_item.done", output_index, item: done }]
  }

  #cite(citations: ReadonlyArray<Citation>): ReadonlyArray<ResponseEvent> {
    const begun = this.#beginText()
    const open = this.#text
    if (open === undefined) return begun
    open.annotations.push(...citations)
    const at = { ...this.#at(open), content_index: 0 }
    return [
      ...begun,
      ...citations.map((annotation, annotation_index) => ({
        type: "response.output_text.annotation.added" as const,
        ...at,
        annotation_index,
        annotation
      }))
    ]
  }

  #beginText(): ReadonlyArray<ResponseEvent> {
    const ended = this.#endReasoning()
    if (this.#text !== undefined) return ended
    const index = this.#items.length
    const item: MessageItem = {
      type: "message",
      id: this.#ids.item("msg", index),
      role: "assistant",
      status: "in_progress",
      content: []
    }
    this.#text = { index, text: "", annotations: [] }
    const added = this.#add(item)
    const at = { ...this.#at(this.#text), content_index: 0 }
    return [...ended, added, { type: "response.content_part.added", ...at, part: textPart("") }]
  }

  #say(delta: string): ReadonlyArray<ResponseEvent> {
    if (delta === "") return []
    const begun = this.#beginText()
    const open = this.#text
    if (open === undefined) return begun
    open.text += delta
    this.#said += delta.length
    return [...begun, { type: "response.output_text.delta", ...this.#at(open), content_index: 0, delta, logprobs: [] }]
  }

  #endText(status: ItemStatus = "completed"): ReadonlyArray<ResponseEvent> {
    const open = this.#text
    if (open === undefined) return []
    this.#text = undefined
    const at = { ...this.#at(open), content_index: 0 }
    const part = textPart(open.text, open.annotations)
    return [
      { type: "response.output_text.done", ...at, text: open.text, logprobs: [] },
      { type: "response.content_part.done", ...at, part },
      this.#done<MessageItem>(open, { status, content: [part] })
    ]
  }

  #reason(of: unknown, delta: string): ReadonlyArray<ResponseEvent> {
    const begun: Array<ResponseEvent> = [...this.#endText()]
    let open = this.#reasoning
    if (open === undefined) {
      const index = this.#items.length
      begun.push(this.#add({ type: "reasoning", id: this.#ids.item("rs", index), summary: [] }))
      open = { index, text: "", part: -1, of: undefined, parts: [] }
      this.#reasoning = open
    }
    if (open.of === anyBlock && open.part >= 0) open.of = of
    if (open.part < 0 || open.of !== of) {
      begun.push(...this.#endPart())
      open.part += 1
      open.of = of
      begun.push({
        type: "response.reasoning_summary_part.added",
        ...this.#at(open),
        summary_index: open.part,
        part: { type: "summary_text", text: "" }
      })
    }
    open.text += delta
    return [
      ...begun,
      { type: "response.reasoning_summary_text.delta", ...this.#at(open), summary_index: open.part, delta }
    ]
  }

  #endPart(): ReadonlyArray<ResponseEvent> {
    const open = this.#reasoning
    if (open === undefined || open.part < 0) return []
    const { text } = open
    const at = { ...this.#at(open), summary_index: open.part }
    open.parts.push(text)
    open.text = ""
    return [
      { type: "response.reasoning_summary_text.done", ...at, text },
      { type: "response.reasoning_summary_part.done", ...at, part: { type: "summary_text", text } }
    ]
  }

  #endReasoning(): ReadonlyArray<ResponseEvent> {
    const open = this.#reasoning
    if (open === undefined) return []
    const ended = this.#endPart()
    this.#reasoning = undefined
    const summary = open.parts.map((text) => ({ type: "summary_text" as const, text }))
    return [...ended, this.#done<ReasoningItem>(open, { summary })]
  }

  #begin(id: string, name: string): ReadonlyArray<ResponseEvent> {
    if (!this.#isManual(name) || this.#calls.has(id)) return []
    const ended = [...this.#endReasoning(), ...this.#endText()]
    const index = this.#items.length
    this.#calls.set(id, { index, text: "" })
    const added = this.#add({
      type: "function_call",
      id: this.#ids.item("fc", index),
      call_id: this.#ids.call(id),
      name,
      arguments: "",
      status: "in_progress"
    })
    return [...ended, added]
  }

  #write(id: string, delta: string): ReadonlyArray<ResponseEvent> {
    const open = this.#calls.get(id)
    if (open === undefined || delta === "") return []
    open.text += delta
    return [{ type: "response.function_call_arguments.delta", ...this.#at(open), delta }]
  }

  #endCall(id: string, status: ItemStatus = "completed"): ReadonlyArray<ResponseEvent> {
    const open = this.#calls.get(id)
    if (open === undefined) return []
    this.#calls.delete(id)
    const name = (this.#items[open.index] as CallItem).name
    return [
      { type: "response.function_call_arguments.done", ...this.#at(open), name, arguments: open.text },
      this.#done<CallItem>(open, { arguments: open.text, status })
    ]
  }

  #at({ index }: Open): { readonly item_id: string; readonly output_index: number } {
    return { item_id: this.#items[index]?.id ?? "", output_index: index }
  }

  #add(item: ResponseItem): ResponseEvent {
    const index = this.#items.push(item) - 1
    return { type: "response.output_item.added", output_index: index, item }
  }

  #done<Item extends ResponseItem>({ index }: Open, fields: Partial<Item>): ResponseEvent {
    const item = { ...this.#items[index], ...fields } as Item
    this.#items[index] = item
    return { type: "response.output_item.done", output_index: index, item }
  }
}
