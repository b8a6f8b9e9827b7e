import { Fake, tool } from "@troupe/chat"
import type { UIMessage } from "ai"
import { describe, expect, it } from "vitest"
import { handModel } from "../double/handModel.ts"
import { serving } from "../double/serving.ts"
import { chunksOf, kept, messageOf } from "../double/uiClient.ts"

const said = (id: string, text = "Where am I?") => ({ id, role: "user", parts: [{ type: "text", text }] })

const parameters = { type: "object", properties: { exact: { type: "boolean" } } }
const tools = { where: { description: "Where the user is", parameters } }

const script: ReadonlyArray<Fake.Script> = [
  [{ toolCall: { id: "c0", name: "where", arguments: { exact: true } } }, { finish: "tool_calls" }],
  [{ text: "In Oslo" }, { finish: "stop" }]
]

const answered = (message: UIMessage | undefined): UIMessage =>
  JSON.parse(
    JSON.stringify(message).replace('"state":"input-available"', '"state":"output-available","output":{"city":"Oslo"}')
  ) as UIMessage

describe("clientTools", () => {
  it("a client's tools are manual tools of its turns, and its system follows the instructions", async () => {
    const adapter = Fake.make({ scripts: script })
    const own = tool({ name: "own", execute: () => 1 })
    const { post, url } = await serving({ adapter, tools: [own], instructions: "Be brief." }, { clientTools: true })
    const system = "Speak Norwegian."
    const first = await post("/api/chat", { id: "c", messages: [said("u1")], tools, system })
    const message = await messageOf(chunksOf(await first.text()))
    expect(message?.parts.at(-1)).toEqual({
      type: "tool-where",
      toolCallId: "c0",
      state: "input-available",
      input: { exact: true }
    })
    expect((await kept(url)).at(-1)).toEqual(message)
    const request = adapter.requests[0]
    expect(request?.tools?.map(({ name }) => name)).toEqual(["own", "where"])
    expect(request?.tools?.at(-1)).toMatchObject({ description: "Where the user is", schema: parameters })
    expect(JSON.stringify(request)).toContain("Be brief.\\n\\nSpeak Norwegian.")
    const second = await post("/api/chat", { id: "c", messages: [answered(message)], tools, system })
    const whole = await messageOf(chunksOf(await second.text()), answered(message))
    expect(whole?.parts.filter(({ type }) => type !== "step-start")).toMatchObject([
      { type: "tool-where", state: "output-available", output: { city: "Oslo" } },
      { type: "text", text: "In Oslo" }
    ])
    expect(adapter.requests[1]?.tools?.map(({ name }) => name)).toEqual(["own", "where"])
    expect((await kept(url)).at(-1)).toEqual(whole)
  })

  it("a client that resumes has the call as its own", async () => {
    const model = handModel()
    const { post, url } = await serving({ adapter: model.adapter }, { clientTools: true })
    const gone = new AbortController()
    await post("/api/chat", { id: "c", messages: [said("u1")], tools }, { signal: gone.signal })
    await model.whenOpened(1)
    gone.abort()
    const resumed = await fetch(`${url}/api/chat/c/stream`)
    model.say({ type: "tool_call_completed", id: "c0", name: "where", arguments: {}, rawArguments: "{}" })
    model.finish("tool_calls")
    const message = await messageOf(chunksOf(await resumed.text()))
    expect(message?.parts.at(-1)).toEqual({
      type: "tool-where",
      toolCallId: "c0",
      state: "input-available",
      input: {}
    })
  })

  it("without the option, both are ignored", async () => {
    const adapter = Fake.make({ scripts: script.slice(1) })
    const { post } = await serving({ adapter })
    await (await post("/api/chat", { id: "c", messages: [said("u1")], tools: ["anything"], system: "No." })).text()
    expect(adapter.requests[0]?.tools ?? []).toEqual([])
    expect(JSON.stringify(adapter.requests[0])).not.toContain("No.")
  })

  it("a tool that the server has is the server's: a manual one is left out, another is refused", async () => {
    const adapter = Fake.make({ scripts: script })
    const mine = tool({ name: "where", manual: true, description: "The server's" })
    const { post } = await serving({ adapter, tools: [mine] }, { clientTools: true })
    await (await post("/api/chat", { id: "c", messages: [said("u1")], tools })).text()
    expect(adapter.requests[0]?.tools).toMatchObject([{ name: "where", description: "The server's" }])
    const other = await serving({ adapter, tools: [tool({ name: "where", execute: () => 1 })] }, { clientTools: true })
    expect((await other.post("/api/chat", { id: "c", messages: [said("u1")], tools })).status).toBe(422)
  })

  it.each([
    ["a list", ["where"], undefined, 422, /`tools`/u],
    ["a tool that is no object", { where: "here" }, undefined, 422, /`tools`/u],
    ["a name that is none", { "where is it?": {} }, undefined, 422, /"where is it\?" is not valid/u],
    ["parameters that are no schema", { where: { parameters: "none" } }, undefined, 422, /`tools`/u],
    [
      "parameters that are of no object",
      { where: { parameters: { type: "string" } } },
      undefined,
      422,
      /"where" .*`parameters`.*\{ "type": "object", "properties"/u
    ],
    ["parameters without a type", { where: { parameters: { properties: {} } } }, undefined, 422, /"type": "object"/u],
    [
      "too many",
      Object.fromEntries(Array.from({ length: 129 }, (_, at) => [`t${at}`, {}])),
      undefined,
      422,
      /at most 128 tools/u
    ],
    ["too long", { where: { description: "x".repeat(200_000) } }, undefined, 413, /`tools` and `system`/u],
    ["a system that is no text", {}, { role: "system" }, 422, /`system` is text/u],
    ["a system that is too long", {}, "x".repeat(200_000), 413, /`tools` and `system`/u]
  ])("refuses %s, names it, and nothing begins", async (_, posted, system, status, message) => {
    const adapter = Fake.make({ scripts: script })
    const limits = { messageCharacters: 100_000 }
    const { post, url } = await serving({ adapter }, { clientTools: true, limits })
    const response = await post("/api/chat", { id: "c", messages: [said("u1")], tools: posted, system })
    expect(response.status).toBe(status)
    const { error } = (await response.json()) as { error: { code: string; message: string } }
    expect(error.code).toBe(status === 413 ? "message_too_long" : "invalid_input")
    expect(error.message).toMatch(message)
    expect(await kept(url)).toEqual([])
  })
})
