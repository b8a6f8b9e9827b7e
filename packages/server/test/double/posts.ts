/** The five protocols as a client posts with them, to the conversation `c`. */
import type { Decision } from "@troupe/chat/tools"

/** Sends a request to the server. */
export type Ask = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>
) => Promise<Response>

/** A message of the client's history: a person's, with its text, or the model's. */
export type Past = readonly [id: string, text?: string]

/** Answers that the client gives: results of its calls (an `Error` is a failure), decisions, and a text for a question. */
interface Given {
  readonly results?: Readonly<Record<string, unknown>>
  readonly decisions?: Readonly<Record<string, boolean>>
  readonly text?: readonly [call: string, text: string]
}

/** A message: `edits` names it as an edit. */
interface Said {
  readonly id: string
  readonly text: string
  readonly edits?: boolean
}

/**
 * A post. `unsent` is a message in front of `said` that the server does not have, `previous` the response that the post names. `other`
 * asks for another answer, with `isEarlier` to an earlier message, which the client names with `named`.
 */
export interface Post {
  readonly history: ReadonlyArray<Past>
  readonly given?: Given
  readonly unsent?: Past
  readonly said?: Said
  readonly other?: { readonly isEarlier?: boolean; readonly named?: boolean }
  readonly previous?: string | undefined
}

const pastOf = ({ history, unsent }: Post): ReadonlyArray<Past> =>
  unsent === undefined ? history : [...history, unsent]

/** A client. `undefined`: the protocol has no such request. */
export interface PostingClient {
  readonly post: (ask: Ask, post: Post) => Promise<Response> | undefined
  readonly look: (ask: Ask, previous: string | undefined) => Promise<Response> | undefined
}

export const columns = ["own", "aiSdk", "agUi", "completions", "responses"] as const
export type Column = (typeof columns)[number]

const events = { accept: "text/event-stream" }

const own: PostingClient = {
  post: (ask, { given, said, other }) => {
    const { results, decisions, text } = given ?? {}
    if (said?.edits === true || other?.isEarlier === true) return undefined
    if (other !== undefined) return ask("POST", "/chats/c/retry", {}, events)
    if (said !== undefined && given === undefined)
      return ask("POST", "/chats/c/messages", { input: said.text, id: said.id }, events)
    if (text !== undefined) {
      const [toolCallId, input] = text
      return ask("POST", "/chats/c/answer", { input, toolCallId, id: "answer" }, events)
    }
    if (Object.values(results ?? {}).some((one) => one instanceof Error)) return undefined
    const decided = Object.entries(decisions ?? {}).map(([id, allows]): readonly [string, Decision] => [
      id,
      allows ? { type: "allow" } : { type: "deny" }
    ])
    const [first, ...more] = decided
    if (said !== undefined || (results !== undefined && first !== undefined) || more.length > 0) {
      const answers = { decisions: Object.fromEntries(decided), results, input: said?.text, id: said?.id }
      return ask("POST", "/chats/c/answer", answers, events)
    }
    return first === undefined
      ? ask("POST", "/chats/c/results", { results }, events)
      : ask("POST", `/chats/c/approvals/${first[0]}`, first[1], events)
  },
  look: (ask) => ask("GET", "/chats/c/events?cursor=turn", undefined, events)
}

const uiParts = ({ results = {}, decisions = {} }: Given): ReadonlyArray<object> => [
  ...Object.entries(decisions).map(([toolCallId, approved]) => ({
    type: "tool-pay",
    toolCallId,
    input: {},
    state: "approval-responded",
    approval: { id: toolCallId, approved }
  })),
  ...Object.entries(results).map(([toolCallId, output]) => ({
    type: "tool-where",
    toolCallId,
    input: {},
    ...(output instanceof Error
      ? { state: "output-error", errorText: output.message }
      : { state: "output-available", output })
  }))
]

const uiText = (text: string) => [{ type: "text", text }]

