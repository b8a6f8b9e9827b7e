/**
 * The requests of each protocol.
 *
 * @module
 */

/** The columns of the tables. */
export const columns = ["aiSdk", "agUi", "responses", "completions"] as const

/** A column of the tables. */
export type Column = (typeof columns)[number]

/** The answer to a request. */
export interface Answer {
  readonly status: number
  readonly text: string
}

/** What a client of a protocol has of a conversation: its last message or answer, as its protocol has it. */
export interface Known {
  readonly url: string
  readonly answer: string
}

type Later = (known: Known) => Promise<Answer>

/** A protocol, as its clients use it. An operation that the protocol does not have is absent. */
export interface Protocol {
  readonly title: string
  /** The request that sends a message with this content and these fields, which streams the answer. */
  readonly send: (url: string, content: unknown, fields?: object) => Request
  /** Reads a whole answer again, otherwise than by its stream. */
  readonly again: Later
  /** Sends another message to the same conversation, without repeating the history. */
  readonly goOn: Later
  /** Gives the result `In Oslo` of the call `c0` of a tool of the client. */
  readonly result: Later
  /** Gives the error `No position` as the result of that call. */
  readonly fail?: Later
  /** Answers the question of the call `c0` with `Blue`. */
  readonly answer: Later
  /** Approves the call `c0`. */
  readonly approve?: Later
  /** Denies the call `c0`. */
  readonly deny?: Later
  /** Replaces the second message with `Rather this`. */
  readonly edit?: Later
  /** Asks for another answer to the same message. */
  readonly regenerate?: Later
  /** Lists the messages of the conversation. */
  readonly list?: Later
  /** Lists the messages that an answer is to. */
  readonly input?: Later
  /** Begins a conversation with `Hello` and its answer `Hi there`, and goes on with `And?`. */
  readonly begin?: Later
  /** Deletes the last answer with its message, and goes on with `Rather this`. */
  readonly undo?: Later
  /** Deletes the conversation, and reads it. */
  readonly remove?: Later
  /** The request that reads the running answer from its beginning. */
  readonly resume?: (url: string) => Request
  /** Cancels the running turn. */
  readonly cancel?: Later
}

const json = { "content-type": "application/json" }
const requestOf = (url: string, body?: object, headers: object = {}): Request =>
  new Request(url, body && { method: "POST", headers: { ...json, ...headers }, body: JSON.stringify(body) })

/** Sends a request, and reads the whole answer. */
export const answerTo = async (request: Request): Promise<Answer> => {
  const response = await fetch(request)
  return { status: response.status, text: await response.text() }
}

const post = (url: string, body: object, headers?: object): Promise<Answer> => answerTo(requestOf(url, body, headers))

const uiMessage = (id: string, parts: unknown) => ({ id, role: "user", parts })
const uiText = (id: string, text: string) => uiMessage(id, [{ type: "text", text }])
const first = uiText("u1", "Hi")
const replied = (part: object) => ({ id: "u1.reply", role: "assistant", parts: [{ type: "step-start" }, part] })
const chat = ({ url }: Known, body: object): Promise<Answer> => post(`${url}/api/chat`, { id: "c", ...body })
const decide = (known: Known, approved: boolean): Promise<Answer> => {
  const approval = { id: "c0", approved, reason: "too dear" }
  const part = { type: "tool-pay", toolCallId: "c0", state: "approval-responded", input: {}, approval }
  return chat(known, { messages: [first, replied(part)] })
}

const aiSdk: Protocol = {
  title: "AI SDK",
  send: (url, content, fields = {}) =>
    requestOf(`${url}/api/chat`, { id: "c", messages: [uiMessage("u1", content)], ...fields }),
  again: ({ url }) => answerTo(requestOf(`${url}/api/chat/c/messages`)),
  list: ({ url }) => answerTo(requestOf(`${url}/api/chat/c/messages`)),
  goOn: (known) => chat(known, { message: uiText("u2", "And?") }),
  result: (known) => {
    const part = { type: "tool-where", toolCallId: "c0", state: "output-available", input: {}, output: "In Oslo" }
    return chat(known, { messages: [first, replied(part)] })
  },
  fail: (known) => {
    const failed = { state: "output-error", errorText: "No position" }
    return chat(known, { messages: [first, replied({ type: "tool-where", toolCallId: "c0", input: {}, ...failed })] })
  },
  answer: (known) => chat(known, { message: uiText("u2", "Blue") }),
  approve: (known) => decide(known, true),
  deny: (known) => decide(known, false),
  edit: (known) => chat(known, { messageId: "u2", messages: [first, uiText("u2", "Rather this")] }),
  regenerate: (known) => chat(known, { trigger: "regenerate-message", messages: [first] }),
  resume: (url) => requestOf(`${url}/api/chat/c/stream`),
  cancel: ({ url }) => post(`${url}/api/chat/c/stop`, {})
}

const run = (url: string, messages: ReadonlyArray<object>, more: object = {}): Promise<Answer> =>
  post(`${url}/ag-ui`, { threadId: "c", runId: "r2", messages, ...more })
const resumed = (url: string, interruptId: string, payload: unknown): Promise<Answer> =>
  run(url, [], { resume: [{ interruptId, status: "resolved", payload }] })
