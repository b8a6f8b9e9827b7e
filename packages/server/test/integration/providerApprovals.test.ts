/** A provider's question whether it may run a call (PAPPROVAL1), in every protocol that has approvals. */
import type { AdapterEvent } from "@troupe/chat/events"
import type { Adapter, Request } from "@troupe/chat/models"
import type { UIMessage } from "ai"
import { describe, expect, it } from "vitest"
import { serving } from "../double/serving.ts"
import { chunksOf, kept, messageOf } from "../double/uiClient.ts"

const id = "call_1"
const name = "mcp.create_short_url"
const call: ReadonlyArray<AdapterEvent> = [
  { type: "message_started", message: { role: "assistant", content: "" } },
  { type: "tool_call_started", id, name },
  {
    type: "tool_call_completed",
    id,
    name,
    arguments: { url: "https://ai-sdk.dev/" },
    rawArguments: '{"url":"https://ai-sdk.dev/"}',
    metadata: { approval: { id: "mcpr_1", provider: "openai" } }
  },
  { type: "message_completed", message: { role: "assistant", content: "" }, finishReason: "tool_calls", usage: {} }
]
const closing: ReadonlyArray<AdapterEvent> = [
  { type: "message_started", message: { role: "assistant", content: "" } },
  { type: "text_delta", id: null, delta: "Done" },
  { type: "text_completed", id: null, text: "Done" },
  { type: "message_completed", message: { role: "assistant", content: "Done" }, finishReason: "stop", usage: {} }
]

/** A server whose provider asks first; `outcome` is the outcome that the provider gets. */
const asking = async () => {
  const requests: Array<Request> = []
  const adapter: Adapter.Adapter = {
    name: "asking",
    stream: async function* (request) {
      yield* requests.push(request) === 1 ? call : closing
    }
  }
  const outcome = () => {
    const last = requests[1]?.messages.at(-1)
    return last?.role === "tool" ? last.outcome : undefined
  }
  return { ...(await serving({ adapter })), outcome }
}

const said = { id: "u1", role: "user", parts: [{ type: "text", text: "Go" }] }

describe("PAPPROVAL1. a provider's question is decided", () => {
  it.each([
    [true, "completed"],
    [false, "denied"]
  ])("over the routes of chats: %s", async (approved, outcome) => {
    const { url, post, outcome: got } = await asking()
    await (await post("/api/chat", { id: "c", messages: [said] })).text()
    expect(await (await fetch(`${url}/chats/c`)).json()).toMatchObject({
      approvals: [{ kind: "permission", toolCall: { id, name } }]
    })
    const decision = approved ? { type: "allow" } : { type: "deny", reason: "no links" }
    expect((await post(`/chats/c/approvals/${id}?wait`, decision)).status).toBe(200)
    expect(got()).toBe(outcome)
  })

  it("by useChat, whose part waits as `approval-requested`", async () => {
    const { url, post, outcome } = await asking()
    const first = await messageOf(chunksOf(await (await post("/api/chat", { id: "c", messages: [said] })).text()))
    expect(first?.parts.at(-1)).toMatchObject({ type: `tool-${name}`, state: "approval-requested", approval: { id } })
    expect((await kept(url)).at(-1)).toEqual(first)
    const parts = first?.parts.map((part) =>
      "approval" in part ? { ...part, state: "approval-responded", approval: { id, approved: true } } : part
    )
    const decided = { ...first, parts } as UIMessage
    const second = chunksOf(await (await post("/api/chat", { id: "c", messages: [decided] })).text())
    expect(second.some(({ type }) => type === "text-delta")).toBe(true)
    expect(outcome()).toBe("completed")
  })

  it("by AG-UI, as an interrupt", async () => {
    const { post, outcome } = await asking()
    const run = (runId: string, more: object) => post("/ag-ui", { threadId: "c", runId, messages: [], ...more })
    const body = await (await run("r1", { messages: [{ id: "u1", role: "user", content: "Go" }] })).text()
    expect(body).toContain(`approval:${id}`)
    const resume = [{ interruptId: `approval:${id}`, status: "resolved", payload: { approved: false } }]
    expect(await (await run("r2", { resume })).text()).toContain("Done")
    expect(outcome()).toBe("denied")
  })
})
