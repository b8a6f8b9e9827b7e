/**
 * Records the time spans of the turns of one chat.
 *
 * Owns: the spans of the newest turns. It is called whenever the chat's state changed, and reads the chat's view; the times
 * of calls come from the view.
 *
 * SPAN1. A span does not change after its end.
 * SPAN2. When a turn ends, its open spans end; only zombies may outlive it.
 * SPAN3. Of the time without a recorder, only data that is still available is recorded.
 * SPAN5. A wait of more than a second before a request is sent again is a span of the request's row. It ends when the wait is over, or when
 *        the request ends before.
 */
import { type Clock, type Pid, Process } from "@troupe/otp"
import { beginningOf } from "../errors/index.ts"
import { resolveModel } from "../options/index.ts"
import * as Message from "../model/Message.ts"
import type { LiveChat } from "../live/index.ts"
import type { LiveContext } from "../view/index.ts"
import type { ToolCallView, Zombie } from "../call/index.ts"
import type { Turn } from "../inbox/index.ts"
import type { RequestDelayed } from "../events/index.ts"
import { childIn, ChildSpans } from "./childSpans.ts"
import type { Span } from "./observed.ts"

const mostTurns = 5
const mostSpans = 500
const mostZombies = 50
const labelLength = 60

/** A shorter wait is not recorded. */
const shortestWaitMs = 5

/** The spans of earlier recorders, and the number of turns. */
export interface Past {
  readonly turns: number
  readonly spans: ReadonlyArray<Span>
}

/** The spans of one turn, and the turn as last seen. */
class RecordedTurn {
  readonly id: string
  readonly turn: Turn
  readonly pid: Pid | undefined
  readonly spans = new Map<string, Span>()
  /** The start of the present run of each call that has begun. */
  readonly runs = new Map<string, number>()
  /** The span of the wait of its request, and the end of the wait. */
  delay: { readonly id: string; readonly wait: RequestDelayed } | undefined
  /** The children of its calls, by the rows of the calls. */
  readonly children = new Map<string, ChildSpans>()
  readonly forget: () => void

  constructor(id: string, turn: Turn, pid: Pid | undefined, forget: () => void) {
    this.id = id
    this.turn = turn
    this.pid = pid
    this.forget = forget
  }

  /** Begins a span; does nothing if the span has begun. */
  put(span: Span): void {
    if (this.spans.size >= mostSpans || this.spans.has(span.id)) return
    this.spans.set(span.id, { ...span, label: beginningOf(span.label, labelLength) })
  }

  end(id: string, to: number, outcome: string | undefined): void {
    const span = this.spans.get(id)
    if (span !== undefined && span.to === undefined) {
      this.spans.set(id, {
        ...span,
        to,
        outcome: outcome === undefined ? undefined : beginningOf(outcome, labelLength)
      })
    }
  }

  /** Its spans; those of a child follow those of its call. */
  get all(): ReadonlyArray<Span> {
    const own = [...this.spans.values()]
    for (const [row, child] of this.children) {
      const at = own.findLastIndex(({ id }) => id.startsWith(`${row}.`))
      own.splice(at + 1, 0, ...child.spans)
    }
    return own
  }

  close(to: number, outcome: string): void {
    this.forget()
    for (const child of this.children.values()) child.close(to, outcome)
    for (const id of this.spans.keys()) this.end(id, to, outcome)
  }
}

export class TurnRecorder {
  readonly #chat: LiveChat
  readonly #clock: Clock.Clock
  #turns: ReadonlyArray<RecordedTurn> = []
  #running: RecordedTurn | undefined
  readonly #zombies = new Map<string, Span>()
  readonly #past: Past
  readonly #living: (id: string) => LiveChat | undefined
  #count: number
  /** Whether nothing was seen yet: a turn that runs then began earlier. */
  #isNew = true

  /** `living` returns the live chat of an id. */
  constructor(chat: LiveChat, clock: Clock.Clock, past: Past, living: (id: string) => LiveChat | undefined) {
    this.#living = living
    this.#chat = chat
    this.#clock = clock
    this.#past = past
    this.#count = past.turns
  }

