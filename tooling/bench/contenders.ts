/**
 * The contenders by name. A contender's code is imported in its own process only, so that no other code shares its heap.
 */
import type { Costs } from "./work/timed.ts"

/** One contender. */
export interface Contender {
  /** Flags of its process, beside those of all. */
  readonly flags?: ReadonlyArray<string>
  /** Whether it needs the folder of the built packages. */
  readonly isBuilt?: boolean
  /** Measures it; `folder` has the built packages. */
  readonly measure: (folder: string) => Promise<Costs>
}

const deltas = 50_000

const plain = () => import("./work/plain.ts")
const troupe = () => import("./work/troupe.ts")
const parts = () => import("./work/parts.ts")
const subagents = () => import("./work/subagents.ts")
const pi = () => import("./work/pi.ts")
const http = () => import("./work/http.ts")
const imports = () => import("./work/imports.ts")
const allocated = () => import("./work/allocated.ts")
const crowd = () => import("./work/crowd.ts")

/** A contender whose module measures itself. */
const measured = <Module>(
  load: () => Promise<Module>,
  measure: (module: Module, folder: string) => Promise<Costs>,
  more: Omit<Contender, "measure"> = {}
): Contender => ({ ...more, measure: async (folder) => measure(await load(), folder) })

/** A contender that does one piece of work of a module, or another one to get warm. */
const worker = <Module>(load: () => Promise<Module>, work: (module: Module) => Promise<void>, warm = work): Contender =>
  measured(load, async (module) => {
    const { timed } = await import("./work/timed.ts")
    return timed(
      () => work(module),
      () => warm(module)
    )
  })

// No collection runs while it measures: the young generation has room for everything.
const noCollection = { flags: ["--min-semi-space-size=512", "--max-semi-space-size=512"] }
const isBuilt = { isBuilt: true }

/** All contenders. */
export const contenders = {
  "plain by turns": worker(plain, (it) => it.plainChats("by turns")),
  "stream by turns": worker(troupe, (it) => it.streams("by turns")),
  "living by turns": worker(troupe, (it) => it.living("by turns")),
  "sqlite by turns": worker(troupe, (it) => it.livingOnSqlite("by turns")),
  "pi by turns": worker(pi, (it) => it.piAgents("by turns")),
  "plain at once": worker(plain, (it) => it.plainChats("at once")),
  "stream at once": worker(troupe, (it) => it.streams("at once")),
  "living at once": worker(troupe, (it) => it.living("at once")),
  "plain delta": worker(plain, (it) => it.plainDeltas(deltas)),
  "stream delta": worker(troupe, (it) => it.streamedDeltas(deltas)),
  "living delta": worker(troupe, (it) => it.livingDeltas(deltas)),
  "plain parts": worker(parts, (it) => it.plainParts()),
  "stream parts": worker(parts, (it) => it.streamedParts()),
  subagents: worker(subagents, (it) => it.withChildren()),
  "two chats": worker(subagents, (it) => it.inPairs()),
  "crowd of 1,000": worker(crowd, (it) => it.crowd(1_000)),
  "crowd of 10,000": worker(
    crowd,
    (it) => it.crowd(10_000),
    (it) => it.crowd(1_000)
  ),
  counts: measured(
    () => import("./work/counts.ts"),
    (it) => it.counts()
  ),
  allocated: measured(allocated, (it) => it.allocated(), noCollection),
  "allocated with definitions": measured(allocated, (it) => it.allocated(2_000), noCollection),
  "http bare": measured(http, (it) => it.httpTurns("bare")),
  "http troupe": measured(http, (it) => it.httpTurns("troupe")),
  "import of peers": measured(imports, (it, folder) => it.importOf(folder, it.peerImports), isBuilt),
  "import of chat": measured(imports, (it, folder) => it.importOf(folder, it.chatImport), isBuilt)
} satisfies Readonly<Record<string, Contender>>

/** The name of a contender. */
export type ContenderName = keyof typeof contenders

/** The contender of a name. */
export const contenderOf = (name: ContenderName): Contender => contenders[name]

/** Whether a contender has the name. */
export const isContender = (name: string): name is ContenderName => Object.hasOwn(contenders, name)
