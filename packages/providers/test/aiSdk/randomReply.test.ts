/** The requests after replies of random parts, in any order and with any end. */
import type { LanguageModelV4Message, LanguageModelV4StreamPart } from "@ai-sdk/provider"
import { Chat, Engine, tool } from "@troupe/chat"
import { Thread } from "@troupe/chat/messages"
import { expect, test } from "vitest"
import { Dice } from "../../../otp/test/properties/dice.ts"
import { seedsOf } from "../../../../tooling/verify/volume.ts"
import { aiSdk } from "../../src/aiSdk/AiSdk.ts"
import { finish, modelV4, streamOf } from "../loopback/scriptedModel.ts"

type Part = LanguageModelV4StreamPart
type Content = Exclude<LanguageModelV4Message["content"], string>[number]

const textOf = (id: string, ...deltas: ReadonlyArray<string>): ReadonlyArray<Part> => [
  { type: "text-start", id },
  ...deltas.map((delta): Part => ({ type: "text-delta", id, delta })),
  { type: "text-end", id }
]

const callOf = (toolCallId: string, toolName: string, input = "{}"): Part => ({
  type: "tool-call",
  toolCallId,
  toolName,
  input
})

const searchOf = (toolCallId: string): Part =>
  ({
    ...callOf(toolCallId, "web_search"),
    type: "tool-call",
    providerExecuted: true
  }) as Part

const foundOf = (toolCallId: string): Part => ({
  type: "tool-result",
  toolCallId,
  toolName: "web_search",
  result: { pages: 1 }
})

/** Some parts of a reply; ids repeat, as those of real models do. */
const somePartsOf = (dice: Dice): ReadonlyArray<Part> => {
  const id = `i${dice.below(4)}`
  return dice.one<() => ReadonlyArray<Part>>([
    () => textOf(id, "a"),
    () => textOf(id, " \n"),
    () => textOf(id, "x\ud83d", "\ude00"),
    () => textOf(id, "x\ud83d"),
    () => [{ type: "text-delta", id, delta: "z" }],
    () => [
      { type: "reasoning-start", id },
      { type: "reasoning-delta", id, delta: dice.one(["hm", ""]) },
      { type: "reasoning-end", id }
    ],
    () => [callOf(id, "look")],
    () => [callOf(id, "look"), callOf(id, "look")],
    () => [callOf(id, "unknown")],
    () => [callOf(id, "look", dice.one(["{", "[1]", "null", ""]))],
    () => [
      { type: "tool-input-start", id, toolName: "look" },
      { type: "tool-input-delta", id, delta: "{" }
    ],
    () => [searchOf(`p${id}`), foundOf(`p${id}`)],
    () => [searchOf(`p${id}`)],
    () => [foundOf(`p${id}`)],
    () => [{ type: "source", sourceType: "url", id, url: "https://example.org/" }],
    () => [{ type: "error", error: "overloaded" }]
  ])()
}

/** A stream of random parts, with one of the ends of a reply, or none. */
const randomReply = (dice: Dice): ReadableStream<Part> => {
  const parts = Array.from({ length: dice.below(8) }, () => somePartsOf(dice)).flat()
  const end = dice.one(["stop", "length", "tool-calls", "content-filter", "error", "other", "none", "broken"] as const)
  if (end !== "broken") {
    return streamOf<Part>(end === "none" ? parts : [...parts, finish(end)])
  }
  return new ReadableStream({
    pull: (controller) => {
      const part = parts.shift()
      if (part === undefined) controller.error(new TypeError("terminated"))
      else controller.enqueue(part)
    }
  })
}

/** What is wrong with a prompt, whatever its provider. */
const faultsOf = (prompt: ReadonlyArray<LanguageModelV4Message>): ReadonlyArray<string> => {
  const parts = prompt.flatMap(({ content }): ReadonlyArray<Content> => (typeof content === "string" ? [] : content))
  const ids = (type: string) =>
    parts.flatMap((part) => (part.type === type && "toolCallId" in part ? [part.toolCallId] : []))
  const [calls, results] = [ids("tool-call"), ids("tool-result")]
  const isBlank = ({ role, content }: LanguageModelV4Message): boolean =>
    role !== "tool" &&
    (typeof content === "string"
      ? content.trim() === ""
      : content.every((part) => part.type === "text" && part.text.trim() === ""))
  return [
    ...(JSON.stringify(calls.toSorted()) === JSON.stringify(results.toSorted())
      ? []
      : [`calls ${calls} results ${results}`]),
    ...prompt.filter(isBlank).map(() => "a blank message"),
    ...prompt.flatMap(({ role, content }) => {
      const last = role === "assistant" && typeof content !== "string" ? content.at(-1)?.type : undefined
      return last === "reasoning" ? ["reasoning at the end"] : []
    }),
    ...(JSON.stringify(prompt).includes("\\ud") ? ["half a surrogate pair"] : [])
  ]
}

const look = tool({ name: "look", execute: () => "ok" })

test.each(seedsOf(1_000))(
  "PROMPT1. after random reply %i, the request of the next turn has no unpaired part",
  async (seed) => {
    const dice = new Dice(seed)
    const asked: Array<{ readonly prompt: ReadonlyArray<LanguageModelV4Message> }> = []
    const model = modelV4(() => (asked.length === 1 ? randomReply(dice) : streamOf<Part>([finish()])), asked as never)
    const engine = Engine.make({ adapter: aiSdk(model), tools: [look] })
    const options = { retry: false, onUnknownTool: "continue" } as const
    const { thread } = await Chat.run(engine, [{ role: "user", content: "Go" }], options)
    await Chat.run(engine, Thread.append(thread, { role: "user", content: "And now?" }), options)
    expect(asked.length).toBeGreaterThan(1)
    expect(faultsOf(asked.at(-1)?.prompt ?? [])).toEqual([])
  }
)
