/**
 * What can be observed of a running Troupe, as plain data: its processes, its charts, what its turns spent their time on.
 *
 * It shows the chats of everybody whose chats the Troupe runs: what stands in a mailbox, what a state holds, what was asked.
 *
 * OBSERVE1. Nothing is attached and no timer runs while nobody watches. What is watched is looked at five times a second, and
 *           who watches is told when it changed.
 * OBSERVE2. Looking takes no turn of a process, waits for none, and shows at most so many processes, messages and characters.
 *
 * @module
 */
import { Observer, Process } from "@troupe/otp"
import { ValidationError } from "../errors/ChatError.ts"
import { chatAt, livingChatsOf } from "../living/chatDirectory.ts"
import { processSight } from "./processDetail.ts"
import { type ChatOf, observed } from "./processTree.ts"
import { timelineSight } from "./turnTimeline.ts"
import { Pace, Watching } from "./poller.ts"
import type { RunningTroupe } from "../living/Troupe.ts"

/** A living process; `id` is the text of its pid. */
export interface ProcessNode {
  readonly id: string
  readonly label: string
  readonly name?: string | undefined
  readonly kind: string
  readonly status: "idle" | "queued" | "running" | "busy" | "suspended"
  readonly queueLength: number
  /** Bytes, an estimate. */
  readonly memory: number
  readonly restarts?: number | undefined
  /** The chat it belongs to. */
  readonly chat?: string | undefined
  readonly children: ReadonlyArray<ProcessNode>
  /** How many of those it spawned, and below them, are left out here. */
  readonly hidden?: number | undefined
}

/**
 * The tree at a time; times are milliseconds on the system's clock.
 *
 * **Details**: crashes, restarts and dead letters are all there were since the system was made; zombies are those of now.
 */
export interface Observed {
  readonly at: number
  /** All living processes; `tree` may have fewer of them. */
  readonly processes: number
  readonly tree: ReadonlyArray<ProcessNode>
  readonly zombies: number
  readonly crashes: number
  readonly restarts: number
  readonly deadLetters: number
}

/** All there is to see of one process; of one that has ended, what was last seen. */
export interface ProcessDetail extends Omit<ProcessNode, "children" | "hidden"> {
  readonly alive: boolean
  /** Messages it has not taken, the oldest first, and at most 50. */
  readonly mailbox: ReadonlyArray<string>
  readonly state: string
  readonly links: ReadonlyArray<string>
  readonly monitors: ReadonlyArray<string>
  /** Of a machine: which, and the states it is in. */
  readonly chart?: { readonly machine: string; readonly value: unknown } | undefined
  /** Messages it dealt with since somebody looks. */
  readonly handled: number
  /** Milliseconds it held the thread since somebody looks. */
  readonly busyMs: number
  /** What it did last, the newest at the end: `received`, `handled`, `sent`, `ended`. */
  readonly recent: ReadonlyArray<{ readonly at: number; readonly event: string; readonly detail: string }>
}

/**
 * A stretch of time of a turn.
 *
 * - `turn`: all of it; `stream`: a model request; `queue`: a call waits for its turn, five milliseconds or more; `call`: its handler runs; `drain`: it was
 *   told to end and is waited for; `zombie`: it goes on though its call is over
 */
export interface Span {
  readonly id: string
  readonly kind: "turn" | "stream" | "queue" | "call" | "drain" | "zombie"
  readonly label: string
  readonly from: number
  /** `undefined` while it goes on. */
  readonly to: number | undefined
  readonly outcome: string | undefined
}

/** What the newest turns of a chat spent their time on. */
export interface Timeline {
  readonly chat: string
  readonly at: number
  readonly spans: ReadonlyArray<Span>
}

/**
 * Something that is watched.
 *
 * **Contract**: the state is there as soon as somebody is subscribed, and stays when the last has left; it is the same object
 * until something changed. `undefined` for what is not there, or not yet. Behind a server, `getError` is what keeps it from
 * being watched just now, or for good; who is subscribed is told of that, too.
 */
export interface Watched<A> {
  readonly getState: () => A | undefined
  readonly subscribe: (changed: () => void) => () => void
  readonly getError?: (() => Error | undefined) | undefined
}

/** What can be watched of a Troupe, and done to it. */
export interface Observation {
  readonly tree: Watched<Observed>
  /** The process whose pid has this text; nothing where none lives. The same for the same text while it is watched. */
  readonly process: (id: string) => Watched<ProcessDetail>
  /** The newest five turns of a chat, of what was seen of them; over its crashes and restarts. */
  readonly timeline: (chat: string) => Watched<Timeline>
  /**
   * Kills a process: its supervisor does what it does. One that is dead already stays so.
   *
   * **Errors**: rejects with a `ValidationError` (`invalid_options`) for what is no text of a pid.
   */
  readonly kill: (id: string) => Promise<void>
}

/** How a Troupe is observed: how many processes a tree shows at most, 500 by default. */
export interface ObservationOptions {
  readonly maxProcesses?: number | undefined
}

const lookEveryMs = 200

/**
 * Makes what a Troupe is observed through. There is nothing to stop: what is not watched costs nothing.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Fake, Observation, Troupe } from "@troupe/chat"
 *
 * const troupe = await Troupe.start({ adapter: Fake.make({ script: [] }) })
 * await troupe.chat("c1")
 * const { tree } = Observation.make(troupe)
 * const leave = tree.subscribe(() => {})
 * const [root] = tree.getState()?.tree ?? []
 * root?.children.map(({ label }) => label) // => ["Registry", "Store", "ChatSupervisor"]
 * root?.children[2]?.children[0]?.chat // => "c1"
 * leave()
 * await troupe.stop()
 * ```
 */
export const make = (troupe: RunningTroupe, { maxProcesses = 500 }: ObservationOptions = {}): Observation => {
  const { system } = troupe
  const living = livingChatsOf(troupe)
  const pace = new Pace(system.clock, lookEveryMs)
  const chatOf: ChatOf = (pid) => chatAt(living, pid)
  const processes = new Map<string, Watched<ProcessDetail>>()
  const timelines = new Map<string, Watched<Timeline>>()
  return {
    tree: new Watching<Observed>({ look: (before) => observed(system, maxProcesses, chatOf, before) }, pace),
    process: (id) => kept(processes, id, () => new Watching(processSight(system, id, chatOf), pace)),
    timeline: (chat) =>
      kept(
        timelines,
        chat,
        () =>
          new Watching(
            timelineSight(system, chat, () => living.get(chat)?.chat),
            pace
          )
      ),
    kill: async (id) => {
      if (!/^<0\.\d+\.0>$/.test(id)) {
        throw new ValidationError("invalid_options", [{ field: ["id"], reason: "must_be_the_text_of_a_pid" }])
      }
      const pid = Observer.find(system, id)
      if (pid !== undefined) Process.kill(pid)
    }
  }
}

/** How many are kept that nobody may watch any more: they are found again with what they know. */
const mostKept = 50

const kept = <A>(known: Map<string, A>, id: string, made: () => A): A => {
  const found = known.get(id) ?? made()
  known.delete(id)
  known.set(id, found)
  for (const oldest of known.keys()) {
    if (known.size <= mostKept) break
    known.delete(oldest)
  }
  return found
}
