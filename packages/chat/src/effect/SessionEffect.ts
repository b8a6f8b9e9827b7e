/**
 * The Effect API of sessions: the same operations under the same names.
 *
 * Interrupting a fiber that runs a turn releases the request or the running tools, like leaving the loop in the plain
 * API. Functions that make or read a session without a turn, and cannot fail, are only in `Session`.
 *
 * @module
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import { isPreflightError, type PreflightError, SessionError, ToolError } from "../errors/index.ts"
import type { ChatOptions, StepOptions } from "../options/index.ts"
import type { Event } from "../events/index.ts"
import { attempt, opening, reading } from "./fromPromises.ts"
import type { Message } from "../model/index.ts"
import * as Session from "../session/Session.ts"
import type { StepResult } from "../record/index.ts"
import type { Engine } from "../tool/index.ts"
import type { ResultOf, SessionMode, SessionTurn } from "../session/index.ts"

/** The errors of a turn before it begins. */
export type SessionFailure = PreflightError | SessionError

/** The errors of answering calls. */
export type SubmitFailure = SessionError | ToolError

/** A streamed turn: its events, readable once, and at any time the session and the result so far. */
export interface SessionEvents<Mode extends SessionMode = "chat"> {
  readonly events: Stream.Stream<Event, SessionFailure>
  readonly session: Effect.Effect<Session.Session>
  readonly result: Effect.Effect<ResultOf[Mode]>
}

/**
 * Starts a conversation, see `Session.start`.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Engine, Fake } from "@troupe/chat"
 * import { SessionEffect } from "@troupe/chat/effect"
 * import { Message } from "@troupe/chat/messages"
 * import * as Effect from "effect/Effect"
 *
 * const adapter = Fake.make({ script: [{ text: "Hello." }, { finish: "stop" }] })
 * const started = SessionEffect.start(Engine.make({ adapter }), [Message.user("hi")])
 * const { session } = await Effect.runPromise(started)
 * session.status // => "completed"
 * ```
 */
export const start = (
  engine: Engine,
  input: Session.SessionInput,
  options: ChatOptions = {}
): Effect.Effect<SessionTurn, SessionFailure> =>
  turn(options, (interruptible) => Session.start(engine, input, interruptible))

/** Adds an input and runs a turn, see `Session.reply`. */
export const reply = (
  engine: Engine,
  session: Session.Session,
  said: Session.UserInput,
  options: Session.ReplyOptions = {}
): Effect.Effect<SessionTurn, SessionFailure> =>
  turn(options, (interruptible) => Session.reply(engine, session, said, interruptible))

const continueWith = (
  engine: Engine,
  session: Session.Session,
  message: Message | null = null,
  options: Session.ReplyOptions = {}
): Effect.Effect<SessionTurn, SessionFailure> =>
  turn(options, (interruptible) => Session.continue(engine, session, message, interruptible))
export {
  /** Runs a turn after a message, or without one, see `Session.continue`. */
  continueWith as continue
}

/** Runs one step, see `Session.step`. */
export const step = (
  engine: Engine,
  session: Session.Session,
  options: StepOptions = {}
): Effect.Effect<SessionTurn<StepResult>, SessionFailure> =>
  turn(options, (interruptible) => Session.step(engine, session, interruptible))

/** The events of {@link start}, for as long as the scope. */
export const streamStart = (
  engine: Engine,
  input: Session.SessionInput,
  options: ChatOptions = {}
): Effect.Effect<SessionEvents, SessionFailure, Scope.Scope> =>
  opened(options, (interruptible) => Session.streamStart(engine, input, interruptible))

/** The events of {@link reply}, for as long as the scope. */
export const streamReply = (
  engine: Engine,
  session: Session.Session,
  said: Session.UserInput,
  options: Session.ReplyOptions = {}
): Effect.Effect<SessionEvents, SessionFailure, Scope.Scope> =>
  opened(options, (interruptible) => Session.streamReply(engine, session, said, interruptible))

/** The events of `continue`, for as long as the scope. */
export const streamContinue = (
  engine: Engine,
  session: Session.Session,
  message: Message | null = null,
  options: Session.ReplyOptions = {}
): Effect.Effect<SessionEvents, SessionFailure, Scope.Scope> =>
  opened(options, (interruptible) => Session.streamContinue(engine, session, message, interruptible))

/** The events of {@link step}, for as long as the scope. */
export const streamStep = (
  engine: Engine,
  session: Session.Session,
  options: StepOptions = {}
): Effect.Effect<SessionEvents<"step">, SessionFailure, Scope.Scope> =>
  opened(options, (interruptible) => Session.streamStep(engine, session, interruptible))

/** Answers one call, see `Session.submitToolResult`. */
export const submitToolResult = (
  session: Session.Session,
  toolCallId: string,
  result: unknown
): Effect.Effect<Session.Session, SubmitFailure> => changed(() => Session.submitToolResult(session, toolCallId, result))

/** Answers calls, see `Session.submitToolResults`. */
export const submitToolResults = (
  session: Session.Session,
  results: Iterable<readonly [toolCallId: string, result: unknown]>
): Effect.Effect<Session.Session, SubmitFailure> => changed(() => Session.submitToolResults(session, results))

/** Cancels the pending calls of the session, see `Session.cancel`. */
export const cancel = (session: Session.Session): Effect.Effect<Session.Session, SessionError> =>
  changed(() => Session.cancel(session))

/** Leaves the error state, see `Session.recover`. */
export const recover = (session: Session.Session): Effect.Effect<Session.Session, SessionError> =>
  changed(() => Session.recover(session))

const isFailure = (error: unknown): error is SessionFailure => isPreflightError(error) || error instanceof SessionError

const isSubmitFailure = (error: unknown): error is SubmitFailure =>
  error instanceof SessionError || error instanceof ToolError

const turn = <Options extends StepOptions, A>(
  options: Options,
  begin: (options: Options) => Promise<A>
): Effect.Effect<A, SessionFailure> => attempt((within) => begin(within(options)), isFailure)

const opened = <Options extends StepOptions, Mode extends SessionMode>(
  options: Options,
  open: (options: Options) => Promise<Session.SessionStream<Mode>>
): Effect.Effect<SessionEvents<Mode>, SessionFailure, Scope.Scope> =>
  Effect.map(
    opening((within) => open(within(options)), isFailure),
    (stream) => ({
      events: reading(stream, isFailure),
      session: Effect.sync(() => stream.session()),
      result: Effect.sync(() => stream.result())
    })
  )

const changed = <E extends SubmitFailure>(change: () => Session.Session): Effect.Effect<Session.Session, E> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(change())
    } catch (error) {
      return isSubmitFailure(error) ? Effect.fail(error as E) : Effect.die(error)
    }
  })
