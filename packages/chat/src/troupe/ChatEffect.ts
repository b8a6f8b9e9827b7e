/**
 * The Effect API of chats and sessions: the same steps and turns as Effects and Streams.
 *
 * {@link call}, {@link events} and {@link session} make an Effect or a Stream of any function of `Chat`, `Session` and
 * `ChatRef`. {@link run} and {@link stream} are `Chat.run` and `Chat.stream`, with the errors of these two alone.
 *
 * Interrupting the fiber releases the request or the running tools, like leaving the loop in the plain API. Interrupting a
 * reader of a living chat only detaches. If the fiber has a tracer, spans go to it, as children of the fiber's span.
 *
 * @module
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { System } from "@troupe/otp"
import * as Chat from "../loop/Chat.ts"
import type { ChatResult } from "../record/index.ts"
import { isPreflightError, type PreflightError, SessionError, ToolError } from "../errors/index.ts"
import type { ChatOptions, StepOptions } from "../options/index.ts"
import { type RunningTroupe, Troupe } from "./Troupe.ts"
import { type TroupeOptions } from "./troupeOptions.ts"
import type { Event } from "../events/index.ts"
import { attempt, opening, reading } from "./fromPromises.ts"
import type { ThreadInput } from "../model/index.ts"
import type { ResultOf, Session, SessionMode, SessionStream } from "../session/index.ts"
import type { Engine } from "../tool/index.ts"

/** The expected errors of chats, sessions and living chats. Any other error is a defect. */
type Failure = PreflightError | SessionError | ToolError

/** The signal of the fiber and its tracer, for the options of a function. */
type FiberOptions = Pick<StepOptions, "signal" | "tracing">

/** Events that a reader pulls and can leave. */
interface Leavable<A> extends AsyncIterable<A> {
  readonly return: () => Promise<unknown>
}

/** A streamed turn of a session: its events, readable once, and at any time the session and the result so far. */
interface SessionEvents<Mode extends SessionMode> {
  readonly events: Stream.Stream<Event, Failure>
  readonly session: Effect.Effect<Session>
  readonly result: Effect.Effect<ResultOf[Mode]>
}

/** Runs steps until a terminal condition, see `Chat.run`. An untyped error (an exception of `haltWhen`) is a defect. */
export const run = (
  engine: Engine,
  thread: ThreadInput,
  options: ChatOptions = {}
): Effect.Effect<ChatResult, PreflightError> =>
  attempt((within) => Chat.run(engine, thread, within(options)), isPreflightError)

/** The events of a chat, see `Chat.stream`. An untyped error (an exception of `haltWhen` or `onEvent`) is a defect. */
export const stream = (
  engine: Engine,
  thread: ThreadInput,
  options: ChatOptions = {}
): Stream.Stream<Event, PreflightError> =>
  Stream.unwrap(
    Effect.map(
      opening((within) => Chat.stream(engine, thread, within(options)), isPreflightError),
      (opened) => reading(opened, isPreflightError)
    )
  )

/**
 * The result of a function of `Chat`, `Session` or `ChatRef`.
 *
 * **Details**: pass `options` on to a function that runs a turn, so that interrupting the fiber ends the turn.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Engine, Fake, user } from "@troupe/chat"
 * import { ChatEffect } from "@troupe/chat/effect"
 * import { Session } from "@troupe/chat/sessions"
 * import * as Effect from "effect/Effect"
 *
 * const engine = Engine.make({ adapter: Fake.make({ script: [{ text: "Hello." }, { finish: "stop" }] }) })
 * const started = ChatEffect.call((options) => Session.start(engine, [user("hi")], options))
 * const { session } = await Effect.runPromise(started)
 * session.status // => "completed"
 * ```
 */
export const call = <A>(begin: (options: FiberOptions) => A | Promise<A>): Effect.Effect<A, Failure> =>
  attempt(async (within) => begin(within<FiberOptions>({})), isFailure)

/**
 * The events of a function of `Chat` or `ChatRef`: of a turn, a step, a request or a reader.
 *
 * **Details**: pass `options` on to a function of `Chat`, so that interrupting the fiber ends the request that opens. The
 * items of an attachment end when the chat is stopped; interrupting their reader detaches.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Chat, Engine, Fake, user } from "@troupe/chat"
 * import { ChatEffect } from "@troupe/chat/effect"
 * import * as Effect from "effect/Effect"
 * import * as Stream from "effect/Stream"
 *
 * const engine = Engine.make({ adapter: Fake.make({ script: [{ text: "Hello." }, { finish: "stop" }] }) })
 * const step = ChatEffect.events((options) => Chat.streamStep(engine, [user("hi")], options))
 * const read = await Effect.runPromise(Stream.runCollect(step))
 * read.at(-1)?.type // => "step_completed"
 * ```
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
 * const turn = ChatEffect.events(() => chat.send("Hi"))
 * const read = await Effect.runPromise(Stream.runCollect(turn))
 * read.at(-1)?.type // => "chat_completed"
 * await troupe.stop()
 * ```
 */
export const events = <A>(
  open: (options: FiberOptions) => Leavable<A> | Promise<Leavable<A>>
): Stream.Stream<A, Failure> =>
  Stream.unwrap(
    Effect.map(
      opening(async (within) => open(within<FiberOptions>({})), isFailure),
      (opened) => reading(opened, isFailure)
    )
  )

/** The events of a streamed turn of a session, and the session after them, for as long as the scope. */
export const session = <Mode extends SessionMode>(
  open: (options: FiberOptions) => Promise<SessionStream<Mode>>
): Effect.Effect<SessionEvents<Mode>, Failure, Scope.Scope> =>
  Effect.map(
    opening((within) => open(within<FiberOptions>({})), isFailure),
    (opened) => ({
      events: reading(opened, isFailure),
      session: Effect.sync(() => opened.session()),
      result: Effect.sync(() => opened.result())
    })
  )

/** A running Troupe as a service. */
export class TroupeService extends Context.Service<TroupeService, RunningTroupe>()("@troupe/chat/TroupeService") {}

/**
 * Starts a Troupe with the layer, and stops it with the layer's scope. Its `logger` is that of the fiber, `System.effectLogger`, by
 * default.
 */
export const layer = (options: TroupeOptions): Layer.Layer<TroupeService, PreflightError> =>
  Layer.effect(
    TroupeService,
    Effect.acquireRelease(
      Effect.flatMap(System.effectLogger, (logger) =>
        attempt(() => Troupe.start(options.system === undefined ? { logger, ...options } : options), isPreflightError)
      ),
      (troupe) => Effect.promise(() => troupe.stop())
    )
  )

const isFailure = (error: unknown): error is Failure =>
  isPreflightError(error) || error instanceof SessionError || error instanceof ToolError
