/** Runs isolated tools in a system of the test's own, and looks at what is left of them. */
import type { Message, ToolCall } from "@troupe/chat/messages"
import { runToolCalls, type Tool } from "@troupe/chat/tools"
import { System } from "@troupe/otp"
import type { Worker } from "node:worker_threads"
import { afterEach, beforeEach, expect } from "vitest"
import { isolated, type IsolatedOptions, type Isolation } from "../../src/index.ts"

const module = new URL("./functions.ts", import.meta.url)

/** A tool of one of the functions. */
export const toolOf = (isolate: Isolation, name: string, options: Partial<IsolatedOptions> = {}): Tool.Tool =>
  isolated({ name, isolate, module, export: name, ...options })

/** Calls of these tools, with ids c0, c1 and so on. */
export const callsOf = (
  ...called: ReadonlyArray<readonly [name: string, args?: Record<string, unknown>]>
): ReadonlyArray<ToolCall.ToolCall> =>
  called.map(([name, args = {}], index) => ({ id: `c${index}`, name, arguments: args }))

export interface Isolate {
  readonly system: System.System
  /** The threads that were started. */
  readonly threads: ReadonlyArray<Worker>
  /** How many of them have exited. */
  readonly exits: () => number
  readonly run: (
    tool: Tool.Tool,
    args?: Record<string, unknown>,
    options?: NonNullable<Parameters<typeof runToolCalls>[2]>
  ) => ReturnType<typeof runToolCalls>
}

const quiet = { processes: 0, fibers: 0, timers: 0, closing: 0 }

/** What lives outside the test's own: children, threads and their ports. */
const places = (): ReadonlyArray<string> =>
  process.getActiveResourcesInfo().filter((name) => /Process|Worker|MessagePort|Pipe/.test(name))

/** Checks after each test of the file that no place is left: no thread, no child, no port, no fiber. */
export const isolate = (): Isolate => {
  let system = System.make()
  let threads: Array<Worker> = []
  let exits = 0
  let before: ReadonlyArray<string> = []
  const opened = (worker: Worker) => {
    threads.push(worker)
    worker.once("exit", () => exits++)
  }
  beforeEach(() => {
    system = System.make()
    threads = []
    exits = 0
    before = places()
    process.on("worker", opened)
  })
  afterEach(async () => {
    await until(() => Object.values(System.stats(system)).every((count) => count === 0))
    await until(() => exits === threads.length && places().length <= before.length)
    process.off("worker", opened)
    expect(System.stats(system)).toEqual(quiet)
    expect(exits).toBe(threads.length)
    expect(threads.map((thread) => thread.listenerCount("message"))).toEqual(threads.map(() => 0))
    expect(places()).toEqual(before)
    await System.stop(system)
  })
  return {
    get system() {
      return system
    },
    get threads() {
      return threads
    },
    exits: () => exits,
    run: (tool, args = {}, options = {}) => runToolCalls(callsOf([tool.name, args]), [tool], { system, ...options })
  }
}

/** Goes on turning the event loop until it holds; the test's own time limit is the only one. */
export const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise<void>((resolve) => void setImmediate(resolve))
}

/** What the calls came to. */
export const contents = ({
  messages
}: {
  readonly messages: ReadonlyArray<Extract<Message.Message, { role: "tool" }>>
}) => messages.map(({ outcome, content }) => [outcome, content])
