/** The server's own routes: conversations as JSON, their events as server-sent events. */
import type { ChatRef, LocalChatRef } from "@troupe/chat"
import { Decision, Permissions } from "@troupe/chat/tools"
import * as z from "zod"
import { checkDecision, checkName, withAgent } from "../access/index.ts"
import {
  type Begins,
  eventStream,
  events,
  json,
  turnReply,
  viewOf,
  viewStream,
  existing,
  handled,
  paramOf,
  verbOf
} from "./responses.ts"
import { type Call, queryOf, refused, type Route } from "../http/index.ts"
import { type Verb, verbNames, verbs } from "../link/index.ts"
import { checkedAnswer, checkedLength, nextReply, ownSplice, WirePart, withWriter } from "../wire/index.ts"

/** The error text for a message of another shape (CONTENT3). */
const shapes =
  'send text, or a list of parts: {"type":"text","text"}, {"type":"image","image":{"url"}} or ' +
  '{"type":"file","file":{"url"},"mediaType"}; in place of `url`, `base64` (an image then needs `mediaType` beside it)'

const Said = z.union([z.string().min(1), z.array(WirePart).min(1)], { error: shapes })
const inputId = z.string().min(1).max(256)
/** The name of an agent or of a model. */
const name = z.string().min(1).max(256)

const Message = z.strictObject({
  input: Said,
  whenBusy: z.enum(["queue", "steer", "interrupt", "reject"]).optional(),
  id: inputId.optional(),
  agent: name.optional(),
  model: name.optional()
})

const Handoff = z.strictObject({ agent: name })

const Answer = z.strictObject({
  decisions: z.record(z.string(), Decision).optional(),
  results: z.record(z.string(), z.unknown()).optional(),
  input: Said.optional(),
  id: inputId.optional(),
  toolCallId: z.string().optional()
})
const Results = z.strictObject({ results: z.record(z.string(), z.unknown()) })
const Mode = z.strictObject({ mode: Permissions.Mode })
const Nothing = z.strictObject({})
/** The turn to cancel, or the id of its input, and whether the background tasks are cancelled too. */
const Cancel = z.strictObject({ turn: inputId.optional(), tasks: z.boolean().optional() })
const Withdraw = z.strictObject({ input: inputId })

/** How a slow reader of the events is handled. */
const Slow = z.object({
  whenSlow: z.enum(["coalesce", "snapshot"]).optional(),
  maxUnread: z.coerce.number().int().min(1).optional()
})

/** Returns a message unchanged. Throws an `HttpError` (413) for one that is too long. */
const input = (said: z.infer<typeof Said>, { limits }: Call): Parameters<ChatRef["send"]>[0] =>
  checkedLength(said, limits.messageCharacters)

/** The options of an input that begins one turn, however often its request is sent. */
const repeatable = <Options extends { readonly id?: string | undefined; readonly whenBusy?: string | undefined }>(
  call: Call,
  options: Options
): Options => ({
  ...options,
  id: call.inputId(options.id),
  // The input has its place already.
  ...(call.begun !== undefined && options.whenBusy === "reject" && { whenBusy: "queue" })
})

const send = async (call: Call, { input: said, agent, ...sent }: z.infer<typeof Message>): Promise<Begins> => {
  const options = repeatable(call, sent)
  const message = input(said, call)
  checkName(call.may, "models", options.model)
  const chat = await withAgent(call.may, agent, () => call.chats.chat(paramOf(call, "id"), agent))
  return { chat, begin: () => chat.send(message, { ...options, options: withWriter(call, chat) }) }
}

/** Answers what the chat waits for; of its questions only the one of `toolCallId`, if there is one. */
const answering = async (call: Call, body: z.infer<typeof Answer>): Promise<Begins> => {
  const { input: said, toolCallId, decisions = {}, results = {}, id } = body
  const most = call.limits.messageCharacters
  const values = Object.values(decisions).flatMap((decision) =>
    decision.type === "result" ? [decision, decision.value] : [decision]
  )
  for (const value of [...values, ...Object.values(results)]) checkedAnswer(value, most)
  const answers = { decisions, results, ...(said !== undefined && { input: input(said, call) }) }
  const chat = await existing(call)
  // The decisions are checked in the tick in which they are given (OPEN5).
  const check = (): void => {
    const context = chat.getSnapshot()?.context
    for (const [asked, decision] of Object.entries(decisions)) {
      const waits = context?.pendingApprovals.find(({ toolCall }) => toolCall.id === asked)
      checkDecision(call.may, decision, waits)
    }
    if (toolCallId !== undefined && context?.pendingQuestion?.toolCallId !== toolCallId) throw refused("no_question")
  }
  const options = { id: call.inputId(id), options: withWriter(call, chat) }
  return {
    chat,
    begin: () => {
      if (call.begun === undefined) check()
      return chat.answer(answers, options)
    }
  }
}

