/** Counts the runs of tools. Some tools run in a thread or a child process, where an endless loop can be killed. */
import type { Testing } from "@troupe/testing"
import type { Tool } from "@troupe/chat/tools"
import { isolated, type Isolation } from "@troupe/isolate"
import * as Effect from "effect/Effect"
import type { Counts } from "../check/counts.ts"

/** The runs of handlers that have not settled. */
export const runsOf = (counts: Counts, faults: () => ReturnType<typeof Testing.faults>) => {
  const open = new Set<Tool.ToolContext>()
  const held = new Set<() => void>()
  /** The started calls that write, of this era and the previous one. */
  let [written, earlier] = [new Set<string>(), new Set<string>()]
  return {
    /** A tool with faults, whose runs are counted. */
    counted: (tool: Tool.Tool): Tool.Tool => {
      const { handler } = tool
      if (handler === null) return tool
      const counted: typeof handler = (args, context) => {
        counts.add("handlers started")
        open.add(context)
        if (tool.effect !== "read") written.add(context.toolCall.id)
        const settled = (): void => void open.delete(context)
        let begun: ReturnType<typeof handler>
        try {
          begun = (faults().tool(tool).handler ?? handler)(args, context)
        } catch (thrown) {
          settled()
          throw thrown
        }
        if (Effect.isEffect(begun)) return Effect.ensuring(begun, Effect.sync(settled))
        if (begun instanceof Promise) return begun.finally(settled)
        settled()
        return begun
      }
      return { ...tool, handler: counted }
    },
    /** Settles only when all such calls are released. */
    deaf: (): Promise<never> => new Promise((_, reject) => held.add(() => reject(new Error("released")))),
    /** The zombies, and those of them that were aborted. */
    open: () => ({ running: open.size, aborted: [...open].filter(({ signal }) => signal.aborted).length }),
    /** Whether the handler of a call that writes was started. */
    hasWritten: (toolCallId: string): boolean => written.has(toolCallId) || earlier.has(toolCallId),
    release: (): void => {
      earlier = written
      written = new Set()
      for (const release of held) release()
      held.clear()
    }
  }
}

const module = new URL("./functions.ts", import.meta.url)

const elsewhere: ReadonlyArray<readonly [isolate: Isolation, name: string]> = [
  ["worker", "answers"],
  ["worker", "spins"],
  ["process", "answers"],
  ["process", "exits"]
]

/** The isolated tools. They run only on the host's time, which no test clock moves. */
export const toolsElsewhere = (): ReadonlyArray<Tool.Tool> =>
  elsewhere.map(([isolate, name]) =>
    isolated({ name: `${name}_in_${isolate}`, isolate, module, export: name, timeoutMs: 300, graceMs: 20 })
  )

/** The number of threads, child processes and their connections of this program. */
export const placesOpen = (): number =>
  process.getActiveResourcesInfo().filter((name) => /Process|Worker|MessagePort|Pipe/.test(name)).length
