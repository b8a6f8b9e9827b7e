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

const timed = async (work: () => Promise<void>, warm = work): Promise<Costs> =>
  (await import("./work/timed.ts")).timed(work, warm)

/** A contender that does one piece of work of a module. */
const worker = <Module>(load: () => Promise<Module>, work: (module: Module) => Promise<void>): Contender => ({
  measure: async () => {
    const module = await load()
    return timed(() => work(module))
  }
})

const crowdOf = (count: number): Contender => ({
  measure: async () => {
    const { crowd } = await import("./work/crowd.ts")
    return timed(
      () => crowd(count),
      () => crowd(1_000)
    )
  }
})

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
  "crowd of 1,000": crowdOf(1_000),
  "crowd of 10,000": crowdOf(10_000),
  counts: { measure: async () => (await import("./work/counts.ts")).counts() },
  allocated: {
    // No collection runs while it measures: the young generation has room for everything.
    flags: ["--min-semi-space-size=512", "--max-semi-space-size=512"],
    measure: async () => (await import("./work/allocated.ts")).allocated()
  },
  "allocated with definitions": {
    flags: ["--min-semi-space-size=512", "--max-semi-space-size=512"],
    measure: async () => (await import("./work/allocated.ts")).allocated(2_000)
  },
  "http bare": { measure: async () => (await http()).httpTurns("bare") },
  "http troupe": { measure: async () => (await http()).httpTurns("troupe") },
  "import of peers": {
    isBuilt: true,
    measure: async (folder) => imports().then(({ importOf, peerImports }) => importOf(folder, peerImports))
  },
  "import of chat": {
    isBuilt: true,
    measure: async (folder) => imports().then(({ importOf, chatImport }) => importOf(folder, chatImport))
  }
} satisfies Readonly<Record<string, Contender>>

/** The name of a contender. */
export type ContenderName = keyof typeof contenders

/** The contender of a name. */
export const contenderOf = (name: ContenderName): Contender => contenders[name]

/** Whether a contender has the name. */
export const isContender = (name: string): name is ContenderName => Object.hasOwn(contenders, name)
