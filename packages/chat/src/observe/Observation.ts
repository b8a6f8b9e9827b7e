/**
 * Observes a running Troupe as plain data: its processes, its charts, and the time that its turns take.
 *
 * Observations show data of all chats of the Troupe: the messages in mailboxes, the states of machines, the inputs of
 * turns.
 *
 * OBSERVE1. Without observers nothing is attached and no timer runs. An observed object is checked five times a second, and
 *           its observers are notified when it changed.
 * OBSERVE2. A check runs outside the processes, waits for none, and shows a bounded number of processes, messages and
 *           characters.
 *
 * @module
 */
import { Observer, Process } from "@troupe/otp"
import { ValidationError } from "../errors/index.ts"
import { chatAt, livingChatsOf, type RunningTroupe } from "../troupe/index.ts"
import { agentMessagesOf } from "./agentMessages.ts"
import { processSight } from "./processDetail.ts"
import { type CallOf, type ChatOf, observed } from "./processTree.ts"
import { timelineSight } from "./turnTimeline.ts"
import { Pace, Watching } from "./poller.ts"
import type { Observed, ProcessDetail, Timeline } from "./observed.ts"

export type { ProcessNode, Observed, ProcessDetail, Span, Timeline } from "./observed.ts"

/**
 * An observable state.
 *
 * **Contract**: the state is there from the first subscription on, and stays after the last one ends.
 */
export interface Watched<A> {
  /** Returns the state, the same object until it changes; `undefined` when the object does not exist, or not yet. */
  readonly getState: () => A | undefined
  /** Calls `changed` after each change; the returned function ends this. */
  readonly subscribe: (changed: () => void) => () => void
  /** Returns the error that prevents observation behind a server, for now or for good; subscribers are notified of it, too. */
  readonly getError?: (() => Error | undefined) | undefined
}

/** The observable states of a Troupe, and its operations. */
export interface Observation {
  /** The processes of the Troupe. */
  readonly tree: Watched<Observed>
  /**
   * The process whose pid has this text; `undefined` state if no such process is alive. Returns the same object for the
   * same text while it is observed.
   */
  readonly process: (id: string) => Watched<ProcessDetail>
  /** The newest five turns of a chat, as far as they were observed, across its crashes and restarts. */
  readonly timeline: (chat: string) => Watched<Timeline>
  /**
   * Kills a process; its supervisor handles that as any exit. Does nothing for a dead process.
   *
   * **Errors**: rejects with a `ValidationError` (`invalid_options`) if `id` is not the text of a pid.
   */
  readonly kill: (id: string) => Promise<void>
}

/** The bounds of an observation. */
interface ObservationOptions {
  /** How many processes a tree shows at most. Default: 500. */
  readonly maxProcesses?: number | undefined
}

const lookEveryMs = 200

/**
 * Makes the observation of a Troupe. It needs no stop: without observers it costs nothing.
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
  const callOf: CallOf = (chat) => {
    const { chat: parent = "", call } = living.get(chat)?.chat.context?.record.parent ?? {}
    const calls = living.get(parent)?.chat.state.toolCalls
    return calls?.find(({ id }) => id === call)?.pid
  }
  const of = { chat: chatOf, call: callOf, messages: (chat: string) => agentMessagesOf(living.get(chat)?.chat.context) }
  const processes = new Map<string, Watched<ProcessDetail>>()
  const timelines = new Map<string, Watched<Timeline>>()
  return {
    tree: new Watching<Observed>({ look: (before) => observed(system, maxProcesses, of, before) }, pace),
    process: (id) => kept(processes, id, () => new Watching(processSight(system, id, chatOf), pace)),
    timeline: (chat) =>
      kept(
        timelines,
        chat,
        () =>
          new Watching(
            timelineSight(system, chat, (id) => living.get(id)?.chat),
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

/** How many states are kept without observers, so that a later observer finds their data. */
const mostKept = 50

const kept = <A>(entries: Map<string, A>, id: string, made: () => A): A => {
  const found = entries.get(id) ?? made()
  entries.delete(id)
  entries.set(id, found)
  for (const oldest of entries.keys()) {
    if (entries.size <= mostKept) break
    entries.delete(oldest)
  }
  return found
}