const aiSdk: PostingClient = {
  post: (ask, posted) => {
    const { given, said, other } = posted
    if (given?.text !== undefined) return undefined
    const messages = [
      ...pastOf(posted).map(([id, text]) =>
        text === undefined ? { id, role: "assistant", parts: uiText("…") } : { id, role: "user", parts: uiText(text) }
      ),
      ...(given === undefined ? [] : [{ id: "u1.reply", role: "assistant", parts: uiParts(given) }]),
      ...(said === undefined ? [] : [{ id: said.id, role: "user", parts: uiText(said.text) }])
    ]
    return ask("POST", "/api/chat", {
      id: "c",
      messages,
      ...(said?.edits === true && { messageId: said.id }),
      ...(other !== undefined && { trigger: "regenerate-message" }),
      ...(other?.named === true && { messageId: "x" })
    })
  },
  look: (ask) => ask("GET", "/api/chat/c/stream")
}

const agUi: PostingClient = {
  post: (ask, posted) => {
    const { given, said, other } = posted
    if (other?.named === true) return undefined
    const { results = {}, decisions = {}, text } = given ?? {}
    const messages = [
      ...pastOf(posted).map(([id, content]) =>
        content === undefined ? { id, role: "assistant", content: "…" } : { id, role: "user", content }
      ),
      ...Object.entries(results).map(([toolCallId, content]) => ({
        id: `t${toolCallId}`,
        role: "tool",
        toolCallId,
        ...(content instanceof Error ? { content: "", error: content.message } : { content })
      })),
      ...(said === undefined ? [] : [{ id: said.id, role: "user", content: said.text }])
    ]
    const resume = [
      ...Object.entries(decisions).map(([id, approved]) => ({
        interruptId: `approval:${id}`,
        status: "resolved",
        payload: { approved }
      })),
      ...(text === undefined ? [] : [{ interruptId: `question:${text[0]}`, status: "resolved", payload: text[1] }])
    ]
    const body = { threadId: "c", runId: "r", messages, ...(resume.length > 0 && { resume }) }
    return ask("POST", "/ag-ui", body)
  },
  look: (ask) => ask("POST", "/ag-ui", { threadId: "c", runId: "r", messages: [] })
}

const failures = ({ results = {} }: Given): boolean => Object.values(results).some((one) => one instanceof Error)

const completions: PostingClient = {
  post: (ask, posted) => {
    const { given, said, other } = posted
    const { results = {}, decisions, text } = given ?? {}
    if (decisions !== undefined || text !== undefined || other !== undefined || said?.edits === true) return undefined
    if (given !== undefined && failures(given)) return undefined
    const calls = Object.keys(results).map((id) => ({
      id,
      type: "function",
      function: { name: "where", arguments: "{}" }
    }))
    const messages = [
      ...pastOf(posted).map(([, content]) =>
        content === undefined ? { role: "assistant", content: "…" } : { role: "user", content }
      ),
      ...(calls.length === 0 ? [] : [{ role: "assistant", content: null, tool_calls: calls }]),
      ...Object.entries(results).map(([id, content]) => ({ role: "tool", tool_call_id: id, content })),
      ...(said === undefined ? [] : [{ role: "user", content: said.text }])
    ]
    const body = { model: "troupe", stream: true, messages }
    return ask("POST", "/v1/chat/completions", body, { "x-troupe-chat": "c" })
  },
  look: () => undefined
}

const responses: PostingClient = {
  post: (ask, { given, unsent, said, other, previous }) => {
    const { results = {}, decisions, text } = given ?? {}
    if (decisions !== undefined || text !== undefined || other !== undefined || said?.edits === true) return undefined
    if (given !== undefined && failures(given)) return undefined
    const input = [
      ...Object.entries(results).map(([id, output]) => ({ type: "function_call_output", call_id: id, output })),
      ...(said === undefined
        ? []
        : [unsent?.[1], said.text].flatMap((content) => content ?? []).map((content) => ({ role: "user", content })))
    ]
    const body = {
      model: "troupe",
      stream: true,
      input,
      ...(previous !== undefined && { previous_response_id: previous })
    }
    return ask("POST", "/v1/responses", body, previous === undefined ? { "x-troupe-chat": "c" } : {})
  },
  look: (ask, previous) => (previous === undefined ? undefined : ask("GET", `/v1/responses/${previous}?stream=true`))
}

export const clients: Readonly<Record<Column, PostingClient>> = { own, aiSdk, agUi, completions, responses }
