/** Converts a case's behaviours to handlers, executors, encoders and policies, and logs their calls. */
import { askUser, error, halt, ok } from "@troupe/chat"
import type { ChatOptions, StepResult } from "@troupe/chat/chats"
import type { ToolCall } from "@troupe/chat/messages"
import type { HandlerResult } from "@troupe/chat/results"
import { Tool, ToolExecutor, ToolResultEncoder } from "@troupe/chat/tools"
import { Clock, System } from "@troupe/otp"
import { type Fields, fieldsOf, isFields, listOf, present, textOf } from "../runner/fields.ts"
import { forms } from "./values/forms.ts"
import { construct, neutral, ScriptedException } from "./values/plain.ts"

/** A run of a case: its clock, whose time passes only while all else waits, its system, and the side effects that it had. */
export class Observations {
  readonly clock = Clock.test()
  readonly system = System.make({ clock: this.clock })
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
    ...present({ manual: manual as boolean | undefined, effect: effect === "read" ? effect : undefined }),
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
      tool_call: toolCall === undefined ? null : forms.toolCall.to(toolCall),
      ...("engine" in context ? { engine: context.engine === undefined ? null : engine } : {})
    }
    seen.calls.push({ tool: name, arguments: neutral(args), opts: neutral(opts) })
    const logged = seen.calls.at(-1)
    if (logged !== undefined && "engine" in opts) Object.assign(fieldsOf(logged["opts"]), { engine: opts.engine })
    return seen.during(() => behave(behaviour, { args, opts, signal: context.signal, clock: seen.clock }))
  }

/** What a behaviour runs with. */
interface Call {
  readonly args: Fields
  readonly opts?: Fields
  readonly signal: AbortSignal
  readonly clock: Clock.Clock
  /** The fields of the behaviour beside its own. */
  readonly more?: Fields
}

/** The behaviours by their keys. */
const behaviours: Readonly<Record<string, (value: unknown, call: Call) => HandlerResult | Promise<HandlerResult>>> = {
  ok: (value) => ok(construct(value)),
  error: (value) => error(construct(value)),
  raise: (message, { more: { type = "RuntimeError" } = {} }) => {
    throw new ScriptedException(textOf(type), textOf(message))
  },
  throw: (value) => {
    throw construct(value)
  },
  ask_user: (question, { more }) => askUser(question as string, fieldsOf(construct(more?.["opts"]))),
  halt: (value) => {
    const [reason, result] = listOf(value)
    return halt((reason ?? "") as string, construct(result))
  },
  echo_args: (_, { args }) => ok(args),
  echo_arg: (name, { args }) => ok(args[textOf(name)] ?? null),
  merge_args: (fields, { args }) => ok({ ...args, ...fieldsOf(fields) }),
  echo_context: (_, { opts }) => ok(opts?.["context"]),
  echo_opt: (name, { opts }) => ok(opts?.[textOf(name)] ?? null),
  sleep_ms: async (ms, call) => {
    await sleep(Number(ms), call)
    return behave(call.more?.["then"], call)
  },
  by_arg: (name, call) => {
    const { cases, default: otherwise } = fieldsOf(call.more)
    return behave(fieldsOf(cases)[textOf(call.args[textOf(name)])] ?? otherwise, call)
  },
  return: (value) => construct(value) as never
}

/** Runs a behaviour; another value is returned as it is. */
const behave = async (behaviour: unknown, call: Call): Promise<HandlerResult> => {
  const more = fieldsOf(behaviour)
  const kind = Object.keys(more).find((key) => key in behaviours) ?? "return"
  return behaviours[kind]?.(kind in more ? more[kind] : behaviour, { ...call, more }) as never
}

/** Waits until the time is over or the call is aborted. */
const sleep = (ms: number, { signal, clock }: Call): Promise<void> =>
  new Promise((resolve, reject) => {
    const over = clock.setTimeout(resolve, ms)
    signal.addEventListener("abort", () => {
      clock.clearTimeout(over)
      reject(new ScriptedException("Aborted", "the call was given up"))
    })
  })

/** An executor of the case. */
export const executorOf = (value: unknown, { clock }: Observations): ToolExecutor.ToolExecutor => {
  const { returns, raises_for: name, message } = fieldsOf(value)
  return {
    execute: (tool, args, context) => {
      if (tool.name === name) throw new ScriptedException("RuntimeError", textOf(message))
      return returns === undefined
        ? ToolExecutor.inProcess.execute(tool, args, context)
        : behave(returns, { args, signal: context.signal, clock })
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
    seen.policyCalls.push({ tool_call: forms.toolCall.to(toolCall), error: neutral(failure) })
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
