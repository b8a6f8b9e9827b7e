/** The calls on plain values: the collector, events, checks, the encoder, the data helpers. */
import * as Event from "../../../../packages/chat/src/events/Event.ts"
import * as Response from "../../../../packages/chat/src/model/Response.ts"
import { resolveModel, resolveParams, resolveTools } from "../../../../packages/chat/src/options/callOverlay.ts"
import * as Validate from "../../../../packages/chat/src/model/Validate.ts"
import { Engine } from "@troupe/chat"
import { AdapterError, EngineError, SessionError, StreamError, ToolError, ValidationError } from "@troupe/chat/errors"
import { Message, Thread, ToolCall, Usage } from "@troupe/chat/messages"
import { reservedHaltReasons } from "../../../../packages/chat/src/values/HandlerResult.ts"
import { Request } from "@troupe/chat/models"
import { Tool, ToolResultEncoder } from "@troupe/chat/tools"
import { toolOf } from "../behaviours.ts"
import { type Fields, fieldsOf, isFields, listOf, textOf } from "../../runner/fields.ts"
import type { Operation } from "./operation.ts"
import { collect } from "../collecting.ts"
import { optionsOf } from "../engineOf.ts"
import {
  chatResultOf,
  construct,
  eventOf,
  libraryError,
  messageOf,
  requestOf,
  responseOf,
  sessionOf,
  stepResultOf,
  threadOf,
  toolCallOf,
  usageOf
} from "../values/fromNeutral.ts"
import { camel, present, renamed, snake } from "../values/naming.ts"
import { type Outcome, settled } from "../outcome.ts"
import { serializing } from "../values/serializing.ts"
import {
  chatResultForm,
  errorForm,
  eventForm,
  messageForm,
  requestForm,
  responseForm,
  stepResultForm,
  threadForm,
  toolCallForm,
  usageForm
} from "../values/toNeutral.ts"

/** A plain value, or the exception of its call. */
const valued = async (call: () => unknown): Promise<Outcome> => {
  const { ok, failure } = await settled(call)
  return failure === undefined ? { value: ok ?? null } : { failure }
}

/** The names of a payload, in the order of the constructor's parameters. */
const payloads: Readonly<Record<string, ReadonlyArray<string>>> = {
  message_started: ["message"],
  text_delta: ["id", "delta"],
  text_completed: ["id", "text"],
  tool_call_started: ["id", "name"],
  tool_call_delta: ["id", "arguments_delta"],
  tool_call_completed: ["id", "name", "arguments", "raw_arguments"],
  tool_execution_started: ["id", "name", "arguments"],
  tool_execution_completed: ["id", "name", "result"],
  tool_result_encoded: ["id", "content"],
  ask_user_requested: ["tool_call_id", "tool_name", "question", "opts"],
  tool_halt: ["tool_call_id", "reason", "result", "content"],
  message_completed: ["message", "finish_reason", "metadata"],
  step_completed: ["response", "thread", "mode", "manual_tool_calls"],
  chat_completed: ["result"]
}

const build: Operation = ({ constructor: tag, args }) => {
  const names = payloads[textOf(tag)]
  const values = listOf(args)
  const payload =
    names === undefined ? values[0] : Object.fromEntries(values.map((value, index) => [names[index] ?? index, value]))
  return valued(() => eventForm(eventOf([tag, payload])))
}

const checked =
  (check: (value: never) => ValidationError | undefined, from: (value: unknown) => unknown): Operation =>
  ({ value }) => {
    const failure = check(from(value) as never)
    return failure === undefined ? { ok: true } : { failure }
  }

const make: Operation = ({ type, fields }) =>
  valued(() => {
    const given = fieldsOf(fields)
    switch (type) {
      case "Message":
        return messageForm(Message.Message.parse(messageOf(given)))
      case "ToolCall":
        return toolCallForm(ToolCall.ToolCall.parse("arguments" in given ? toolCallOf(given) : given))
      case "Tool":
        return Tool.make(given as never)
      case "Usage":
        return usageForm(Usage.Usage.parse(usageOf(given)))
      case "Thread":
        return threadForm(Thread.Thread.parse(threadOf(given)))
      case "Request":
        return requestForm(Request.parse(requestOf(given)))
      case "Engine":
        return renamed(engineForm(Engine.make(renamed(fieldsOf(construct(given)), camel))), snake)
      case "Response":
        return responseForm(Response.Response.parse(responseOf(given)))
      case "StepResult":
        return stepResultForm(stepResultOf(given))
      case "ChatResult":
        return chatResultForm(chatResultOf(given))
      default:
        return errorForm(libraryError({ type, ...given }))["$error"]
    }
  })

