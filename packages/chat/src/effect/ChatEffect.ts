/**
 * The Effect API of chats: the same steps and turns as Effects and Streams.
 *
 * Interrupting the fiber releases the request or the running tools, like leaving the loop in the plain API.
 * Interrupting a reader of {@link send} only detaches. If the fiber has a tracer, spans go to it, as children of the
 * fiber's span.
 *
 * @module
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as Chat from "../loop/Chat.ts"
import type { ChatResult, Decision, SendOptions, StepResult } from "../record/index.ts"
import { isPreflightError, type PreflightError, SessionError, ValidationError } from "../errors/index.ts"
import type { ChatOptions, GenerateOptions, StepOptions } from "../options/index.ts"
import {
  type ChatRef,
  type LiveTurn,
  type RunningTroupe,
  Troupe,
  type TroupeOptions,
  type UserInput
} from "../live/index.ts"
import type { Event } from "../events/index.ts"
import { attempt, opening, reading, type Within } from "./fromPromises.ts"
import type { Response, ThreadInput } from "../model/index.ts"
import type { Engine } from "../tool/index.ts"
import type { Attached, AttachOptions } from "../view/index.ts"

/** The events of a chat, see `Chat.stream`. An untyped error (an exception of `haltWhen`) is a defect. */
export const stream = (
  engine: Engine,
  thread: ThreadInput,
  options: ChatOptions = {}
): Stream.Stream<Event, PreflightError> => events((within) => Chat.stream(engine, thread, within(options)))

/** The events of one step, see `Chat.streamStep`. */
export const streamStep = (
  engine: Engine,
  thread: ThreadInput,
  options: StepOptions = {}
): Stream.Stream<Event, PreflightError> => events((within) => Chat.streamStep(engine, thread, within(options)))

/** The events of one model request, see `Chat.streamGenerate`. */
export const streamGenerate = (
  engine: Engine,
  thread: ThreadInput,
  options: GenerateOptions = {}
): Stream.Stream<Event, PreflightError> => events((within) => Chat.streamGenerate(engine, thread, within(options)))

/** The response to one model request, see `Chat.generate`. */
export const generate = (
  engine: Engine,
  thread: ThreadInput,
  options: GenerateOptions = {}
): Effect.Effect<Response, PreflightError> => interruptible((within) => Chat.generate(engine, thread, within(options)))

/** Runs steps until a terminal condition, see `Chat.run`. */
export const run = (
  engine: Engine,
  thread: ThreadInput,
  options: ChatOptions = {}
): Effect.Effect<ChatResult, PreflightError> => interruptible((within) => Chat.run(engine, thread, within(options)))

/** Runs one step, see `Chat.step`. */
export const step = (
  engine: Engine,
  thread: ThreadInput,
  options: StepOptions = {}
): Effect.Effect<StepResult, PreflightError> => interruptible((within) => Chat.step(engine, thread, within(options)))

/** Sends an input to a living chat and returns the turn's events, see `ChatRef.send`. */
export const send = (chat: ChatRef, input: UserInput, options: SendOptions = {}): Stream.Stream<Event, SessionError> =>
  Stream.suspend(() =>
    Stream.fromAsyncIterable(chat.send(input, options), (error) => error).pipe(Stream.catch(sessionError))
  )

/**
 * Follows a living chat, see `ChatRef.attach`; the stream ends when the chat is stopped. Interrupting its reader
 * detaches.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Fake, Troupe } from "@troupe/chat"
 * import { ChatEffect } from "@troupe/chat/effect"
 * import * as Effect from "effect/Effect"
 * import * as Stream from "effect/Stream"
 *
 * const troupe = await Troupe.start({ adapter: Fake.make({ script: [{ text: "Hello." }, { finish: "stop" }] }) })
 * const chat = await troupe.chat("c1")
 * const following = ChatEffect.attach(chat, { cursor: "turn" }).pipe(Stream.take(2), Stream.runCollect)
 * const read = Effect.runPromise(following)
 * chat.send("Hi")
 * const [first, second] = await read
 * first // => { type: "event", cursor: first?.cursor, event: { type: "message_started", message: { role: "assistant", content: "" } } }
 * second?.type // => "event"
 * await troupe.stop()
 * ```
 */
