/** The second request of our loop is that of the AI SDK's own loop, and no part of a reply is lost. */
import { Message } from "@troupe/chat/messages"
import { describe, expect, test } from "vitest"
import { continuedBy, ourLoop, recordings, sdkLoop } from "../loopback/bothLoops.ts"

/** Our types of parts, by the AI SDK's. */
const types: Readonly<Record<string, string>> = { "reasoning-file": "custom" }

const typeOf = (part: object): string => {
  const { type, providerExecuted } = part as { readonly type: string; readonly providerExecuted?: boolean }
  if (type === "tool-call") return providerExecuted === true ? "provider_tool_call" : "tool_call"
  return types[type] ?? type
}

/** The types of the AI SDK's parts. Results of our tools are no parts of the reply, nor is a text without any character. */
const sdkTypes = (parts: ReadonlyArray<object>): ReadonlyArray<string> =>
  parts.flatMap((part) => {
    const { type, text, providerExecuted, providerMetadata } = part as Readonly<Record<string, unknown>>
    if (type === "tool-result" || type === "tool-error")
      return providerExecuted === true ? ["provider_tool_result"] : []
    if (type === "text" && text === "" && providerMetadata === undefined) return []
    return [typeOf(part)]
  })

test("there are recordings of every provider", () => {
  expect(recordings.length).toBeGreaterThanOrEqual(30)
  expect(new Set(recordings.map((name) => name.split("--")[0]))).toEqual(
    new Set(["anthropic", "google", "local", "mistral", "openai"])
  )
})

describe("PART6. the second request after a recorded reply", () => {
  test.each(recordings)("%s", async (name) => {
    const theirs = await sdkLoop(name)
    const ours = await ourLoop(name)
    expect(ours.bodies.length).toBe(theirs.bodies.length)
    expect(ours.bodies[0]).toBe(theirs.bodies[0])
    expect(ours.bodies[1]).toBe(theirs.bodies[1])
    expect(Message.parts(ours.reply).map(({ type }) => type)).toEqual(sdkTypes(theirs.reply))
  })
})

describe("RPARTS3. another provider gets a reply without the parts that only its own understands", () => {
  const withFile = new Set(["google--code-execution-files", "google--image-out"])
  const texts = recordings.filter((name) => !withFile.has(name))

  test.each(texts)("%s", async (name) => {
    const body = await continuedBy(name, name.startsWith("mistral") ? "anthropic--text" : "mistral--text")
    expect(body).toContain("And now?")
    expect(body).not.toMatch(/server_tool_use|provider|item_reference/)
  })
})
