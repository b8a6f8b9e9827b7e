/**
 * Zombies: handlers that still run after their call is over.
 *
 * JavaScript cannot end a function that ignores its abort signal. The call ends in time, the late result of the handler
 * is discarded (the run is fenced), and the handler is counted and listed here until it ends by itself.
 *
 * @module
 */
import type { System } from "@troupe/otp"
import { zombiesOf, type Zombie } from "./zombieTable.ts"
import type { ToolCall } from "../model/index.ts"

export type { Zombie } from "./zombieTable.ts"

/** The telemetry event of late handlers (`Telemetry.attach(system, "tool_call.late_completion", …)`). */
declare module "@troupe/otp/telemetry" {
  interface Events {
    /**
     * A handler ended `lateMs` milliseconds (on the system's clock) after its call was over. `outcome` is the outcome
     * of the call, `result` the kind of the handler's result.
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
 * The handlers of a system that still run after their call is over, oldest first.
 *
 * **Details**: a handler is listed if it still runs one turn of the event loop after its abort. The observer shows each
 * zombie as a process named `Zombie` and the tool's name, until the handler ends.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Clock, EventLoop, System } from "@troupe/otp"
 * import { tool } from "@troupe/chat"
 * import { Zombies } from "@troupe/chat/observe"
 * import { runToolCalls } from "@troupe/chat/tools"
 *
 * const clock = Clock.test()
 * const system = System.make({ clock })
 * const deaf = tool({ name: "deaf", execute: () => new Promise(() => {}), timeoutMs: 50 })
 * const run = runToolCalls([{ id: "c1", name: "deaf", arguments: {} }], [deaf], { system })
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

/** The number of zombies now (`listed`), and the number of zombies that have ended (`late`). */
export const counts = (system: System.System): { readonly listed: number; readonly late: number } => ({
  listed: zombiesOf(system)?.size ?? 0,
  late: zombiesOf(system)?.late ?? 0
})
