/**
 * AG-UI: `POST /ag-ui`, one run at a time.
 *
 * AGUIRUN1. The server has the conversation: only the new part of a client's post is used. A client that posts nothing new
 *           gets the current state, and follows the running turn.
 * AGUIRUN2. When a client leaves, only the reading ends (READERS1).
 * AGUIRUN4. A client that removed messages from its history goes on from there: a new message rewinds the conversation to the
 *           last message of a person that the client still has. A message whose answer the client had read, and posts last
 *           again, gets another answer. A client that has none of the messages only adds one.
 * AGUIRUN3. All answers are checked first. If one is empty, or fits nothing that waits or waited, none is used. An answer
 *           that the chat no longer waits for is a repeated one, and changes nothing.
 * AGUIRUN5. A new message with answers follows them.
 */
import type { LocalChatRef } from "@troupe/chat"
import { Message } from "@troupe/chat/messages"
import { HttpError } from "../errors/index.ts"
import type { Call, Route } from "../http/index.ts"
import {
  type Answers,
  contextOf,
  type Encoder,
  handle,
  type Posted,
  type Protocol,
  type Refusal,
  type Run
} from "../post/index.ts"
import { callsOf, checkedAnswer, checkedResult, dataFrames, named, replyName } from "../wire/index.ts"
import {
  type AgUiEvent,
  type AgUiInput,
  agUiMessages,
  agUiSplice,
  AgUiRequest,
  AgUiStream,
  answersIn,
  checkLengths,
  contentOf,
  interruptedCall,
  interruptsOf,
  isCurrentVersion,
  resultIdsIn,
  resultsIn,
  sharedStateOf,
  stepCount,
  turnOptionsOf,
  StateUpdates
} from "../wire/agUi/index.ts"

const decode = (call: Call, body: AgUiRequest): Posted => {
  const { limits, troupe, isAgain } = call
  const most = limits.messageCharacters
  checkLengths(body, most)
  const messages = body.messages.filter(({ role }) => role !== "activity")
  const last = messages.at(-1)
  const at = messages.findLastIndex(({ role }) => role !== "user")
  const newest = last?.role === "user" ? userMessage(last, most) : undefined
  const isRepeatable = last?.role === "user" && !isAgain
  return {
    messages: messages.slice(at + 1).flatMap((one) => {
      if (one !== last && one.content === "") return []
      return [{ id: one.id, read: () => (one === last ? newest : undefined) ?? userMessage(one, most), edits: true }]
    }),
    answers: answersOf(body, most),
    history: messages.flatMap(({ id, role }) => (role === "user" ? [id] : [])),
    regenerate: isRepeatable ? { of: last.id, ifRead: true, isNamed: true } : undefined,
    options: (chat) => turnOptionsOf(body, troupe.tools, sharedStateOf(chat), most)
  }
}

const userMessage = (one: AgUiInput, most: number): ReturnType<typeof named> =>
  named(Message.user(contentOf(one, most)), one.id)

/** All answers of a request. Throws an `HttpError` (413, 422). */
const answersOf = ({ messages, resume }: AgUiRequest, most: number): Answers => {
  const results = resultsIn(messages)
  const { decisions, answers } = answersIn(resume ?? [])
  for (const result of results.values()) checkedResult(result, most)
  for (const decision of decisions.values()) checkedAnswer(decision, most)
  return {
    results,
    decisions,
    texts: new Map(Array.from(answers, ([id, content]) => [id, answerText(content, most)])),
    named: (resume ?? []).map(({ interruptId }, index) => ({
      id: interruptedCall(interruptId) ?? "",
      kind: interruptId.startsWith("question:") ? "answer" : "decision",
      field: ["resume", index, "interruptId"]
    }))
  }
}

const answerText = (content: string, most: number): string => {
  const answer: AgUiInput = { id: "answer", role: "user", content }
  return contentOf(answer, most) as string
}

const streamFor = (
  { threadId, runId, protocolVersion, messages }: AgUiRequest,
  { name, has }: Pick<Run<AgUiRequest>, "name" | "has">
): AgUiStream =>
  new AgUiStream({
    threadId,
    runId,
    isCurrent: isCurrentVersion(protocolVersion),
    resultIds: resultIdsIn(messages),
    reply: name,
    steps: stepCount(has),
    calls: callsOf(has)
  })

