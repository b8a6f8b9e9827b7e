/**
 * OpenAI's responses: `POST /v1/responses`, and reading and cancelling a response.
 *
 * RESPRUN1. A response is a turn of a conversation, and is stored with it. A request that names an earlier response, or
 *           repeats one of its items, continues that conversation. When the conversation has gone on since, or a turn runs,
 *           another conversation starts from that response.
 * RESPRUN2. With `store: false` the items of a request are the thread, and nothing is stored.
 * RESPRUN3. When a client leaves, only the reading of a stored response ends (READERS1). A response that is not stored ends.
 */
import type { LocalChatRef } from "@troupe/chat"
import type { ChatOptions, ChatSnapshot, LiveTurn } from "@troupe/chat/chats"
import { Message } from "@troupe/chat/messages"
import { System } from "@troupe/otp"
import * as z from "zod"
import { HttpError } from "../../errors/index.ts"
import { type Call, queryOf, type Route } from "../../http/index.ts"
import { forkedAt, isCut, isRunning, stepsOf } from "../../wire/index.ts"
import {
  checkItems,
  checkParameters,
  checkResults,
  endedState,
  extentOf,
  hasHistory,
  headOf,
  idsOf,
  idsUnder,
  knownResponse,
  messagesOf,
  ofRefusal,
  ofResult,
  responseBody,
  type ResponseHead,
  ResponseItems,
  responseOf,
  type ResponsePlace,
  type ResponsesInput,
  responsesInput,
  responsesOptionsOf,
  ResponsesRequest,
  type ResponseState,
  responsesToolsOf,
  resultsIn,
  saidIn,
  splitHistory,
  unexpected
} from "../../wire/openAi/index.ts"
import { begunRun } from "./begunRun.ts"
import { modelNamed, withoutInstructions } from "./models.ts"
import { answered, begun, opened, readWhole, type Run, streamedRun } from "./openAiRun.ts"
import { withReplyImages } from "./replyImages.ts"
import { responseSplice } from "./responseSplice.ts"
import { ofRun, ofRunning, ofStored, ResponseStream, type StoredResponse } from "./responseStream.ts"

type Context = ChatSnapshot["context"]
type Messages = Context["thread"]["messages"]

/** A response that has begun. */
interface Begun {
  readonly run: Run
  readonly head: ResponseHead
  readonly newItems: () => ResponseItems
}

const create = async (call: Call): Promise<Response> => {
  const body = await call.body(ResponsesRequest)
  checkParameters(body, ResponsesRequest)
  const model = modelNamed(call, body.model)
  const input = responsesInput(body, call.limits.messageCharacters)
  checkItems(input.added)
  const engineTools = call.troupe.tools
  const tools = responsesToolsOf(body, new Set(engineTools.map(({ name }) => name)))
  const manual = new Set([...engineTools, ...tools].flatMap((tool) => (tool.manual ? [tool.name] : [])))
  const options = { ...model, ...responsesOptionsOf(body, tools) }
  call.claimStream()
  return answered(call, async (gone) => {
    if (call.begun !== undefined) return createdBefore(call, body, knownResponse(call.begun), gone)
    const response = await (body.store === false
      ? unstored(call, body, input, options, manual, gone)
      : stored(call, body, input, options, manual))
    if (body.stream === true) {
      const stream = new ResponseStream(response.head, response.newItems, call.stepMark)
      return streamedRun(
        call,
        response.run,
        () => ofRun(call, stream, response.run),
        (why) => stream.closed(why)
      )
    }
    return whole(call, response, body.background === true, gone)
  })
}

const createdAt = ({ troupe }: Call): number => Math.floor(troupe.system.clock.now() / 1_000)

