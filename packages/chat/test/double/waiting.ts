/**
 * A random program under a seed: what a person does to a chat that waits, over deaths of its process and restarts of its Troupe.
 *
 * The model asks questions, calls tools that wait for an approval or for the caller, hands over, starts background tasks, hangs or answers.
 */
import { Process } from "@troupe/otp"
import type { LocalChatRef } from "../../src/troupe/LocalChatRef.ts"
import type { LiveTurn } from "../../src/live/liveTurn.ts"
import type { Message } from "../../src/model/messageShapes.ts"
import type { Request } from "../../src/model/Request.ts"
import type { Decision } from "../../src/record/Approval.ts"
import { memory } from "../../src/store/Store.ts"
import type { Script } from "../../src/adapter/fakeScript.ts"
import { tool } from "../../src/tool/functionTool.ts"
import { askUser } from "../../src/values/HandlerResult.ts"
import type { LeakCheck } from "./leakCheck.ts"
import { pausesBy, pausing, pausingLoads, turnsOfLoop } from "./pausing.ts"
import { anyOf, pick } from "./randomParts.ts"
import { chanceOf } from "./randomTalk.ts"
import { says } from "./scripts.ts"

export const limits = { maxTurns: 3, maxChainRequests: 4 } as const

const verbs = [
  ...([
    "send",
    "send",
    "send",
    "steer",
    "interrupt",
    "answer",
    "answer",
    "decide",
    "decide",
    "decide",
    "submit",
    "answer all"
  ] as const),
  ...(["retry", "cancel", "cancel turn", "withdraw", "hand off", "end task", "end task", "kill", "restart"] as const)
] as const
type Verb = (typeof verbs)[number]

const replies = [
  "ask",
  "ask",
  "pay",
  "pay",
  "crawl",
  "crawl",
  "manual",
  "quick",
  "hand off",
  "hang",
  "text",
  "text"
] as const

/** An input of the person: when it was sent, and its turn in the program that it was sent in. */
interface Sent {
  readonly text: string
  readonly at: number
  readonly turn: LiveTurn
}

/** What is known of a program that ran to its end. */
export interface Lived {
  readonly done: ReadonlyArray<string>
  readonly sent: ReadonlyArray<Sent>
  /** The promises that have not settled. */
  readonly unsettled: ReadonlyArray<string>
  /** When each call asked its question. */
  readonly asked: ReadonlyMap<string, number>
  /** How often the work of each call that pays ran, by its key. */
  readonly paid: ReadonlyMap<string, number>
  readonly requests: ReadonlyArray<ReadonlyArray<Message>>
  readonly thread: ReadonlyArray<Message>
  readonly count: (verb: Verb) => number
}

const aborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)))

