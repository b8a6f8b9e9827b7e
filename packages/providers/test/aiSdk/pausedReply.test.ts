/** The turn after a reply that its provider paused, and the prompt of its next request. */
import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider"
import { Chat, Engine, user } from "@troupe/chat"
import { Message, Thread } from "@troupe/chat/messages"
import { describe, expect, test } from "vitest"
import { aiSdk } from "../../src/aiSdk/AiSdk.ts"
import { finish, modelV4, streamOf } from "../loopback/scriptedModel.ts"

type Part = LanguageModelV4StreamPart

const said = (text: string): ReadonlyArray<Part> => [
  { type: "text-start", id: "t" },
  { type: "text-delta", id: "t", delta: text },
  { type: "text-end", id: "t" }
]

const search = (id: string): Part => ({
  type: "tool-call",
  toolCallId: id,
  toolName: "web_search",
  input: '{"query":"x"}',
  providerExecuted: true
})

const found = (id: string): Part => ({ type: "tool-result", toolCallId: id, toolName: "web_search", result: [] })

const thinking: ReadonlyArray<Part> = [
  { type: "reasoning-start", id: "r" },
  { type: "reasoning-delta", id: "r", delta: "hm" },
  { type: "reasoning-end", id: "r", providerMetadata: { scripted: { signature: "s" } } }
]

const paused = finish("stop", "pause_turn")
const whole = finish("stop", "end_turn")

/** A model that gives these replies in turn, and the call options of its requests. */
const scripted = (...replies: ReadonlyArray<ReadonlyArray<Part>>) => {
  const asked: Array<LanguageModelV4CallOptions> = []
  const model = modelV4(() => streamOf([...(replies[asked.length - 1] ?? [])]), asked)
  return { engine: Engine.make({ adapter: aiSdk(model) }), asked }
}

const rolesOf = ({ prompt }: LanguageModelV4CallOptions) =>
  prompt.map(({ role, content }) => [role, ...(typeof content === "string" ? [] : content.map(({ type }) => type))])

describe("PAUSE1. a reply that its provider paused", () => {
  test("is sent back as it was, and the turn ends with the reply that is whole", async () => {
    const { engine, asked } = scripted(
      [...said("Searching. "), search("s1"), ...thinking, paused],
      [found("s1"), ...said("More. "), search("s2"), paused],
      [found("s2"), ...said("Found."), whole]
    )
    const { thread, steps, haltedReason, finalResponse } = await Chat.run(engine, [user("Go")])
    expect(haltedReason).toBe("completed")
    expect(finalResponse?.outputText).toBe("Found.")
    expect(steps.map(({ done }) => done)).toEqual([false, false, true])
    expect(thread.messages.map((message) => Message.text(message))).toEqual(["Go", "Searching. ", "More. ", "Found."])
    const first = ["assistant", "text", "tool-call", "reasoning"]
    const second = ["assistant", "tool-result", "text", "tool-call"]
    expect(asked.map(rolesOf)).toEqual([
      [["user", "text"]],
      [["user", "text"], first],
      [["user", "text"], first, second]
    ])
  })

  test("ends the turn at `maxTurns`, and the next request has no call without its result", async () => {
    const { engine, asked } = scripted(
      [...said("Searching."), search("s1"), paused],
      [...said("Still."), search("s2"), paused],
      [...said("Hi"), whole]
    )
    const { thread, haltedReason } = await Chat.run(engine, [user("Go")], { maxTurns: 2 })
    expect([haltedReason, asked.length]).toEqual(["max_turns", 2])
    await Chat.run(engine, Thread.append(thread, user("And now?")))
    expect(asked.slice(2).map(rolesOf)).toEqual([
      [
        ["user", "text"],
        ["assistant", "text"],
        ["assistant", "text"],
        ["user", "text"]
      ]
    ])
  })

  test("ends the turn when the budget is spent", async () => {
    const { engine, asked } = scripted([...said("Searching."), paused], [...said("Found."), whole])
    const { haltedReason } = await Chat.run(engine, [user("Go")], { budget: { tokens: 1 } })
    expect([haltedReason, asked.length]).toEqual(["budget_tokens", 1])
  })

  test("is an error, and not continued, when its stream broke", async () => {
    const { engine, asked } = scripted([...said("Searching."), { type: "error", error: new Error("busy") }, paused])
    expect((await Chat.run(engine, [user("Go")])).haltedReason).toBe("error")
    expect(asked).toHaveLength(1)
  })
})
