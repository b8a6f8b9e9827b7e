/** Clients of the AI SDK of versions 5, 6 and 7: each reads with its own parser. */
import { Fake, tool } from "@troupe/chat"
import * as ai7 from "ai"
import * as ai5 from "ai-5"
import * as ai6 from "ai-6"
import { describe, expect, it } from "vitest"
import { UiStream } from "../../src/wire/aiSdk/uiStream.ts"
import { serving } from "../double/serving.ts"

const clock = tool({ name: "clock", execute: () => "noon" })

const schemas = { "5": ai5.uiMessageChunkSchema, "6": ai6.uiMessageChunkSchema, "7": ai7.uiMessageChunkSchema }
const versions = ["5", "6", "7"] as const

const transports = {
  "5": (api: string) => new ai5.DefaultChatTransport({ api }),
  "6": (api: string) => new ai6.DefaultChatTransport({ api }),
  "7": (api: string) => new ai7.DefaultChatTransport({ api })
}

const endings = [
  "completed",
  "interrupted",
  "cancelled",
  "max_turns",
  "ask_user",
  "manual_tool_calls",
  "awaiting_approval",
  "error",
  "of a hook"
]

describe.each(versions)("the AI SDK %s", (version) => {
  it.each(endings)("UI4. parses the end of a turn: %s", async (haltedReason) => {
    const chunks = new UiStream(new Set()).ended({ haltedReason, metadata: {} })
    expect(chunks.length).toBeGreaterThan(0)
    for (const chunk of chunks) {
      const checked = await schemas[version]().validate?.(chunk)
      expect({ chunk, isKnown: checked?.success }).toEqual({ chunk, isKnown: true })
    }
  })

  it.each(["stop", "length", "content_filter", "other"] as const)(
    "UI4. reads a reply over loopback whose finish reason is %s",
    async (finish) => {
      const adapter = Fake.make({
        scripts: [
          [{ toolCall: { id: "c0", name: "clock" } }, { finish: "tool_calls" }],
          [{ text: "Noon" }, { finish }]
        ]
      })
      const { url } = await serving({ adapter, tools: [clock] })
      const message = { id: "u1", role: "user" as const, parts: [{ type: "text" as const, text: "Hi" }] }
      const stream = await transports[version](`${url}/api/chat`).sendMessages({
        trigger: "submit-message",
        chatId: "c",
        messageId: undefined,
        messages: [message],
        abortSignal: undefined
      })
      const types: Array<string> = []
      for await (const chunk of stream as unknown as AsyncIterable<{ readonly type: string }>) types.push(chunk.type)
      expect(types).toContain("tool-output-available")
      expect(types.at(-1)).toBe("finish")
    }
  )
})