/** RESPRUN2. */
const unstored = async (
  call: Call,
  body: ResponsesRequest,
  { instructions, previous, added }: ResponsesInput,
  options: ChatOptions,
  manual: ReadonlySet<string>,
  signal: AbortSignal
): Promise<Begun> => {
  const named = [
    ["previous_response_id", body.previous_response_id],
    ["conversation", body.conversation],
    ["background", body.background === true ? true : undefined]
  ] as const
  const [unfit] = named.flatMap(([name, value]) => (value === undefined || value === null ? [] : [name]))
  if (unfit !== undefined || previous !== undefined) {
    throw new HttpError(
      "invalid_input",
      "A response that is not stored cannot continue another, nor run in background",
      {
        issues: [{ field: [unfit ?? "input"], reason: "needs store: true" }]
      }
    )
  }
  const said = messagesOf(added, call.limits.messageCharacters)
  checkResults(said, "input")
  const instructed = instructions === undefined ? said : [Message.system(instructions), ...said]
  const { thread, rest } = withoutInstructions(instructed, options)
  const ids = idsUnder(System.uuid(call.troupe.system, "server"))
  return {
    run: await opened(await call.troupe.stream(thread, { ...rest, signal })),
    head: headOf(ids.response, { created: createdAt(call), model: body.model }, body),
    newItems: () => new ResponseItems(ids, (name) => manual.has(name))
  }
}

/** RESPRUN1. */
const stored = async (
  call: Call,
  body: ResponsesRequest,
  input: ResponsesInput,
  given: ChatOptions,
  manual: ReadonlySet<string>
): Promise<Begun> => {
  const { instructions } = input
  const all = [given.instructions, instructions].filter((text) => text !== undefined)
  const options = { ...given, ...(all.length === 0 ? {} : { instructions: all.join("\n\n") }) }
  const mostCharacters = call.limits.messageCharacters
  const results = resultsIn(input.added, mostCharacters)
  const said = saidIn(input.added, mostCharacters)
  const named = await conversationNamed(call, body)
  const { chat, goesOn } = await chatFor(call, named, input)
  const at = messagesIn(call, chat).length
  const place = { conversation: call.chats.outerId(chat.id), at, created: createdAt(call), model: body.model }
  const ids = idsOf(place)
  const turn = beginTurn(chat, results, said, options, goesOn)
  return {
    run: await begun(call, chat, turn, ids.response),
    head: headOf(ids.response, place, body),
    newItems: () => new ResponseItems(ids, (name) => manual.has(name))
  }
}

/** Begins the turn of a response: with results, with a message, or with the thread as it is. */
const beginTurn = (
  chat: LocalChatRef,
  results: ReturnType<typeof resultsIn>,
  said: ReturnType<typeof saidIn>,
  options: ChatOptions,
  goesOn: boolean
): LiveTurn => {
  if (goesOn && results.size > 0) {
    const input = said === undefined ? {} : { input: Message.user(said) }
    return chat.submitToolResults(Object.fromEntries(results), { options, ...input })
  }
  if (said !== undefined) return chat.send(Message.user(said), { options, whenBusy: "reject" })
  if (!goesOn) return chat.retry({ options })
  throw nothingNew()
}

/** The conversation that a request names. One that `conversation` names exists; the header of this server may begin one. */
const conversationNamed = async (
  { chats, request }: Call,
  { conversation }: ResponsesRequest
): Promise<string | undefined> => {
  const named = typeof conversation === "string" ? conversation : conversation?.id
  if (named === undefined) return request.headers.get("x-troupe-chat") ?? undefined
  await chats.existing(named)
  return named
}

