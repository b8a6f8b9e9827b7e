/**
 * The events that a system publishes while it runs.
 *
 * This table is the contract: each event has a name, measurements, which are numbers, and metadata. `process` in the
 * metadata is always `{ pid, label, kind }`.
 *
 * | event                   | when                                     | measurements                                          | metadata |
 * | ----------------------- | ---------------------------------------- | ----------------------------------------------------- | -------- |
 * | `process.spawn`         | a process is in the table, not started   | `processes`: living ones                              | process, `parent` |
 * | `process.exit`          | a process is dead                        | `processes`; `dropped`: messages not taken            | process, `reason`, `abnormal` |
 * | `process.crash`         | a process ended unexpectedly             | `queueLength`: messages                               | process, `report`: a `CrashReport` |
 * | `process.message`       | a message was delivered                  | `queueLength`: messages, including this one           | process, `message` |
 * | `process.handled`       | a message was handled                    | `duration`: ms until the result; `blocking`: ms of it on the thread; `queueLength`: messages left | process, `message` |
 * | `process.blocked`       | a callback blocked the thread too long   | `blocking`: ms; `threshold`: ms                       | process, `message` |
 * | `supervisor.restart`    | a supervisor restarts a child            | `restarts`: all attempts                              | process, `id` of the child |
 * | `supervisor.escalation` | a supervisor exceeds its limit and ends  | `restarts`; `limit`: restarts allowed                 | process, `id` of the child |
 * | `message.dead`          | a message has no living receiver         | `count`: such messages of the system                  | `target`, `message`, `from` |
 * | `message.unexpected`    | a process does not handle a message      | `count`: such messages of the system                  | `target`, `message`, `from` |
 * | `telemetry.failure`     | a handler threw, and is detached         | `handlers`: those left                                | `selector`, `error` |
 *
 * **Units and defaults**
 *
 * Durations are milliseconds of the host, also under a test clock; `at` is milliseconds on the system's clock. A callback
 * blocks the thread too long from `blockedAfter` of `System.make` on, 50 milliseconds. In `process.handled`, the time of a
 * promise or an effect after its first wait counts in `duration`, not in `blocking`. `message` is the request of a call,
 * or the message that was sent, and `undefined` for the first turn of a process.
 *
 * **Details**
 *
 * `process.blocked` measures
 *
 * - a callback, until it returns;
 * - an effect of a callback, a process, a task or a machine, from each wait to the next, if a handler was attached when it
 *   began, and until it provides its own tracer;
 * - not a promise after its first `await`: the host runs that without a known process. In Node it can be traced, but only
 *   for every promise of the program. For code that may block the thread, use an effect, or send a message.
 *
 * **Gotchas**
 *
 * Without a handler, an event costs a check for `undefined`. A handler for `process.message`, `process.handled` or
 * `process.blocked` adds a cost to each message, the last one to each step of an effect too: attach only what you need.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Process, System, Telemetry } from "@troupe/otp"
 *
 * const system = System.make()
 * const ended: Array<unknown> = []
 * const detach = Telemetry.attach(system, "process.exit", (event) => {
 *   ended.push([event.metadata.label, event.metadata.reason])
 * })
 * const pid = Process.spawn(system, () => new Promise(() => {}), { label: "worker" })
 * Process.exit(pid, "shutdown")
 * ended // => [["worker", "shutdown"]]
 * detach()
 * await System.stop(system)
 * ```
 *
 * **Source**
 *
 * Erlang's `telemetry` library.
 */
import { kernelOf } from "../kernel/index.ts"
import { currentWatch, watchOf } from "./observers.ts"
import type { System } from "../core/index.ts"
import type { Events, EventName, Event, Selector, Selected } from "./Events.ts"

export type { Subject, DroppedMessage, Events, EventName, Event, Selector, Selected } from "./Events.ts"

/**
 * Publishes an event of a program that builds on processes.
 *
 * **Details**
 *
 * Without a handler it costs a check for `undefined`. Handlers are called synchronously, as for any other event; one that
 * throws is only detached.
 *
 * @example
 * ```ts import.meta.vitest
 * import { System, Telemetry } from "@troupe/otp"
 *
 * declare module "@troupe/otp/telemetry" {
 *   interface Events {
 *     readonly "order.placed": {
 *       readonly measurements: { readonly items: number }
 *       readonly metadata: { readonly order: string }
 *     }
 *   }
 * }
 * const system = System.make()
 * const received: Array<number> = []
 * Telemetry.attach(system, "order", ({ measurements }) => received.push(measurements.items))
 * Telemetry.notify(system, "order.placed", { items: 3 }, { order: "o1" })
 * received // => [3]
 * await System.stop(system)
 * ```
 */
export const notify = <N extends EventName>(
  system: System,
  name: N,
  measurements: Events[N]["measurements"],
  metadata: Events[N]["metadata"]
): void => currentWatch(kernelOf(system))?.publish(name, measurements, metadata)

/**
 * Calls a function for every event of a system that the selector matches; returns a function that detaches it.
 *
 * **Contract**
 *
 * `handler` is called synchronously inside the system: it must be short, and must not start, signal or stop processes.
 * It may send messages, but is not called for events that it causes itself. A handler that throws is detached. Its error
 * goes to `telemetry.failure` and to `onCrash`, and does not affect any process.
 */
export const attach = <S extends Selector>(
  system: System,
  selector: S,
  handler: (event: Event<Selected<S>>) => void
): (() => void) => watchOf(kernelOf(system)).attach(selector, handler as (event: Event) => void)