  get spans(): ReadonlyArray<Span> {
    const before = this.#turns.length < mostTurns ? this.#past.spans : []
    return [...before, ...this.#turns.flatMap(({ all }) => all), ...this.#zombies.values()]
  }

  /** Whether these are the turns of that chat. */
  isOf(chat: LiveChat): boolean {
    return this.#chat === chat
  }

  /** Ends the recording. Open spans are dropped, because their end is unknown (SPAN3). */
  left(): Past {
    this.#running?.forget()
    const ended = this.spans.filter(({ to }) => to !== undefined)
    return { turns: this.#count, spans: ended.slice(-mostSpans) }
  }

  /** Ends the running turn, because its chat is no longer recorded. */
  close(to: number, outcome: string): void {
    this.#running?.close(to, outcome)
    this.#running = undefined
  }

  /** Called when the chat may have changed. */
  readonly see = (): void => {
    const now = this.#clock.now()
    const { pid } = this.#chat
    const context = this.#chat.view.snapshot()?.context
    const running = this.#running
    if (running !== undefined && (pid !== running.pid || context?.turn !== running.turn)) {
      running.close(now, pid === running.pid ? (context?.lastHaltedReason ?? "ended") : "crashed")
      this.#running = undefined
    }
    if (context?.turn === undefined || pid === undefined) {
      this.#isNew = false
      return
    }
    const recorded = this.#running ?? this.#begin(context.turn, pid, this.#isNew ? earliest(context, now) : now)
    this.#isNew = false
    seeStream(recorded, context, now)
    seeDelay(recorded, context, now)
    context.toolCalls.forEach((call, index) => {
      seeCall(recorded, index, call, now)
      this.#seeChild(recorded, rowOf(recorded, index, call), call)
    })
  }

  /** Follows the child of a running call (SPAN4). */
  #seeChild(recorded: RecordedTurn, row: string, { progress, status }: ToolCallView): void {
    const id = status === "running" && !recorded.children.has(row) ? childIn(progress) : undefined
    const chat = id === undefined ? undefined : this.#living(id)
    if (chat === undefined || chat === this.#chat) return
    const recorder = new TurnRecorder(chat, this.#clock, { turns: 0, spans: [] }, this.#living)
    recorded.children.set(row, new ChildSpans(row, chat, recorder))
  }

  #begin(turn: Turn, pid: Pid, from: number): RecordedTurn {
    const id = `${++this.#count}`
    const recorded = new RecordedTurn(id, turn, pid, Process.onExit(pid, this.see))
    recorded.put({ id, kind: "turn", label: labelOf(turn), from, to: undefined, outcome: undefined })
    this.#running = recorded
    this.#turns = [...this.#turns.slice(1 - mostTurns), recorded]
    const oldest = this.#turns[0]?.spans.get(this.#turns[0].id)?.from ?? from
    for (const [known, { to }] of this.#zombies) if (to !== undefined && to < oldest) this.#zombies.delete(known)
    return recorded
  }

  /** Records the present zombies of this chat. */
  seeZombies(zombies: ReadonlyArray<Zombie>): void {
    for (const { toolCallId, name, since } of zombies) this.#putZombie(toolCallId, name, since, undefined, undefined)
  }

  /** Records the end of a zombie. */
  zombieEnded(toolCallId: string, name: string, since: number, to: number, outcome: string): void {
    this.#putZombie(toolCallId, name, since, to, outcome)
  }

  #putZombie(
    toolCallId: string,
    name: string,
    from: number,
    to: number | undefined,
    outcome: string | undefined
  ): void {
    const id = `zombie.${toolCallId}.${from}`
    const known = this.#zombies.get(id)
    if (known !== undefined && (known.to !== undefined || to === undefined)) return
    if (known === undefined && this.#zombies.size >= mostZombies) return
    this.#zombies.set(id, { id, kind: "zombie", label: beginningOf(name, labelLength), from, to, outcome })
  }
}

const step = ({ steps }: Pick<LiveContext, "steps">): number => steps.length + 1

/** The earliest known time of a turn whose beginning was not seen (SPAN3). */
const earliest = ({ toolCalls }: Pick<LiveContext, "toolCalls">, now: number): number =>
  toolCalls.reduce((time, { queuedAt }) => Math.min(time, queuedAt), now)

const labelOf = ({ messages, retry }: Turn): string => {
  const [message] = messages
  if (message === undefined) return retry === true ? "retry" : "decisions"
  return message.role === "tool" ? "tool results" : Message.text(message)
}

const seeStream = (
  recorded: RecordedTurn,
  context: Pick<LiveContext, "phase" | "steps" | "engine" | "toolCalls">,
  now: number
): void => {
  const { phase, steps, engine } = context
  const before = `${recorded.id}.${steps.length}.stream`
  if (steps.length > 0) recorded.end(before, now, steps.at(-1)?.response.finishReason ?? undefined)
  const id = `${recorded.id}.${step(context)}.stream`
  if (phase === "requesting" || phase === "streaming") {
    if (recorded.spans.has(id) || context.toolCalls.length > 0) return
    const label = resolveModel(engine, recorded.turn.options.model) ?? engine.adapter?.name ?? "request"
    return recorded.put({ id, kind: "stream", label, from: now, to: undefined, outcome: undefined })
  }
  recorded.end(id, now, phase === "runningTools" ? "tool_calls" : undefined)
}

/** Records each long wait of a request in the row of the request. A wait ends when it is over, or when the request ends before. */
const seeDelay = (recorded: RecordedTurn, context: Pick<LiveContext, "delayed" | "steps">, now: number): void => {
  const { delay } = recorded
  const { delayed } = context
  if (delay !== undefined && (delay.wait !== delayed || now >= delay.wait.retryAt)) {
    recorded.end(delay.id, Math.min(now, delay.wait.retryAt), delay.wait.reason)
    recorded.delay = undefined
  }
  if (delayed === undefined || delayed === delay?.wait) return
  const { adapter: label, retryAt, waitMs } = delayed
  const id = `${recorded.id}.${step(context)}.delay.${retryAt}`
  recorded.delay = { id, wait: delayed }
  recorded.put({ id, kind: "delay", label, from: retryAt - waitMs, to: undefined, outcome: undefined })
}

/** The ids of the spans of a call begin with its row. */
const rowOf = ({ id }: RecordedTurn, index: number, call: ToolCallView): string =>
  `${id}.${call.queuedAt}.${index}.${call.id}`

/** Records the spans of a call: queued, running, and draining after a cancel or restart. */
const seeCall = (recorded: RecordedTurn, index: number, call: ToolCallView, now: number): void => {
  const { name: label, status, queuedAt, startedAt, endedAt, outcome } = call
  const id = rowOf(recorded, index, call)
  const span = (key: string, kind: Span["kind"], from: number): void =>
    recorded.put({ id: `${id}.${key}`, kind, label, from, to: undefined, outcome: undefined })
  const known = recorded.runs.get(id)
  const waitedUntil = startedAt ?? endedAt
  if (known === undefined) {
    if ((waitedUntil ?? now) - queuedAt >= shortestWaitMs) span("queue", "queue", queuedAt)
    if (waitedUntil !== undefined)
      recorded.end(`${id}.queue`, waitedUntil, startedAt === undefined ? outcome : undefined)
  }
  if (startedAt === undefined) return
  if (known !== startedAt) {
    recorded.runs.set(id, startedAt)
    for (const key of ["call", "drain"]) recorded.end(`${id}.${key}.${known}`, startedAt, "restarted")
    span(`call.${startedAt}`, "call", startedAt)
  }
  if (status === "cancelling" || status === "restarting") {
    recorded.end(`${id}.call.${startedAt}`, now, status === "restarting" ? "restarted" : "cancelled")
    span(`drain.${startedAt}`, "drain", now)
  }
  if (endedAt !== undefined)
    for (const key of ["call", "drain"]) recorded.end(`${id}.${key}.${startedAt}`, endedAt, outcome)
}
