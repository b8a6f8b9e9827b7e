/** What a sub-agent waits for, by each protocol. */
import { askUser, Fake, tool } from "@troupe/chat"
import { Agents } from "@troupe/chat/agents"
import { describe, expect, test } from "vitest"
import { framesIn, served } from "../double/served.ts"

const call = (id: string, name: string, args: object = {}): Fake.Script => [
  { toolCall: { id, name, arguments: { ...args } } },
  { finish: "tool_calls" }
]
const says = (text: string): Fake.Script => [{ text }, { finish: "stop" }]

/** A chat whose call asks a sub-agent, which asks a question, or writes with an approval. */
const family = (
  name: "which" | "write",
  may = { approve: true },
  adapter = Fake.make({ scripts: [call("k0", name), says("Found it.")] })
) =>
  served(
    {
      adapter: Fake.make({ scripts: [call("c0", "guide", { input: "Dig" }), says("Done.")] }),
      tools: [Agents.subagent("guide")],
      agents: {
        guide: {
          adapter,
          tools: [
            tool({ name: "which", execute: () => askUser("Which one?") }),
            tool({ name: "write", execute: () => "written" })
          ],
          permissions: { ask: ({ toolCall }) => (toolCall.name === "write" ? "suspend" : "allow") }
        }
      }
    },
    { authorize: () => ({ owner: "anna", may }) }
  )

const address = "c0/~/k0"
const approvals = `/chats/c/approvals/${encodeURIComponent(address)}`
const stream = { accept: "text/event-stream" }
const uiMessage = { id: "u1", role: "user", parts: [{ type: "text", text: "Go" }] }

describe("a wait of a sub-agent", () => {
  test("SUB10 is listed, and decided over HTTP by its address", async () => {
    const { ask } = await family("write")
    await (await ask("POST", "/chats/c/messages", { input: "Go" }, stream)).text()
    const { waits } = (await (await ask("GET", "/waiting")).json()) as { readonly waits: ReadonlyArray<unknown> }
    expect(waits).toMatchObject([{ chat: "c", kind: "approval", toolCallId: address, agent: { name: "guide" } }])
    const log = await (await ask("GET", "/chats/c/history")).text()
    expect(log).toContain('"chat":"c/~/')
    expect(log).not.toContain("anna/")
    const text = await (await ask("POST", approvals, { type: "allow" }, stream)).text()
    expect(text).toContain("Done.")
  })

  test("SUB6 a client does not delete, rewind or fork into the conversation of a sub-agent", async () => {
    const { ask } = await family("write")
    await (await ask("POST", "/chats/c/messages", { input: "Go" }, stream)).text()
    const child = /"chat":"(c\/~\/[^"]+)"/u.exec(await (await ask("GET", "/chats/c")).text())?.[1] ?? ""
    const path = `/chats/${encodeURIComponent(child)}`
    const refused = [
      await ask("DELETE", path),
      await ask("POST", `${path}/rewind`, { seq: 1 }),
      await ask("POST", "/chats/c/fork", { id: child })
    ]
    for (const response of refused) {
      expect([response.status, await response.text()]).toEqual([422, expect.stringContaining("only its call uses")])
    }
    expect((await ask("GET", `${path}/history`)).status).toBe(200)
  })

  test("MAY2 a question is answered by an owner who may approve nothing", async () => {
    const { ask } = await family("which", { approve: false })
    await (await ask("POST", "/chats/c/messages", { input: "Go" }, stream)).text()
    expect((await ask("POST", approvals, { type: "allow" })).status).toBe(403)
    const text = await (await ask("POST", approvals, { type: "result", value: "that" }, stream)).text()
    expect(text).toContain("Done.")
  })

  test("MAY2 the result of a call that needs a decision is given only by an owner who may approve", async () => {
    const { ask } = await family("write", { approve: false })
    await (await ask("POST", "/chats/c/messages", { input: "Go" }, stream)).text()
    expect((await ask("POST", approvals, { type: "result", value: "that" })).status).toBe(403)
  })

  test("MAY2 the second answer to a question is not the result of a call of the same id that needs a decision", async () => {
    const research = ({ messages }: { readonly messages: ReadonlyArray<unknown> }): Fake.Script =>
      messages.length === 1 ? call("k0", "which") : call("k0", "write")
    const { ask } = await family("which", { approve: false }, Fake.make({ respond: research }))
    await (await ask("POST", "/chats/c/messages", { input: "Go" }, stream)).text()
    const answers = ["this", "that"].map((value) => ask("POST", `${approvals}?wait`, { type: "result", value }))
    const [first, second] = await Promise.all(answers)
    expect(await first?.json()).toMatchObject({ result: { pendingApprovals: [{ kind: "permission" }] } })
    expect([403, 409]).toContain(second?.status)
    const { waits } = (await (await ask("GET", "/waiting")).json()) as { readonly waits: ReadonlyArray<unknown> }
    expect(waits).toMatchObject([{ kind: "approval", toolCallId: address, tool: "write" }])
  })

  test("is a call of its own for the AI SDK, whose output is the answer to a question", async () => {
    const { ask } = await family("which")
    const first = await (await ask("POST", "/api/chat", { id: "c", messages: [uiMessage] })).text()
    expect(first).toContain(`"toolCallId":"${address}","toolName":"which","input":{"question":"Which one?"}`)
    const part = { type: "tool-which", toolCallId: address, state: "output-available", output: "that" }
    const answer = { id: "r1", role: "assistant", parts: [part] }
    const second = await (await ask("POST", "/api/chat", { id: "c", messages: [uiMessage, answer] })).text()
    expect(second).toContain("Done.")
  })

  test("is a call of its own for the AI SDK, which asks for its approval", async () => {
    const { ask } = await family("write")
    const first = await (await ask("POST", "/api/chat", { id: "c", messages: [uiMessage] })).text()
    expect(first).toContain(`"type":"tool-approval-request","approvalId":"${address}","toolCallId":"${address}"`)
    const approval = { id: address, approved: true }
    const part = { type: "tool-write", toolCallId: address, state: "approval-responded", input: {}, approval }
    const answer = { id: "r1", role: "assistant", parts: [part] }
    const second = await (await ask("POST", "/api/chat", { id: "c", messages: [uiMessage, answer] })).text()
    expect(second).toContain("Done.")
  })

  test("is an interrupt of AG-UI, which the answer resumes", async () => {
    const { ask } = await family("which")
    const run = { threadId: "c", runId: "r1", messages: [{ id: "m1", role: "user", content: "Go" }] }
    const first = framesIn(await (await ask("POST", "/ag-ui", run)).text())
    expect(first.at(-1)?.json).toMatchObject({
      outcome: { type: "interrupt", interrupts: [{ id: `question:${address}`, message: "Which one?" }] }
    })
    const resume = [{ interruptId: `question:${address}`, status: "resolved", payload: "that" }]
    const second = await (await ask("POST", "/ag-ui", { ...run, runId: "r2", resume })).text()
    expect(second).toContain("Done.")
  })
})
