/** A provider that asks for the approval of a call that it runs: OpenAI's `mcp_approval_request`. */
import { createMistral } from "@ai-sdk/mistral"
import { openai } from "@ai-sdk/openai"
import { Chat, Engine, Fake, type LocalChatRef, Troupe, type TroupeOptions, user } from "@troupe/chat"
import { Agents } from "@troupe/chat/agents"
import { Thread } from "@troupe/chat/messages"
import { Store } from "@troupe/chat/store"
import { describe, expect, onTestFinished, test } from "vitest"
import { aiSdk } from "../../src/aiSdk/AiSdk.ts"
import { chatChunk, eventServer, sendStream } from "../loopback/eventServer.ts"
import { inputOf, type Item, responsesServer, textItem } from "../loopback/responsesServer.ts"

const request: Item = {
  type: "mcp_approval_request",
  id: "mcpr_1",
  name: "create_short_url",
  server_label: "zip1",
  arguments: '{"url":"https://ai-sdk.dev/","max_clicks":100}'
}
const ran: Item = {
  type: "mcp_call",
  status: "completed",
  id: "mcp_1",
  approval_request_id: "mcpr_1",
  name: "create_short_url",
  server_label: "zip1",
  arguments: request["arguments"],
  output: "https://zip1.io/a"
}
const zip = {
  ...openai.tools.mcp({ serverLabel: "zip1", serverUrl: "https://zip1.io/mcp", requireApproval: "always" }),
  name: "zip1"
}
const asked = { name: "mcp.create_short_url", arguments: { url: "https://ai-sdk.dev/", max_clicks: 100 } }

/** A Troupe whose model's first reply is the request. */
const started = async (options: Partial<TroupeOptions> = {}, first: ReadonlyArray<Item> = [request]) => {
  const server = await responsesServer(first, [ran, textItem("Shortened.")])
  const all = { adapter: aiSdk(server.model), tools: [zip], ...options }
  const troupe = await Troupe.start(all)
  onTestFinished(() => troupe.stop())
  onTestFinished(() => server.stop())
  return { server, troupe, all }
}

const allow = (): "allow" => "allow"
const deny = (): "deny" => "deny"

const waitingIn = (chat: LocalChatRef) => chat.getSnapshot()?.context.pendingApprovals[0]

const threadOf = (chat: LocalChatRef): Thread.Thread => chat.getSnapshot()?.context.thread ?? Thread.empty

const answers = (approve: boolean): ReadonlyArray<Item> => [
  { type: "item_reference", id: "mcpr_1" },
  { type: "mcp_approval_response", approval_request_id: "mcpr_1", approve }
]

