/** The text of a tool's error, on every way that leads to a client. */
import { error as failed, Fake, tool, type TroupeOptions } from "@troupe/chat"
import { Agents } from "@troupe/chat/agents"
import { ToolError } from "@troupe/chat/errors"
import { describe, expect, test } from "vitest"
import * as z from "zod"
import { framesIn, reading, served } from "../double/served.ts"
import type { ServerOptions } from "../../src/server/serverOptions.ts"

const secret = "hunter2"
const text = `connect postgres://app:${secret}@db failed`

const secretImage = { type: "image", image: { url: `https://${secret}.example.com/a.png` } }

const calling = (): Fake.Fake =>
  Fake.make({
    scripts: [
      [{ text: "Let me see." }, { toolCall: { id: "f1", name: "fail" } }, { finish: "tool_calls" }],
      [{ text: "Sorry." }, { finish: "stop" }],
      [{ text: "Sorry again." }, { finish: "stop" }]
    ]
  })

const failing = (execute: () => unknown): Partial<TroupeOptions> => ({
  tools: [tool({ name: "fail", execute: () => execute() })]
})

const raising = failing(() => {
  throw new Error(text, { cause: new Error(text) })
})

/** How a handler's error comes about. */
const faults: ReadonlyArray<[string, Partial<TroupeOptions>]> = [
  ["throws", raising],
  ["returns an error", failing(() => failed(text))],
  ["returns an error with fields", failing(() => failed({ code: 5, text }))],
  ["returns an error with parts", failing(() => failed([{ type: "text", text }, secretImage]))],
  [
    "returns an error with parts, and the turn halts",
    { ...failing(() => failed([{ type: "text", text }, secretImage])), onToolError: "halt" }
  ],
  ["returns an error of another reason", failing(() => failed(new ToolError("timeout", { message: text })))],
  [
    "returns what has no text",
    failing(() => ({
      toJSON: () => {
        throw new Error(text)
      }
    }))
  ],
  [
    "throws, and its error is replaced for the model",
    { ...raising, onToolError: (_, error) => ({ continue: `It failed: ${String(error)}` }) }
  ],
  ["throws, and the turn halts", { ...raising, onToolError: "halt" }],
  [
    "throws, and a hook adds to it and halts",
    {
      ...raising,
      hooks: { PostToolUse: [() => ({ type: "augment", text }), () => ({ type: "halt", reason: "enough" })] }
    }
  ],
  [
    "returns an error, and a hook halts",
    {
      ...failing(() => failed(text)),
      hooks: { PostToolUse: [() => ({ type: "halt", reason: "enough" })] }
    }
  ],
  ["throws, and the turn halts as stuck", { ...raising, maxUnproductive: 1 }]
]

const throwing = (): never => {
  throw new Error(text, { cause: new Error(text) })
}
const unwritable = { toJSON: throwing }
const late: Partial<TroupeOptions> = {
  tools: [tool({ name: "fail", timeoutMs: 1, execute: () => new Promise(() => 0) })]
}

/** What else throws about a call: the outcome is that of the call, and no handler's error. */
const throwers: ReadonlyArray<[string, string, Partial<TroupeOptions>]> = [
  ["a hook before the call", "denied", { ...failing(() => 1), hooks: { PreToolUse: [throwing] } }],
  ["`permissions.ask`", "denied", { ...failing(() => 1), permissions: { ask: throwing } }],
  [
    "an answer that cannot be read",
    "denied",
    { ...failing(() => 1), permissions: { ask: () => Object.defineProperty({} as "allow", "type", { get: throwing }) } }
  ],
  [
    "`permissions.ask` about a mode",
    "denied",
    {
      tools: [tool({ name: "fail", execute: (_, { setPermissionMode }) => setPermissionMode("bypass") })],
      permissions: { ask: ({ wants }) => (wants === undefined ? "allow" : throwing()) }
    }
  ],
  ["`onToolTimeout`", "timed_out", { ...late, onToolTimeout: throwing }],
  ["what `onToolTimeout` returns", "timed_out", { ...late, onToolTimeout: () => ({ continue: unwritable }) }],
  ["`onToolError` for a handler's error", "failed", { ...raising, onToolError: throwing }],
  ["`onToolError` for an unknown tool", "not_found", { tools: [], onUnknownTool: "continue", onToolError: throwing }],
  [
    "`onToolError` for invalid arguments",
    "invalid",
    {
      tools: [tool({ name: "fail", parameters: z.object({ path: z.string() }), execute: () => 1 })],
      onToolError: throwing
    }
  ]
]

const chatUi = { id: "c", messages: [{ id: "u1", role: "user", parts: [{ type: "text", text: "Go" }] }] }
const agUi = { threadId: "c", runId: "r1", messages: [{ id: "u1", role: "user", content: "Go" }] }
const events = { accept: "text/event-stream" }

