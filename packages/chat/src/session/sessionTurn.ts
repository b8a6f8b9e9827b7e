/** Runs a turn on a session whose input is committed. */
import * as Chat from "../loop/Chat.ts"
import type { ChatOptions, StepOptions } from "../options/index.ts"
import type { ChatResult, StepResult } from "../record/index.ts"
import { SessionReducer } from "./SessionReducer.ts"
import * as Validate from "../model/Validate.ts"
import type { EventStream } from "../events/index.ts"
import { unpaired } from "../model/index.ts"
import { SessionStream } from "./sessionStream.ts"
import { type Engine, isUnknownTool } from "../tool/index.ts"
import type { Session } from "./sessionState.ts"
import type { SessionMode, SessionTurn } from "./turnResult.ts"

/** Opens a chat. */
export const openChat = (engine: Engine, session: Session, options: ChatOptions): Promise<SessionStream> =>
  open(Chat.stream, "chat", engine, session, options)

/** Opens a step. */
export const openStep = (engine: Engine, session: Session, options: StepOptions): Promise<SessionStream<"step">> =>
  open(Chat.streamStep, "step", engine, session, options)

const open = async <Mode extends SessionMode>(
  call: (engine: Engine, thread: Session["thread"], options: ChatOptions) => Promise<EventStream>,
  mode: Mode,
  engine: Engine,
  session: Session,
  options: ChatOptions
): Promise<SessionStream<Mode>> => {
  const refused = Validate.thread(session.thread) ?? unpaired(session.thread)
  if (refused !== undefined) throw refused
  const events = await call(engine, session.thread, withIdentity(session, options))
  return new SessionStream(events, new SessionReducer(session, { mode }))
}

/** Passes a non-empty context only, so that an empty one does not hide the engine's. */
const withIdentity = ({ id, context }: Session, options: ChatOptions): ChatOptions => ({
  ...options,
  ...(options.sessionId === undefined && id !== undefined ? { sessionId: id } : {}),
  ...(options.context === undefined && Object.keys(context).length > 0 ? { context } : {})
})

/** Reads a chat to its end. */
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
    // Reading the events runs the turn; the stream reduces them.
  }
  return { session: stream.session(), result: stream.result() }
}

const isChatResult = (result: ChatResult | StepResult): result is ChatResult => "haltedReason" in result
