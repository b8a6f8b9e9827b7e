/** Tool results with images, as the provider packages send them whose tool messages have only text. */
import { Message } from "@troupe/chat/messages"
import { aiSdk } from "@troupe/providers/AiSdk"
import { expect, test } from "vitest"
import { packages } from "../../providers/packages.ts"
import { requestOptions } from "../../providers/scriptedModel.ts"

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

test.each(["mistral", "groq", "deepseek"] as const)(
  "TFILE1 %s gets a text that names the image, and no base64",
  async (column) => {
    const bodies: Array<string> = []
    const fetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
      bodies.push(init?.body as string)
      return new Response("{}", { status: 400 })
    }
    const adapter = aiSdk(packages[column].model({ fetch }))
    await expect(Promise.resolve(adapter.stream({ messages, tools: [] }, requestOptions))).rejects.toThrow()
    const [body = "{}"] = bodies
    expect(body).not.toContain(png)
    const sent = JSON.parse(body) as { readonly messages: ReadonlyArray<unknown> }
    expect(sent.messages.at(-1)).toMatchObject({
      role: "tool",
      content: "The page\n[image image/png, 8 B: this model cannot read it]"
    })
  }
)
