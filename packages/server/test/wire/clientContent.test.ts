import { Fake, tool } from "@troupe/chat"
import { describe, expect, test } from "vitest"
import { hello, served } from "../double/served.ts"

const owner = { authorize: () => ({ owner: "anna" }) }

const bad = [
  "not a url",
  "file:///etc/passwd",
  "ftp://example.com/a.png",
  "//example.com/a.png",
  "https://",
  "data:text/html;base64,AAAA",
  "data:text/plain,hello",
  "data:image/png;base64,!!"
]

const image = (url: string) => [
  { type: "text", text: "Look" },
  { type: "image", image: { url } }
]

/** Each route that takes an image, and its body. */
const routes: ReadonlyArray<readonly [string, (url: string) => unknown]> = [
  ["/chats/c1/messages", (url) => ({ input: image(url) })],
  [
    "/api/chat",
    (url) => ({
      id: "c1",
      messages: [{ id: "m1", role: "user", parts: [{ type: "file", mediaType: "image/png", url }] }]
    })
  ],
  [
    "/ag-ui",
    (value) => ({
      threadId: "c1",
      runId: "r1",
      messages: [{ id: "m1", role: "user", content: [{ type: "image", source: { type: "url", value } }] }]
    })
  ],
  [
    "/v1/chat/completions",
    (url) => ({
      model: "troupe",
      metadata: { chat_id: "c1" },
      messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }]
    })
  ],
  [
    "/v1/chat/completions",
    (url) => ({ model: "troupe", messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }] })
  ]
]

describe("MEDIA1 an image that no provider can read", () => {
  test.each(routes)("%s refuses it, and stores nothing of it", async (path, body) => {
    const { ask } = await served({ adapter: hello() }, owner)
    for (const url of bad) {
      const refused = await ask("POST", path, body(url))
      const text = await refused.text()
      expect([url, refused.status]).toEqual([url, path.startsWith("/v1") ? 400 : 422])
      expect(text).toMatch(/must_be_an_http_https_or_data_url of an image|of_an_image as image|unresolvable_image/u)
    }
    const good = await ask("POST", "/chats/c1/messages?wait", { input: image("https://example.com/cat.png") })
    expect(good.status).toBe(200)
    const view = await ask("GET", "/chats/c1")
    expect(await view.json()).toMatchObject({ messages: [{ role: "user" }, { content: "Hi there" }] })
  })

  test.each(routes)("%s takes one by its address, and one in the message", async (path, body) => {
    for (const url of ["https://example.com/cat.png", "data:image/png;base64,AAAA"]) {
      const { ask } = await served({ adapter: hello() }, owner)
      const taken = await ask("POST", path, body(url))
      await taken.text()
      expect([url, taken.status < 300]).toEqual([url, true])
    }
  })

  test("is refused as the result of a tool, and the call waits on", async () => {
    const { ask } = await served({ adapter: looking(), tools: [look] }, owner)
    await (await ask("POST", "/chats/c1/messages?wait", { input: "Look" })).text()
    const refused = await ask("POST", "/chats/c1/results?wait", { results: { call: image("file:///etc/passwd") } })
    expect(refused.status).toBe(422)
    expect(await refused.text()).toContain("must_be_an_http_https_or_data_url")
    const taken = await ask("POST", "/chats/c1/results?wait", { results: { call: image("https://example.com/a.png") } })
    expect(await taken.json()).toMatchObject({ result: { haltedReason: "completed" } })
  })
})

const look = tool({ name: "look", manual: true })

const looking = () =>
  Fake.make({
    respond: (_, call) =>
      call === 0
        ? [{ toolCall: { id: "call", name: "look", arguments: {} } }, { finish: "tool_calls" }]
        : [{ text: "A cat" }, { finish: "stop" }]
  })

