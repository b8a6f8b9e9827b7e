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
import type { ChatOptions } from "@troupe/chat/chats"
import { Message } from "@troupe/chat/messages"
import * as z from "zod"
import { HttpError } from "../../errors/index.ts"
import { type Call, queryOf, refused as refusedAs, type Route } from "../../http/index.ts"
import { contextOf, following, handle, namedResults, type Posted, type Protocol } from "../../post/index.ts"
import {
  checkItems,
  checkParameters,
  checkResults,
  extentOf,
  idsOf,
  knownResponse,
  messagesOf,
  ofRefusal,
  responseOf,
  type ResponsePlace,
  type ResponsesInput,
  responsesInput,
  responsesOptionsOf,
  ResponsesRequest,
  responsesToolsOf,
  resultsIn,
  saidIn,
  splitHistory
} from "../../wire/openAi/index.ts"
import { modelNamed, withoutInstructions } from "./models.ts"
import { answered, refusal, runAlone } from "./openAiRun.ts"
import { responseSplice } from "./responseSplice.ts"
import { type AskedResponse, placeOf, responseEncoder, stateAt, storedResponse } from "./responseStream.ts"

const create = async (call: Call): Promise<Response> => {
  const request = await call.body(ResponsesRequest)
  checkParameters(request, ResponsesRequest)
  const model = modelNamed(call, request.model)
  const input = responsesInput(request, call.limits.messageCharacters)
  checkItems(input.added)
  const engineTools = call.troupe.tools
  const tools = responsesToolsOf(request, new Set(engineTools.map(({ name }) => name)))
  const manual = new Set([...engineTools, ...tools].flatMap((tool) => (tool.manual ? [tool.name] : [])))
  const options = { ...model, ...responsesOptionsOf(request, tools) }
  const created = Math.floor(call.troupe.system.clock.now() / 1_000)
  const body = { request, at: { created, model: request.model }, isManual: (name: string) => manual.has(name) }
  call.claimStream()
  return answered(call, async (gone) => {
    // It has begun at a former home of its conversation (FORWARD9).
    if (call.begun !== undefined) return reading(call, { ...body, at: knownResponse(call.begun) })
    if (request.store === false) return unstored(call, body, input, options, gone)
    const id = await conversationNamed(call, request, input)
    return handle(responses, call, id, body, decode(call, id, input, options))
  })
}

/** RESPRUN2. */
const unstored = async (
  call: Call,
  body: Required<Pick<AskedResponse, "request">> & AskedResponse,
  { instructions, previous, added }: ResponsesInput,
  options: ChatOptions,
  gone: AbortSignal
): Promise<Response> => {
  const { request } = body
  const named = [
    ["previous_response_id", request.previous_response_id],
    ["conversation", request.conversation],
    ["background", request.background === true ? true : undefined]
  ] as const
  const [unfit] = named.flatMap(([name, value]) => (value === undefined || value === null ? [] : [name]))
  if (unfit !== undefined || previous !== undefined)
    throw new HttpError(
      "invalid_input",
      "A response that is not stored cannot continue another, nor run in background",
      {
        issues: [{ field: [unfit ?? "input"], reason: "needs store: true" }]
      }
    )
  const said = messagesOf(added, call.limits.messageCharacters)
  checkResults(said, "input")
  const instructed = instructions === undefined ? said : [Message.system(instructions), ...said]
  const { thread, rest } = withoutInstructions(instructed, options)
  const events = await call.troupe.stream(thread, { ...rest, signal: gone })
  return runAlone(responses, call, body, events, responseEncoder({ call, body }), gone)
}

/** The conversation that a request continues; none for a new one. Only the header of this server may begin the one that it names. */
const conversationNamed = async (
  { chats, request: { headers } }: Call,
  { conversation }: ResponsesRequest,
  { previous }: ResponsesInput
): Promise<string | undefined> => {
  const existing = typeof conversation === "string" ? conversation : conversation?.id
  const named = existing ?? headers.get("x-troupe-chat") ?? undefined
  if (previous !== undefined && named !== undefined && named !== previous.conversation)
    throw new HttpError(
      "invalid_input",
      "The previous response belongs to another conversation; name only one of them",
      {
        issues: [{ field: ["previous_response_id"], reason: "is of another conversation" }]
      }
    )
  if (previous !== undefined) await chats.existing(previous.conversation)
  else if (existing !== undefined) await chats.existing(existing)
  return previous?.conversation ?? named
}

