/**
 * What a system tells about itself while it runs.
 *
 * One contract, this table: each event has a name, measurements, which are numbers, and metadata. `process` in the
 * metadata is always `{ pid, label, kind }`.
 *
 * | event                   | when                                     | measurements                                          | metadata |
 * | ----------------------- | ---------------------------------------- | ----------------------------------------------------- | -------- |
 * | `process.spawn`         | a process is in the table, not begun yet | `processes`: living ones                              | process, `parent` |
 * | `process.exit`          | it is dead                               | `processes`; `dropped`: messages it had not taken     | process, `reason`, `abnormal` |
 * | `process.crash`         | it ended, and nobody asked for it        | `queueLength`: messages                               | process, `report`: a `CrashReport` |
 * | `process.message`       | a message was put into its mailbox       | `queueLength`: messages, this one too                 | process, `message` |
 * | `process.handled`       | a message was dealt with                 | `duration`: ms until the answer; `blocking`: ms of it the thread was held; `queueLength`: messages left | process, `message` |
 * | `process.blocked`       | a callback held the thread too long      | `blocking`: ms; `threshold`: ms                       | process, `message` |
 * | `supervisor.restart`    | a supervisor starts a child again        | `restarts`: all it ever tried                         | process, `id` of the child |
 * | `supervisor.escalation` | it had to once too often, and gives up   | `restarts`; `limit`: restarts allowed                 | process, `id` of the child |
 * | `message.dead`          | a message went to nobody                 | `count`: such messages of the system                  | `target`, `message`, `from` |
 * | `message.unexpected`    | a process has no use for a message       | `count`: such messages of the system                  | `target`, `message`, `from` |
 * | `telemetry.failure`     | a handler threw, and is detached         | `handlers`: those left                                | `selector`, `error` |
 *
 * **Units and defaults**
 *
 * Durations are milliseconds of the host, also under a test clock; `at` is milliseconds on the system's clock. A
 * callback holds the thread too long from `blockedAfter` of `System.make` on, 50 milliseconds. Of `process.handled`,
 * what a promise or an effect does after it first waited is in `duration`, not in `blocking`. A message is a call, a cast or
 * anything else sent; `message` is the request, or what was sent, and `undefined` for the first turn of a process.
 *
 * **Details**
 *
 * `process.blocked` looks at
 *
 * - a callback, until it returns;
 * - an effect, of a callback, a process, a task or a machine, from each wait to the next: if somebody was attached when it
 *   began, and as far as it provides no tracer of its own;
 * - not at what a promise does after its first `await`: the host runs that without saying for whom, and where it can be made to
 *   say, in Node, it does so for every promise of the program. Where that may hold the thread, use an effect, or send a message.
 *
 * **Gotchas**
 *
 * With no handler attached an event costs a check for `undefined`. With one on `process.message`, `process.handled` or
 * `process.blocked` each message costs a little, with one on the last each step of an effect too: attach to what you need.
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
 * Tells an event that is no event of processes: of what a program builds on them.
 *
 * **Details**
 *
 * With no handler attached it costs a check for `undefined`. Handlers are called at once, as for any other event; what they
 * throw detaches them and nothing else.
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
 * const heard: Array<number> = []
 * Telemetry.attach(system, "order", ({ measurements }) => heard.push(measurements.items))
 * Telemetry.notify(system, "order.placed", { items: 3 }, { order: "o1" })
 * heard // => [3]
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
 * Has a function called with every event of a system that the selector names; answers how to detach it.
 *
 * **Contract**
 *
 * `handler` is called inside the system, at the moment of the event: it must be short, and must not start, signal or stop
 * processes. It may send; what it causes itself it is not told of. One that throws is detached; its error is told by `telemetry.failure` and to `onCrash`, and
 * changes nothing for any process.
 */
export const attach = <S extends Selector>(
  system: System,
  selector: S,
  handler: (event: Event<Selected<S>>) => void
): (() => void) => watchOf(kernelOf(system)).attach(selector, handler as (event: Event) => void)