describe("PAPPROVAL1. a provider's question whether it may run a call", () => {
  test.each([
    [{ type: "allow" } as const, true],
    [{ type: "deny", reason: "no links" } as const, false]
  ])("waits as an approval, and the provider gets the decision %o", async (decision, approve) => {
    const { server, troupe } = await started()
    const chat = await troupe.chat("c")
    const { haltedReason } = await chat.send("Shorten it").result()
    expect(haltedReason).toBe("awaiting_approval")
    const waiting = waitingIn(chat)
    expect(waiting).toMatchObject({ kind: "permission", toolCall: asked })
    const { haltedReason: then } = await chat.approve(waiting?.toolCall.id ?? "", decision).result()
    expect(then).toBe("completed")
    expect(inputOf(server.bodies[1])).toEqual(answers(approve))
  })

  test("survives the end of the program", async () => {
    const store = Store.memory()
    const { server, troupe, all } = await started({ store })
    await (await troupe.chat("c")).send("Shorten it").result()
    await troupe.stop()
    const later = await Troupe.start(all)
    onTestFinished(() => later.stop())
    const chat = await later.chat("c")
    const waiting = waitingIn(chat)
    expect(waiting).toMatchObject({ kind: "permission", toolCall: asked })
    await chat.approve(waiting?.toolCall.id ?? "", { type: "allow" }).result()
    expect(inputOf(server.bodies[1])).toEqual(answers(true))
  })

  test.each([
    ["trusted", {}, true],
    ["plan", {}, false],
    ["default", { deny: [asked.name] }, false],
    ["default", { ask: allow }, true],
    ["acceptEdits", { ask: deny }, false]
  ] as const)("is judged as a call that writes: mode %s with %o", async (mode, more, approve) => {
    const { server, troupe } = await started({ permissions: { mode, ...more } })
    const { haltedReason, metadata } = await (await troupe.chat("c")).send("Shorten it").result()
    expect([haltedReason, metadata["error"]]).toEqual(["completed", undefined])
    expect(inputOf(server.bodies[1])).toEqual(answers(approve))
  })

  test.each([true, false])("of a sub-agent is decided in the chat above: %s", async (approve) => {
    const server = await responsesServer([request], [ran, textItem("Shortened.")])
    onTestFinished(() => server.stop())
    const call = { id: "s", name: "links", arguments: { input: "Shorten it" } }
    const adapter = Fake.make({
      scripts: [
        [{ toolCall: call }, { finish: "tool_calls" }],
        [{ text: "Done" }, { finish: "stop" }]
      ]
    })
    const agents = { links: { adapter: aiSdk(server.model), tools: [zip] } }
    const troupe = await Troupe.start({ adapter, tools: [Agents.subagent("links")], agents })
    onTestFinished(() => troupe.stop())
    const chat = await troupe.chat("c")
    await chat.send("Go").result()
    const waiting = waitingIn(chat)
    expect(waiting).toMatchObject({ kind: "permission", agent: "links", toolCall: asked })
    const id = waiting?.toolCall.id ?? ""
    await expect(async () => chat.approve(id, { type: "result", value: 1 }).result()).rejects.toThrow(
      "must_not_be_result"
    )
    await chat.approve(id, { type: approve ? "allow" : "deny" }).result()
    expect(inputOf(server.bodies[1])).toEqual(answers(approve))
  })

  test("is refused when the turn is cancelled, and the next turn tells the provider", async () => {
    const { server, troupe } = await started()
    const chat = await troupe.chat("c")
    await chat.send("Shorten it").result()
    await chat.cancel()
    await chat.send("Leave it").result()
    expect(inputOf(server.bodies[1])).toEqual(answers(false))
  })

  test("is no part of the request to another provider", async () => {
    const { server, troupe } = await started()
    const chat = await troupe.chat("c")
    await chat.send("Shorten it").result()
    await chat.approve(waitingIn(chat)?.toolCall.id ?? "", { type: "deny" }).result()
    const other = await eventServer((response) =>
      sendStream(response, [chatChunk({ content: "Hi" }, "stop"), "[DONE]"])
    )
    onTestFinished(() => other.stop())
    const adapter = aiSdk(createMistral({ apiKey: "none", baseURL: other.url })("m"))
    await Chat.run(Engine.make({ adapter }), Thread.append(threadOf(chat), user("And now?")))
    const messages = other.bodies[0]?.["messages"] as ReadonlyArray<{ readonly role: string }>
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"])
    expect(server.bodies).toHaveLength(2)
  })
})

describe("PAPPROVAL2. the provider runs the call as it is", () => {
  test.each([
    [{ type: "allow", arguments: { url: "https://other.dev/" } }, "cannot_be_replaced"],
    [{ type: "result", value: "https://zip1.io/b" }, "must_not_be_result"]
  ] as const)("so that the decision %o is refused", async (decision, reason) => {
    const { troupe } = await started()
    const chat = await troupe.chat("c")
    await chat.send("Shorten it").result()
    const id = waitingIn(chat)?.toolCall.id ?? ""
    await expect(async () => chat.approve(id, decision).result()).rejects.toThrow(reason)
    expect(waitingIn(chat)?.toolCall.id).toBe(id)
  })
})

describe("PART8. a reply with a provider's question", () => {
  test("has the calls that the provider ran beside it as its own", async () => {
    const { approval_request_id: _, ...free } = ran
    const { troupe } = await started({}, [{ ...free, id: "mcp_0" }, request])
    const chat = await troupe.chat("c")
    await chat.send("Shorten it").result()
    const reply = threadOf(chat).messages.at(-1)
    expect(reply?.role === "assistant" && reply.parts?.map(({ type }) => type)).toEqual([
      "provider_tool_call",
      "provider_tool_result",
      "tool_call"
    ])
    expect(reply?.role === "assistant" && reply.toolCalls?.map(({ metadata }) => metadata?.["approval"])).toEqual([
      { id: "mcpr_1", provider: "openai" }
    ])
  })
})
