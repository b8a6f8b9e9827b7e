/**
 * Replays a trace in place of adapters, tools and stores.
 *
 * Owns: the recorded lines, and the callers that wait for an answer in them. Records a trace of its own, as the recording
 * did.
 *
 * REPLAY1. An answer is given when the replay has recorded all lines before it, and not before its time, so that the lines
 *          come in the recorded order.
 * REPLAY2. At the first line that differs the replay fails: all waiting and later calls fail with that mismatch.
 * REPLAY3. A call without a recorded answer gets none.
 */
import type { AdapterEvent } from "@troupe/chat/events"
import type { Adapter } from "@troupe/chat/models"
import type { HandlerResult } from "@troupe/chat/results"
import type { Store } from "@troupe/chat/store"
import type { Tool } from "@troupe/chat/tools"
import { valueIn } from "../law/index.ts"
import { type Asked, Recorder, type TraceOptions } from "./recorder.ts"

/**
 * The error of a replay that differs from the recording: `line` counts from 1, `recorded` and `now` are the two lines,
 * `undefined` for a missing line.
 */
export class ReplayMismatch extends Error {
  override readonly name = "ReplayMismatch"
  readonly line: number
  readonly recorded: string | undefined
  readonly now: string | undefined

  constructor(line: number, recorded: string | undefined, now: string | undefined) {
    super(
      `The run differs from the trace in line ${line}\n  recorded: ${recorded ?? "(nothing more)"}\n  now:      ${now ?? "(nothing more)"}`
    )
    this.line = line
    this.recorded = recorded
    this.now = now
  }
}

interface Answer {
  readonly index: number
  readonly at: number
  readonly type: string
  readonly atOnce?: boolean
  readonly result?: unknown
  readonly error?: unknown
  readonly event?: AdapterEvent
}

interface Waiting {
  readonly asked: Asked
  readonly answer: Answer
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

const answers: ReadonlySet<string> = new Set([
  "opened",
  "refused",
  "said",
  "broke",
  "over",
  "gone",
  "settled",
  "failed"
])

const keyOf = ({ of, call }: Asked): string => `${of} ${call}`

/** A trace that is being replayed. */
export class Replay extends Recorder {
  readonly #recorded: ReadonlyArray<string>
  readonly #answers = new Map<string, Array<Answer>>()
  readonly #waiting = new Map<number, Waiting>()
  #mismatch: ReplayMismatch | undefined

  constructor(trace: string | ReadonlyArray<string>, options?: TraceOptions) {
    super(options)
    this.#recorded = typeof trace === "string" ? trace.split("\n").filter((line) => line !== "") : trace
    this.#recorded.forEach((text, index) => {
      const line = valueIn(text) as Answer & Asked
      if (!answers.has(line.type)) return
      const ofCall = this.#answers.get(keyOf(line))
      if (ofCall === undefined) this.#answers.set(keyOf(line), [{ ...line, index }])
      else ofCall.push({ ...line, index })
    })
  }

  /** The first difference from the recording, if any. */
  get mismatch(): ReplayMismatch | undefined {
    return this.#mismatch
  }

  /** Throws the mismatch: the first line that differs, or the first that is missing. */
  check(): void {
    const { length } = this.lines
    if (this.#mismatch !== undefined) throw this.#mismatch
    if (length < this.#recorded.length) throw new ReplayMismatch(length + 1, this.#recorded[length], undefined)
  }

  /** An adapter with the recorded answers of this one, which is not called. */
  override adapter(adapter: Adapter.Adapter): Adapter.Adapter {
    return {
      name: adapter.name,
      provider: adapter.provider,
      model: adapter.model,
      stream: (request) => {
        const question = this.ask("adapter", { name: adapter.name, request })
        const first = this.#answers.get(keyOf(question))?.[0]
        if (first?.type === "refused") return this.#settled(question) as Promise<never>
        if (first?.type === "opened") return this.#next(question).then(() => this.#events(question))
        return this.#events(question)
      }
    }
  }

  /** A tool with the recorded results of this one, whose handler is not called. */
  override tool(tool: Tool.Tool): Tool.Tool {
    if (tool.handler === null) return tool
    return {
      ...tool,
      handler: (args, context) =>
        this.#settled(this.ask("tool", { name: tool.name, id: context.toolCall.id, arguments: args })) as HandlerResult
    }
  }

  /** A store with the recorded results of this one, which is not called. */
  override store<S extends Store.Store>(store: S): S {
    return new Proxy(store, {
      get: (target, name) => {
        const operation: unknown = Reflect.get(target, name)
        if (typeof operation !== "function" || typeof name !== "string") return operation
        return (...args: ReadonlyArray<unknown>): unknown => this.#settled(this.ask("store", { name, arguments: args }))
      }
    })
  }

  protected override written(line: string): void {
    const index = this.lines.length - 1
    if (this.#mismatch !== undefined) return
    if (this.#recorded[index] !== line) return this.#fails(new ReplayMismatch(index + 1, this.#recorded[index], line))
    this.#release()
  }

  protected override ask(of: Asked["of"], what: Readonly<Record<string, unknown>>): Asked {
    const question = super.ask(of, what)
    if (this.#mismatch !== undefined) throw this.#mismatch
    return question
  }

  #events(question: Asked): AsyncIterable<AdapterEvent> {
    const ended: IteratorResult<AdapterEvent, void> = { done: true, value: undefined }
    return {
      [Symbol.asyncIterator]: () => ({
        next: () =>
          this.#next(question).then(({ type, event, error }) => {
            if (type === "broke") throw error
            return event === undefined ? ended : { done: false, value: event }
          }),
        return: () => {
          this.write({ type: "left", ...question })
          return this.#next(question).then(() => ended)
        }
      })
    }
  }

  /** The result of a call with a single answer. */
  #settled(question: Asked): unknown {
    const [first] = this.#answers.get(keyOf(question)) ?? []
    if (first?.atOnce !== true) {
      return this.#next(question).then(({ error, result, type }) => {
        if (type !== "settled") throw error
        return result
      })
    }
    this.#write(question, first)
    if (first.type !== "settled") throw first.error
    return first.result
  }

  /** The next answer, in its order (REPLAY1, REPLAY3). */
  #next(question: Asked): Promise<Answer> {
    return new Promise((resolve, reject) => {
      if (this.#mismatch !== undefined) return reject(this.#mismatch)
      const answer = this.#answers.get(keyOf(question))?.shift()
      if (answer === undefined) return
      this.#waiting.set(answer.index, { asked: question, answer, resolve, reject })
      const wait = answer.at - this.clock.now()
      if (wait > 0) this.clock.setTimeout(() => this.#release(), wait)
      else this.#release()
    })
  }

  #release(): void {
    const waiting = this.#waiting.get(this.lines.length)
    if (waiting === undefined || waiting.answer.at > this.clock.now()) return
    this.#waiting.delete(waiting.answer.index)
    void this.#give(waiting)
  }

  async #give({ answer, asked, resolve }: Waiting): Promise<void> {
    await this.quiet()
    resolve(answer)
    this.#write(asked, answer)
  }

  #write(question: Asked, { type, result, error, event, atOnce }: Answer): void {
    this.answer(question, type, { result, error, event, atOnce })
  }

  #fails(mismatch: ReplayMismatch): void {
    this.#mismatch = mismatch
    for (const { reject } of this.#waiting.values()) reject(mismatch)
    this.#waiting.clear()
  }
}