export const attach = (
  chat: ChatRef,
  options: AttachOptions = {}
): Stream.Stream<Attached, SessionError | ValidationError> => following(() => chat.attach(options))

/**
 * Decides about a suspended call of a living chat and returns the turn's events, see `ChatRef.approve`. Interrupting the
 * reader detaches.
 */
export const approve = (
  chat: ChatRef,
  toolCallId: string,
  decision: Decision
): Stream.Stream<Event, SessionError | ValidationError> => following(() => chat.approve(toolCallId, decision))

/**
 * Cancels one tool call of a living chat, see `ChatRef.cancelToolCall`. Interrupting it stops waiting, and undoes
 * nothing.
 */
export const cancelToolCall = (chat: ChatRef, toolCallId: string): Effect.Effect<void, SessionError> =>
  attempt(() => chat.cancelToolCall(toolCallId), isSessionError)

/**
 * Cancels all tool calls of a living chat's running batch, see `ChatRef.cancelToolCalls`; interrupting
 * as {@link cancelToolCall}.
 */
export const cancelToolCalls = (chat: ChatRef): Effect.Effect<void, SessionError> =>
  attempt(() => chat.cancelToolCalls(), isSessionError)

/** Runs a tool call of a living chat again, see `ChatRef.restartToolCall`; interrupting as {@link cancelToolCall}. */
export const restartToolCall = (chat: ChatRef, toolCallId: string): Effect.Effect<void, SessionError> =>
  attempt(() => chat.restartToolCall(toolCallId), isSessionError)

/** The result of a living chat's turn. */
export const result = (turn: LiveTurn): Effect.Effect<ChatResult, SessionError> =>
  Effect.callback((resume) => {
    turn.result().then(
      (ended) => resume(Effect.succeed(ended)),
      (error: unknown) => resume(error instanceof SessionError ? Effect.fail(error) : Effect.die(error))
    )
  })

/** A running Troupe as a service. */
export class TroupeService extends Context.Service<TroupeService, RunningTroupe>()("@troupe/chat/TroupeService") {}

/** Starts a Troupe with the layer, and stops it with the layer's scope. */
export const layer = (options: TroupeOptions): Layer.Layer<TroupeService, PreflightError> =>
  Layer.effect(
    TroupeService,
    Effect.acquireRelease(
      interruptible(() => Troupe.start(options)),
      (troupe) => Effect.promise(() => troupe.stop())
    )
  )

const events = (open: (within: Within) => Promise<Chat.EventStream>): Stream.Stream<Event, PreflightError> =>
  Stream.unwrap(Effect.map(opening(open, isPreflightError), (opened) => reading(opened, isPreflightError)))

const interruptible = <A>(begin: (within: Within) => Promise<A>): Effect.Effect<A, PreflightError> =>
  attempt(begin, isPreflightError)

/** Reads the iterable of a living chat; a refusal is a typed failure. */
const following = <A>(begin: () => AsyncIterable<A>): Stream.Stream<A, SessionError | ValidationError> =>
  Stream.suspend(() => {
    try {
      return reading(begin(), isRefusal)
    } catch (error) {
      return isRefusal(error) ? Stream.fail(error) : Stream.die(error)
    }
  })

const isRefusal = (error: unknown): error is SessionError | ValidationError =>
  error instanceof SessionError || error instanceof ValidationError

const isSessionError = (error: unknown): error is SessionError => error instanceof SessionError

const sessionError = (error: unknown): Stream.Stream<never, SessionError> =>
  error instanceof SessionError ? Stream.fail(error) : Stream.die(error)