/** The chat of a response. `goesOn` is whether it has the beginning of the input. */
const chatFor = async (
  call: Call,
  named: string | undefined,
  { previous, added }: ResponsesInput
): Promise<{ readonly chat: LocalChatRef; readonly goesOn: boolean }> => {
  if (previous !== undefined && named !== undefined && named !== previous.conversation) {
    throw new HttpError(
      "invalid_input",
      "The previous response belongs to another conversation; name only one of them",
      {
        issues: [{ field: ["previous_response_id"], reason: "is of another conversation" }]
      }
    )
  }
  if (previous !== undefined) {
    return { chat: await continued(call, previous), goesOn: true }
  }
  if (named !== undefined) return { chat: await call.chats.chat(named), goesOn: true }
  if (added.length === 0) throw nothingNew()
  if (!hasHistory(added))
    return { chat: await call.chats.begun(undefined, (id) => call.troupe.chat(id)), goesOn: false }
  const { earlier, said } = splitHistory(added)
  if (said.length === 0 && !earlier.some(({ type }) => type === "function_call_output")) throw nothingNew()
  const thread = messagesOf(earlier, call.limits.messageCharacters)
  return { chat: await call.chats.begun(undefined, (id) => call.troupe.begin(thread, { id })), goesOn: false }
}

const nothingNew = (): HttpError =>
  new HttpError("invalid_input", "The input ends with neither a message of the user nor the output of a call", {
    issues: [{ field: ["input"], reason: "has nothing new" }]
  })

/** The conversation of a response when nothing follows the response, else a fork of it. */
const continued = async (call: Call, place: ResponsePlace): Promise<LocalChatRef> => {
  const chat = await call.chats.existing(place.conversation)
  const messages = messagesIn(call, chat)
  const { end } = extentOf(messages, place.at)
  const context = contextOf(call, chat)
  const isLast = end === messages.length
  if (isLast && isRunning(context)) throw new HttpError("busy", "This response is in progress; wait for its end")
  if (isLast && (context?.inbox ?? []).length === 0) return chat
  return forkedAt(call, place.conversation, { from: end, to: end })
}

const contextOf = ({ shown }: Call, chat: LocalChatRef): Context | undefined =>
  shown.snapshot(chat.getSnapshot())?.context

/** The context whose replies have the bytes of their images. */
const withImages = async (call: Call, chat: LocalChatRef): Promise<Context | undefined> => {
  const context = contextOf(call, chat)
  if (context === undefined) return undefined
  return { ...context, thread: { messages: await withReplyImages(call, chat, context.thread.messages) } }
}

const messagesIn = (call: Call, chat: LocalChatRef): Messages => contextOf(call, chat)?.thread.messages ?? []

const whole = async (
  call: Call,
  { run, head, newItems }: Begun,
  background: boolean,
  gone: AbortSignal
): Promise<Response> => {
  if (background) {
    await run.events.return?.()
    return Response.json(responseBody(head, { status: "in_progress", output: [] }))
  }
  const items = newItems()
  await readWhole(
    call,
    run,
    (event) => items.push(event),
    () => items.result !== undefined,
    gone
  )
  if (items.result === undefined) return responseOf(unexpected)
  const state = endedState(items.result, items.output, ofResult)
  return state.status === "failed" ? responseOf(ofResult(items.result)) : Response.json(responseBody(head, state))
}

const Reading = z.looseObject({
  stream: z.enum(["true", "false"]).optional(),
  starting_after: z.coerce.number().int().nonnegative().optional()
})

/** Reads a stored response out of its conversation: as a whole, or as the stream of its events (RESPSEQ2). */
const read = async (call: Call): Promise<Response> => {
  const place = knownResponse(call.params["id"] ?? "")
  const { stream: isStream, starting_after: after } = queryOf(call.url, Reading)
  const chat = await call.chats.existing(place.conversation)
  const { head, newItems, body, ...response } = storedAt(call, place)
  const context = await withImages(call, chat)
  if (isStream !== "true" || context === undefined) return Response.json(body(context))
  return storedStream(call, chat, context, new ResponseStream(head, newItems, call.stepMark, after), response)
}

/** The events of a response that its conversation has. */
const storedStream = (
  call: Call,
  chat: LocalChatRef,
  context: Context,
  stream: ResponseStream,
  response: StoredResponse
): Response => {
  const isInProgress = call.isAgain || response.state(context).status === "in_progress"
  return call.stream(
    (signal) =>
      isInProgress ? ofRunning(call, chat, context, stream, response, signal) : ofStored(context, stream, response),
    { last: (why) => stream.closed(why), reads: isInProgress ? { chat } : undefined }
  )
}