describe("TPART2 an image in the result of a client's tool reaches the model", () => {
  const url = "data:image/png;base64,AAAA"
  const source = { type: "data", value: "AAAA", mimeType: "image/png" }
  const said = { type: "text", text: "The page" }

  test.each<[string, unknown]>([
    ["/chats/c1/results?wait", { results: { call: [said, { type: "image", image: { url } }] } }],
    [
      "/ag-ui",
      {
        threadId: "c1",
        runId: "r",
        messages: [{ id: "t", role: "tool", toolCallId: "call", content: [said, { type: "image", source }] }]
      }
    ],
    [
      "/v1/chat/completions",
      {
        model: "troupe",
        metadata: { chat_id: "c1" },
        messages: [{ role: "tool", tool_call_id: "call", content: [said, { type: "image_url", image_url: { url } }] }]
      }
    ]
  ])("%s", async (path, body) => {
    const adapter = looking()
    const { ask } = await served({ adapter, tools: [look] }, owner)
    await (await ask("POST", "/chats/c1/messages?wait", { input: "Look" })).text()
    await (await ask("POST", path, body)).text()
    expect(adapter.requests[1]?.messages.at(-1)).toMatchObject({
      role: "tool",
      content: [said, { type: "image" }]
    })
  })
})

describe("CONTENT1 what a client sends has no metadata", () => {
  const metadata = { providerOptions: { openai: { store: true } } }
  const parts = [{ type: "text", text: "Hi", metadata }]

  test("in a message it is refused by name, and by other protocols it is not read", async () => {
    const adapter = hello()
    const { ask } = await served({ adapter }, owner)
    const refused = await ask("POST", "/chats/c1/messages", { input: parts })
    expect(refused.status).toBe(422)
    expect(await refused.text()).toContain("metadata")
    const part = { ...parts[0], providerMetadata: metadata.providerOptions, providerOptions: metadata.providerOptions }
    await (await ask("POST", "/api/chat", { id: "c1", messages: [{ id: "m1", role: "user", parts: [part] }] })).text()
    const run = { threadId: "c1", runId: "r1", messages: [{ id: "m2", role: "user", content: [part], metadata }] }
    await (await ask("POST", "/ag-ui", run)).text()
    const message = { role: "user", content: [part], metadata, providerOptions: metadata.providerOptions }
    const completion = { model: "troupe", metadata, provider_options: metadata.providerOptions, messages: [message] }
    await (await ask("POST", "/v1/chat/completions", completion)).text()
    expect(adapter.requests).toHaveLength(3)
    expect(JSON.stringify(adapter.requests)).not.toContain("store")
  })

  test.each([
    ["/chats/c1/results", { results: { call: parts } }],
    ["/chats/c1/results", { results: { call: [{ type: "json", value: 1 }, ...parts] } }],
    ["/chats/c1/approvals/call", { type: "result", value: parts }],
    [
      "/api/chat",
      {
        id: "c1",
        messages: [
          {
            role: "assistant",
            parts: [{ type: "tool-look", toolCallId: "call", state: "output-available", output: parts }]
          }
        ]
      }
    ]
  ])("%s refuses it in the result of a tool", async (path, body) => {
    const { ask } = await served({ adapter: looking(), tools: [look] }, owner)
    await (await ask("POST", "/chats/c1/messages?wait", { input: "Look" })).text()
    const refused = await ask("POST", path, body)
    expect(refused.status).toBe(422)
    expect(await refused.text()).toContain("`metadata`")
  })
})

