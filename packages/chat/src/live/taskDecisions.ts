/**
 * The decisions about what sub-agents of background tasks wait for.
 *
 * Owns: nothing. The process of the chat has the tasks, and decides what still waits.
 *
 * TASKWAIT2. A decision about a wait of a background task counts at once, also while a turn runs, and begins no turn: the turn that is
 *            returned for it ends without a step when the decision is stored. Answers beside it begin their turn then. When it is
 *            refused, they are too.
 */
import type { SessionError } from "../errors/index.ts"
import { undecidedCall } from "../inbox/index.ts"
import type { ChatContext } from "../loop/index.ts"
import type { Message } from "../model/index.ts"
import {
  chatResult,
  type Decided,
  decideTasks,
  pendingApprovalsOf,
  taskApprovals,
  taskAskAt,
  taskDecision
} from "../step/index.ts"
import * as Threads from "../model/Thread.ts"
import { sendTaskDecisions } from "./chatCommands.ts"
import type { LiveChat, TurnStart } from "./liveChat.ts"
import type { LiveTurn } from "./liveTurn.ts"

/** Decides about the waits of background tasks that are among these decisions; `undefined` if none is. */
export const decidedTasks = (
  chat: LiveChat,
  messages: ReadonlyArray<Message>,
  { decisions = [], ...start }: TurnStart
): LiveTurn | undefined => {
  const isOfTask = ofTasksIn(chat.context)
  const ofTasks = decisions.filter(isOfTask)
  if (ofTasks.length === 0) return undefined
  const own = decisions.filter((one) => !isOfTask(one))
  const beside = { ...start, ...(own.length > 0 && { decisions: own }) }
  const turn = chat.turnOf(messages, beside)
  const refused = () => undecidedTask(chat.context, ofTasks)
  const sent = chat.asked((process) => sendTaskDecisions(chat.id, process, ofTasks, refused), true)
  const thread = () => chat.context?.record.thread ?? Threads.empty
  const stored = (): unknown =>
    messages.length + own.length > 0
      ? chat.start(messages, beside, turn)
      : turn.endAtOnce(chatResult(thread(), [], { reason: "completed", metadata: {} }))
  void sent.then(stored, (error: unknown) => turn.fail(error))
  return turn
}

/** Whether a decision is about a wait of a task. Of two waits with one address the first is the turn's. */
const ofTasksIn = (context: ChatContext | undefined): ((decided: Decided) => boolean) => {
  const { tasks, thread, open } = context?.record ?? {}
  if (tasks === undefined) return () => false
  const listed = new Set(pendingApprovalsOf(thread ?? Threads.empty, open).map(({ toolCall }) => toolCall.id))
  return ({ toolCallId: id }) => !listed.has(id) && taskAskAt(id, tasks) !== undefined
}

/** The error of decisions of which one is about a wait that is over. */
const undecidedTask = (context: ChatContext | undefined, decisions: ReadonlyArray<Decided>): SessionError => {
  const tasks = context?.record.tasks
  const late = decisions.find((one) => decideTasks([one], tasks) === undefined) ?? decisions[0]
  const waiting = taskApprovals(tasks).map(({ toolCall }) => toolCall.id)
  const decision = late && taskDecision(late, tasks)
  return undecidedCall(late?.toolCallId ?? "", waiting, decision && { decision })
}
