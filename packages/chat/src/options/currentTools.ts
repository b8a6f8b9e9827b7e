/**
 * The tools of a request, where the origin of tools has changed its list since the chat began.
 *
 * CURRENT1. A request has the present tools of each origin: tools that stayed keep their places, those that are gone are left out, and new ones
 *           come last. So the declarations before the first change stay the same.
 * CURRENT2. A list of which the program has left out or changed a tool gets no new ones: they would pass the program by.
 */
import type { Tool, ToolOrigin } from "../tool/index.ts"
import { isFinder, withFinder } from "./deferredTools.ts"
import type { RunOptions } from "./resolveOptions.ts"

interface Current {
  readonly lists: ReadonlyArray<ReadonlyArray<Tool>>
  readonly tools: ReadonlyArray<Tool>
  readonly toolsByName: ReadonlyMap<string, Tool>
}

const known = new WeakMap<ReadonlyArray<Tool>, Current>()

/** The present tools of a list; `undefined` if they are those of the list. Every request asks, so that the loop calls nothing for a tool. */
const currentOf = (tools: ReadonlyArray<Tool>): Current | undefined => {
  for (const { origin } of tools) if (origin !== undefined) return changedOf(tools)
  return undefined
}

const changedOf = (tools: ReadonlyArray<Tool>): Current | undefined => {
  const origins = new Set(tools.flatMap(({ origin }) => origin ?? []))
  const whole = Array.from(origins, (origin) => ({ origin, ...origin() })).filter(({ listed }) =>
    listed.every((tool) => tools.includes(tool))
  )
  const lists = whole.map(({ current }) => current)
  if (whole.every(({ listed, current }) => listed === current)) return undefined
  const before = known.get(tools)
  if (before !== undefined && before.lists.every((list, at) => list === lists[at])) return before
  const now = withFinder(replaced(tools, new Map(whole.map(({ origin, current }) => [origin, current]))))
  const made = { lists, tools: now, toolsByName: new Map(now.toReversed().map((tool) => [tool.name, tool])) }
  known.set(tools, made)
  return made
}

/** The present tools of an engine. */
export const presentTools = (tools: ReadonlyArray<Tool>): ReadonlyArray<Tool> => currentOf(tools)?.tools ?? tools

/** The options with the present tools. */
export const withCurrentTools = (options: RunOptions): RunOptions => {
  const current = currentOf(options.tools)
  return current === undefined ? options : { ...options, tools: current.tools, toolsByName: current.toolsByName }
}

const replaced = (
  tools: ReadonlyArray<Tool>,
  lists: ReadonlyMap<ToolOrigin, ReadonlyArray<Tool>>
): ReadonlyArray<Tool> => {
  const stayed = tools
    .filter((tool) => !isFinder(tool))
    .flatMap((tool) => {
      const list = tool.origin && lists.get(tool.origin)
      return list === undefined ? [tool] : list.filter(({ name }) => name === tool.name)
    })
  const names = new Set(stayed.map(({ name }) => name))
  const others = [...lists.values()].flat().filter(({ name }) => names.size !== names.add(name).size)
  return [...stayed, ...others]
}