describe("MEDIA3 the data of an image has a bound of its own", () => {
  const limits = { messageCharacters: 100 }
  const photo = (bytes: number) => `data:image/png;base64,${"A".repeat((bytes * 4) / 3)}`

  test.each([
    ["/api/chat", "parts"],
    ["/ag-ui", "content"]
  ])("%s takes a history of 20 MB by default", async (path, field) => {
    const { ask } = await served({ adapter: hello() }, owner)
    const text = (at: number) => "x".repeat(1_000_000) + at
    const said = (at: number) => ({
      id: `m${at}`,
      role: at % 2 === 0 ? "user" : "assistant",
      [field]: field === "parts" ? [{ type: "text", text: text(at) }] : text(at)
    })
    const messages = Array.from({ length: 21 }, (_, at) => said(at))
    const response = await ask("POST", path, { id: "c1", threadId: "c1", runId: "r1", messages })
    await response.text()
    expect(response.status).toBe(200)
  })

  test.each([
    ["/v1/chat/completions", (messages: ReadonlyArray<object>) => ({ model: "troupe", messages })],
    ["/v1/responses", (input: ReadonlyArray<object>) => ({ model: "troupe", input })]
  ])("%s takes a history of 20 MB by default", async (path, body) => {
    const { ask } = await served({ adapter: hello() }, owner)
    const messages = Array.from({ length: 21 }, (_, at) => ({
      role: at % 2 === 0 ? "user" : "assistant",
      content: "x".repeat(1_000_000)
    }))
    const response = await ask("POST", path, body(messages))
    await response.text()
    expect(response.status).toBe(200)
  })

  test.each(routes)("%s takes a photo of 8 MB by default", async (path, body) => {
    const adapter = hello()
    const { ask } = await served({ adapter }, { ...owner, limits })
    const response = await ask("POST", path, body(photo(8_000_001)))
    await response.text()
    expect(response.status).toBeLessThan(300)
  })

  test.each(routes.slice(0, -1))("%s refuses an image beyond the bound, and says the bound", async (path, body) => {
    const { ask } = await served({ adapter: hello(), maxFileBytes: 300 }, { ...owner, limits })
    const refused = await ask("POST", path, body(photo(303)))
    expect(refused.status).toBe(413)
    expect(await refused.text()).toContain("300 bytes in images and files, not 303")
  })

  test.each(routes.slice(0, 3))("%s refuses an image that its conversation has no room for", async (path, body) => {
    const { ask } = await served({ adapter: hello(), maxChatFileBytes: 20_000 }, { ...owner, limits })
    const refused = await ask("POST", path, body(photo(30_000)))
    expect(refused.status).toBe(429)
    expect(await refused.text()).toContain("at most 20000 bytes in its images and files")
  })
})

describe("CONTENT2 a message is counted whole, whatever its role", () => {
  const limits = { messageCharacters: 100 }
  const long = "x".repeat(101)
  const said = (message: object) => ({ model: "troupe", messages: [message, { role: "user", content: "Hi" }] })
  const calls = [{ id: "a", type: "function", function: { name: "f", arguments: `{"a":"${long}"}` } }]

  test.each<[string, unknown]>([
    ["/v1/chat/completions", said({ role: "system", content: long })],
    ["/v1/chat/completions", said({ role: "developer", content: [{ type: "text", text: long }] })],
    ["/v1/chat/completions", said({ role: "assistant", content: long })],
    ["/v1/chat/completions", said({ role: "assistant", content: "", tool_calls: calls })],
    ["/v1/chat/completions", said({ role: "tool", tool_call_id: "a", content: long })],
    ...routes.map(([path, body]): [string, unknown] => [path, body(`https://example.com/${long}`)]),
    ["/chats/c1/messages", { input: long }]
  ])("%s refuses %j", async (path, body) => {
    const { ask } = await served({ adapter: hello() }, { ...owner, limits })
    const refused = await ask("POST", path, body)
    expect(refused.status).toBe(413)
    expect(await refused.text()).toContain("message_too_long")
  })

  test.each<[string, unknown]>([
    ["/chats/c1/results", { results: { call: long } }],
    ["/chats/c1/results", { results: { call: { deep: [long] } } }],
    [
      "/api/chat",
      {
        id: "c1",
        messages: [
          {
            role: "assistant",
            parts: [{ type: "tool-look", toolCallId: "call", state: "output-error", errorText: long }]
          }
        ]
      }
    ],
    ["/ag-ui", { threadId: "c1", runId: "r", messages: [{ id: "t", role: "tool", toolCallId: "call", content: long }] }]
  ])("%s refuses the result of a tool: %j", async (path, body) => {
    const { ask } = await served({ adapter: looking(), tools: [look] }, { ...owner, limits })
    await (await ask("POST", "/chats/c1/messages?wait", { input: "Look" })).text()
    const refused = await ask("POST", path, body)
    expect(refused.status).toBe(413)
    expect(await refused.text()).toContain("message_too_long")
  })
})
