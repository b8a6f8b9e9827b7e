/** Builds the request of a step. */
import { resolveModel, type FixedOptions } from "../options/index.ts"
import { type Message, type Request, system, type Thread } from "../model/index.ts"
import { wellFormedEach } from "../json/index.ts"
import type { Engine } from "../tool/index.ts"

/** Engine parameters that only the loop uses, or that have a field of their own. */
const own: ReadonlySet<string> = new Set(["maxTurns", "temperature", "maxTokens"])

/** The request for this thread, with well-formed messages (WELL1); the call's options take precedence over the engine's. */
export const requestOf = ({
  engine,
  thread,
  options,
  aside
}: {
  readonly engine: Pick<Engine, "model" | "params">
  readonly thread: Thread
  readonly options: FixedOptions
  readonly aside?: ReadonlyArray<Message> | undefined
}): Request => {
  const { params } = engine
  const messages = aside === undefined ? thread.messages : [...thread.messages, ...aside]
  const model = resolveModel(engine, options.model)
  const temperature = options.temperature ?? numberIn(params, "temperature")
  const maxTokens = options.maxTokens ?? numberIn(params, "maxTokens")
  const rest = Object.entries(params).filter(([key]) => !own.has(key))
  return {
    ...(model !== undefined && { model }),
    messages: wellFormedEach(
      options.instructions === undefined ? messages : [system(options.instructions), ...messages]
    ),
    ...declared(options.tools),
    ...(options.toolChoice !== undefined && { toolChoice: options.toolChoice }),
    ...(temperature !== undefined && { temperature }),
    ...(maxTokens !== undefined && { maxTokens }),
    ...(options.responseFormat !== undefined && { responseFormat: options.responseFormat }),
    options: { ...Object.fromEntries(rest), ...options.providerOptions }
  }
}

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
