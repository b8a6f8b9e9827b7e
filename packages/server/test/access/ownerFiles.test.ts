import { Fake } from "@troupe/chat"
import { Store } from "@troupe/chat/store"
import { describe, expect, test } from "vitest"
import { fileBytesIn } from "../../src/access/blobUrls.ts"
import { codeOf, served } from "../double/served.ts"

const picture = (bytes: number, fill = 1) => Buffer.alloc(bytes, fill).toString("base64")

const image = (bytes: number, fill = 1) => ({
  type: "image",
  image: { base64: picture(bytes, fill), mediaType: "image/png" }
})

const say = (bytes: number, fill = 1) => ({ input: [{ type: "text", text: "Look" }, image(bytes, fill)] })

const dataUrl = (bytes: number) => `data:image/png;base64,${picture(bytes)}`

/** A server whose owners have room for 100,000 bytes of images and files. */
const full = async (script: Fake.Script = [{ text: "Hm." }, { finish: "stop" }]) => {
  const adapter = Fake.make({ scripts: Array.from({ length: 20 }, () => script) })
  const { ask } = await served({ adapter }, { limits: { fileBytes: 100_000 } })
  const post = async (path: string, body: unknown, authorization = "anna") => {
    const response = await ask("POST", path, body, { authorization })
    return response.ok ? (await response.text(), `${response.status}`) : codeOf(response)
  }
  expect(await post("/chats/c1/messages?wait", say(60_000))).toBe("200")
  return { ask, post, adapter }
}

describe("OWNERFILES1 images and files of an owner", () => {
  test("have room in the conversations together, and a refused request begins no turn", async () => {
    const { ask, post, adapter } = await full()
    expect(await post("/chats/c2/messages?wait", say(40_001))).toBe("429 too_many_bytes")
    expect((await ask("GET", "/chats/c2")).status).toBe(404)
    expect(adapter.requests).toHaveLength(1)
    const refused = await ask("POST", "/chats/c2/messages", say(50_000))
    expect(await refused.text()).toContain("have images and files of 60000 bytes, and at most 100000 are kept; delete")
    expect(await post("/chats/c2/messages?wait", say(39_000))).toBe("200")
    expect(await post("/chats/c3/messages?wait", say(39_000), "ben")).toBe("200")
  })

  test("that have no room leave texts, URLs and small images alone", async () => {
    const { post } = await full()
    for (const input of [
      "x".repeat(50_000).replaceAll("xxxxx", "word "),
      [{ type: "image", image: { url: `https://example.com/${"x".repeat(20_000)}` } }],
      [image(300)]
    ]) {
      expect(await post("/chats/c2/messages?wait", { input })).toBe("200")
    }
  })

  test.each<[string, unknown]>([
    ["/chats/c1/messages", say(50_000)],
    ["/chats/c1/answer", say(50_000)],
    ["/chats/c1/results", { results: { call: [image(50_000)] } }],
    ["/chats/c1/approvals/call", { type: "result", value: [image(50_000)] }],
    [
      "/api/chat",
      {
        id: "c2",
        messages: [{ id: "m1", role: "user", parts: [{ type: "file", mediaType: "image/png", url: dataUrl(50_000) }] }]
      }
    ],
    [
      "/ag-ui",
      {
        threadId: "c2",
        runId: "r1",
        messages: [
          {
            id: "m1",
            role: "user",
            content: [{ type: "binary", mimeType: "image/png", data: picture(50_000) }]
          }
        ],
        tools: [],
        context: [],
        state: {},
        forwardedProps: {}
      }
    ],
    [
      "/v1/chat/completions",
      {
        model: "troupe",
        messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: dataUrl(50_000) } }] }]
      }
    ],
    [
      "/v1/responses",
      {
        model: "troupe",
        input: [{ role: "user", content: [{ type: "input_image", image_url: dataUrl(50_000) }] }]
      }
    ]
  ])("are refused by %s", async (path, body) => {
    const { ask } = await full()
    const refused = await ask("POST", path, body)
    expect([refused.status, await refused.text()]).toEqual([429, expect.stringContaining("at most 100000 are kept")])
  })

  test("count for a fork, which is refused without room for them", async () => {
    const { ask, post } = await full()
    await (await ask("POST", "/chats/c0/messages?wait", { input: "Hello" })).text()
    expect(await post("/chats/c1/fork", { id: "f1" })).toBe("429 too_many_bytes")
    expect(await post("/chats/c0/fork", { id: "f2" })).toBe("201")
  })
})

test("OWNERFILES2 a deletion makes room at once", async () => {
  const { ask, post } = await full()
  expect(await post("/chats/c2/messages?wait", say(60_000))).toBe("429 too_many_bytes")
  await ask("DELETE", "/chats/c1")
  expect(await post("/chats/c2/messages?wait", say(60_000))).toBe("200")
})

test("OWNERFILES2 a store that keeps no blobs has no bound, and no limit asks the store nothing", async () => {
  const { blobs: _, ...store } = Store.memory()
  const { ask } = await served({ store }, { limits: { fileBytes: 1 } })
  expect((await ask("POST", "/chats/c1/messages?wait", say(60_000))).status).toBe(200)
  const memory = Store.memory()
  const size = () => Promise.reject(new Error("asked"))
  const asked: Store.SessionStore = {
    ...memory,
    blobs: { put: () => {}, get: () => undefined, ...memory.blobs, size }
  }
  const { ask: unlimited } = await served({ store: asked }, { limits: { fileBytes: Infinity } })
  expect((await unlimited("POST", "/chats/c1/messages?wait", say(60_000))).status).toBe(200)
})

test("OWNERFILES1 an image of 24 MB is counted without a stack of its size, and a long text is not counted", () => {
  const base64 = picture(24_000_000)
  const more = [{ url: `data:image/png;name=a b;base64,${base64}` }, "word ".repeat(10_000), base64.slice(1, 16_000)]
  for (let times = 0; times < 3; times++) expect(fileBytesIn({ base64, more })).toBeCloseTo(48_000_000, -2)
})
