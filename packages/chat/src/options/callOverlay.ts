/** The parts of an engine, overlaid by those of a call. */
import { type Engine, type ProviderTool, type Tool, toolOf } from "../tool/index.ts"

/** The engine's tools, each replaced by the call's tool of the same name, then the other tools of the call. */
export const resolveTools = (
  engine: Pick<Engine, "tools">,
  tools: ReadonlyArray<Tool | ProviderTool> | undefined
): ReadonlyArray<Tool> => {
  if (tools === undefined) return engine.tools
  const own = new Map(tools.map((tool) => [tool.name, toolOf(tool)]))
  const kept = engine.tools.map((tool) => {
    const replacement = own.get(tool.name)
    own.delete(tool.name)
    return replacement ?? tool
  })
  return [...kept, ...own.values()]
}

/** The call's model, else the engine's. */
export const resolveModel = (engine: Pick<Engine, "model">, model: string | undefined): string | undefined =>
  model ?? engine.model

/** The engine's parameters, overlaid by the call's. */
export const resolveParams = (
  engine: Pick<Engine, "params">,
  {
    temperature,
    maxTokens,
    providerOptions
  }: {
    readonly temperature?: number | undefined
    readonly maxTokens?: number | undefined
    readonly providerOptions?: Readonly<Record<string, unknown>> | undefined
  }
): Readonly<Record<string, unknown>> => ({
  ...engine.params,
  ...(temperature !== undefined && { temperature }),
  ...(maxTokens !== undefined && { maxTokens }),
  ...providerOptions
})
