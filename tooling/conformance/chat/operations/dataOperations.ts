/** The calls on plain values: the collector, events, threads, the encoder, the data helpers. */
import * as Event from "../../../../packages/chat/src/events/Event.ts"
import * as Response from "../../../../packages/chat/src/model/Response.ts"
import { resolveModel, resolveParams, resolveTools } from "../../../../packages/chat/src/options/deferredTools.ts"
import { reservedHaltReasons } from "../../../../packages/chat/src/values/HandlerResult.ts"
import { Engine } from "@troupe/chat"
import { Message, Thread, Usage } from "@troupe/chat/messages"
import { ToolResultEncoder } from "@troupe/chat/tools"
import { fieldsOf, listOf, present, textOf } from "../../runner/json.ts"
import { toolOf } from "../behaviours.ts"
import { collect } from "../collecting.ts"
import { optionsOf } from "../engineOf.ts"
import { type Operation, valued } from "../outcome.ts"
import { forms } from "../values/forms.ts"
import { construct, usageOf, words } from "../values/plain.ts"

/** An event from the arguments of a constructor, which are the fields of its payload in order. */
const build: Operation = ({ constructor: tag, args }) => {
  const names = words.payloads[textOf(tag)]
  const values = listOf(args)
  const named = values.map((value, index) => [listOf(names)[index] ?? index, value])
  const payload: unknown = names === undefined ? values[0] : Object.fromEntries(named)
  return valued(() => forms.event.to(forms.event.from([tag, payload])))
}

/** The messages that an operation on threads appends. */
const appended: Readonly<Record<string, (value: unknown, more: unknown) => ReadonlyArray<Message.Message>>> = {
  add_message: (value) => [forms.message.from(value)],
  add_messages: (values) => listOf(values).map(forms.message.from),
  add_system: (text) => [Message.system(textOf(text))],
  add_user: (text) => [Message.user(textOf(text))],
  add_assistant: (text) => [Message.assistant(textOf(text))],
  add_tool: (id, text) => [Message.toolResult(textOf(id), textOf(text))],
  add_tool_result: (id, text) => [Message.toolResult(textOf(id), textOf(text))]
}

const thread: Operation = ({ ops, thread: first }) => {
  let here = first === undefined ? Thread.empty : forms.thread.from(first)
  let last: Message.Message | undefined
  for (const [op, value, more] of listOf(ops).map(listOf)) {
    here = Thread.append(here, ...(appended[textOf(op)]?.(value, more) ?? []))
    if (op === "last_message") last = here.messages.at(-1)
  }
  return { value: forms.thread.to(here), result: last === undefined ? null : forms.message.to(last) }
}

const resolved =
  (resolve: (engine: Engine.Engine, options: ReturnType<typeof optionsOf>) => unknown): Operation =>
  ({ engine, opts }, seen) =>
    valued(() => {
      const { tools, params, model } = fieldsOf(engine)
      const made = Engine.make({
        ...(present({ params, model }) as object),
        tools: listOf(tools).map((tool) => toolOf(tool, seen))
      })
      return resolve(made, optionsOf(opts, seen))
    })

/** The calls of this kind, by `when`. */
export const dataOperations: Readonly<Record<string, Operation>> = {
  collect,
  encode: async ({ value }) => {
    const encode = () => ToolResultEncoder.json.encode(construct(value))
    const { value: first, failure } = await valued(encode)
    return failure === undefined ? { value: first, deterministic: first === encode() } : { failure }
  },
  // The cases have the first version of the events.
  "event.tags": () => ({
    value: Event.tags.filter(
      (tag) =>
        tag !== "request_delayed" && tag !== "thread_compacted" && tag !== "reasoning_delta" && tag !== "child_event"
    )
  }),
  "event.is_event": ({ event, value }) => ({
    value: Event.isEvent(event === undefined ? construct(value) : forms.event.from(event))
  }),
  "event.build": build,
  thread,
  "engine.resolve_tools": resolved((engine, { tools }) => resolveTools(engine, tools)),
  "engine.resolve_model": resolved((engine, { model }) => resolveModel(engine, model)),
  "engine.resolve_params": resolved((engine, options) => resolveParams(engine, options)),
  "usage.total_tokens": ({ fields }) => ({ value: Usage.totalTokens(usageOf(fields)) ?? null }),
  "response.text": ({ fields, response }) => {
    const given = fieldsOf(response ?? fields)
    const text = Response.text(forms.response.from(given))
    return { value: text === "" && given["output_text"] !== "" && given["message"] === undefined ? null : text }
  },
  "chat_result.halted": ({ halted_reason: reason }) => ({
    value: forms.chatResult.from({ halted_reason: reason }).haltedReason !== "completed"
  }),
  reserved_halt_reasons: () => ({ value: [...reservedHaltReasons] })
}
