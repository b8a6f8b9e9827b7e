/** Converts a case's behaviours to handlers, executors, encoders and policies, and logs their calls. */
import { askUser, error, halt, ok } from "@troupe/chat"
import type { ChatOptions, StepResult } from "@troupe/chat/chats"
import type { ToolCall } from "@troupe/chat/messages"
import type { HandlerResult } from "@troupe/chat/results"
import { Tool, ToolExecutor, ToolResultEncoder } from "@troupe/chat/tools"
import { Clock } from "@troupe/otp"
import { type Fields, fieldsOf, isFields, listOf, textOf } from "../runner/fields.ts"
import { construct } from "./values/fromNeutral.ts"
import { ScriptedException } from "./scripted.ts"
import { neutral, toolCallForm } from "./values/toNeutral.ts"

/** The side effects observed while a case ran. */
export class Observations {
  readonly calls: Array<Fields> = []
  readonly policyCalls: Array<Fields> = []
  readonly observedTags: Array<string> = []
  peakConcurrency = 0
  /** The options of the adapter's last call. */
  adapterOptions: Fields = {}
  #running = 0

  /** Counts a handler as running until it settles. */
  async during<A>(run: () => Promise<A>): Promise<A> {
    this.#running++
    this.peakConcurrency = Math.max(this.peakConcurrency, this.#running)
    try {
      return await run()
    } finally {
      this.#running--
    }
  }
}

/**
 * A tool of the case; its handler runs the case's behaviour, and is logged.
 *
 * `Tool.make` refuses a bad name; a case that expects a later refusal still gets the tool.
 */
export const toolOf = (value: unknown, seen: Observations, engine?: unknown): Tool.Tool => {
  const { name, description, schema, handler, manual, effect } = fieldsOf(value)
  const made = Tool.make({
    name: Tool.nameProblem(name) === undefined ? (name as string) : "unnamed",
    description: (description ?? "") as string,
    parameters: (schema ?? {}) as Fields,
    ...(manual === undefined ? {} : { manual: manual as boolean }),
    ...(effect === "read" ? { effect } : {}),
    ...(handler === null || handler === undefined ? {} : { handler: handlerOf(textOf(name), handler, seen, engine) })
  })
  return { ...made, name: name as string }
}

const handlerOf =
  (name: string, behaviour: unknown, seen: Observations, engine: unknown): NonNullable<Tool.Tool["handler"]> =>
  (args, context) => {
    const { sessionId, requestId, toolCall } = context
    const opts = {
      context: context.context,
      session_id: sessionId ?? null,
      request_id: requestId ?? null,
      tool_call: toolCall === undefined ? null : toolCallForm(toolCall),
      ...("engine" in context ? { engine: context.engine === undefined ? null : engine } : {})
    }
    seen.calls.push({ tool: name, arguments: neutral(args), opts: neutral(opts) })
    const logged = seen.calls.at(-1)
    if (logged !== undefined && "engine" in opts) Object.assign(fieldsOf(logged["opts"]), { engine: opts.engine })
    return seen.during(() => behave(behaviour, args, opts, context.signal))
  }

/** Runs a behaviour. */
const behave = async (behaviour: unknown, args: Fields, opts: Fields, signal: AbortSignal): Promise<HandlerResult> => {
  const { then, cases, default: otherwise, ...rest } = fieldsOf(behaviour)
  const [kind, value] = Object.entries(rest)[0] ?? ["return", behaviour]
  switch (kind) {
    case "ok":
      return ok(construct(value))
    case "error":
      return error(construct(value))
    case "raise":
      throw new ScriptedException(textOf(rest["type"] ?? "RuntimeError"), textOf(value))
    case "throw":
      throw construct(value)
    case "ask_user":
      return askUser(value as string, fieldsOf(construct(rest["opts"])))
    case "halt": {
      const [reason, result] = listOf(value)
      return halt((reason ?? "") as string, construct(result))
    }
    case "echo_args":
      return ok(args)
    case "echo_arg":
      return ok(args[textOf(value)] ?? null)
    case "merge_args":
      return ok({ ...args, ...fieldsOf(value) })
    case "echo_context":
      return ok(opts["context"])
    case "echo_opt":
      return ok(opts[textOf(value)] ?? null)
    case "sleep_ms":
      await sleep(Number(value), signal)
      return behave(then, args, opts, signal)
    case "by_arg":
      return behave(fieldsOf(cases)[textOf(args[textOf(value)])] ?? otherwise, args, opts, signal)
    default:
      return construct(value) as never
  }
}

/** Waits until the time is over or the call is aborted. */
const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const over = Clock.live.setTimeout(resolve, ms)
    signal.addEventListener("abort", () => {
      Clock.live.clearTimeout(over)
      reject(new ScriptedException("Aborted", "the call was given up"))
    })
  })

/** An executor of the case. */
export const executorOf = (value: unknown): ToolExecutor.ToolExecutor => {
  const { returns, raises_for: name, message } = fieldsOf(value)
  return {
    execute: (tool, args, context) => {
      if (tool.name === name) throw new ScriptedException("RuntimeError", textOf(message))
      return returns === undefined
        ? ToolExecutor.inProcess.execute(tool, args, context)
        : behave(returns, args, {}, context.signal)
    }
  }
}

/** An encoder of the case. */
export const encoderOf = (value: unknown): ToolResultEncoder.ToolResultEncoder => {
  if (!isFields(value)) return ToolResultEncoder.json
  const { constant, raise_unless_string: type } = value
  return {
    encode: (result) => {
      if (constant !== undefined) return constant as string
      if (typeof result !== "string") throw new ScriptedException(textOf(type), "this encoder takes only strings")
      return result
    }
  }
}

/** An error policy of the case; a value that is neither a word nor a function is passed on unchanged. */
export const policyOf = (value: unknown, seen: Observations): ChatOptions["onToolError"] => {
  if (!isFields(value) || !("fn" in value)) return value as never
  const { fn, arity } = value
  const policy = (
    toolCall: ToolCall.ToolCall,
    failure: unknown
  ): ReturnType<Exclude<ChatOptions["onToolError"], string | undefined>> => {
    seen.policyCalls.push({ tool_call: toolCallForm(toolCall), error: neutral(failure) })
    if (fn === "halt") return "halt"
    const { raise, return: returned, ...decision } = fieldsOf(fn)
    if (raise !== undefined) throw new ScriptedException("RuntimeError", textOf(raise))
    return construct(returned ?? decision) as never
  }
  const wide = (call: ToolCall.ToolCall, failure: unknown, more: unknown) => policy(call, failure ?? more)
  return Number(arity ?? 2) > 2 ? (wide as never) : policy
}

/** A predicate of the case. */
export const predicateOf = (value: unknown): ((step: StepResult) => boolean) => {
  if (!isFields(value)) return value as never
  const { fn } = value
  return (step) => {
    if (isFields(fn)) throw new ScriptedException("RuntimeError", textOf(fn["raise"]))
    return fn === "always" || (fn === "has_tool_results" && step.toolResults.length > 0)
  }
}

/** An event listener of the case. */
export const listenerOf = (value: unknown, seen: Observations): ChatOptions["onEvent"] =>
  isFields(value)
    ? (event) => {
        seen.observedTags.push(event.type)
        if ("raise" in value) throw new ScriptedException("RuntimeError", textOf(value["raise"]))
      }
    : undefined
