import { describe, expect, onTestFinished, test } from "vitest"
import { Fake, Troupe, type TroupeOptions } from "@troupe/chat"
import { ValidationError } from "@troupe/chat/errors"
import { Message } from "@troupe/chat/messages"
import { Session } from "@troupe/chat/sessions"

const image = (url: string) => [{ type: "image" as const, image: { url } }]

const started = async (options: Partial<TroupeOptions> = {}) => {
  const adapter = Fake.make({ script: [{ text: "Hi" }, { finish: "stop" }] })
  const troupe = await Troupe.start({ adapter, ...options })
  onTestFinished(() => troupe.stop())
  return troupe
}

describe("MEDIA1 an image that no provider can read", () => {
  test("is refused where it is said, and the conversation goes on without it", async () => {
    const chat = await (await started()).chat("c")
    await chat.send("Hello").result()
    for (const url of ["not a url", "file:///etc/passwd", "data:text/plain,hello"]) {
      expect(() => chat.send(image(url))).toThrow(ValidationError)
      expect(() => Message.user(image(url))).toThrow("must_be_an_http_https_or_data_url of an image")
    }
    expect((await chat.send("Still there?").result()).haltedReason).toBe("completed")
    expect(chat.thread.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"])
  })

  test("is refused in a session, and as the result of a tool", () => {
    const session = Session.make()
    expect(() => Session.append(session, { role: "user", content: image("not a url") })).toThrow(ValidationError)
    expect(() => Session.append(session, { role: "tool", toolCallId: "call", content: image("not a url") })).toThrow(
      ValidationError
    )
  })

  test.each([
    "not a url",
    "data:image/png;base64,a",
    "DATA:image/png;BASE64,a",
    "data:image/png;base64,",
    "data:image/png,plain"
  ])("in a stored conversation does not keep it from being loaded: %s", async (url) => {
    const record = {
      id: "c",
      thread: { messages: [{ role: "user", content: image(url) }] },
      usage: {},
      running: false,
      pendingToolCalls: []
    }
    const store = { load: () => record as never, save: () => {}, delete: () => {} }
    const chat = await (await started({ store })).chat("c")
    expect(chat.thread.messages).toHaveLength(1)
  })
})
