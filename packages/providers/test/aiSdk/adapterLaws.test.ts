import { APICallError, type LanguageModelV4StreamPart } from "@ai-sdk/provider"
import { Testing } from "@troupe/testing"
import { describe, expect, test } from "vitest"
import { aiSdk } from "../../src/aiSdk/AiSdk.ts"
import { finish, modelV4 } from "../loopback/scriptedModel.ts"

type Situation = Awaited<ReturnType<Parameters<typeof Testing.adapterLaws>[0]["text"]>>

/** A model that says these parts; one without an end stays open until it is cancelled. */
const saying =
  (...parts: ReadonlyArray<LanguageModelV4StreamPart>) =>
  (): Situation => {
    let open = 0
    const stream = (signal: AbortSignal | undefined): ReadableStream<LanguageModelV4StreamPart> => {
      let next = 0
      open += 1
      return new ReadableStream({
        pull: (controller) => {
          const part = parts[next++]
          if (part !== undefined) return controller.enqueue(part)
          if (parts.at(-1)?.type !== "finish" && parts.at(-1)?.type !== "error") {
            return new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve(), { once: true }))
          }
          open -= 1
          controller.close()
          return undefined
        },
        cancel: () => {
          open -= 1
        }
      })
    }
    return { adapter: aiSdk(modelV4(({ abortSignal }) => stream(abortSignal))), open: () => open }
  }

const text = (...deltas: ReadonlyArray<string>): ReadonlyArray<LanguageModelV4StreamPart> => [
  { type: "text-start", id: "t" },
  ...deltas.map((delta) => ({ type: "text-delta" as const, id: "t", delta })),
  { type: "text-end", id: "t" }
]
const call: LanguageModelV4StreamPart = { type: "tool-call", toolCallId: "c", toolName: "add", input: '{"a":1}' }

const refusing = (statusCode: number) => (): Situation => ({
  adapter: aiSdk(
    modelV4(() => {
      throw new APICallError({ message: "no", url: "", requestBodyValues: {}, statusCode })
    })
  )
})

describe("TEXT1. The adapter of AI SDK models keeps the laws of adapters", () => {
  const laws = Testing.adapterLaws({
    text: saying(...text("Hel", "lo"), finish()),
    emptyText: saying(...text(""), finish()),
    toolCalls: saying(...text("Well"), call, finish("stop")),
    refusals: { rate_limited: refusing(429), authentication_failed: refusing(401) },
    breaks: saying(...text("par"), { type: "error", error: "gone" }),
    endless: saying(...text("on"))
  })
  test.each(laws)("$title", async ({ check }) => {
    await expect(check()).resolves.toBeUndefined()
  })
})
