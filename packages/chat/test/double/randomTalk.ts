/**
 * A random conversation under a seed: turns with tools, questions, approvals, answers of the caller, and cancels.
 *
 * What the model and the tools say depends on nothing but the seed and the thread, so each program that continues from
 * a stored snapshot has the same to say.
 */
import type { Clock, System } from "@troupe/otp"
import * as Effect from "effect/Effect"
import type { ChatContext, ChatEvent } from "../../src/loop/chatContext.ts"
import type { OwnChatOptions } from "../../src/loop/provide.ts"
import * as Engine from "../../src/options/Engine.ts"
import type { Message } from "../../src/model/messageShapes.ts"
import { text as textOf, user } from "../../src/model/Message.ts"
import type { Decision } from "../../src/record/Approval.ts"
import { pendingApprovalsOf } from "../../src/step/openCalls.ts"
import type { Fake, Script } from "../../src/adapter/Fake.ts"
import { make } from "../../src/tool/Tool.ts"
import type { Handler, Tool } from "../../src/tool/toolContract.ts"
import { askUser, error, halt, ok } from "../../src/values/HandlerResult.ts"
import { pick } from "./randomParts.ts"

/** Random numbers from 0 up to 1, the same for the same parts. */
export const chanceOf = (...parts: ReadonlyArray<number | string>): (() => number) => {
  let state = 2166136261
  for (const code of parts.join(" ")) state = Math.imul(state ^ code.charCodeAt(0), 16777619)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Where a program of the conversation runs. */
export interface Place {
  readonly system: System.System
  readonly clock: Clock.TestClock
  readonly fake: (options: { readonly respond: Respond; readonly clock: Clock.Clock }) => Fake
  /** Called when a request, a tool, a hook, a question or a commit begins. */
  readonly moment: () => void
}

type Respond = (request: { readonly messages: ReadonlyArray<Message> }) => Script

const toolsOf = ({ clock, moment }: Place): ReadonlyArray<Tool> => {
  const at =
    (handler: Handler): Handler =>
    (...args) => {
      moment()
      return handler(...args)
    }
  const later = <A>(ms: unknown, value: A): Promise<A> =>
    new Promise((resolve) => void clock.setTimeout(() => resolve(value), Number(ms)))
  return [
    make({ name: "quick", effect: "read", handler: at((args) => ok(args)) }),
    make({ name: "slow", effect: "read", handler: at(({ ms }) => later(ms, ok(`slept ${String(ms)}`))) }),
    make({ name: "write", handler: at(({ ms }) => later(ms, ok("written"))) }),
    make({ name: "fails", handler: at(() => error("sorry")) }),
    make({ name: "asks", effect: "read", handler: at(() => askUser("which?")) }),
    make({ name: "halts", effect: "read", handler: at(({ ms }) => later(ms, halt("enough"))) }),
    make({ name: "manual", manual: true }),
    /** Ends at once when it is interrupted. */
    make({ name: "waits", effect: "read", handler: at(() => Effect.never) }),
    /** Never ends. */
    make({ name: "deaf", effect: "read", handler: at(() => new Promise(() => {})) })
  ]
}

const names = "quick quick slow slow write write write fails asks asks halts manual waits deaf".split(" ") as [
  string,
  ...Array<string>
]

const wordsOf = (chance: () => number): Script =>
  Array.from({ length: Math.floor(chance() * 4) }, (_, word): Script[number] =>
    chance() < 0.4 ? { delayMs: Math.ceil(chance() * 20) } : { text: `word ${word} ` }
  )

const replyOf = (seed: number, { length }: ReadonlyArray<Message>): Script => {
  const chance = chanceOf("reply", seed, length)
  const words = wordsOf(chance)
  const kind = chance()
  if (kind < 0.08) return [...words, { hang: true }]
  if (kind < 0.35) return [...words, { text: "." }, { usage: { outputTokens: length } }, { finish: "stop" }]
  const calls = Array.from({ length: 1 + Math.floor(chance() * 4) }, (_, call): Script[number] => {
    const args = { ms: Math.ceil(chance() * 30) }
    return { toolCall: { id: `m${length}c${call}`, name: pick(chance, names), arguments: args } }
  })
  return [...words, ...calls, { finish: "tool_calls" }]
}

/** The engine and the options that a program of the conversation runs with. */
export const partsOf = (seed: number, place: Place) => {
  const { system, clock, fake, moment } = place
  const chance = chanceOf("options", seed)
  const adapter = fake({
    clock,
    respond: ({ messages }) => {
      moment()
      return replyOf(seed, messages)
    }
  })
  const engine = Engine.make({ adapter, tools: toolsOf(place) })
  const [asks, stores, hooks] = [chance() < 0.6, chance() < 0.5, chance() < 0.3]
  const pause = (): Promise<undefined> => {
    moment()
    return new Promise((resolve) => void clock.setTimeout(() => resolve(undefined), 4))
  }
  const schedule = pick(chance, ["concurrent", "effects", "reference"] as const)
  const options: OwnChatOptions = {
    system,
    schedule,
    requestId: "r",
    drainMs: 40,
    maxConcurrency: 3,
    ...(asks ? { permissions: { ask: async ({ toolCall }) => pause().then(() => answerTo(seed, toolCall.id)) } } : {}),
    ...(hooks ? { hooks: { PreToolUse: [pause], PostToolUse: [pause], Stop: [pause] } } : {}),
    ...(stores ? { commit: pause } : {})
  }
  return { engine, options }
}

/** What a person answers at once: often that the decision comes later. */
const answerTo = (seed: number, id: string) => {
  const kind = chanceOf("ask", seed, id)()
  if (kind < 0.3) return { type: "allow" } as const
  return kind < 0.45 ? ({ type: "deny", reason: "asked" } as const) : ({ type: "suspend" } as const)
}

const decisionOf = (seed: number, id: string): Decision => {
  const kind = chanceOf("decide", seed, id)()
  if (kind < 0.5) return { type: "allow" }
  if (kind < 0.7) return { type: "allow", arguments: { ms: 7 } }
  return kind < 0.9 ? { type: "deny", reason: "no" } : { type: "result", value: "by hand" }
}

/** A running chat, and the functions that drive it. */
export interface Talker {
  readonly state: () => { readonly value: unknown; readonly context: ChatContext }
  readonly send: (event: ChatEvent) => void
  readonly advance: (ms: number) => Promise<void>
}

/** What is said at once in each turn: one message, or two of which the second waits, steers or interrupts. */
const turnsOf = (seed: number) => {
  const chance = chanceOf("turns", seed)
  return Array.from({ length: 2 + Math.floor(chance() * 2) }, (_, turn) => {
    const second = chance() < 0.4 ? [pick(chance, ["queue", "steer", "interrupt"] as const)] : []
    return [undefined, ...second].map((whenBusy, part) => ({ said: `turn ${turn} part ${part}`, whenBusy }))
  })
}

/**
 * Whether a chat has stopped by itself: nothing has changed for longer than any tool, word or hook takes, so that it
 * hangs in the same place in every program.
 */
const patience = 60

/** Says what there is to say until every turn is over. */
export const talkThrough = async (seed: number, { state, send, advance }: Talker): Promise<unknown> => {
  const turns = turnsOf(seed)
  const pace = chanceOf("pace", seed)
  let last: string | undefined
  let quiet = 0
  for (let rounds = 0; rounds < 3_000; rounds++) {
    const { value, context } = state()
    const text = JSON.stringify(context)
    const unsaid = turns.map((parts) => parts.filter(({ said }) => !text.includes(said)))
    const next = unsaid.findIndex((parts) => parts.length > 0)
    const hasBegun = next >= 0 && (unsaid[next]?.length ?? 0) < (turns[next]?.length ?? 0)
    const now = `${JSON.stringify(value)} ${text}`
    quiet = now === last ? quiet + 1 : 0
    last = now
    if (next >= 0 && (value === "idle" || hasBegun)) {
      for (const { said, whenBusy } of unsaid[next] ?? []) {
        send({ type: "turn.start", turn: { messages: [user(said)], whenBusy } })
      }
    } else if (value === "idle")
      return { thread: context.record.thread, halted: context.record.lastHaltedReason, usage: context.record.usage }
    else if (value === "awaitingUser") send({ type: "turn.start", turn: { messages: [user("blue")] } })
    else if (value === "awaitingTools") {
      const messages = context.record.pendingToolCalls.map(({ id }): Message => ({
        role: "tool",
        toolCallId: id,
        content: `answer to ${id}`
      }))
      send({ type: "turn.start", turn: { messages } })
    } else if (value === "awaitingApproval") {
      const decisions = pendingApprovalsOf(context.record.thread, context.record.open).map(({ toolCall }) => ({
        toolCallId: toolCall.id,
        decision: decisionOf(seed, toolCall.id)
      }))
      const isSlow = chanceOf("slow", seed, context.record.thread.messages.length)() < 0.5
      send({ type: "turn.start", turn: { messages: [], decisions: isSlow ? decisions.slice(0, 1) : decisions } })
    } else if (quiet > patience) send({ type: "turn.cancel" })
    await advance(Math.ceil(pace() * 6))
  }
  const { value, context } = state()
  throw new Error(
    `the chat of seed ${seed} did not come to rest: ${JSON.stringify([value, context.record.thread.messages.map(textOf)])}`
  )
}
