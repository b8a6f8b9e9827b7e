/** Tools of all behaviours, whose runs are counted. Some run in a thread or a child process, where an endless loop can be killed. */
import { askUser, error, halt, ok } from "@troupe/chat"
import { Tool } from "@troupe/chat/tools"
import { isolated, type Isolation } from "@troupe/isolate"
import { type Clock, Process } from "@troupe/otp"
import * as Effect from "effect/Effect"
import type { Counts } from "../check/counts.ts"
import type { Names } from "./model.ts"

const isPromise = (value: unknown): value is Promise<never> => value instanceof Promise

/** The runs of handlers that have not settled. */
export class Runs {
  readonly #counts: Counts
  readonly #open = new Set<Tool.ToolContext>()
  readonly #held = new Set<() => void>()
  /** The started calls that write, of this era and the previous one. */
  #written: ReadonlyArray<Set<string>> = [new Set(), new Set()]

  constructor(counts: Counts) {
    this.#counts = counts
  }

  /** A tool whose runs are counted. */
  counted(tool: Tool.Tool): Tool.Tool {
    const { handler } = tool
    if (handler === null) return tool
    return {
      ...tool,
      handler: (args, context) => {
        this.#counts.add("handlers started")
        this.#open.add(context)
        if (tool.effect !== "read") this.#written[0]?.add(context.toolCall.id)
        const settled = (): void => void this.#open.delete(context)
        let begun: ReturnType<typeof handler>
        try {
          begun = handler(args, context)
        } catch (thrown) {
          settled()
          throw thrown
        }
        if (Effect.isEffect(begun)) return Effect.ensuring(begun, Effect.sync(settled))
        if (isPromise(begun)) return begun.finally(settled)
        settled()
        return begun
      }
    }
  }

  /** Settles only when all such calls are released. */
  deaf(): Promise<never> {
    return new Promise((_, reject) => this.#held.add(() => reject(new Error("released"))))
  }

  /** The number of zombies, and how many of those were aborted. */
  get open(): { readonly running: number; readonly aborted: number } {
    const aborted = [...this.#open].filter(({ signal }) => signal.aborted).length
    return { running: this.#open.size, aborted }
  }

  /** Whether the handler of a call that writes was started. */
  hasWritten(toolCallId: string): boolean {
    return this.#written.some((calls) => calls.has(toolCallId))
  }

  release(): void {
    this.#written = [new Set(), ...this.#written.slice(0, 1)]
    for (const release of this.#held) release()
    this.#held.clear()
  }
}

/** The tools that only answer, fail, or end in another way. */
const plain: Readonly<Record<string, Tool.Tool["handler"]>> = {
  endless: () => Effect.never,
  throws: () => Promise.reject(new Error("no")),
  exits: () => {
    throw Process.exitWith("enough")
  },
  wrong: () => 1 as never,
  fails: () => error("sorry"),
  asks: () => askUser("Which?"),
  halts: () => halt("enough")
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener("abort", () => resolve(), { once: true })
  })

/** The tools. */
export const toolsOf = (clock: Clock.Clock, runs: Runs): ReadonlyArray<Tool.Tool> => {
  const sleep = (ms: unknown): Promise<void> =>
    new Promise((resolve) => void clock.setTimeout(resolve, Number(ms ?? 1)))
  return [
    Tool.make({ name: "quick", effect: "read", handler: (args) => ok(args) }),
    Tool.make({ name: "slow", effect: "read", handler: ({ ms }) => sleep(ms).then(() => ok(1)) }),
    Tool.make({ name: "write", key: ({ key }) => String(key), handler: ({ ms }) => sleep(ms).then(() => ok(1)) }),
    Tool.make({ name: "effect", handler: ({ ms }) => Effect.as(Effect.sleep(Number(ms ?? 1)), ok(1)) }),
    Tool.make({ name: "deaf", handler: () => runs.deaf().then(ok) }),
    Tool.make({
      name: "aware",
      handler: (_, { signal }) => aborted(signal).then(() => Promise.reject(new Error("aborted")))
    }),
    Tool.make({
      name: "sluggish",
      handler: async (_, { signal }) => {
        await aborted(signal)
        await sleep(30)
        return ok("late")
      }
    }),
    Tool.make({ name: "manual", manual: true }),
    ...Object.entries(plain).map(([name, handler]) => Tool.make({ name, handler: handler ?? (() => ok(1)) }))
  ]
}

/** The tools that the model calls: quick ones often, an unknown one sometimes. */
export const toolNames: Names = [
  "quick",
  ..."quick quick slow slow write write write effect deaf aware sluggish manual none".split(" "),
  ...Object.keys(plain)
]

const module = new URL("./functions.ts", import.meta.url)

const elsewhere = (isolate: Isolation, name: string): Tool.Tool =>
  isolated({ name: `${name}_in_${isolate}`, isolate, module, export: name, timeoutMs: 300, graceMs: 20 })

/** The isolated tools. They run only on the host's time, which no test clock moves. */
export const toolsElsewhere = (): ReadonlyArray<Tool.Tool> => [
  elsewhere("worker", "answers"),
  elsewhere("worker", "spins"),
  elsewhere("process", "answers"),
  elsewhere("process", "exits")
]

/** The number of threads, child processes and their connections of this program. */
export const placesOpen = (): number =>
  process.getActiveResourcesInfo().filter((name) => /Process|Worker|MessagePort|Pipe/.test(name)).length
