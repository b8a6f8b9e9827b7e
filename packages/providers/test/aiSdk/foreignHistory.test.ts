/** The request to a provider after another provider's turns. */
import type { LanguageModelV4Message } from "@ai-sdk/provider"
import type { Message } from "@troupe/chat/messages"
import { describe, expect, test } from "vitest"
import { aiSdk } from "../../src/aiSdk/AiSdk.ts"
import { continuedBy, modelOf, recordings } from "../loopback/bothLoops.ts"
import { asking, pull } from "../loopback/pulling.ts"
import { finish, modelV4, streamOf } from "../loopback/scriptedModel.ts"

/** A turn with these calls, each an id and a name, and their results. */
const turn = (...calls: ReadonlyArray<readonly [id: string, name: string]>): ReadonlyArray<Message.Message> => [
  { role: "user", content: "x" },
  { role: "assistant", content: "", toolCalls: calls.map(([id, name]) => ({ id, name, arguments: {} })) },
  ...calls.map(([toolCallId]) => ({ role: "tool", toolCallId, content: "ok" }) as const)
]

/** The prompt that a provider gets. */
const promptFor = async (provider: string, messages: ReadonlyArray<Message.Message>) => {
  const seen: Array<{ readonly prompt: ReadonlyArray<LanguageModelV4Message> }> = []
  const model = { ...modelV4(() => streamOf([finish()]), seen as never), provider }
  await pull(aiSdk(model), asking({ messages }))
  return seen[0]?.prompt ?? []
}

const namesIn = (prompt: ReadonlyArray<LanguageModelV4Message>, role: "assistant" | "tool") =>
  prompt.flatMap((message) =>
    message.role === role
      ? message.content.flatMap((part) =>
          "toolCallId" in part ? [[part.toolCallId, "toolName" in part && part.toolName]] : []
        )
      : []
  )

describe("FOREIGN1. ids and names", () => {
  const odd = turn(
    ["functions.get:0", "get"],
    ["functions.get:1", "get.it"],
    ["functions_get:1", "get it"],
    ["abcdefgh1", "a"]
  )

  test.each([
    ["mistral.chat", /^[a-zA-Z0-9]{9}$/],
    ["anthropic.messages", /^[a-zA-Z0-9_-]{1,64}$/]
  ])("are those that %s accepts, one to one, for calls and their results", async (provider, form) => {
    const prompt = await promptFor(provider, odd)
    const calls = namesIn(prompt, "assistant")
    expect(namesIn(prompt, "tool")).toEqual(calls)
    expect(new Set(calls.map(([id]) => id)).size).toBe(4)
    expect(new Set(calls.map(([, name]) => name)).size).toBe(4)
    for (const [id, name] of calls) {
      expect(id).toMatch(form)
      expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    }
    expect(calls[3]).toEqual(["abcdefgh1", "a"])
    expect(namesIn(await promptFor(provider, [...odd, ...turn(["another!", "b"])]), "assistant").slice(0, 4)).toEqual(
      calls
    )
  })

  test("stay as they are for a provider without a rule", async () => {
    expect(namesIn(await promptFor("local.chat", odd), "tool")[0]).toEqual(["functions.get:0", "get"])
  })

  test.each(["google.generative-ai", "vertex.chat"])("have names that %s accepts, one to one", async (provider) => {
    const calls = namesIn(await promptFor(provider, odd), "assistant")
    expect(calls.map(([, name]) => name)).toEqual(["get", "get.it", "get_it", "a"])
  })

  test("of more than 64 characters are shorter for OpenAI", async () => {
    const [[id] = []] = namesIn(await promptFor("openai.responses", turn(["x".repeat(65), "get"])), "tool")
    expect(String(id).length).toBeLessThanOrEqual(64)
  })

  test.each(recordings.filter((name) => !/^mistral|^google--(?:code|image|thought-image)/.test(name)))(
    "after %s are accepted by Mistral",
    async (name) => {
      const { messages } = JSON.parse((await continuedBy(name, "mistral--text")) ?? "{}") as {
        messages: ReadonlyArray<{ tool_calls?: ReadonlyArray<{ id: string }>; tool_call_id?: string }>
      }
      const ids = messages.flatMap(({ tool_calls: calls = [], tool_call_id: id }) => [
        ...calls.map((call) => call.id),
        ...(id === undefined ? [] : [id])
      ])
      expect(ids.filter((id) => !/^[a-zA-Z0-9]{9}$/.test(id))).toEqual([])
    }
  )
})

describe("FOREIGN2. a system message in the middle", () => {
  const messages: ReadonlyArray<Message.Message> = [
    { role: "system", content: "Be brief." },
    { role: "user", content: "Hi" },
    { role: "system", content: "It is Monday." }
  ]

  test("is a message of the user for Gemini, and the first stays a system message", async () => {
    const { model, bodies } = modelOf("google--text")
    await pull(aiSdk(model), asking({ messages }))
    const { contents, systemInstruction } = JSON.parse(bodies[0] ?? "{}") as Record<string, unknown>
    expect(systemInstruction).toEqual({ parts: [{ text: "Be brief." }] })
    expect(JSON.stringify(contents)).toContain("System message: It is Monday.")
  })

  test("stays where it is for other providers", async () => {
    expect((await promptFor("openai.chat", messages)).map(({ role }) => role)).toEqual(["system", "user", "system"])
  })
})

describe("FOREIGN3. a message of the user behind results", () => {
  const steered: ReadonlyArray<Message.Message> = [
    ...turn(["Ab3dE6gH9", "look"]),
    { role: "user", content: "Be quick." }
  ]

  test("follows a message of the assistant for Mistral, which refuses it otherwise", async () => {
    const roles = (await promptFor("mistral.chat", steered)).map(({ role }) => role)
    expect(roles).toEqual(["user", "assistant", "tool", "assistant", "user"])
  })

  test("follows the results for other providers", async () => {
    const roles = (await promptFor("openai.chat", steered)).map(({ role }) => role)
    expect(roles).toEqual(["user", "assistant", "tool", "user"])
  })
})
