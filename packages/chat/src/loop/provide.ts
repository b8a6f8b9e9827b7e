/** A chat machine without a Troupe, with the live things that it runs with. */
import { type Clock, StateMachine, Telemetry } from "@troupe/otp"
import type { ChatInput, RunningReply } from "./chatContext.ts"
import { ChatEnv } from "./chatEnv.ts"
import { chatStart } from "./chatStart.ts"
import { chatMachine } from "./ChatMachine.ts"
import { type ChatOptions, resolveOptions } from "../options/index.ts"
import type { Engine } from "../tool/index.ts"
import type { ToolCallView } from "../call/index.ts"
import { type Event, outletIn, type StreamCollector } from "../events/index.ts"
import type { Conversation } from "../record/index.ts"
import type { SaveRecord } from "../store/index.ts"

declare module "@troupe/otp/telemetry" {
  interface Events {
    /** The function `published` of a chat under a bare actor threw. */
    readonly "published.failure": {
      readonly measurements: { readonly count: number }
      readonly metadata: { readonly error: unknown }
    }
  }
}

/** The options of a chat, without `signal`, because `turn.cancel` cancels the turn. */
export interface OwnChatOptions extends Omit<ChatOptions, "signal"> {
  /** Called with each event of a turn. Its exceptions are reported as the telemetry event `published.failure`. */
  readonly published?: ((event: Event) => void) | undefined
  /** Stores the chat's record; the next phase waits for it. */
  readonly commit?: SaveRecord | undefined
}

/** The live things of a chat without a Troupe. */
class OwnChatEnv extends ChatEnv {
  /**
   * The input of a chat that continues from a record that `commit` got, after its program ended.
   *
   * BARE2. A call that may have run does not run again without a decision, as in a Troupe (REVIVE2).
   *
   * **Details**: pass a record, not a persisted snapshot, if handlers must not run twice.
   */
  restore(record: Conversation): ChatInput {
    const { engine, clock, stores } = this
    const { tools } = this.turn("").options
    return chatStart({ id: record.id, engine: { ...engine, tools }, clock, record, stores })
  }
}

/** How long changes of the text are batched, in milliseconds. */
const flushMs = 32

/**
 * The live things of one chat, step or tool call without a Troupe: the environment of their machines, for `bind`.
 *
 * **Details**: `turn("").options` are the complete options, also of a tool call. `restore(record)` is the input of a chat that
 * continues from a record that `commit` got.
 *
 * **Errors**: throws a `ValidationError` for invalid options; an `EngineError` for an engine that cannot be used.
 */
export const environment = (engine: Engine, options: OwnChatOptions = {}): OwnChatEnv => {
  const { published, commit, ...chatOptions } = options
  const { system } = resolveOptions(engine, chatOptions)
  const typing = new Typing(system.clock)
  return new OwnChatEnv({
    engine,
    commit,
    clock: system.clock,
    watcher: typing,
    typing: (shows) => typing.begin(shows),
    turn: () => {
      const outlet = outletIn(system)
      outlet.drive((event) => {
        typing.grew(event)
        try {
          published?.(event)
        } catch (error) {
          Telemetry.notify(system, "published.failure", { count: 1 }, { error })
        }
      })
      return { messages: [], options: resolveOptions(engine, chatOptions), outlet }
    }
  })
}

/**
 * The chat machine for chats under your own actors: in a page with `useMachine`, or under `createActor`.
 *
 * **Details**: `turn.start` runs a turn of plain data. While a step runs, `context.partial.text` is the text of its reply,
 * and `context.partial.calls` has each call with its `id`, `name`, `status` and, when it is done, `outcome`. The context is plain data, so a persisted snapshot can be stored as JSON, and continued. A handler that ran when the snapshot
 * was stored runs again, with the same idempotency key. Each actor is a chat of its own.
 *
 * **Errors**: as for {@link environment}.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Engine, Fake, user } from "@troupe/chat"
 * import { provide } from "@troupe/chat/machines"
 * import { createActor, waitFor } from "xstate"
 *
 * const engine = Engine.make({ adapter: Fake.make({ script: [{ text: "Hi." }, { finish: "stop" }] }) })
 * const actor = createActor(provide(engine), { input: { id: "c1" } }).start()
 * actor.send({ type: "turn.start", turn: { messages: [user("Hello")] } })
 * const { context } = await waitFor(actor, (snapshot) => snapshot.context.record.lastHaltedReason !== undefined)
 * context.record.thread.messages.map(({ content }) => content) // => ["Hello", "Hi."]
 * actor.stop()
 * ```
 */
export const provide = (engine: Engine, options?: OwnChatOptions): typeof chatMachine => {
  // Throws for invalid options now, not in the first actor.
  environment(engine, options)
  return StateMachine.bindEach(chatMachine, () => environment(engine, options))
}

/**
 * Shows the reply and the calls of the running step, at most once per interval.
 *
 * BARE1. A chat that is stopped and started in mid-turn shows the text of its request again: the step keeps its collector until
 *        it ends.
 * BARE3. The calls of the running step are shown while they stream and while they run. A fragment of the arguments shows
 *        nothing anew.
 */
class Typing {
  readonly #clock: Clock.Clock
  #shows: ((reply: RunningReply) => void) | undefined
  #collector: StreamCollector | undefined
  #batch: () => ReadonlyArray<ToolCallView> = () => []
  /** The calls; `undefined` when they are to be read again. */
  #calls: RunningReply["calls"] | undefined
  /** The timer that shows the reply. */
  #due: unknown

  constructor(clock: Clock.Clock) {
    this.#clock = clock
  }

  begin(shows: (reply: RunningReply) => void): () => void {
    this.#shows = shows
    return () => {
      this.#clock.clearTimeout(this.#due)
      this.#due = undefined
      this.#shows = undefined
    }
  }

  readonly stepStarted = (collector: StreamCollector): void => {
    this.#collector = collector
    this.#batch = () => []
    this.#calls = undefined
  }

  readonly stepEnded = (): void => {
    this.#collector = undefined
  }

  readonly toolCallsChanged = (view: () => ReadonlyArray<ToolCallView>): void => {
    this.#batch = view
    this.#calls = undefined
    this.#show()
  }

  grew({ type }: Event): void {
    const isCall = type === "tool_call_started" || type === "tool_call_completed"
    if (isCall) this.#calls = undefined
    if (isCall || (this.#collector?.text ?? "") !== "") this.#show()
  }

  #show(): void {
    if (this.#shows === undefined) return
    this.#due ??= this.#clock.setTimeout(() => {
      this.#due = undefined
      this.#shows?.({ text: this.#collector?.text.toWellFormed() ?? "", calls: (this.#calls ??= this.#read()) })
    }, flushMs)
  }

  #read(): RunningReply["calls"] {
    const calls = new Map<string, RunningReply["calls"][number]>()
    for (const { id, name } of this.#collector?.toResponse().toolCalls ?? []) {
      calls.set(id, { id, name, status: "queued" })
    }
    for (const { id, name, status, outcome } of this.#batch()) {
      calls.set(id, { id, name, status, ...(outcome !== undefined && { outcome }) })
    }
    return Array.from(calls.values())
  }
}