/** What is asked first, and begins the turn; and what is asked afterwards. */
const beginnings: ReadonlyArray<[string, string, object, Readonly<Record<string, string>>?]> = [
  ["the turn's events", "/chats/c/messages", { input: "Go" }, events],
  ["the turn's result", "/chats/c/messages?wait", { input: "Go" }],
  ["the AI SDK's stream", "/api/chat", chatUi],
  ["a run of AG-UI", "/ag-ui", agUi]
]
const after = ["/chats/c", "/chats/c/history", "/api/chat/c/messages", "/ag-ui/c/messages"]

const asked = async (troupe: Partial<TroupeOptions>, options: Partial<ServerOptions> = {}, adapter = calling()) => ({
  adapter,
  ...(await served({ adapter, ...troupe }, options))
})

/** The events of a turn, read on from behind each of them. */
const replays = async (options: Partial<TroupeOptions>, adapter = calling()): Promise<ReadonlyArray<string>> => {
  const { ask, troupe } = await asked(options, {}, adapter)
  await (await troupe.chat("anna/c")).setPermissionMode("default")
  const live = reading(await ask("GET", "/chats/c/events"))
  await live.until("snapshot")
  await (await ask("POST", "/chats/c/messages?wait", { input: "Go" })).text()
  const seen = framesIn(await live.until("chat_completed"))
  await live.leave()
  const texts: Array<string> = []
  for (const { cursor } of seen.slice(0, -1)) {
    const again = reading(await ask("GET", `/chats/c/events?cursor=${cursor}`))
    texts.push(await again.until("chat_completed"))
    await again.leave()
  }
  return texts
}

describe("TERR1 of the text of an error nothing reaches a client", () => {
  test.each(
    faults.flatMap((fault) => beginnings.map((beginning) => [fault[0], beginning[0], fault, beginning] as const))
  )("when the handler %s: %s, and all that is read afterwards", async (_, __, [, options], [, path, body, headers]) => {
    const { ask, troupe } = await asked(options)
    const said = await (await ask("POST", path, body, headers)).text()
    const texts = [said]
    for (const later of after) texts.push(await (await ask("GET", later)).text())
    texts.push(await (await ask("POST", "/ag-ui", { ...agUi, runId: "r2", messages: [] })).text())
    for (const one of texts) expect(one).not.toContain(secret)
    // TERR2, but for results and streams that hold no message of the call.
    const stand = JSON.stringify({ error: "failed", id: "f1" })
    for (const one of texts.slice(1)) expect(one).toContain(JSON.stringify(stand).slice(1, -1))
    expect(JSON.stringify((await troupe.at("anna/c", (await troupe.history("anna/c")).length))?.thread)).toContain(
      secret
    )
  })

  test.each(
    throwers.flatMap((thrower) =>
      beginnings.map((beginning) => [thrower[0], beginning[0], thrower, beginning] as const)
    )
  )("when %s throws: %s, and all that is read afterwards", async (_, __, [, outcome, options], beginning) => {
    const [, path, body, headers] = beginning
    const { ask, adapter, troupe } = await asked(options)
    const texts = [await (await ask("POST", path, body, headers)).text()]
    for (const later of after) texts.push(await (await ask("GET", later)).text())
    texts.push(await (await ask("POST", "/ag-ui", { ...agUi, runId: "r2", messages: [] })).text())
    texts.push(await (await ask("POST", "/chats/c/retry", {}, events)).text())
    for (const one of texts) expect(one).not.toContain(secret)
    expect(JSON.stringify(adapter.requests)).not.toContain(secret)
    const { messages = [] } = (await troupe.at("anna/c", (await troupe.history("anna/c")).length))?.thread ?? {}
    expect(messages).toContainEqual(expect.objectContaining({ toolCallId: "f1", outcome }))
  })

  test("in a view that is watched", async () => {
    const { ask } = await asked(raising)
    await (await ask("POST", "/chats/c/messages?wait", { input: "Hello" })).text()
    const view = reading(await ask("GET", "/chats/c/view"))
    await view.until("f1")
    await (await ask("POST", "/chats/c/retry?wait", {})).text()
    expect(await view.until("Sorry again.")).not.toContain(secret)
    await view.leave()
  })

  test("in events that are followed from any place", async () => {
    for (const read of await replays(raising)) expect(read).not.toContain(secret)
  })

  test("in events that are followed from any place of a turn that calls again under the same id, and then well", async () => {
    const call: Fake.Script = [{ toolCall: { id: "f1", name: "fail" } }, { finish: "tool_calls" }]
    let calls = 0
    const options = failing(() => {
      calls += 1
      if (calls === 1) throw new Error(text)
      return "the answer"
    })
    const texts = await replays(options, Fake.make({ scripts: [call, call, [{ text: "Done." }, { finish: "stop" }]] }))
    for (const read of texts) expect(read).not.toContain(secret)
    for (const read of texts.slice(0, -4)) expect(read).toContain("the answer")
  })

  test("in a completion, of a thread or of a conversation", async () => {
    const { ask } = await asked({ ...raising, onToolError: "halt" })
    for (const stream of [true, false]) {
      const body = { model: "troupe", stream, messages: [{ role: "user", content: "Go" }] }
      for (const headers of [{}, { "x-troupe-chat": `c${stream}` }]) {
        expect(await (await ask("POST", "/v1/chat/completions", body, headers)).text()).not.toContain(secret)
      }
    }
  })

  test("in what a fault of a hook leaves", async () => {
    const hooks = {
      PostToolUse: [
        () => {
          throw new Error(text)
        }
      ]
    }
    const { ask } = await asked({ ...failing(() => "done"), hooks })
    const said = await (await ask("POST", "/chats/c/messages", { input: "Go" }, events)).text()
    expect(said).toContain("hook_crashed")
    for (const one of [said, ...(await Promise.all(after.map(async (path) => (await ask("GET", path)).text())))]) {
      expect(one).not.toContain(secret)
    }
  })

  test("by a search, which would say whether it holds a word", async () => {
    const { ask } = await asked(raising)
    await (await ask("POST", "/chats/c/messages?wait", { input: "Go" })).text()
    const found = async (word: string) =>
      ((await (await ask("GET", `/chats?search=${word}`)).json()) as { chats: [] }).chats
    expect(await found("sorry")).toHaveLength(1)
    expect(await found(secret)).toEqual([])
  })
})

