/**
 * Handlers that still run though their call is over.
 *
 * Nothing in JavaScript ends a function that does not listen. What the library can do it does: the call is over in time, what
 * the handler does later changes nothing (it is fenced), and it is counted and listed here until it ends by itself.
 *
 * @module
 */
import type { System } from "@troupe/otp"
import { zombiesOf, type Zombie } from "./zombieTable.ts"
import type { ToolCall } from "../model/index.ts"

export type { Zombie } from "./zombieTable.ts"

/** What telemetry tells of late handlers (`Telemetry.attach(system, "tool_call.late_completion", …)`). */
declare module "@troupe/otp/telemetry" {
  interface Events {
    /**
     * A handler ended after its call was over: `lateMs` milliseconds on the system's clock after. `outcome` is how the call
     * had ended, `result` what the handler came to.
     */
    readonly "tool_call.late_completion": {
      readonly measurements: { readonly lateMs: number }
      readonly metadata: {
        readonly toolCall: ToolCall
        readonly sessionId: string | undefined
        readonly outcome: Zombie["outcome"]
        readonly result: "ok" | "error" | "ask_user" | "halt"
      }
    }
  }
}

/**
 * The handlers of a system that still run though their call is over, the longest first.
 *
 * **Details**: one that ends as soon as it is told is none: a handler is listed if it still runs after the event loop has
 * turned once. In the observer each is a process, `Zombie` and the tool's name, for as long as it runs.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Clock, EventLoop, System } from "@troupe/otp"
 * import { tool } from "@troupe/chat"
 * import { Zombies } from "@troupe/chat/observe"
 * import { ToolRunner } from "@troupe/chat/tools"
 *
 * const clock = Clock.test()
 * const system = System.make({ clock })
 * const deaf = tool({ name: "deaf", execute: () => new Promise(() => {}), timeoutMs: 50 })
 * const run = ToolRunner.runToolCalls([{ id: "c1", name: "deaf", arguments: {} }], [deaf], { system })
 * await clock.advance(50)
 * const { messages } = await run
 * messages[0]?.outcome // => "timed_out"
 * await clock.advance(1_000)
 * Zombies.list(system)
 * // => [{ toolCallId: "c1", name: "deaf", sessionId: undefined, outcome: "timed_out", since: 50, ageMs: 1_000 }]
 * await System.stop(system)
 * ```
 */
export const list = (system: System.System): ReadonlyArray<Zombie> => zombiesOf(system)?.list() ?? []

/** How many there are now, and how many there were that have ended since (`late`). */
export const counts = (system: System.System): { readonly listed: number; readonly late: number } => ({
  listed: zombiesOf(system)?.size ?? 0,
  late: zombiesOf(system)?.late ?? 0
})
