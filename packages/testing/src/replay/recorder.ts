/**
 * Records the inputs and outputs of a run.
 *
 * Owns: the lines. Does not own the recorded adapters, tools, stores and chats, and does not change them.
 *
 * REC1. One line for each occurrence, in order, with the time on the system's clock.
 * REC2. A line is canonical JSON: equal runs have equal lines, byte for byte.
 * REC3. An answer of an adapter, a tool or a store is recorded before the caller gets it. A synchronous answer is marked as
 *       such.
 * REC4. An asynchronous answer is delivered when all earlier lines have had their effect, so that a replay can deliver it
 *       at the same place.
 */
import { Clock, type System } from "@troupe/otp"
import type { LocalChatRef } from "@troupe/chat"
import type { AdapterEvent, Event } from "@troupe/chat/events"
import { Adapter } from "@troupe/chat/models"
import type { Store } from "@troupe/chat/store"
import type { Tool } from "@troupe/chat/tools"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import { canonicalJson } from "../law/index.ts"

type AdapterStream = Parameters<typeof Adapter.eventsOf>[0]

/** How a trace is recorded. */
export interface TraceOptions {
  /** Has the clock of the times. Default: the times are the host's. */
  readonly system?: System.System | undefined
}

/** A call to an adapter, a tool or a store: `of` is the kind, `call` the number of the call, counted over its kind. */
export interface Asked {
  readonly of: "adapter" | "tool" | "store"
  readonly call: number
}

/** After this many microtasks without a new line, the run counts as quiet. */
const quietFor = 50

const settled = Promise.resolve()

const ended: IteratorReturnResult<undefined> = { done: true, value: undefined }

type Line = Readonly<Record<string, unknown>>

/** A trace that is being recorded. */
export class Recorder {
  protected readonly clock: Clock.Clock
  readonly #lines: Array<string> = []
  #quieting = Promise.resolve()
  readonly #calls = { adapter: 0, tool: 0, store: 0 }

  constructor({ system }: TraceOptions = {}) {
    this.clock = system?.clock ?? Clock.live
  }

  /** The recorded lines. */
  get lines(): ReadonlyArray<string> {
    return this.#lines
  }

  /** The lines as one text. */
  get text(): string {
    return this.#lines.map((line) => `${line}\n`).join("")
  }

  /** Records a line of the test's own. */
  note(what: string, detail?: unknown): void {
    this.write({ type: "note", what, detail })
  }

  /** The adapter, with its requests and answers recorded. */
  adapter(adapter: Adapter.Adapter): Adapter.Adapter {
    return {
      name: adapter.name,
      provider: adapter.provider,
      model: adapter.model,
      stream: (request, options) => {
        const question = this.ask("adapter", { name: adapter.name, request })
        let opening: ReturnType<Adapter.Adapter["stream"]>
        try {
          opening = adapter.stream(request, options)
        } catch (error) {
          this.answer(question, "refused", { error, atOnce: true })
          throw error
        }
        if (!Predicate.isPromiseLike(opening)) return this.#stream(question, opening)
        return this.#recordSettled(
          opening,
          () => this.answer(question, "opened", {}),
          (error) => this.answer(question, "refused", { error })
        ).then((stream) => this.#stream(question, stream))
      }
    }
  }

  /** The tool, with its calls and results recorded. */
  tool(tool: Tool.Tool): Tool.Tool {
    const { handler } = tool
    if (handler === null) return tool
    return {
      ...tool,
      handler: (args, context) => {
        const question = this.ask("tool", { name: tool.name, id: context.toolCall.id, arguments: args })
        return this.#settles(question, () => handler(args, context))
      }
    }
  }

  /** The store, with its operations recorded. */
  store<S extends Store.Store>(store: S): S {
    return new Proxy(store, {
      get: (target, name) => {
        const operation: unknown = Reflect.get(target, name)
        if (typeof operation !== "function" || typeof name !== "string") return operation
        return (...args: ReadonlyArray<unknown>): unknown => {
          const question = this.ask("store", { name, arguments: args })
          return this.#settles(question, () => Reflect.apply(operation, target, args) as unknown)
        }
      }
    })
  }

  /** Records each change of a chat's state, and of its tool calls. */
  chat(chat: LocalChatRef): { readonly unsubscribe: () => void } {
    let before = ""
    return chat.subscribe(({ context }) => {
      const calls = context.toolCalls.map(({ id, status, outcome }) => ({ id, status, outcome }))
      const seen = canonicalJson({ phase: context.phase, calls })
      if (seen === before) return
      before = seen
      this.write({ type: "phase", chat: chat.id, phase: context.phase, calls })
    })
  }

