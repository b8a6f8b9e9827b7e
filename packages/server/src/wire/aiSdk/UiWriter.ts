/**
 * Data parts of user interfaces, written by tools and hooks.
 *
 * @module
 */
import { isWriter, type Writer, writerKey } from "../index.ts"

export type { UiWritten, Writer } from "../index.ts"

/**
 * The writer of data parts; `undefined` in a turn of OpenAI's protocols, in a sub-agent, and in a turn that the program began with options
 * of its own or while no server of its Troupe was open.
 *
 * **When to use**: in a handler or a hook, with the `context` of its second argument.
 *
 * @example
 * ```ts import.meta.vitest
 * import { tool } from "@troupe/chat"
 * import { UiWriter } from "@troupe/server"
 *
 * const weather = tool({
 *   name: "weather",
 *   execute: async (_, { context }) => {
 *     const writer = UiWriter.of(context)
 *     writer?.write({ type: "data-weather", id: "w1", data: { status: "loading" } })
 *     writer?.write({ type: "data-weather", id: "w1", data: { status: "ready", degrees: 21 } })
 *     return "21 degrees"
 *   }
 * })
 * weather.name // => "weather"
 * ```
 */
export const of = (context: Readonly<Record<string, unknown>>): Writer | undefined => {
  const writer = context[writerKey]
  return isWriter(writer) ? writer : undefined
}
