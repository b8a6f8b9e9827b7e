/**
 * The start of the chats whose background tasks a former program left.
 *
 * Owns: nothing. Does not own the chats, which continue or end their tasks when they start (BG4).
 *
 * TASKREVIVE1. A Troupe whose store lists conversations starts each chat that has background tasks, a few at a time, without
 *              a request for it, unless each of the tasks waits for a person. It asks the store only if one of its tools can have tasks.
 */
import { type Conversation, tasksOf, waitOfTask } from "../record/index.ts"
import type { ChatList, ListOptions } from "../store/index.ts"

/** The functions that the search needs. */
interface RevivalParts {
  readonly list: (options: ListOptions) => Promise<ChatList>
  readonly load: (id: string) => Promise<Conversation | undefined>
  readonly start: (id: string) => Promise<unknown>
  /** Whether nothing more is to be started. */
  readonly isOver: () => boolean
  /** Called with the error of a list, or of a chat that could not be started. */
  readonly report: (error: unknown) => void
}

/** How many chats are started at once. */
const atOnce = 4

export const reviveTasks = async (parts: RevivalParts): Promise<void> => {
  const { list, isOver, report } = parts
  let after: string | undefined
  try {
    do {
      const page: ChatList = await list({ running: true, limit: 200, after })
      const ids = page.chats.map(({ id }) => id)
      const workers = Array.from({ length: atOnce }, () => startEach(ids, parts))
      await Promise.all(workers)
      after = page.next
    } while (after !== undefined && !isOver())
  } catch (error) {
    if (!isOver()) report(error)
  }
}

const hasTasks = ({ tasks, open, ...record }: Conversation): boolean =>
  (tasks !== undefined || open !== undefined) &&
  tasksOf({ ...record, tasks, open }).some((task) => waitOfTask(task) === undefined)

const startEach = async (ids: Array<string>, { load, start, isOver, report }: RevivalParts): Promise<void> => {
  for (let id = ids.shift(); id !== undefined && !isOver(); id = ids.shift()) {
    try {
      const record = await load(id)
      if (record !== undefined && hasTasks(record)) await start(id)
    } catch (error) {
      if (!isOver()) report(error)
    }
  }
}