const engineForm = ({ adapter, tools, ...rest }: Engine.Engine): Fields => ({
  ...rest,
  adapter: adapter?.name,
  tools: tools.map(({ name }) => ({ name }))
})

const thread: Operation = ({ ops, thread: first }) => {
  let here = first === undefined ? Thread.empty : threadOf(first)
  let result: unknown
  for (const [op, value, more] of listOf(ops).map(listOf)) {
    if (op === "add_message") here = Thread.append(here, messageOf(value))
    else if (op === "add_messages") here = Thread.append(here, ...listOf(value).map(messageOf))
    else if (op === "add_system") here = Thread.append(here, Message.system(textOf(value)))
    else if (op === "add_user") here = Thread.append(here, Message.user(textOf(value)))
    else if (op === "add_assistant") here = Thread.append(here, Message.assistant(textOf(value)))
    else if (op === "add_tool" || op === "add_tool_result")
      here = Thread.append(here, Message.toolResult(textOf(value), textOf(more)))
    else if (op === "last_message") result = here.messages.at(-1)
  }
  return { value: threadForm(here), result: result === undefined ? null : messageForm(result as Message.Message) }
}

const resolved =
  (resolve: (engine: Engine.Engine, options: ReturnType<typeof optionsOf>) => unknown): Operation =>
  ({ engine, opts }, seen) =>
    valued(() => {
      const { tools, params, model } = fieldsOf(engine)
      const made = Engine.make({
        ...present({ params, model }),
        tools: listOf(tools).map((tool) => toolOf(tool, seen))
      })
      return resolve(made, optionsOf(opts, seen))
    })

const reasonsOf: Readonly<Record<string, ReadonlyArray<string>>> = {
  AdapterError: AdapterError.reasons,
  EngineError: EngineError.reasons,
  StreamError: StreamError.reasons,
  ToolError: ToolError.reasons,
  ValidationError: ValidationError.reasons,
  SessionError: SessionError.reasons
}

/** The calls of this kind, by `when`. */
export const dataOperations: Readonly<Record<string, Operation>> = {
  collect,
  encode: async ({ value }) => {
    const encode = () => ToolResultEncoder.json.encode(construct(value))
    const { value: first, failure } = await valued(encode)
    return failure === undefined ? { value: first, deterministic: first === encode() } : { failure }
  },
  // The cases have the first version of the events.
  "event.tags": () => ({ value: Event.tags.filter((tag) => tag !== "reasoning_delta" && tag !== "child_event") }),
  "event.is_event": ({ event, value }) => ({
    value: Event.isEvent(event === undefined ? construct(value) : eventOf(event))
  }),
  "event.build": build,
  "validate.request": checked(Validate.request, requestOf),
  "validate.message": checked(Validate.message, messageOf),
  "validate.tool": checked(Validate.tool, (value) => value),
  "validate.thread": checked(Validate.thread, (value) =>
    isFields(value) || Array.isArray(value) ? threadOf(value) : value
  ),
  "validate.session": checked(Validate.session, sessionOf),
  ...serializing,
  new: make,
  thread,
  "engine.resolve_tools": resolved((engine, { tools }) => resolveTools(engine, tools)),
  "engine.resolve_model": resolved((engine, { model }) => resolveModel(engine, model)),
  "engine.resolve_params": resolved((engine, options) => resolveParams(engine, options)),
  "usage.total_tokens": ({ fields }) => ({ value: Usage.totalTokens(usageOf(fields)) ?? null }),
  "response.text": ({ fields, response }) => {
    const given = fieldsOf(response ?? fields)
    const text = Response.text(responseOf(given))
    return { value: text === "" && given["output_text"] !== "" && given["message"] === undefined ? null : text }
  },
  "chat_result.halted": ({ halted_reason: reason }) => ({
    value: chatResultOf({ halted_reason: reason }).haltedReason !== "completed"
  }),
  "error.new": ({ type, reason, fields }) =>
    valued(() => errorForm(libraryError({ ...fieldsOf(fields), type, reason }))["$error"]),
  "error.reasons": ({ type }) => ({ value: reasonsOf[textOf(type)] }),
  reserved_halt_reasons: () => ({ value: [...reservedHaltReasons] })
}
