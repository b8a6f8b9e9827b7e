/** Tool results with images, as the provider packages send them whose tool messages have only text. */
import { createDeepSeek } from "@ai-sdk/deepseek"
import { createGroq } from "@ai-sdk/groq"
import { createMistral } from "@ai-sdk/mistral"
import { Message } from "@troupe/chat/messages"
import { aiSdk, type AiSdkModel } from "@troupe/providers/AiSdk"
import { expect, test } from "vitest"

const png = "iVBORw0KGgo="
const parts = [
  { type: "text", text: "The page" },
  { type: "image", image: { base64: png, mediaType: "image/png" } }
]
const messages: ReadonlyArray<Message.Message> = [
  Message.user("Look"),
  Message.assistant("", [{ id: "c00000001", name: "look", arguments: {} }]),
  Message.toolResult("c00000001", parts)
]

interface Options {
  readonly apiKey: string
  readonly fetch: typeof fetch
}

test.each<[string, (options: Options) => AiSdkModel]>([
  ["Mistral", (options) => createMistral(options)("mistral-large-latest")],
  ["Groq", (options) => createGroq(options)("openai/gpt-oss-20b")],
  ["DeepSeek", (options) => createDeepSeek(options)("deepseek-chat")]
])("TFILE1 %s gets a text that names the image, and no base64", async (_, model) => {
  const bodies: Array<string> = []
  const refuse: typeof fetch = async (_url, init) => {
    bodies.push(init?.body as string)
    return new Response("{}", { status: 400 })
  }
  const adapter = aiSdk(model({ apiKey: "k", fetch: refuse }))
  const { signal } = new AbortController()
  const options = { signal, requestId: "r", includeRawChunks: false, adapterOptions: {} }
  await expect(Promise.resolve(adapter.stream({ messages, tools: [] }, options))).rejects.toThrow()
  const [body = "{}"] = bodies
  expect(body).not.toContain(png)
  const sent = JSON.parse(body) as { readonly messages: ReadonlyArray<unknown> }
  expect(sent.messages.at(-1)).toMatchObject({
    role: "tool",
    content: "The page\n[image image/png, 8 B: this model cannot read it]"
  })
})
