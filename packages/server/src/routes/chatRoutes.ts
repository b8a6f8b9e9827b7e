/** The server's own routes: conversations as JSON, their events as server-sent events. */
import type { ChatRef, LocalChatRef } from "@troupe/chat"
import type { Attached } from "@troupe/chat/chats"
import { Decision, Permissions } from "@troupe/chat/tools"
import * as z from "zod"
import { check, checkDecision, checkName, withAgent } from "../access/index.ts"
import {
  begunReply,
  dataOf,
  events,
  frame,
  framesOf,
  json,
  lastFrame,
  snapshotText,
  turnReply,
  viewOf
} from "./responses.ts"
import { type Call, queryOf, refused, type Route } from "../http/index.ts"
import { type Verb, verbNames, verbs } from "../link/index.ts"
import { checkedAnswer, checkedLength, eventText, nextReply, ownSplice, WirePart, withWriter } from "../wire/index.ts"

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

const existing = (call: Call): Promise<LocalChatRef> => call.chats.existing(idOf(call))

const idOf = ({ params }: Call): string => params["id"] ?? ""

const taskOf = ({ params }: Call): string => params["task"] ?? ""

const toolCallIdOf = ({ params }: Call): string => params["toolCallId"] ?? ""

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

const done = (): Response => Response.json({ ok: true })

const send = async (call: Call): Promise<Response> => {
  const { input: said, agent, ...sent } = await call.body(Message)
  const options = repeatable(call, sent)
  const message = input(said, call)
  checkName(call.may, "models", options.model)
  const chat = await withAgent(call.may, agent, () => call.chats.chat(idOf(call), agent))
  return turnReply(call, chat, () => chat.send(message, { ...options, options: withWriter(call, chat) }))
}

/** Answers what the chat waits for; of its questions only the one of `toolCallId`, if there is one. */
const answering = async (call: Call, body: z.infer<typeof Answer>): Promise<Response> => {
  const { input: said, toolCallId, decisions = {}, results = {}, id } = body
  const most = call.limits.messageCharacters
  const values = Object.values(decisions).flatMap((decision) =>
    decision.type === "result" ? [decision, decision.value] : [decision]
  )
  for (const value of [...values, ...Object.values(results)]) checkedAnswer(value, most)
  const answers = { decisions, results, ...(said !== undefined && { input: input(said, call) }) }
  const chat = await existing(call)
  const context = chat.getSnapshot()?.context
  if (call.begun === undefined) {
    for (const [asked, decision] of Object.entries(decisions)) {
      const waits = context?.pendingApprovals.find(({ toolCall }) => toolCall.id === asked)
      checkDecision(call.may, decision, waits)
    }
    if (toolCallId !== undefined && context?.pendingQuestion?.toolCallId !== toolCallId) throw refused("no_question")
  }
  const options = { id: call.inputId(id), options: withWriter(call, chat) }
  return turnReply(call, chat, () => chat.answer(answers, options))
}

const answer = async (call: Call): Promise<Response> => answering(call, await call.body(Answer))

const approve = async (call: Call): Promise<Response> =>
  answering(call, { decisions: { [toolCallIdOf(call)]: await call.body(Decision) } })

const submit = async (call: Call): Promise<Response> => answering(call, await call.body(Results))

const retry = async (call: Call): Promise<Response> => {
  await call.body(Nothing)
  const chat = await existing(call)
  if (call.begun !== undefined) return begunReply(call, chat, call.begun)
  const { attempt } = nextReply(chat.thread.messages)
  return turnReply(call, chat, () => chat.retry({ options: withWriter(call, chat), attempt }))
}

/** A verb without a turn. */
const verb =
  <A>(schema: z.ZodType<A>, run: (chat: ChatRef, body: A, call: Call) => unknown) =>
  async (call: Call): Promise<Response> => {
    const body = await call.body(schema)
    await run(await existing(call), body, call)
    return done()
  }

const attach = async (call: Call): Promise<Response> => {
  const cursor = call.request.headers.get("last-event-id") ?? call.url.searchParams.get("cursor") ?? undefined
  const slow = queryOf(call.url, Slow)
  const chat = await existing(call)
  const reader = chat.attach({ ...slow, cursor })
  const shown = call.shown.events(reader)
  const text = (item: Attached): string =>
    item.type === "event" ? eventText(shown(item.event)) : snapshotText(call, item.snapshot)
  const frames = framesOf(call, reader, (item) => frame(text(item), item.cursor))
  return call.stream(frames, { changes: [dataOf(chat)], last: lastFrame })
}

const view = async (call: Call): Promise<Response> => {
  const chat = await existing(call)
  return Response.json(viewOf(call, chat.getSnapshot()))
}

const tasks = async (call: Call): Promise<Response> => {
  const chat = await existing(call)
  return Response.json({ tasks: viewOf(call, chat.getSnapshot()).tasks })
}

/** The task while it runs, and then its end. */
const task = async (call: Call): Promise<Response> => {
  const chat = await existing(call)
  const found = viewOf(call, chat.getSnapshot()).tasks.find(({ id }) => id === taskOf(call))
  return Response.json(found?.status === "running" ? found : await chat.awaitTask(taskOf(call)))
}

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

/** What a request of each verb does. */
const handlers: Readonly<Record<Verb, Route["handle"]>> = {
  answer,
  approve,
  submitToolResults: submit,
  retry,
  resume: verb(Nothing, (chat) => void chat.resume()),
  cancel: verb(Cancel, (chat, options) => chat.cancel(options)),
  withdraw: verb(Withdraw, (chat, { input: id }) => chat.withdraw(id)),
  setPermissionMode: verb(Mode, (chat, { mode }, { may }) =>
    chat.setPermissionMode(mode, { within: may.mode ?? "host" })
  ),
  handoff: verb(Handoff, (chat, { agent }, { may }) => withAgent(may, agent, () => chat.handoff(agent))),
  cancelToolCall: verb(Nothing, (chat, _, call) => chat.cancelToolCall(toolCallIdOf(call))),
  restartToolCall: verb(Nothing, (chat, _, call) => {
    check(call.may, "approve")
    return chat.restartToolCall(toolCallIdOf(call))
  }),
  cancelTask: verb(Nothing, (chat, _, call) => chat.cancelTask(taskOf(call)))
}

/** The verbs that begin or continue a turn, whose events the answer can have. */
const beginning: ReadonlySet<Verb> = new Set<Verb>(["answer", "approve", "submitToolResults", "retry"])

const verbRoute = (of: Verb): Route => {
  const route = own("POST", `/chats/:id${verbs[of].path}`, handlers[of], ...(beginning.has(of) ? [events] : []))
  // A restart that was not answered is not sent again: the call could be restarted twice.
  return of === "restartToolCall" ? route : { ...route, follows: ownSplice }
}

export const chatRoutes: ReadonlyArray<Route> = [
  followed("GET", "/chats/:id", view),
  followed("POST", "/chats/:id/messages", send, events),
  ...verbNames.map(verbRoute),
  followed("GET", "/chats/:id/tasks", tasks),
  followed("GET", "/chats/:id/tasks/:task", task),
  { ...followed("GET", "/chats/:id/events", attach), produces: [events], isEndless: true }
]
