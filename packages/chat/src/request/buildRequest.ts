/** Builds the request of a step, and checks what a first request needs: thread, adapter, request, in this order. */
import type { Adapter } from "../adapter/index.ts"
import { type Noted, sentMessages, trailingNote } from "../compaction/index.ts"
import { EngineError, ValidationError } from "../errors/index.ts"
import { declaredTools, type FixedOptions, resolveModel } from "../options/index.ts"
import { type Message, messagesAdvice, type Request, system, type Thread } from "../model/index.ts"
import * as Validate from "../model/Validate.ts"
import { wellFormed, wellFormedEach } from "../json/index.ts"
import type { Engine } from "../tool/index.ts"

/** Engine parameters that only the loop uses, or that have a field of their own. */
const own: ReadonlySet<string> = new Set(["maxTurns", "temperature", "maxTokens"])

/** The request for this thread, with well-formed messages (WELL1); the call's options take precedence over the engine's. */
export const requestOf = ({
  engine,
  thread,
  options,
  aside,
  tasks,
  children
}: {
  readonly engine: Pick<Engine, "model" | "params">
  readonly thread: Thread
  readonly options: FixedOptions
  readonly aside?: ReadonlyArray<Message> | undefined
} & Noted): Request => {
  const { params } = engine
  const isWhole = thread.compaction === undefined && tasks === undefined && children === undefined
  const sent = isWhole ? thread.messages : sentMessages(thread)
  const said = aside === undefined ? sent : [...sent, ...aside]
  const messages = isWhole ? said : [...said, ...trailingNote(thread, { tasks, children })]
  const model = resolveModel(engine, options.model)
  const temperature = options.temperature ?? numberIn(params, "temperature")
  const maxTokens = options.maxTokens ?? numberIn(params, "maxTokens")
  const rest = Object.entries(params).filter(([key]) => !own.has(key))
  return {
    ...(model !== undefined && { model }),
    messages:
      options.instructions === undefined
        ? wellFormedEach(messages)
        : [wellFormed(system(options.instructions)), ...wellFormedEach(messages)],
    ...declared(declaredTools(options.tools, thread.messages, chosenIn(options.toolChoice))),
    ...(options.toolChoice !== undefined && { toolChoice: options.toolChoice }),
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(options.responseFormat !== undefined && { responseFormat: options.responseFormat }),
    options: { ...Object.fromEntries(rest), ...options.providerOptions }
  }
}

const chosenIn = (choice: FixedOptions["toolChoice"]): string | undefined =>
  typeof choice === "object" ? choice.name : undefined

/** The tools as the model gets them. */
const declared = (tools: FixedOptions["tools"]): Pick<Request, "tools" | "providerTools"> => {
  const providerTools = tools.flatMap(({ name, metadata, provider }) =>
    provider === undefined ? [] : [{ ...provider, name, metadata }]
  )
  return {
    tools: wellFormedEach(tools)
      .filter(({ provider }) => provider === undefined)
      .map(({ name, description, schema, metadata }) => ({ name, description, schema, metadata })),
    ...(providerTools.length === 0 ? {} : { providerTools })
  }
}

const numberIn = (params: Readonly<Record<string, unknown>>, key: string): number | undefined => {
  const value = params[key]
  return typeof value === "number" ? value : undefined
}

/** Throws the error of the first check that fails. */
export const preflight = (engine: Engine, thread: Thread, options: FixedOptions): void => {
  const invalidThread = Validate.thread(thread)
  if (invalidThread !== undefined) throw invalidThread
  preflightRequest(engine, thread, options)
}

/** The same checks for a request that is no step of a thread: the adapter first. Returns the request. */
export const preflightRequest = (engine: Engine, thread: Thread, options: FixedOptions): Request => {
  checkAdapter(engine)
  if (!Array.isArray((thread as Partial<Thread> | undefined)?.messages)) {
    const found = [{ field: ["messages"], reason: "must_be_a_list of messages" }]
    throw new ValidationError("invalid_request", found, { advice: messagesAdvice(thread) })
  }
  const request = requestOf({ engine, thread, options })
  const { structuredFinalize } = options
  const invalid = Validate.request(structuredFinalize === undefined ? request : { ...request, structuredFinalize })
  if (invalid !== undefined) throw invalid
  return request
}

/** The engine's adapter; throws without one. */
export const adapterIn = ({ adapter }: Pick<Engine, "adapter">): Adapter => {
  if (adapter === undefined) throw new EngineError("missing_adapter")
  return adapter
}

/** Throws when the engine cannot send requests to a model. */
const checkAdapter = (engine: Pick<Engine, "adapter" | "fallbacks">): void => {
  for (const asked of [adapterIn(engine), ...(engine.fallbacks ?? [])]) {
    const adapter = "adapter" in asked ? asked.adapter : asked
    if (typeof adapter.stream !== "function") throw new EngineError("missing_stream_adapter")
  }
}