/** Runs the program of this seed; at its end the person answers every wait. */
export const lived = async (check: LeakCheck, seed: number): Promise<Lived> => {
  const chance = chanceOf("waits", seed)
  const pause = pausesBy(chanceOf("waits pauses", seed))
  const store = pausingLoads(memory(), pause)
  const done: Array<Verb> = []
  const sent: Array<Sent> = []
  const open = new Map<string, Promise<unknown>>()
  const asked = new Map<string, number>()
  const paid = new Map<string, number>()
  const requests: Array<ReadonlyArray<Message>> = []
  let now = 0
  let programs = 0
  let promises = 0
  let closing = false
  let ends: Array<() => void> = []

  /** Notes a promise until it settles. */
  const settles = (name: string, promise: Promise<unknown>): void => {
    const settled = promise.then(
      () => undefined,
      () => undefined
    )
    const key = `${(promises += 1)} ${name}`
    open.set(key, settled)
    void settled.then(() => open.delete(key))
  }

  const respond = ({ messages, tools }: Request): Script => {
    const place = requests.push(messages)
    if (closing) return says("done")
    const kinds = Array.from({ length: chance() < 0.25 ? 2 : 1 }, () => pick(chance, replies))
    const handoff = tools.find(({ name }) => name.startsWith("handoff_to_"))?.name
    const names = kinds.flatMap((kind) => {
      if (kind === "text" || kind === "hang") return []
      return kind === "hand off" ? (handoff ?? []) : [kind]
    })
    if (names.length === 0) return kinds.includes("hang") ? [{ text: "So" }, { hang: true }] : says("fine")
    return [...names.map((name, call) => ({ toolCall: { id: `r${place}c${call}`, name } })), { finish: "tool_calls" }]
  }

  const begin = async () => {
    const own = ++programs
    const tools = [
      tool({
        name: "ask",
        onUnknown: "retry",
        execute: async (_, { toolCall: { id } }) => {
          await turnsOfLoop(Math.floor(chance() * 6))
          // The handler of a former program asks nobody.
          if (own === programs && !asked.has(id)) asked.set(id, ++now)
          return askUser("Which?")
        }
      }),
      tool({
        name: "pay",
        execute: async (_, { idempotencyKey }) => {
          paid.set(idempotencyKey, (paid.get(idempotencyKey) ?? 0) + 1)
          await turnsOfLoop(Math.floor(chance() * 4))
          return "paid"
        }
      }),
      tool({
        name: "crawl",
        background: true,
        effect: "read",
        execute: (_, { signal }) =>
          Promise.race([new Promise<string>((resolve) => void ends.push(() => resolve("crawled"))), aborted(signal)])
      }),
      tool({ name: "manual", manual: true }),
      tool({ name: "quick", effect: "read", execute: () => turnsOfLoop(Math.floor(chance() * 4)) })
    ]
    const permissions = {
      ask: ({ toolCall: { name } }: { readonly toolCall: { readonly name: string } }) =>
        name === "pay" ? ("suspend" as const) : ("allow" as const)
    }
    const adapter = pausing(check.fake({ respond }), pause)
    const { troupe } = await check.troupe({
      adapter,
      tools,
      permissions,
      agents: {
        a: { adapter, tools, permissions, handoffs: ["b"] },
        b: { adapter, tools, permissions, handoffs: ["a"] }
      },
      agent: "a",
      store,
      drainMs: 0,
      maxRestarts: 1_000,
      maxUnproductive: 0,
      ...limits
    })
    return { troupe, chat: await troupe.chat("c") }
  }

  let program = await begin()
  const contextOf = () => program.chat.getSnapshot()?.context
  const say = (whenBusy: "queue" | "steer" | "interrupt"): void => {
    const text = `m${sent.length}`
    sent.push({ text, at: ++now, turn: program.chat.send(text, { whenBusy, id: text }) })
    settles(`send ${text}`, (sent.at(-1) as Sent).turn.result())
  }
  const decide = (chat: LocalChatRef): void => {
    const wait = anyOf(chance, contextOf()?.pendingApprovals ?? [])
    if (wait === undefined) return
    const some: readonly [Decision, ...Array<Decision>] = [
      { type: "result", value: "by hand" },
      { type: "deny", reason: "no" },
      ...(wait.kind === "permission" ? ([{ type: "allow" }, { type: "allow" }, { type: "halt" }] as const) : [])
    ]
    settles(`decide ${wait.toolCall.id}`, chat.approve(wait.toolCall.id, pick(chance, some)).result())
  }
  const submit = (chat: LocalChatRef): void => {
    const { pendingToolCalls = [], pendingQuestion } = contextOf() ?? {}
    if (pendingToolCalls.length === 0) return
    const results = Object.fromEntries(pendingToolCalls.map(({ id }) => [id, "given"]))
    const answers = pendingQuestion !== undefined && chance() < 0.5
    const input = answers ? `the answer to ${pendingQuestion.toolCallId}` : undefined
    settles("submit", chat.submitToolResults(results, { input }).result())
  }
  /** Answers everything that the chat waits for, with a message behind it, and sometimes twice. */
  const answerAll = (chat: LocalChatRef): void => {
    const { pendingApprovals = [], pendingToolCalls = [] } = contextOf() ?? {}
    if (pendingApprovals.length + pendingToolCalls.length === 0) return
    const text = `m${sent.length}`
    const decision: Decision = pick(chance, [{ type: "deny" }, { type: "result", value: "by hand" }] as const)
    const answers = {
      decisions: Object.fromEntries(pendingApprovals.map(({ toolCall }) => [toolCall.id, decision])),
      results: Object.fromEntries(pendingToolCalls.map(({ id }) => [id, "given"])),
      input: text
    }
    sent.push({ text, at: ++now, turn: chat.answer(answers, { id: text }) })
    settles(`answer all ${text}`, (sent.at(-1) as Sent).turn.result())
    if (chance() < 0.3) settles(`answer all ${text} again`, chat.answer(answers, { id: text }).result())
  }
  const restart = async (): Promise<void> => {
    await program.troupe.stop()
    ends = []
    program = await begin()
  }
  const does = async (verb: Verb): Promise<void> => {
    const { chat } = program
    if (verb === "send") say("queue")
    else if (verb === "steer" || verb === "interrupt") say(verb)
    else if (verb === "answer" && contextOf()?.pendingQuestion !== undefined) say("queue")
    else if (verb === "decide") decide(chat)
    else if (verb === "submit") submit(chat)
    else if (verb === "answer all") answerAll(chat)
    else if (verb === "retry" && chat.thread.messages.length > 0) settles("retry", chat.retry().result())
    else if (verb === "cancel") settles("cancel", chat.cancel())
    else if (verb === "cancel turn") settles("cancel turn", chat.cancel({ turn: anyOf(chance, sent)?.text ?? "m0" }))
    else if (verb === "withdraw") settles("withdraw", chat.withdraw(sent.at(-1)?.text ?? "m0"))
    else if (verb === "hand off") settles("hand off", chat.handoff(pick(chance, ["a", "b"])))
    else if (verb === "end task") ends.shift()?.()
    else if (verb === "kill" && chat.pid !== undefined) Process.kill(chat.pid)
    else if (verb === "restart") await restart()
  }

  const length = 4 + Math.floor(chance() * 24)
  for (let step = 0; step < length; step++) {
    const verb = pick(chance, verbs)
    done.push(verb)
    await does(verb)
    await turnsOfLoop(pick(chance, [0, 0, 1, 3, 8, 30]))
  }

  closing = true
  for (let round = 0, still = 0; round < 200 && still < 3; round++) {
    const { chat } = program
    for (const end of ends.splice(0)) end()
    const context = contextOf()
    if (chat.pid !== undefined) chat.resume()
    if (context?.phase === "streaming" && context.partial.text === "So") settles("cancel", chat.cancel())
    else if (context?.phase === "interrupted") {
      done.push("retry")
      settles("retry", chat.retry().result())
    } else if ((context?.pendingApprovals.length ?? 0) > 0) decide(chat)
    else if ((context?.pendingToolCalls.length ?? 0) > 0) submit(chat)
    else if (context?.pendingQuestion !== undefined) say("queue")
    else if (open.size === 0 && context?.phase === "idle" && context.turn === undefined) still += 1
    await turnsOfLoop(15)
  }
  const unsettled = Array.from(open.keys())
  const { messages } = program.chat.thread
  await program.troupe.stop()
  const count = (verb: Verb) => done.filter((each) => each === verb).length
  return { done, sent, unsettled, asked, paid, requests, thread: messages, count }
}