/** Answers a request whose response has begun at a former home of its conversation (FORWARD9). */
const createdBefore = async (
  call: Call,
  body: ResponsesRequest,
  place: ResponsePlace,
  gone: AbortSignal
): Promise<Response> => {
  const chat = await call.chats.existing(place.conversation)
  const { newItems, ...response } = storedAt(call, place)
  const head = headOf(idsOf(place).response, place, body)
  const context = contextOf(call, chat)
  if (context === undefined) throw new HttpError("chat_stopped", "The conversation was stopped; ask again")
  if (body.stream === true) {
    const stream = new ResponseStream(head, newItems, call.stepMark)
    return storedStream(call, chat, context, stream, response)
  }
  if (body.background !== true && response.state(context).status === "in_progress") {
    const { events } = await begunRun(call, chat)
    await readWhole(
      call,
      { events, reads: { chat } },
      () => {},
      () => false,
      gone
    )
  }
  const now = contextOf(call, chat)
  if (isCut(call, now)) throw new HttpError("moved", "The response was cut and is not resumed; ask again")
  const state = now === undefined ? undefined : response.state(now)
  return state?.status === "failed" && now?.result !== undefined
    ? responseOf(ofResult(now.result))
    : Response.json(state === undefined ? response.body(now) : responseBody(head, state))
}

/** The response of a place, in any state of its conversation. */
const storedAt = (call: Call, place: ResponsePlace) => {
  const ids = idsOf(place)
  const servers = new Set(call.troupe.tools.flatMap(({ name, manual }) => (manual ? [] : [name])))
  const newItems = () => new ResponseItems(ids, (name) => !servers.has(name))
  const head = headOf(ids.response, place)
  const steps = ({ thread }: Context) => stepsOf(extentOf(thread.messages, place.at).own)
  const state = (context: Context): ResponseState => {
    const { messages } = context.thread
    const items = newItems()
    for (const step of steps(context)) items.step(step)
    const { output } = items
    const isLast = extentOf(messages, place.at).end === messages.length
    if (isLast && isRunning(context)) return { status: "in_progress", output }
    if (isLast && context.result !== undefined) return endedState(context.result, output, ofResult)
    if (isLast && context.interrupted !== undefined) return { status: "incomplete", output }
    if (isLast && context.lastHaltedReason === "cancelled") return { status: "cancelled", output }
    return { status: output.length === 0 ? "incomplete" : "completed", output }
  }
  const body = (context: Context | undefined) => {
    if (context === undefined) throw new HttpError("not_found", "The conversation no longer has this response")
    return responseBody(head, state(context))
  }
  return { head, newItems, steps, state, body }
}

/** Cancels a response that is in progress. */
const cancel = async (call: Call): Promise<Response> => {
  const place = knownResponse(call.params["id"] ?? "")
  const chat = await call.chats.existing(place.conversation)
  const { body } = storedAt(call, place)
  const context = contextOf(call, chat)
  if (context?.turn === undefined || body(context)["status"] !== "in_progress") {
    throw new HttpError("invalid_status_for_operation", "This response is over, and cannot be cancelled")
  }
  await chat.cancel({ turn: context.turn.delivery?.id })
  return Response.json(body(contextOf(call, chat)))
}

const refused = (error: HttpError): Response => responseOf(ofRefusal(error))

export const responsesRoutes: ReadonlyArray<Route> = [
  { method: "POST", path: "/v1/responses", handle: create, refused, follows: responseSplice },
  { method: "GET", path: "/v1/responses/:id", handle: read, refused, follows: responseSplice },
  { method: "POST", path: "/v1/responses/:id/cancel", handle: cancel, refused, follows: responseSplice }
]