/** The new items. Those of a new conversation may begin with the conversation of another server. */
const decode = (
  { limits }: Call,
  id: string | undefined,
  { instructions, previous, added }: ResponsesInput,
  options: ChatOptions
): Posted => {
  const most = limits.messageCharacters
  const { earlier, said } = id === undefined ? splitHistory(added) : { earlier: [], said: added }
  const thread = earlier.length === 0 ? undefined : messagesOf(earlier, most)
  const results = resultsIn(said, most)
  const content = saidIn(said, most)
  if (content === undefined && results.length === 0 && thread?.at(-1)?.role !== "tool")
    throw new HttpError("invalid_input", "The input ends with neither a message of the user nor the output of a call", {
      issues: [{ field: ["input"], reason: "has nothing new" }]
    })
  const all = [options.instructions, instructions].filter((text) => text !== undefined)
  const turn = all.length === 0 ? options : { ...options, instructions: all.join("\n\n") }
  return {
    messages: content === undefined ? [] : [{ id: undefined, read: () => Message.user(content), edits: false }],
    answers: namedResults(results),
    regenerate: thread === undefined ? undefined : { of: undefined, ifRead: false, isNamed: false },
    whenBusy: "reject",
    end: (messages) => (previous === undefined ? Number.POSITIVE_INFINITY : extentOf(messages, previous.at).end),
    thread,
    options: () => turn
  }
}

const responses: Protocol<AskedResponse, string> = {
  policy: () => ({ stale: "refuse", calls: "refuse", approvals: "refuse", history: "add" }),
  isWhole: ({ request }) => request !== undefined && request.stream !== true,
  frames: () => (frames) => frames.join(""),
  encoder: responseEncoder,
  turnName: (run) => idsOf(placeOf(run)).response,
  refusal,
  nothing: () => {
    throw refusedAs("unknown_chat")
  }
}

const Reading = z.looseObject({
  stream: z.enum(["true", "false"]).optional(),
  starting_after: z.coerce.number().int().nonnegative().optional()
})

/** A response that a client reads, and its chat. A call of any tool but the server's own is the client's. */
const asked = async (call: Call) => {
  const at = knownResponse(call.params["id"] ?? "")
  const servers = new Set(call.troupe.tools.flatMap(({ name, manual }) => (manual ? [] : [name])))
  const isManual = (name: string): boolean => !servers.has(name)
  return { chat: await call.chats.existing(at.conversation), at, isManual }
}

/** Reads a stored response out of its conversation: as a whole, or as the stream of its events (RESPSEQ2). */
const read = async (call: Call): Promise<Response> => {
  const { chat, at, isManual } = await asked(call)
  const { stream, starting_after: after } = queryOf(call.url, Reading)
  return stream === "true"
    ? reading(call, { at, isManual, after })
    : Response.json(await storedResponse(call, chat, at, isManual))
}

/** Answers with a response that has begun. One that is over is not that of a turn which runs. */
const reading = async (call: Call, body: AskedResponse & { readonly at: ResponsePlace }): Promise<Response> => {
  const chat: LocalChatRef = await call.chats.existing(body.at.conversation)
  const context = contextOf(call, chat)
  const isOver = stateAt(context, body.at).status !== "in_progress"
  return following(
    { protocol: responses, call, chat, body },
    { context: isOver ? { ...context, turn: undefined } : context }
  )
}

/** Cancels a response that is in progress. */
const cancel = async (call: Call): Promise<Response> => {
  const { chat, at, isManual } = await asked(call)
  const context = contextOf(call, chat)
  if (context.turn === undefined || stateAt(context, at).status !== "in_progress")
    throw new HttpError("invalid_status_for_operation", "This response is over, and cannot be cancelled")
  await chat.cancel({ turn: context.turn.delivery?.id })
  return Response.json(await storedResponse(call, chat, at, isManual))
}

const refused = (error: HttpError): Response => responseOf(ofRefusal(error))

export const responsesRoutes: ReadonlyArray<Route> = [
  { method: "POST", path: "/v1/responses", handle: create, refused, follows: responseSplice },
  { method: "GET", path: "/v1/responses/:id", handle: read, refused, follows: responseSplice },
  { method: "POST", path: "/v1/responses/:id/cancel", handle: cancel, refused, follows: responseSplice }
]
