/**
 * Records the time spans of the turns of one chat.
 *
 * Owns: the spans of the newest turns: a fold of the transitions of the chat's machine and of the changes of its calls, which have their
 * own times. It makes no snapshot.
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
import type { ToolCall } from "../model/index.ts"
import * as Message from "../model/Message.ts"
import type { LiveChat } from "../live/index.ts"
import { aboutOf, type ToolCallView } from "../call/index.ts"
import type { Turn } from "../inbox/index.ts"
import type { RequestDelayed } from "../events/index.ts"
import type { ChatContext } from "../loop/index.ts"
import { original } from "../values/index.ts"
import { ChildSpans } from "./childSpans.ts"
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
  /** The number of its compactions, and the span of the one that runs. */
  compactions = 0
  compaction: string | undefined
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

  /** Called for each transition of the chat, and for each change of its calls. */
  readonly see = (): void => {
    const now = this.#clock.now()
    const { pid, process, state, context } = this.#chat
    const turn = process?.env.find(context?.turn?.id)
    const running = this.#running
    if (running !== undefined && (pid !== running.pid || turn !== running.turn)) {
      running.close(now, pid === running.pid ? (context?.record.lastHaltedReason ?? "ended") : "crashed")
      this.#running = undefined
    }
    if (context === undefined || turn === undefined || pid === undefined) {
      this.#isNew = false
      return
    }
    const { toolCalls } = state
    const recorded = this.#running ?? this.#begin(turn, pid, this.#isNew ? earliest(toolCalls, now) : now)
    this.#isNew = false
    this.#seeStream(recorded, context, now)
    seeDelay(recorded, context.steps.length + 1, state.collector?.delayed, now)
    toolCalls.forEach((call, index) => {
      seeCall(recorded, index, call, now)
      this.#seeChild(recorded, rowOf(recorded, index, call), call)
    })
  }

  /** Follows the child of a running call (SPAN4). */
  #seeChild(recorded: RecordedTurn, row: string, { id, status }: ToolCallView): void {
    if (status !== "running" || recorded.children.has(row)) return
    const isOf = (child: LiveChat | undefined): boolean => {
      const parent = child?.context?.record.parent
      return parent?.chat === this.#chat.id && parent.call === id
    }
    const chat = this.#chat.context?.record.children?.map(this.#living).find(isOf)
    if (chat === undefined) return
    const recorder = new TurnRecorder(chat, this.#clock, { turns: 0, spans: [] }, this.#living)
    recorded.children.set(row, new ChildSpans(row, chat, recorder))
  }

  /** Begins the span of a request, and ends it when its reply is over. */
  #seeStream(recorded: RecordedTurn, { steps, record }: ChatContext, now: number): void {
    const { state } = this.#chat
    const last = steps.at(-1)
    const idOf = (step: number): string => `${recorded.id}.${step}.${recorded.compactions}.stream`
    if (last !== undefined) recorded.end(idOf(steps.length), now, original(last).response.finishReason ?? undefined)
    this.#seeCompaction(recorded, idOf(steps.length + 1), now)
    const id = idOf(steps.length + 1)
    if (!state.isRequesting) return recorded.end(id, now, state.isRunningTools ? "tool_calls" : undefined)
    if (recorded.spans.has(id) || state.toolCalls.length > 0) return
    const { engine } = this.#chat.serving(record.open?.agent ?? record.agent?.name)
    const label = resolveModel(engine, recorded.turn.options.model) ?? engine.adapter?.name ?? "request"
    recorded.put({ id, kind: "stream", label, from: now, to: undefined, outcome: undefined })
  }

  /** Begins the span of a compaction, and ends it. The request before it may have been sent, or was only due for it. */
  #seeCompaction(recorded: RecordedTurn, request: string, now: number): void {
    const { isCompacting } = this.#chat.state
    if (isCompacting === (recorded.compaction !== undefined)) return
    if (!isCompacting) {
      recorded.end(recorded.compaction ?? "", now, undefined)
      recorded.compaction = undefined
      return
    }
    if (recorded.spans.get(request)?.from === now) recorded.spans.delete(request)
    else recorded.end(request, now, "context_length_exceeded")
    const id = `${recorded.id}.compaction.${(recorded.compactions += 1)}.stream`
    recorded.compaction = id
    recorded.put({ id, kind: "stream", label: "compaction", from: now, to: undefined, outcome: undefined })
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

  /** Records a zombie of this chat, or its end. */
  seeZombie({ id: toolCallId, name, arguments: args }: ToolCall, from: number, outcome: string | undefined): void {
    const to = outcome === undefined ? undefined : this.#clock.now()
    const id = `zombie.${toolCallId}.${from}`
    const known = this.#zombies.get(id)
    if (known !== undefined && (known.to !== undefined || to === undefined)) return
    if (known === undefined && this.#zombies.size >= mostZombies) return
    const label = beginningOf(name, labelLength)
    this.#zombies.set(id, { id, kind: "zombie", label, ...aboutOf(args), from, to, outcome })
  }
}

/** The earliest known time of a turn whose beginning was not seen (SPAN3). */
const earliest = (toolCalls: ReadonlyArray<ToolCallView>, now: number): number =>
  toolCalls.reduce((time, { queuedAt }) => Math.min(time, queuedAt), now)

const labelOf = ({ messages, retry }: Turn): string => {
  const [message] = messages
  if (message === undefined) return retry === true ? "retry" : "decisions"
  return message.role === "tool" ? "tool results" : Message.text(message)
}

/** Records each long wait of a request in the row of the request. A wait ends when it is over, or when the request ends before. */
const seeDelay = (recorded: RecordedTurn, step: number, delayed: RequestDelayed | undefined, now: number): void => {
  const { delay } = recorded
  if (delay !== undefined && (delay.wait !== delayed || now >= delay.wait.retryAt)) {
    recorded.end(delay.id, Math.min(now, delay.wait.retryAt), delay.wait.reason)
    recorded.delay = undefined
  }
  if (delayed === undefined || delayed === delay?.wait) return
  const { adapter: label, retryAt, waitMs } = delayed
  const id = `${recorded.id}.${step}.delay.${retryAt}`
  recorded.delay = { id, wait: delayed }
  recorded.put({ id, kind: "delay", label, from: retryAt - waitMs, to: undefined, outcome: undefined })
}

/** The ids of the spans of a call begin with its row. */
const rowOf = ({ id }: RecordedTurn, index: number, call: ToolCallView): string =>
  `${id}.${call.queuedAt}.${index}.${call.id}`

/** Records the spans of a call: queued, running, and draining after a cancel or restart. */
const seeCall = (recorded: RecordedTurn, index: number, call: ToolCallView, now: number): void => {
  const { name: label, about, status, queuedAt, startedAt, endedAt, outcome } = call
  const id = rowOf(recorded, index, call)
  const span = (key: string, kind: Span["kind"], from: number): void =>
    recorded.put({
      id: `${id}.${key}`,
      kind,
      label,
      ...(about !== undefined && { about }),
      from,
      to: undefined,
      outcome: undefined
    })
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
