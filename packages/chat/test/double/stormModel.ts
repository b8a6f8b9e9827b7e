/** The model and the tools of a storm. Each of their awaits is a point; what they do is noted for the laws. */
import type { Adapter } from "../../src/adapter/Adapter.ts"
import { make as fake } from "../../src/adapter/Fake.ts"
import type { Script } from "../../src/adapter/Fake.ts"
import type { Message } from "../../src/model/messageShapes.ts"
import type { Request } from "../../src/model/Request.ts"
import { tool } from "../../src/tool/functionTool.ts"
import type { Tool, ToolContext } from "../../src/tool/toolContract.ts"
import type { TroupeOptions } from "../../src/troupe/troupeOptions.ts"
import { askUser, halt } from "../../src/values/HandlerResult.ts"
import { pausing } from "./pausing.ts"
import type { Points } from "./points.ts"
import { anyOf, pick } from "./randomParts.ts"
import { says } from "./scripts.ts"
import type { StormRecord } from "./stormRecord.ts"

const replies = "text text ask pay pay write write write retry fail read read crawl manual halt hand_off hang".split(
  " "
)

/** What the model and the handlers of all programs of a storm did. */
export class Deeds {
  readonly requests: Array<ReadonlyArray<Message>> = []
  /** How often the effect of each call took place, by its id. */
  readonly effects = new Map<string, number>()
  /** The calls whose handler began. */
  readonly begun = new Set<string>()
  /** When each call asked its question. */
  readonly asked = new Map<string, number>()
  readonly wrong: Array<string> = []
}

/** What a program of a storm gives its model and tools. */
export interface Surroundings {
  readonly chance: () => number
  readonly deeds: Deeds
  readonly tick: () => number
  readonly record: StormRecord
  readonly points: Points
  /** The ends of background tasks that run. */
  readonly tasks: Array<() => void>
  /** Whether the model calls no more tools. */
  readonly isTired: () => boolean
  readonly schedule: "effects" | "concurrent"
}

const aborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)))

const modelOf = ({ chance, deeds, points, isTired }: Surroundings): Adapter => {
  const respond = ({ messages, tools }: Request): Script => {
    const place = deeds.requests.push(messages)
    const answer = `t${place}`
    if (isTired()) return says(answer)
    const kinds = Array.from({ length: pick(chance, [1, 1, 2, 2, 3]) }, () => anyOf(chance, replies) ?? "text")
    const handoff = tools.find(({ name }) => name.startsWith("handoff_to_"))?.name
    const names = kinds.flatMap((kind) => {
      if (kind === "text" || kind === "hang") return []
      return kind === "hand_off" ? (handoff ?? []) : [kind]
    })
    if (names.length === 0) return kinds.includes("hang") ? [{ text: "So" }, { hang: true }] : says(answer)
    const calls = names.map((name, call) => {
      const args = name.startsWith("handoff_to_") ? {} : { key: pick(chance, ["a", "b", ""]) }
      return { toolCall: { id: `r${place}c${call}`, name, arguments: args } }
    })
    return [...(chance() < 0.3 ? [{ text: answer }] : []), ...calls, { finish: "tool_calls" }]
  }
  return pausing(fake({ respond }), async () => {
    if (chance() < 0.5) await points.at("model", () => {})
  })
}

const toolsOf = ({ chance, deeds, tick, record, points, tasks, schedule }: Surroundings): ReadonlyArray<Tool> => {
  const key = (args: Readonly<Record<string, unknown>>) => String(args["key"]) || undefined
  const begin = (id: string): void => {
    deeds.begun.add(id)
    const state = record.stateOf(id)
    if (state !== "intended") deeds.wrong.push(`${id} began, and is ${String(state)} in the store`)
  }
  /** The keys of the calls that run. */
  const running = new Map<string, string | undefined>()
  const write = async (args: Readonly<Record<string, unknown>>, context: ToolContext): Promise<string> => {
    const { id } = context.toolCall
    begin(id)
    const [step] = id.split("c")
    const isConflict = (own: string | undefined) => own === undefined || key(args) === undefined || own === key(args)
    const beside = Array.from(running).find(([other, own]) => other.startsWith(`${step}c`) && isConflict(own))
    if (schedule === "effects" && beside !== undefined) deeds.wrong.push(`${id} runs beside ${beside[0]}`)
    running.set(id, key(args))
    context.signal.addEventListener("abort", () => running.delete(id))
    try {
      return await changed(id)
    } finally {
      running.delete(id)
    }
  }
  const changed = async (id: string): Promise<string> => {
    if (chance() < 0.7) await points.at("before", () => {})
    deeds.effects.set(id, (deeds.effects.get(id) ?? 0) + 1)
    if (chance() < 0.7) await points.at("after", () => {})
    return "written"
  }
  const read = async (): Promise<string> => points.at("read", () => "read")
  return [
    tool({ name: "read", effect: "read", key, execute: read }),
    tool({ name: "halt", effect: "read", key, execute: () => read().then(() => halt("enough")) }),
    tool({ name: "write", key, execute: write }),
    tool({ name: "pay", key, execute: write }),
    tool({ name: "retry", key, onUnknown: "retry", execute: write }),
    tool({ name: "fail", key, onUnknown: "fail", execute: write }),
    tool({
      name: "ask",
      onUnknown: "retry",
      execute: async (_, { toolCall: { id } }) => {
        begin(id)
        await points.at("ask", () => {})
        if (!deeds.asked.has(id)) deeds.asked.set(id, tick())
        return askUser("Which?")
      }
    }),
    tool({ name: "manual", manual: true }),
    tool({
      name: "crawl",
      background: true,
      effect: "read",
      execute: (_, { signal }) =>
        Promise.race([new Promise<string>((resolve) => void tasks.push(() => resolve("crawled"))), aborted(signal)])
    })
  ]
}

/** The limits of each turn and chain. */
export const limits = { maxTurns: 3, maxChainRequests: 4 } as const

/** The options of a program of a storm. */
export const optionsOf = (around: Surroundings): TroupeOptions => {
  const { chance, points, schedule } = around
  const tools = toolsOf(around)
  const adapter = modelOf(around)
  const permissions: TroupeOptions["permissions"] = {
    ask: ({ toolCall }) =>
      toolCall.name === "pay"
        ? points.at("permit", () => pick(chance, ["allow", "suspend", "suspend", "deny"] as const))
        : "allow"
  }
  const own = { adapter, tools, permissions }
  const agents = { a: { ...own, handoffs: ["b"] }, b: { ...own, handoffs: ["a"] } }
  return { ...own, agents, agent: "a", maxRestarts: 1_000, maxUnproductive: 0, schedule, ...limits }
}
