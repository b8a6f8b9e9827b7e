/**
 * The verbs of a chat that need no code of their own: links, routes, hooks and chats of a cluster have them from this table.
 *
 * A browser loads it: it has neither checks, functions nor filters of results. The routes have them, in a record of the same keys (VERB2).
 *
 * VERB1. A verb ends alike through a link of its program, through a server and by its request.
 */
import type { ContentPart } from "@troupe/chat/messages"
import type { Decision, Permissions } from "@troupe/chat/tools"
import type { LocalChatRef } from "@troupe/chat"
import { pathPart } from "./chatId.ts"

/** Which turn a cancel ends, and whether its tasks end too. */
interface CancelOptions {
  /** The turn to cancel, or the id of its input. Default: the turn that runs. */
  readonly turn?: string | undefined
  /** Whether the background tasks are cancelled too. Default: `false`. */
  readonly tasks?: boolean | undefined
}

/** Answers to what a chat waits for; the input is a text or a list of parts. */
interface Answers extends Omit<Parameters<LocalChatRef["answer"]>[0], "input"> {
  readonly input?: string | Array<ContentPart> | undefined
}

/** The arguments of each verb. */
interface Arguments {
  readonly cancel: [options?: CancelOptions]
  readonly withdraw: [input: string]
  readonly retry: []
  readonly compact: []
  readonly resume: []
  readonly answer: [answers: Answers, options?: { readonly id?: string | undefined }]
  readonly approve: [toolCallId: string, decision: Decision]
  readonly submitToolResults: [results: Readonly<Record<string, unknown>>]
  readonly cancelToolCall: [toolCallId: string]
  readonly restartToolCall: [toolCallId: string]
  readonly cancelTask: [task: string]
  readonly setPermissionMode: [mode: Permissions.Mode]
  readonly handoff: [agent: string]
}

/** The name of one of the {@link Verbs}. */
export type Verb = keyof Arguments

/**
 * The verbs that one row describes.
 *
 * - `cancel`: cancels the running turn, or only the one that `turn` names; with `tasks` the background tasks too
 * - `withdraw`: withdraws an input that waits; `view.inbox` lists them
 * - `retry`: runs the last question again
 * - `compact`: makes the requests of the thread smaller, after the running turn
 * - `resume`: runs the inputs that were accepted before the last restart
 * - `answer`: gives decisions, the results of calls and a message behind them in one turn; the same `id` is used once. A message alone
 *   answers the question
 * - `approve`: decides about a call that waits; `view.pendingApprovals` lists them
 * - `submitToolResults`: gives the results of the calls that the chat waits for, by the id of the call
 * - `cancelToolCall`, `restartToolCall`: ends a running call, or runs it again
 * - `cancelTask`: cancels a background task; `view.tasks` lists them
 * - `setPermissionMode`: sets the mode of the next calls
 * - `handoff`: hands the conversation over to an agent
 */
export type Verbs = { readonly [Name in Verb]: (...args: Arguments[Name]) => Promise<void> }

/** How a verb is requested. */
interface Row {
  /** The path below the chat; `:name` stands for the argument of that name. */
  readonly path: string
  /** The names of the arguments; the fields of `...` are the body. */
  readonly args: ReadonlyArray<string>
}

/** The row of each verb. */
export const verbs: Readonly<Record<Verb, Row>> = {
  cancel: { path: "/cancel", args: ["..."] },
  withdraw: { path: "/withdraw", args: ["input"] },
  retry: { path: "/retry", args: [] },
  compact: { path: "/compact", args: [] },
  resume: { path: "/resume", args: [] },
  answer: { path: "/answer", args: ["...", "..."] },
  approve: { path: "/approvals/:toolCallId", args: ["toolCallId", "..."] },
  submitToolResults: { path: "/results", args: ["results"] },
  cancelToolCall: { path: "/tools/:toolCallId/cancel", args: ["toolCallId"] },
  restartToolCall: { path: "/tools/:toolCallId/restart", args: ["toolCallId"] },
  cancelTask: { path: "/tasks/:task/cancel", args: ["task"] },
  setPermissionMode: { path: "/mode", args: ["mode"] },
  handoff: { path: "/handoff", args: ["agent"] }
}

/** The keys of {@link Verbs}, in the order of their table. */
export const verbNames = Object.keys(verbs) as ReadonlyArray<Verb>

/** The path of a verb below its chat, and the body of its request. Throws an `HttpError` for an id that a path cannot have. */
export const requestOf = <Name extends Verb>(
  verb: Name,
  ...args: Arguments[Name]
): { readonly path: string; readonly body: Readonly<Record<string, unknown>> } => {
  const row = verbs[verb]
  const body: Record<string, unknown> = {}
  let { path } = row
  row.args.forEach((name, index) => {
    const value: unknown = args[index]
    if (name === "...") Object.assign(body, value)
    else if (path.includes(`:${name}`)) path = path.replace(`:${name}`, pathPart(name, String(value)))
    else body[name] = value
  })
  return { path, body }
}

/** The verbs of a chat, each run by this function. */
export const verbsBy = (run: <Name extends Verb>(verb: Name, args: Arguments[Name]) => Promise<unknown>): Verbs => {
  const made = <Name extends Verb>(name: Name) =>
    [name, async (...args: Arguments[Name]): Promise<void> => void (await run(name, args))] as const
  return Object.fromEntries(verbNames.map(made)) as unknown as Verbs
}