const retry = async (call: Call): Promise<Begins> => {
  const chat = await existing(call)
  if (call.begun !== undefined) return { chat, begun: call.begun }
  const { attempt } = nextReply(chat.thread.messages)
  return { chat, begin: () => chat.retry({ options: withWriter(call, chat), attempt }) }
}

const compact = async (call: Call): Promise<Begins> => {
  const chat = await existing(call)
  return call.begun === undefined ? { chat, begin: () => chat.compact() } : { chat, begun: call.begun }
}

const verb = verbOf(existing)

/** The task while it runs, and then its end. */
const task = handled({
  run: async (call) => {
    const chat = await existing(call)
    const id = paramOf(call, "task")
    const snapshot = chat.getSnapshot()
    const isRunning = snapshot?.context.tasks.some((one) => one.id === id && one.status === "running") === true
    return { id, snapshot, end: isRunning ? undefined : await chat.awaitTask(id) }
  },
  shows: ({ id, snapshot, end }, call) =>
    end === undefined ? viewOf(call, snapshot).tasks.find((one) => one.id === id) : call.shown.taskEnd(end, id)
})

const snapshotOf = async (call: Call): Promise<ReturnType<LocalChatRef["getSnapshot"]>> =>
  (await existing(call)).getSnapshot()

const own = (
  method: Route["method"],
  path: string,
  handle: Route["handle"],
  ...more: ReadonlyArray<string>
): Route => ({
  method,
  path,
  handle,
  produces: [json, ...more]
})

/** A route whose request is sent again when its conversation moves. */
const followed = (...route: Parameters<typeof own>): Route => ({ ...own(...route), follows: ownSplice })

/** The row of each verb. */
const rows: Readonly<Record<Verb, Route["handle"]>> = {
  answer: handled({ body: Answer, run: answering, shows: turnReply }),
  approve: handled({
    body: Decision,
    run: (call, decision) => answering(call, { decisions: { [paramOf(call, "toolCallId")]: decision } }),
    shows: turnReply
  }),
  submitToolResults: handled({ body: Results, run: answering, shows: turnReply }),
  retry: handled({ body: Nothing, run: retry, shows: turnReply }),
  compact: handled({ body: Nothing, run: compact, shows: turnReply }),
  resume: verb(Nothing, (chat) => void chat.resume()),
  cancel: verb(Cancel, (chat, options) => chat.cancel(options)),
  withdraw: verb(Withdraw, (chat, { input: id }) => chat.withdraw(id)),
  setPermissionMode: verb(Mode, (chat, { mode }, { may }) =>
    chat.setPermissionMode(mode, { within: may.mode ?? "host" })
  ),
  handoff: verb(Handoff, (chat, { agent }, { may }) => withAgent(may, agent, () => chat.handoff(agent))),
  cancelToolCall: verb(Nothing, (chat, _, call) => chat.cancelToolCall(paramOf(call, "toolCallId"))),
  restartToolCall: handled({
    body: Nothing,
    may: "approve",
    run: async (call) => (await existing(call)).restartToolCall(paramOf(call, "toolCallId"))
  }),
  cancelTask: verb(Nothing, (chat, _, call) => chat.cancelTask(paramOf(call, "task")))
}

/** The verbs that begin or continue a turn, whose events the answer can have. */
const beginning: ReadonlySet<Verb> = new Set<Verb>(["answer", "approve", "submitToolResults", "retry", "compact"])

const verbRoute = (of: Verb): Route => {
  const route = own("POST", `/chats/:id${verbs[of].path}`, rows[of], ...(beginning.has(of) ? [events] : []))
  // A restart that was not answered is not sent again: the call could be restarted twice.
  return of === "restartToolCall" ? route : { ...route, follows: ownSplice }
}

/** Looking at a chat starts it. Nothing is stored until a message is sent. */
const looked = async (call: Call): Promise<LocalChatRef> => {
  call.claimStream()
  return call.chats.chat(paramOf(call, "id"))
}

const stream = { produces: [events], isEndless: true } as const

export const chatRoutes: ReadonlyArray<Route> = [
  followed("GET", "/chats/:id", handled({ run: snapshotOf, shows: (snapshot, call) => viewOf(call, snapshot) })),
  followed("POST", "/chats/:id/messages", handled({ body: Message, run: send, shows: turnReply }), events),
  ...verbNames.map(verbRoute),
  followed(
    "GET",
    "/chats/:id/tasks",
    handled({ run: snapshotOf, shows: (snapshot, call) => ({ tasks: viewOf(call, snapshot).tasks }) })
  ),
  followed("GET", "/chats/:id/tasks/:task", task),
  {
    ...followed(
      "GET",
      "/chats/:id/events",
      handled({
        run: async (call) => ({ slow: queryOf(call.url, Slow), chat: await existing(call) }),
        shows: ({ slow, chat }, call) => eventStream(call, chat, slow)
      })
    ),
    ...stream
  },
  { ...own("GET", "/chats/:id/view", handled({ run: looked, shows: viewStream })), ...stream }
]
