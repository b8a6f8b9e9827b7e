/**
 * Runs one turn of the chat's machine on a session, without a store.
 *
 * S5. The collected form of an operation is its streamed form, read to the end.
 * S8. In the thread of every request, each call has exactly one result.
 * S10. A turn of a session is a turn of `chatMachine`: approvals, interruption, the journal of calls and the permission
 *      mode have the rules of a chat.
 */
import { ChatEnv, chatStart, started, stepOptions, streamTurn, threadOf, type TurnToRun } from "../loop/index.ts"
import { type ChatOptions, resolveOptions, type StepOptions } from "../options/index.ts"
import { defaultSystem } from "../async/index.ts"
import { refusalOf } from "../inbox/index.ts"
import { type Message, type Thread, type ToolMessage, unpaired } from "../model/index.ts"
import * as Validate from "../model/Validate.ts"
import { type AnswerForm, boundDecision, type Decided, withResults } from "../step/index.ts"
import type { Conversation, ChatResult, OpenStep, StepResult } from "../record/index.ts"
import { preflight } from "../request/index.ts"
import { type Engine, isUnknownTool } from "../tool/index.ts"
import { changed, type Session, sessionFrom } from "./sessionState.ts"
import { requireSession } from "./sessionStatus.ts"
import { SessionStream } from "./sessionStream.ts"
import type { SessionMode, SessionTurn } from "./sessionOutcome.ts"
import { TurnProgress } from "./turnProgress.ts"

/** The session at the present time: its interrupted calls and an expired wait are settled, as when a chat is loaded. */
export const present = (engine: Engine, conversation: Conversation, options: StepOptions): Session => {
  requireSession(conversation)
  const { running, expiresAt = Infinity } = conversation
  const { clock } = options.system ?? defaultSystem()
  if (!running && expiresAt > clock.now()) return sessionFrom(conversation)
  const { status, lastOutcome, version } = conversation
  const now = started(conversation, engine, clock)
  return running ? sessionFrom({ ...now, status, lastOutcome, version }) : changed(now, { lastOutcome, version })
}

/** Opens a turn. Fails before anything runs when the thread, the decision or the options are invalid. */
export const open = async <Mode extends SessionMode>(
  mode: Mode,
  engine: Engine,
  session: Session,
  options: ChatOptions,
  {
    answer,
    ...said
  }: {
    readonly messages?: ReadonlyArray<Message>
    readonly decisions?: ReadonlyArray<Decided>
    readonly answer?: AnswerForm | undefined
  } = {}
): Promise<SessionStream<Mode>> => {
  const own = resolveOptions(engine, withIdentity(session, options))
  const resolved = mode === "chat" ? own : stepOptions(own)
  const { clock } = resolved.system
  const id = session.id === "" ? resolved.requestId : session.id
  const input = chatStart({ id, engine, clock, record: { ...session, chain: undefined }, answer })
  const turn = checkedTurn(engine, session, { input, ...said })
  const thread = threadOf(turn)
  const refused = Validate.thread(thread) ?? unpaired(withoutOpen(thread, session.open))
  if (refused !== undefined) throw refused
  preflight(engine, thread, resolved)
  const progress = new TurnProgress({ session, mode, engine, clock, thread })
  const env = new ChatEnv({ engine, clock, commit: progress.commit, watcher: progress })
  progress.runsIn(env)
  return new SessionStream(streamTurn(resolved, env, turn), progress, mode)
}

/** The turn with decisions that can be carried out, about calls that wait for one. */
const checkedTurn = (engine: Engine, session: Session, turn: TurnToRun): TurnToRun => {
  if (turn.decisions === undefined) return turn
  const state = { engine, thread: session.thread, open: session.open }
  const decisions = turn.decisions.map(({ toolCallId, decision }) => boundDecision(decision, toolCallId, state))
  const { thread, open: step, pendingToolCalls } = session
  const refusal = refusalOf({ thread, open: step, pendingToolCalls }, { messages: [], decisions })
  if (refusal !== undefined) throw refusal
  return { ...turn, decisions }
}

/** The thread with a result for each open call, because the calls get theirs before the next request. */
const withoutOpen = (thread: Thread, step: OpenStep | undefined): Thread => {
  const message = step === undefined ? undefined : thread.messages[step.at]
  if (step === undefined || message?.role !== "assistant") return thread
  const results = new Map<number, ToolMessage>()
  message.toolCalls?.forEach(({ id }, position) => {
    if (step.calls[position]?.state !== "done") results.set(position, { role: "tool", toolCallId: id, content: "" })
  })
  return withResults({ thread, open: step }, results).thread
}

/** Passes a non-empty context only, so that an empty one does not hide the engine's. */
const withIdentity = ({ id, context }: Session, options: ChatOptions): ChatOptions => ({
  ...options,
  ...(options.sessionId === undefined && id !== "" ? { sessionId: id } : {}),
  ...(options.context === undefined && Object.keys(context).length > 0 ? { context } : {})
})

/** Reads a turn to its end. */
export const runChat = async (opening: Promise<SessionStream>): Promise<SessionTurn> => {
  const turn = await readOut(await opening)
  const { steps, metadata } = turn.result
  if (steps.length <= 1 && isUnknownTool(metadata["error"])) throw metadata["error"]
  return turn
}

/** Reads a step to its end. */
export const runStep = async (opening: Promise<SessionStream<"step">>): Promise<SessionTurn<StepResult>> => {
  const { session, result } = await readOut(await opening)
  if (isChatResult(result)) throw new Error("a step ended without a result")
  if (isUnknownTool(result.error)) throw result.error
  return { session, result }
}

const readOut = async <Mode extends SessionMode>(stream: SessionStream<Mode>) => {
  for await (const _ of stream) {
    // Reading the events runs the turn; the stream follows them.
  }
  return { session: stream.session(), result: stream.result() }
}

const isChatResult = (result: ChatResult | StepResult): result is ChatResult => "haltedReason" in result
