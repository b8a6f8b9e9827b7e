import { describe, expect, it } from "vitest"
import { unpaired, type Message, type Thread } from "../../src/model/index.ts"
import { make } from "../../src/compaction/makeCompactor.ts"
import { prune, summarise, type Strategy, window } from "../../src/compaction/strategies.ts"
import { assistant, nextRequest, randomOf, sizeOf, toolResult, user } from "./drive.ts"
import { seedsOf } from "../../../../tooling/verify/volume.ts"

const tools = [{ name: "look", description: "Looks something up", schema: { type: "object" } }]
const maxTokens = 4_000

const strategies: ReadonlyArray<ReadonlyArray<Strategy>> = [
  [prune(), summarise()],
  [summarise()],
  [window()],
  [prune({ keepSteps: 1, characters: 200 })],
  [({ cuts }) => ({ upTo: cuts[Math.floor(cuts.length / 2)] ?? 0, summary: "half" })],
  [prune(), window()],
  [window({ keepTokens: 2_500 }), summarise({ keepTokens: 500 })],
  [({ cuts }) => ({ upTo: cuts[0] ?? 0 }), prune(), summarise()],
  []
]

const word = (random: () => number): string => `w${Math.floor(random() * 1e6).toString(36)} `

const sizes = [10, 200, 2_000, 50_000, 1_000_000]

/** The messages that follow a request: a text, or calls with their results. */
const step = (random: () => number, number: number): ReadonlyArray<Message> => {
  if (random() < 0.4) return [assistant(word(random).repeat(1 + Math.floor(random() * 60)))]
  const calls = Array.from({ length: 1 + Math.floor(random() * 4) }, (_, at) => ({
    id: random() < 0.1 ? "same" : `c${number}.${at}`,
    name: random() < 0.1 ? "plan" : "look",
    arguments: { plan: `the plan of ${number}`, of: word(random) }
  }))
  const ids = new Set(calls.map(({ id }) => id))
  const distinct = calls.filter(({ id }, at) => ids.has(id) && calls.findIndex((call) => call.id === id) === at)
  return [
    assistant("", distinct),
    ...distinct.map(({ id }) => {
      const length = sizes[Math.floor(random() * random() * sizes.length)] ?? 10
      return toolResult(id, "x y".repeat(Math.ceil(length / 3)))
    })
  ]
}

describe("the requests of random threads", () => {
  it.each(seedsOf(60))(
    "PREFIX1, PREFIX2, WHOLE1, CONTEXT1, SAFE1: seed %i keeps its bound, its pairs, its input and its prefix",
    (seed) => {
      const random = randomOf(seed)
      const compactor = make({ maxTokens, strategies: strategies[seed % strategies.length] })
      let thread: Thread = { messages: [] }
      let former: ReadonlyArray<Message> = []
      let input: Message = user("")
      for (let number = 0; number < 150; number++) {
        const isInput = number === 0 || thread.messages.at(-1)?.role === "assistant"
        if (isInput) {
          input = user(word(random).repeat(1 + Math.floor(random() * 40)))
          thread = { ...thread, messages: [...thread.messages, input] }
        }
        const source = { thread, tools, instructions: "Be brief." }
        const sent = nextRequest(compactor, source, (text) => {
          expect(text.length / 4).toBeLessThan(maxTokens)
          return random() < 0.2 ? undefined : word(random).repeat(200)
        })
        if (sent instanceof Error) throw sent
        expect(sizeOf(sent, source)).toBeLessThanOrEqual(maxTokens)
        expect(unpaired({ messages: sent.messages })).toBeUndefined()
        expect(sent.messages).toContain(input)
        if (!sent.isCompacted) expect(sent.messages.slice(0, former.length)).toEqual(former)
        former = sent.messages
        thread = { ...sent.thread, messages: [...thread.messages, ...step(random, number)] }
      }
    }
  )

  it("CONTEXT1: a thread counts whole, whatever the threads before it had in common with it", () => {
    const compactor = make({ maxTokens: 1_000 })
    const isDue = (...messages: ReadonlyArray<Message>): boolean =>
      compactor.isDue({ thread: { messages } }, { tools: [] })
    const [first, small, large, last] = [user("a"), assistant("b"), assistant("word ".repeat(2_000)), user("c")]
    expect(isDue(first, small, last)).toBe(false)
    expect(isDue(first, large, last)).toBe(true)
    expect(isDue(first, small, last)).toBe(false)
    expect(isDue(first, small)).toBe(false)
    expect(isDue(first, small, last, large)).toBe(true)
    const list = [first, small]
    expect(compactor.isDue({ thread: { messages: list } }, { tools: [] })).toBe(false)
    list.push(large)
    expect(compactor.isDue({ thread: { messages: list } }, { tools: [] })).toBe(true)
  })

  it("CONTEXT1: an input that is larger than the bound ends with context_too_large, which names it", () => {
    const sent = nextRequest(
      make({ maxTokens }),
      { thread: { messages: [user("word ".repeat(20_000))] }, tools },
      () => ""
    )
    expect(sent).toMatchObject({ _tag: "AdapterError", reason: "context_too_large", metadata: { part: "input" } })
  })

  it("SAFE1: the block of an open question and of a task that runs stay in each request", () => {
    const task = { id: "t1", toolCallId: "b", tool: "work", arguments: {}, key: "k", startedAt: 1 }
    const early: ReadonlyArray<Message> = [
      user("begin"),
      assistant("", [{ id: "q", name: "ask", arguments: {} }]),
      toolResult("q", "asked"),
      assistant("", [{ id: "b", name: "work", arguments: {} }]),
      { ...toolResult("b", "runs"), metadata: { task } }
    ]
    const later = Array.from({ length: 200 }, (_, at) =>
      at % 2 === 0 ? user(`say ${"more ".repeat(30)}`) : assistant("well")
    )
    const source = { thread: { messages: [...early, ...later, user("last")] }, tools, question: "q" }
    const sent = nextRequest(make({ maxTokens, strategies: [window()] }), source, () => "")
    if (sent instanceof Error) throw sent
    expect(sent.thread.compaction?.kept).toEqual([1, 2, 3, 4])
    expect(sent.messages.slice(1, 5)).toEqual(early.slice(1))
    const ended = {
      role: "user" as const,
      content: "ended",
      writer: { type: "task" as const },
      metadata: { task: { id: "t1", tool: "work", status: "done" } }
    }
    const after = nextRequest(
      make({ maxTokens, strategies: [window()] }),
      { ...source, thread: { messages: [...early, ...later, ended, user("last")] }, question: undefined },
      () => ""
    )
    expect(after).toMatchObject({ thread: { compaction: { kept: [] } } })
  })

  it("the plan of messages that are left out is a note at the end of each request", () => {
    const plan = assistant("", [{ id: "p", name: "plan", arguments: { plan: "1. win" } }])
    const later = Array.from({ length: 200 }, (_, at) =>
      at % 2 === 0 ? user(`say ${"more ".repeat(30)}`) : assistant("well")
    )
    const source = { thread: { messages: [user("go"), plan, toolResult("p", "ok"), ...later, user("last")] }, tools }
    const sent = nextRequest(make({ maxTokens, strategies: [window()] }), source, () => "")
    expect(sent).toMatchObject({ note: [{ content: expect.stringContaining("1. win") }] })
  })
})
