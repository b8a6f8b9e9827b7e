/**
 * Tools that a model finds when it needs them, and the tool `find_tools`.
 *
 * Owns: the index of one list of tools, made at the first search. Does not own what a conversation has found: its thread has it.
 *
 * FIND1. A request declares the tools that are not deferred, in their order, and then the found ones, in the order in which they were
 *        found. So the declarations of a request begin with those of the request before.
 * FIND2. What was found is read from the results of `find_tools` in the thread. So it is the same after a restart, a move and a fork, a
 *        rewind undoes it, and a child begins with nothing.
 * FIND3. A search returns at most five tools. Tools whose names are in the query come first.
 */
import * as z from "zod"
import { shortened } from "../errors/index.ts"
import { type Message, text } from "../model/index.ts"
import { make, type Tool, type Engine, type ProviderTool, toolOf } from "../tool/index.ts"
import * as HandlerResult from "../values/HandlerResult.ts"

const finderName = "find_tools"
const mostFound = 5
const mostListed = 4_000

/** The tools, with `find_tools` if one of them is deferred. A tool of the program with this name is the search. */
export const withFinder = (tools: ReadonlyArray<Tool>): ReadonlyArray<Tool> => {
  const deferred = tools.filter(isDeferred)
  return deferred.length === 0 || tools.some(({ name }) => name === finderName) ? tools : [...tools, finder(deferred)]
}

const groupOf = ({ deferred }: Tool): string => (typeof deferred === "object" ? deferred.group : "tools")

const isDeferred = (tool: Tool): boolean => tool.deferred !== undefined

/** The tools that a request declares (FIND1). `chosen` is a tool that the model has to call. */
export const declaredTools = (
  tools: ReadonlyArray<Tool>,
  messages: ReadonlyArray<Message>,
  chosen?: string
): ReadonlyArray<Tool> => {
  if (!tools.some(isDeferred)) return tools
  const deferred = new Map(tools.filter(isDeferred).map((tool) => [tool.name, tool]))
  const found = new Set(namesFoundIn(messages))
  if (chosen !== undefined) found.add(chosen)
  const now = [...found].flatMap((name) => deferred.get(name) ?? [])
  return [...tools.filter((tool) => !isDeferred(tool)), ...now]
}

/** The names in the results of `find_tools` (FIND2), in order. */
const namesFoundIn = (messages: ReadonlyArray<Message>): ReadonlyArray<string> => {
  const asked = new Set<string>()
  return messages.flatMap((message) => {
    if (message.role === "assistant") {
      for (const { id, name } of message.toolCalls ?? []) if (name === finderName) asked.add(id)
      return []
    }
    if (message.role !== "tool" || message.outcome !== "completed" || !asked.has(message.toolCallId)) return []
    return Array.from(text(message).matchAll(/^- ([\w-]{1,64}):/gm), ([, name]) => name ?? "")
  })
}

const finders = new WeakSet<Tool>()

/** Whether a tool is the search of the library. */
export const isFinder = (tool: Tool): boolean => finders.has(tool)

const finder = (deferred: ReadonlyArray<Tool>): Tool => {
  let search: Promise<(query: string) => ReadonlyArray<string>> | undefined
  const byName = new Map(deferred.map((one) => [one.name, one]))
  const made = make({
    name: finderName,
    description: `Finds further tools by what they do, or by their names. You can call a found tool from then on.\n${listOf(deferred)}`,
    effect: "read",
    parameters: z.object({ query: z.string().max(1_000).describe("What the tool does, or names of tools") }),
    handler: async ({ query }) => {
      search ??= searchOver(deferred)
      const asked = query as string
      const found = [...new Set([...namedIn(asked, byName), ...(await search)(asked)])].slice(0, mostFound)
      if (found.length === 0) return HandlerResult.ok("No tool has these words. Try others, or a name of the list.")
      return HandlerResult.ok(found.map((name) => `- ${name}: ${lineOf(byName.get(name))}`).join("\n"))
    }
  })
  finders.add(made)
  return made
}

/** The next request has the whole description. */
const lineOf = (tool: Tool | undefined): string => shortened((tool?.description ?? "").replaceAll(/\s+/g, " "), 200)

/** The names by group, as many as fit. */
const listOf = (deferred: ReadonlyArray<Tool>): string => {
  const groups = Map.groupBy(deferred, groupOf)
  const each = Math.floor(mostListed / groups.size)
  const lines = Array.from(groups, ([group, tools]) => {
    let line = `${group}:`
    for (const [at, { name }] of tools.entries()) {
      if (line.length + name.length > each) return `${line} and ${tools.length - at} more`
      line += `${at === 0 ? "" : ","} ${name}`
    }
    return line
  })
  return lines.join("\n")
}

/** The tools that a query names. */
const namedIn = (query: string, byName: ReadonlyMap<string, Tool>): ReadonlyArray<string> =>
  query.split(/[^\w-]+/).filter((word) => byName.has(word))

const searchOver = async (deferred: ReadonlyArray<Tool>): Promise<(query: string) => ReadonlyArray<string>> => {
  const { default: MiniSearch } = await import("minisearch")
  const index = new MiniSearch({
    idField: "name",
    fields: ["name", "group", "description", "parameters"],
    tokenize: wordsOf,
    processTerm: stemOf,
    searchOptions: { boost: { name: 3, parameters: 0.5 }, prefix: (term) => term.length > 3, fuzzy: 0.15 }
  })
  index.addAll(
    deferred.map((tool) => ({
      name: tool.name,
      group: groupOf(tool),
      description: tool.description,
      parameters: Object.keys((tool.schema["properties"] as object | undefined) ?? {}).join(" ")
    }))
  )
  return (query) => index.search(query).map(({ id }) => String(id))
}

/** The words of a text; those of `createIssue` and `create_issue` are two. */
const wordsOf = (from: string): Array<string> =>
  from
    .replaceAll(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2")
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")

/** Words without meaning for a search are none. */
const stemOf = (word: string): string | undefined => {
  const lower = word.toLowerCase()
  return fillers.has(lower) ? undefined : lower.length > 4 ? lower.replace(/(?<=\p{L}{3})(?:ing|es|ed|s)$/u, "") : lower
}

const fillers: ReadonlySet<string> = new Set(
  "a an and are as at be by can do for from get have how i in into is it its me my of on or our that the this to tool use want what which with you".split(
    " "
  )
)

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
