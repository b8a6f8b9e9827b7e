/**
 * The contenders by name. A contender's code is imported in its own process only, so that no other code shares its heap.
 */
import type { Costs } from "./work/timed.ts"

/** One contender. */
export interface Contender {
  /** Flags of its process, beside those of all. */
  readonly flags?: ReadonlyArray<string>
  readonly measure: () => Promise<Costs>
}

const deltas = 50_000

const hand = () => import("./work/hand.ts")
const troupe = () => import("./work/troupe.ts")
const pi = () => import("./work/pi.ts")
const http = () => import("./work/http.ts")
const allocated = () => import("./work/allocated.ts")
const counts = () => import("./work/counts.ts")
const crowd = () => import("./work/crowd.ts")
const busy = () => import("./work/busy.ts")

/** A contender whose module measures itself. */
const measured = <Module>(
  load: () => Promise<Module>,
  measure: (module: Module) => Promise<Costs>,
  more: Omit<Contender, "measure"> = {}
): Contender => ({ ...more, measure: async () => measure(await load()) })

/** A contender that does one piece of work of a module. */
const worker = <Module>(load: () => Promise<Module>, work: (module: Module) => Promise<void>): Contender =>
  measured(load, async (module) => {
    const { timed } = await import("./work/timed.ts")
    return timed(() => work(module))
  })

// No collection runs while it measures: the young generation has room for everything.
const noCollection = { flags: ["--min-semi-space-size=512", "--max-semi-space-size=512"] }

/** All contenders. */
export const contenders = {
  "hand by turns": worker(hand, (it) => it.handTurns("by turns")),
  "living hand by turns": worker(hand, (it) => it.handLiving("by turns")),
  "stream by turns": worker(troupe, (it) => it.streams("by turns")),
  "living by turns": worker(troupe, (it) => it.living("by turns")),
  "sqlite by turns": worker(troupe, (it) => it.livingOnSqlite("by turns")),
  "pi by turns": worker(pi, (it) => it.piAgents("by turns")),
  "stream at once": worker(troupe, (it) => it.streams("at once")),
  "living at once": worker(troupe, (it) => it.living("at once")),
  "pi at once": worker(pi, (it) => it.piAgents("at once")),
  "stream delta": worker(troupe, (it) => it.streamedDeltas(deltas)),
  "living delta": worker(troupe, (it) => it.livingDeltas(deltas)),
  "pi delta": worker(pi, (it) => it.piDeltas(deltas)),
  "crowds of 1,000": measured(crowd, (it) => it.crowds(1_000)),
  "crowd of 30,000": measured(crowd, (it) => it.crowds(30_000)),
  busy: measured(busy, (it) => it.busy()),
  counts: measured(counts, (it) => it.counts()),
  "allocated plain": measured(allocated, (it) => it.allocatedByPlain(), noCollection),
  "allocated stream": measured(allocated, (it) => it.allocatedByStream(), noCollection),
  "allocated living": measured(allocated, (it) => it.allocatedByLiving(), noCollection),
  "http bare": measured(http, (it) => it.httpTurns("bare")),
  "http troupe": measured(http, (it) => it.httpTurns("troupe"))
} satisfies Readonly<Record<string, Contender>>

/** The name of a contender. */
export type ContenderName = keyof typeof contenders

/** The contender of a name. */
export const contenderOf = (name: ContenderName): Contender => contenders[name]

/** Whether a contender has the name. */
export const isContender = (name: string): name is ContenderName => Object.hasOwn(contenders, name)