test("TERR1 the model reads the text", async () => {
  const { ask, adapter } = await asked(raising)
  await (await ask("POST", "/chats/c/messages?wait", { input: "Go" })).text()
  expect(JSON.stringify(adapter.requests[1]?.messages)).toContain(secret)
})

test("TERR2 a reader that comes between the events of a call that went well reads its result", async () => {
  const texts = await replays(failing(() => "the answer"))
  const results = texts.flatMap(framesIn).filter(({ type }) => type === "tool_result_encoded")
  expect(results.length).toBeGreaterThan(2)
  for (const { json } of results) expect(json).toMatchObject({ content: "the answer" })
})

test("TERR2 a reader that comes between the events of a sub-agent's call that went well reads its result", async () => {
  const call = (id: string, name: string, args = {}): Fake.Script => [
    { toolCall: { id, name, arguments: args } },
    { finish: "tool_calls" }
  ]
  const says: Fake.Script = [{ text: "Found it." }, { finish: "stop" }]
  const look = tool({ name: "look", execute: () => "the answer" })
  const research = { adapter: Fake.make({ scripts: [call("k0", "look"), says] }), tools: [look] }
  const options = { tools: [Agents.subagent("research", { events: true })], agents: { research } }
  const adapter = Fake.make({ scripts: [call("c0", "research", { input: "Dig" }), says] })
  const nested = (await replays(options, adapter))
    .flatMap(framesIn)
    .map(({ json }) => (json as { readonly event?: { readonly type: string } }).event)
    .filter((event) => event?.type === "tool_result_encoded")
  expect(nested.length).toBeGreaterThan(2)
  for (const event of nested) expect(event).toMatchObject({ content: "the answer" })
})

test("TERR1 an error is sent as it is where the host exposes it", async () => {
  for (const [, path, body, headers] of beginnings) {
    const { ask } = await asked(raising, { exposeToolErrors: true })
    const said = await (await ask("POST", path, body, headers)).text()
    const texts = path.endsWith("?wait") ? [] : [said]
    for (const later of after) texts.push(await (await ask("GET", later)).text())
    for (const one of texts) expect(one).toContain(secret)
  }
})

test("TERR3 what holds no error is sent as it is", async () => {
  const { ask } = await asked(failing(() => ({ degrees: 21 })))
  const live = await (await ask("POST", "/api/chat", chatUi)).text()
  expect(live).toContain('"output":{"degrees":21}')
  const { messages } = (await (await ask("GET", "/chats/c")).json()) as { readonly messages: ReadonlyArray<unknown> }
  expect(messages).toContainEqual({ role: "tool", toolCallId: "f1", content: '{"degrees":21}', outcome: "completed" })
})

test("TERR1 `exposeToolErrors` is true or false", async () => {
  await expect(asked({}, { exposeToolErrors: "yes" as unknown as boolean })).rejects.toMatchObject({
    errors: [{ field: ["exposeToolErrors"] }]
  })
})
