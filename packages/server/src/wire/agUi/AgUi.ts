/**
 * The data that a client of AG-UI shares with its agent, for tools and hooks.
 *
 * @module
 */
import { isShared, key, type Shared } from "./sharedData.ts"

export type { ContextEntry, Shared } from "./sharedData.ts"

/**
 * The data that the client of this turn shares; `undefined` if it has another protocol.
 *
 * **When to use**: in a handler or a hook, with the `context` of its second argument.
 *
 * @example
 * ```ts import.meta.vitest
 * import { tool } from "@troupe/chat"
 * import { AgUi } from "@troupe/server"
 *
 * const plan = tool({
 *   name: "plan",
 *   execute: ({ steps }, { context }) => {
 *     AgUi.of(context)?.setState({ steps })
 *     return "planned"
 *   }
 * })
 * plan.name // => "plan"
 * ```
 */
export const of = (context: Readonly<Record<string, unknown>>): Shared | undefined => {
  const shared = context[key]
  return isShared(shared) ? shared : undefined
}
