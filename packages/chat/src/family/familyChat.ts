/** A chat, as its parent and its children use it, and the process of a call that can become a background task. */
import type { Pid } from "@troupe/otp"
import type { Team, TurnEnds } from "../agents/index.ts"
import type { ChatContext } from "../loop/index.ts"
import type { Usage } from "../model/index.ts"
import type { Budget } from "../options/index.ts"
import { childId, type ChildWait, type Mode, type ModeStanding } from "../record/index.ts"
import { digest, type SubagentCall } from "../tool/index.ts"

/** A live chat of this program, as it is now. */
export interface FamilyChat {
  readonly id: string
  readonly pid: Pid | undefined
  readonly context: ChatContext | undefined
  /** The mode that somebody set for its calls. */
  readonly standing: ModeStanding | undefined
  /** The mode of its calls; `undefined` if it has no permissions, and no mode was set. */
  readonly mode: Mode | undefined
  /** The budget of its turns. */
  readonly budget: Budget | undefined
  /** The team that it leads. */
  readonly team: Team | undefined
  /** Whether a call of it is over before its background tasks are. */
  readonly turnEnds: TurnEnds | undefined
  /** The usage of the request of the running step. */
  readonly stepUsage: Usage
  readonly setPermissionMode: (mode: Mode) => Promise<void>
  /** Resolves when the record has these children as begun, and no longer those that it forgets. */
  readonly childrenBegan: (children: ReadonlyArray<string>, forgets: ReadonlyArray<string>) => Promise<void>
  /** Resolves when no turn runs or is next: the messages that it got are read, or wait for a person. */
  readonly rests: () => Promise<void>
  readonly cancel: () => Promise<void>
  readonly stop: () => Promise<void>
  /** Ends its process, and keeps it in memory; resolves when the process has ended. */
  readonly pause: () => Promise<void>
  /** Calls the function after each change of its state; returns the function that ends that. */
  readonly watch: (changed: () => void) => () => void
}

/** The id of the chat of a member of the team that a chat leads (TEAM1). */
export const memberId = (leader: string, member: string): string =>
  childId(leader, `${member}-${digest(`team/${leader}/${member}`)}`)

/** The process of the work of a call, and whether that goes on as a background task. */
export interface WorkProcess {
  readonly pid: Pid
  readonly isTask: () => boolean
  /** What the child of a task waited for, with the decisions. */
  readonly wait?: ChildWait | undefined
  /** The input whose tasks the work goes on with. */
  readonly follows?: SubagentCall["follows"]
}

/** Resolves at the next change of a chat, or when the signal is aborted. */
export const nextChange = (chat: Pick<FamilyChat, "watch">, signal: AbortSignal): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const forget = chat.watch(resolve)
  const abort = (): void => resolve()
  signal.addEventListener("abort", abort, { once: true })
  return promise.finally(() => {
    forget()
    signal.removeEventListener("abort", abort)
  })
}