const encoder = (run: Run<AgUiRequest>): Encoder<AgUiEvent> => {
  const stream = streamFor(run.body, run)
  return {
    begin: () => stream.start(),
    event: (event) => stream.push(event),
    standing: ({ earlier, reply, partial }) => stream.snapshot([...earlier, ...reply], stepCount(reply), partial),
    end: ({ result, phase, pendingQuestion, pendingApprovals, pendingToolCalls }, isLook) => {
      if (!isLook) return result === undefined ? stream.failed(undefined) : stream.ended(result)
      const haltedReason = phase === "interrupted" ? "interrupted" : "completed"
      return stream.ended({ ...resting, haltedReason, pendingQuestion, pendingApprovals, pendingToolCalls })
    },
    fail: (error) => stream.failed(error),
    closing,
    // A custom event is no part of a message.
    news: ({ type, data }) => ({ type: "CUSTOM", name: `troupe.${type}`, value: data })
  }
}

const resting = { haltedReason: "completed", metadata: {}, pendingToolCalls: [], steps: [] } as const

const closing = ({ code, message }: HttpError): ReadonlyArray<AgUiEvent> => [
  { type: "RUN_ERROR", message: code === "closing" ? "The server is closing; run again to go on" : message, code }
]

const agUi: Protocol<AgUiRequest, AgUiEvent> = {
  policy: (posts) => ({ stale: "follow", calls: "cancel", approvals: "refuse", history: "add", ...posts }),
  encoder,
  data: ({ type: name, ...value }) => ({ type: "CUSTOM", name, value }),
  changes: ({ chat, body }) => [(changed) => new StateUpdates(sharedStateOf(chat), body.state, changed)],
  refusal: (refusal) => {
    if (refusal.why === "awaiting_approval")
      return new HttpError("awaiting_approval", "Decide about the tool calls first, with resume")
    if (refusal.why === "awaiting_tool_results")
      return new HttpError("awaiting_tool_results", "Give the results of the tool calls first, as tool messages")
    return refusal.why === "not_waiting" ? notWaiting(refusal) : undefined
  },
  nothing: (call, body) => {
    const stream = streamFor(body, { name: replyName("m"), has: [] })
    const events = [...stream.start(), ...stream.snapshot([], 0), ...stream.ended(resting)]
    return call.stream(alone(dataFrames(events)), { last: (why) => dataFrames(closing(why)) })
  }
}

/** AGUIRUN3. */
const notWaiting = ({ fields, waiting }: Extract<Refusal, { why: "not_waiting" }>): HttpError => {
  const ids = waiting.map((id) => id.replace(/^decision:/u, "approval:").replace(/^answer:/u, "question:"))
  const reason = ids.length === 0 ? "nothing is pending; leave it out" : `must_be_one_of ${ids.join(", ")}`
  const advice = ids.length === 0 ? "it waits for no answer" : `it waits for ${ids.join(", ")}`
  return new HttpError(
    "invalid_status_for_operation",
    `The conversation does not wait for some of these answers: ${advice}; load it anew`,
    { issues: fields.map((field) => ({ field, reason })) }
  )
}

async function* alone<A>(item: A): AsyncGenerator<A, void> {
  yield item
}

const start = async (call: Call): Promise<Response> => {
  const body = await call.body(AgUiRequest, "messages")
  const posted = decode(call, body)
  call.claimStream()
  return handle(agUi, call, body.threadId, body, posted)
}

/**
 * Sends a thread as its messages, to a client that has none, with what the conversation waits for: no run ends with the waits of an agent in
 * the background.
 */
const load = async (call: Call): Promise<Response> => {
  const chat: LocalChatRef = await call.chats.existing(call.params["id"] ?? "")
  const isCurrent = isCurrentVersion(call.url.searchParams.get("protocolVersion"))
  const { thread, pendingApprovals, pendingQuestion } = contextOf(call, chat)
  const interrupts = interruptsOf(pendingApprovals, pendingQuestion)
  const waits = interrupts.length === 0 ? {} : { interrupts }
  return Response.json({ messages: agUiMessages(thread.messages, isCurrent), ...waits })
}

export const agUiRoutes: ReadonlyArray<Route> = [
  { method: "POST", path: "/ag-ui", handle: start, follows: agUiSplice },
  { method: "GET", path: "/ag-ui/:id/messages", handle: load, follows: agUiSplice }
]
