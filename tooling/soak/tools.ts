/** Tools of all behaviours, whose runs are counted. */
import { askUser, error, halt, ok } from "@troupe/chat"
import { Tool } from "@troupe/chat/tools"
import { type Clock, Process } from "@troupe/otp"
import * as Effect from "effect/Effect"
import type { Ledger } from "./ledger.ts"

interface Run {
  readonly id: string
  readonly context: Tool.ToolContext
}

const isPromise = (value: unknown): value is Promise<never> => value instanceof Promise

/** The runs of handlers that have not settled. */
export class Runs {
  readonly #ledger: Ledger
  readonly #open = new Set<Run>()
  readonly #held = new Set<() => void>()
  /** The started calls that write, of this era and the previous one. */
  #written = new Set<string>()
  #writtenBefore = new Set<string>()

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  /** A tool whose runs are counted. */
  counted(tool: Tool.Tool): Tool.Tool {
    const { handler } = tool
    if (handler === null) return tool
    return {
      ...tool,
      handler: (args, context) => {
        const run = { id: context.toolCall.id, context }
        this.#ledger.add("handlers started")
        this.#open.add(run)
        if (tool.effect !== "read") this.#written.add(run.id)
        const settled = (): void => {
          if (!this.#open.delete(run)) return
          this.#ledger.add("handlers settled")
        }
        let begun: ReturnType<typeof handler>
        try {
          begun = handler(args, context)
        } catch (thrown) {
          settled()
          throw thrown
        }
        if (Effect.isEffect(begun)) return Effect.ensuring(begun, Effect.sync(settled))
        if (!isPromise(begun)) {
          settled()
          return begun
        }
        return begun.finally(settled)
      }
    }
  }

  /** Settles only when all such calls are released. */
  deaf(): Promise<never> {
    return new Promise((_, reject) => {
      const letGo = () => {
        this.#held.delete(letGo)
        reject(new Error("let go"))
      }
      this.#held.add(letGo)
    })
  }

  /** The number of zombies, and how many of those were aborted. */
  get open(): { readonly running: number; readonly reported: number } {
    const reported = [...this.#open].filter(({ context }) => context.signal.aborted).length
    return { running: this.#open.size, reported }
  }

  /** Whether the handler of a call that writes was started. */
  hasWritten(toolCallId: string): boolean {
    return this.#written.has(toolCallId) || this.#writtenBefore.has(toolCallId)
  }

  release(): void {
    this.#writtenBefore = this.#written
    this.#written = new Set()
    for (const letGo of this.#held) letGo()
  }
}

const sleep = (clock: Clock.Clock, ms: number): Promise<void> =>
  new Promise((resolve) => void clock.setTimeout(resolve, ms))

const msOf = (args: Readonly<Record<string, unknown>>): number => Number(args["ms"] ?? 1)

/** The tools. */
export const toolsOf = (clock: Clock.Clock, runs: Runs): ReadonlyArray<Tool.Tool> => [
  Tool.make({ name: "quick", effect: "read", handler: (args) => ok(args) }),
  Tool.make({ name: "slow", effect: "read", handler: (args) => sleep(clock, msOf(args)).then(() => ok(1)) }),
  Tool.make({
    name: "write",
    key: (args) => String(args["key"]),
    handler: (args) => sleep(clock, msOf(args)).then(() => ok(1))
  }),
  Tool.make({ name: "effect", handler: (args) => Effect.as(Effect.sleep(msOf(args)), ok(1)) }),
  Tool.make({ name: "endless", handler: () => Effect.never }),
  Tool.make({ name: "deaf", handler: () => runs.deaf().then(ok) }),
  Tool.make({
    name: "aware",
    handler: (_, { signal }) =>
      new Promise((_resolve, reject) => {
        if (signal.aborted) reject(new Error("aborted"))
        signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true })
      })
  }),
  Tool.make({
    name: "sluggish",
    handler: async (_, { signal }) => {
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve()
        signal.addEventListener("abort", () => resolve(), { once: true })
      })
      await sleep(clock, 30)
      return ok("late")
    }
  }),
  Tool.make({ name: "throws", handler: () => Promise.reject(new Error("no")) }),
  Tool.make({
    name: "exits",
    handler: () => {
      throw Process.exitWith("enough")
    }
  }),
  Tool.make({ name: "wrong", handler: () => 1 as never }),
  Tool.make({ name: "fails", handler: () => error("sorry") }),
  Tool.make({ name: "asks", handler: () => askUser("Which?") }),
  Tool.make({ name: "halts", handler: () => halt("enough") }),
  Tool.make({ name: "manual", manual: true })
]

/** The tools that the model calls: quick ones often, an unknown one sometimes. */
export const toolNames: readonly [string, ...ReadonlyArray<string>] = [
  "quick",
  "quick",
  "quick",
  "slow",
  "slow",
  "write",
  "write",
  "write",
  "effect",
  "endless",
  "deaf",
  "aware",
  "sluggish",
  "throws",
  "exits",
  "wrong",
  "fails",
  "asks",
  "halts",
  "manual",
  "none"
]
