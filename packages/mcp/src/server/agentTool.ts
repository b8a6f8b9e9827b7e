/**
 * An agent as a tool: a call is a turn of a conversation.
 *
 * Owns: nothing; the chat is a process of the Troupe, and outlives the call.
 *
 * MCPA1. A cancelled call cancels its turn. A call that ends because the server closes does not.
 * MCPA2. A caller reaches only conversations of its owner.
 * MCPA3. A call that waits for a person is allowed only for a caller that may approve; any other caller gets a failure that says so.
 */
import type { McpServer, ServerContext } from "@modelcontextprotocol/server"
import type { LocalChatRef } from "@troupe/chat"
import { type ChatResult, type ChatTurn, lastText } from "@troupe/chat/chats"
import { describe } from "@troupe/chat/errors"
import type { Decision } from "@troupe/chat/tools"
import { System } from "@troupe/otp"
import { type Answered, answerAt, ask, type Question, type State, stateOf } from "./questions.ts"
import { failure } from "./resultContent.ts"
import { type McpAgent, ownedId, type Serving } from "./served.ts"

/** The arguments of the tool of an agent. */
export const agentSchema = {
  type: "object",
  properties: {
    message: { type: "string", description: "What to tell the agent" },
    conversation: {
      type: "string",
      description: "The conversation to continue, from an earlier result. Default: a new one"
    }
  },
  required: ["message"]
} as const

/** The structured result of the tool of an agent. */
export const agentOutput = {
  type: "object",
  properties: { text: { type: "string" }, conversation: { type: "string" } },
  required: ["text", "conversation"]
} as const

/** Runs one call. */
export const callAgent = async (
  { troupe, options, caller, closing }: Serving,
  { agent }: McpAgent,
  server: McpServer,
  args: { readonly message: string; readonly conversation?: string | undefined },
  context: ServerContext
): Promise<Answered> => {
  const { signal } = context.mcpReq
  const state = stateOf(context)
  const known = state?.conversation ?? args.conversation
  const conversation = known ?? System.uuid(troupe.system, "mcp")
  const id = (options.chatId ?? ownedId)(caller.owner, conversation)
  try {
    if (known !== undefined && !(isId(known) && (await troupe.has(id)))) return failure("There is no such conversation")
    const chat = await troupe.chat(id, agent === undefined ? {} : { agent })
    const turn = state === undefined ? chat.send(args.message) : answered(chat, state, context)
    if (turn === undefined) return failure(`The question was not answered; the conversation ${conversation} waits`)
    // A server that closes ends its calls, and not the turns.
    const cancel = (): void => void (closing.aborted || chat.cancel({ turn: turn.id }))
    signal.addEventListener("abort", cancel, { once: true })
    try {
      if (signal.aborted) cancel()
      await report(turn, context)
      return endOf(await turn.result(), caller.may?.approve === true, conversation, (questions) =>
        ask(server, context, questions, conversation)
      )
    } finally {
      signal.removeEventListener("abort", cancel)
    }
  } catch (error) {
    return failure(describe(error))
  }
}

/** Whether a text can be the id of a conversation. */
const isId = (id: string): boolean => /^[^\p{Cc}]{1,256}$/u.test(id) && id.isWellFormed() && id !== "." && id !== ".."

/** Sends each start of a tool as progress, until the turn is over. */
const report = async (turn: ChatTurn, { mcpReq }: ServerContext): Promise<void> => {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return
  let progress = 0
  try {
    for await (const event of turn) {
      if (event.type !== "tool_execution_started") continue
      progress += 1
      const params = { progressToken, progress, message: event.name }
      await mcpReq.notify({ method: "notifications/progress", params })
    }
  } catch {
    // The result of the turn has the error, and a client that is gone needs no progress.
  }
}

/** Gives the chat the answers of the user; nothing if a question was declined. */
const answered = (chat: LocalChatRef, { questions }: State, context: ServerContext): ChatTurn | undefined => {
  const decisions: Record<string, Decision> = {}
  let input: string | undefined
  for (const [at, question] of questions.entries()) {
    const answer = answerAt(context, at)
    const [kind, ...rest] = question.split(":")
    const id = rest.join(":")
    if (kind === "decide") decisions[id] = answer === "allow" ? { type: "allow" } : { type: "deny" }
    else if (answer === undefined) return undefined
    else if (kind === "answer") decisions[id] = { type: "result", value: answer }
    else input = answer
  }
  return chat.answer({ decisions, ...(input === undefined ? {} : { input }) })
}

/** The result of a turn, or its questions (MCPA3). */
const endOf = (
  result: ChatResult,
  mayApprove: boolean,
  conversation: string,
  asking: (questions: ReadonlyArray<Question>) => Answered
): Answered => {
  const { haltedReason, pendingQuestion, pendingApprovals = [] } = result
  if (haltedReason === "ask_user" && pendingQuestion !== undefined)
    return asking([{ id: "input:", text: pendingQuestion.question, kind: "text" }])
  if (haltedReason === "awaiting_approval") {
    const questions = pendingApprovals.map(({ toolCall, kind, reason }): Question => {
      if (kind === "question" || kind === "tool_result")
        return { id: `answer:${toolCall.id}`, text: reason, kind: "text" }
      const text = `${toolCall.name} ${JSON.stringify(toolCall.arguments)}\n${reason}`
      return { id: `decide:${toolCall.id}`, text, kind: "decision" }
    })
    if (mayApprove || questions.every(({ kind }) => kind === "text")) return asking(questions)
    return failure(`The conversation ${conversation} waits for a person who may approve its calls`)
  }
  const text = lastText(result)
  if (haltedReason !== "completed") return failure(`${text}\nThe agent stopped: ${haltedReason}`.trim())
  return { content: [{ type: "text", text }], structuredContent: { text, conversation } }
}
