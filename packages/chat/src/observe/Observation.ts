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
import { ValidationError } from "../errors/index.ts"
import { chatAt, livingChatsOf, type RunningTroupe } from "../living/index.ts"
import { processSight } from "./processDetail.ts"
import { type ChatOf, observed } from "./processTree.ts"
import { timelineSight } from "./turnTimeline.ts"
import { Pace, Watching } from "./poller.ts"
import type { Observed, ProcessDetail, Timeline } from "./observed.ts"

export type { ProcessNode, Observed, ProcessDetail, Span, Timeline } from "./observed.ts"

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
 * import { Fake, Troupe } from "@troupe/chat"
 * import { Observation } from "@troupe/chat/observe"
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