  /** Reads events to their end and records each, also a failure; returns the events. */
  async read(name: string, events: AsyncIterable<Event>): Promise<ReadonlyArray<Event>> {
    const read: Array<Event> = []
    try {
      for await (const event of events) {
        read.push(event)
        this.write({ type: "event", from: name, event })
      }
      this.write({ type: "end", from: name })
    } catch (error) {
      this.write({ type: "failure", from: name, error })
    }
    return read
  }

  /** Records a line (REC1). */
  protected write(line: Line): void {
    const text = canonicalJson({ ...line, at: this.clock.now() })
    this.#lines.push(text)
    this.written(text)
  }

  /** Called with each line; a subclass may override it. */
  protected written(_line: string): void {
    // No listener by default.
  }

  /** Records a call to an adapter, a tool or a store. */
  protected ask(of: Asked["of"], what: Line): Asked {
    const question = { of, call: (this.#calls[of] += 1) }
    this.write({ type: "asked", ...question, ...what })
    return question
  }

  /** Records an answer (REC3). */
  protected answer({ of, call }: Asked, type: string, what: Line): void {
    this.write({ type, of, call, ...what })
  }

  /** Resolves when no line was recorded for a while; one caller after another (REC4). */
  protected quiet(): Promise<void> {
    this.#quieting = this.#quieting.then(() => this.#settle())
    return this.#quieting
  }

  async #settle(): Promise<void> {
    let seen = this.#lines.length
    for (let left = quietFor; left > 0; left--) {
      await settled
      if (this.#lines.length === seen) continue
      seen = this.#lines.length
      left = quietFor
    }
  }

  #stream(question: Asked, stream: AdapterStream): AsyncIterable<AdapterEvent> {
    return {
      [Symbol.asyncIterator]: () => {
        const events = Adapter.eventsOf(stream)[Symbol.asyncIterator]()
        return {
          next: () =>
            this.#recordSettled(
              events.next(),
              (next) => this.answer(question, next.done === true ? "over" : "said", { event: next.value }),
              (error) => this.answer(question, "broke", { error })
            ),
          return: () => {
            this.write({ type: "left", ...question })
            const gone = (): void => this.answer(question, "gone", {})
            return this.#recordSettled(Promise.resolve(events.return?.()), gone, gone).then(
              () => ended,
              () => ended
            )
          }
        }
      }
    }
  }

  #settles<A>(question: Asked, perform: () => A): A {
    const succeeded = (result: unknown): void => this.answer(question, "settled", { result })
    const failed = (error: unknown): void => this.answer(question, "failed", { error })
    let begun: A
    try {
      begun = perform()
    } catch (error) {
      this.answer(question, "failed", { error, atOnce: true })
      throw error
    }
    if (isEffect(begun)) return onExit(begun, () => this.quiet(), succeeded, failed) as A
    if (Predicate.isPromiseLike(begun)) return this.#recordSettled(begun, succeeded, failed) as A
    this.answer(question, "settled", { result: begun, atOnce: true })
    return begun
  }

  /** The result of a promise, recorded before the caller gets it (REC3), once the run is quiet (REC4). */
  async #recordSettled<A>(
    promise: PromiseLike<A>,
    succeeded: (result: A) => void,
    failed: (error: unknown) => void
  ): Promise<A> {
    const [outcome] = await Promise.allSettled([promise])
    await this.quiet()
    if (outcome.status === "rejected") {
      failed(outcome.reason)
      throw outcome.reason
    }
    succeeded(outcome.value)
    return outcome.value
  }
}

/** Effects of handlers require no services. */
const isEffect = (value: unknown): value is Effect.Effect<unknown, unknown> => Effect.isEffect(value)

/** The effect with a finalizer: after `wait` it calls `succeeded` or `failed`; an interruption is a failure. */
const onExit = <A, E>(
  effect: Effect.Effect<A, E>,
  wait: () => Promise<void>,
  succeeded: (result: A) => void,
  failed: (error: unknown) => void
): Effect.Effect<A, E> =>
  Effect.onExit(effect, (exit) =>
    Effect.map(Effect.promise(wait), () => {
      if (Exit.isSuccess(exit)) succeeded(exit.value)
      else failed(Cause.hasInterruptsOnly(exit.cause) ? new Error("interrupted") : Cause.squash(exit.cause))
    })
  )