const said = (id: string, content: unknown) => ({ id, role: "user", content })

const agUi: Protocol = {
  title: "AG-UI",
  send: (url, content, fields = {}) =>
    requestOf(`${url}/ag-ui`, { threadId: "c", runId: "r1", messages: [said("u1", content)], ...fields }),
  again: ({ url }) => answerTo(requestOf(`${url}/ag-ui/c/messages`)),
  list: ({ url }) => answerTo(requestOf(`${url}/ag-ui/c/messages`)),
  goOn: ({ url }) => run(url, [said("u2", "And?")]),
  result: ({ url }) => run(url, [{ id: "t", role: "tool", toolCallId: "c0", content: "In Oslo" }]),
  fail: ({ url }) => run(url, [{ id: "t", role: "tool", toolCallId: "c0", content: "", error: "No position" }]),
  answer: ({ url }) => resumed(url, "question:c0", "Blue"),
  approve: ({ url }) => resumed(url, "approval:c0", { approved: true }),
  deny: ({ url }) => resumed(url, "approval:c0", { approved: false, reason: "too dear" }),
  edit: ({ url }) =>
    run(url, [said("u1", "Hi"), { id: "u1.reply", role: "assistant", content: "Nice day" }, said("u3", "Rather this")]),
  regenerate: ({ url }) => run(url, [said("u1", "Hi")]),
  resume: (url) => requestOf(`${url}/ag-ui`, { threadId: "c", runId: "r2", messages: [] })
}

const history = [
  { role: "user", content: "Hello" },
  { role: "assistant", content: "Hi there" }
] as const

const streamed = { model: "troupe", stream: true }
const idIn = (answer: string, kind: "resp" | "call"): string =>
  new RegExp(`"(?:id|call_id)":"(${kind}_[^"]+)"`, "u").exec(answer)?.[1] ?? "none"
const responseAt = ({ url, answer }: Known, rest = "", init?: RequestInit): Promise<Answer> =>
  answerTo(new Request(`${url}/v1/responses/${idIn(answer, "resp")}${rest}`, init))
const conversationAt = ({ url, answer }: Known, rest = "", init?: RequestInit): Promise<Answer> => {
  const id = /"conversation":\{"id":"(?<id>[^"]+)"/u.exec(answer)?.groups?.["id"] ?? "none"
  return answerTo(new Request(`${url}/v1/conversations/${id}${rest}`, init))
}
const respond = ({ url, answer }: Known, input: unknown): Promise<Answer> =>
  post(`${url}/v1/responses`, { ...streamed, input, previous_response_id: idIn(answer, "resp") })

const responses: Protocol = {
  title: "OpenAI responses",
  send: (url, content, fields = {}) =>
    requestOf(`${url}/v1/responses`, { ...streamed, input: [{ role: "user", content }], ...fields }),
  again: (known) => responseAt(known),
  list: (known) => conversationAt(known, "/items?order=asc"),
  input: (known) => responseAt(known, "/input_items"),
  begin: async ({ url }) => {
    const { text } = await post(`${url}/v1/conversations`, { items: history })
    return post(`${url}/v1/responses`, { ...streamed, input: "And?", conversation: JSON.parse(text) as object })
  },
  undo: async (known) => {
    const { text: answer } = await respond(known, "And?")
    await responseAt({ ...known, answer }, "", { method: "DELETE" })
    return respond(known, "Rather this")
  },
  remove: async (known) => {
    await conversationAt(known, "", { method: "DELETE" })
    return conversationAt(known)
  },
  goOn: (known) => respond(known, "And?"),
  result: (known) =>
    respond(known, [{ type: "function_call_output", call_id: idIn(known.answer, "call"), output: "In Oslo" }]),
  answer: (known) => respond(known, "Blue"),
  edit: (known) => respond(known, "Rather this"),
  cancel: ({ url, answer }) => post(`${url}/v1/responses/${idIn(answer, "resp")}/cancel`, {})
}

const named = { "x-troupe-chat": "c" }
const complete = ({ url }: Known, ...messages: ReadonlyArray<object>): Promise<Answer> =>
  post(`${url}/v1/chat/completions`, { ...streamed, messages }, named)

const completions: Protocol = {
  title: "OpenAI completions",
  // Options are those of a run without a conversation.
  send: (url, content, fields) => {
    const messages = [{ role: "user", content }]
    const body = { ...streamed, stream_options: { include_usage: true }, messages, ...fields }
    return requestOf(`${url}/v1/chat/completions`, body, fields === undefined ? named : {})
  },
  again: ({ url }) =>
    post(`${url}/v1/chat/completions`, { model: "troupe", messages: [{ role: "user", content: "Hi" }] }),
  goOn: (known) => complete(known, { role: "user", content: "And?" }),
  begin: ({ url }) =>
    post(`${url}/v1/chat/completions`, { ...streamed, messages: [...history, { role: "user", content: "And?" }] }),
  result: (known) => complete(known, { role: "tool", tool_call_id: "c0", content: "In Oslo" }),
  answer: (known) => complete(known, { role: "user", content: "Blue" })
}

/** The protocols, by column. */
export const protocols: Readonly<Record<Column, Protocol>> = { aiSdk, agUi, responses, completions }
