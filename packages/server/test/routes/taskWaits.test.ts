/** Messages of each protocol while an agent in the background waits for a person. */
import { Fake, tool } from "@troupe/chat"
import { Agents } from "@troupe/chat/agents"
import { Message } from "@troupe/chat/messages"
import { describe, expect, test } from "vitest"
import { framesIn, served, until } from "../double/served.ts"

/** Calls a tool for "Go", and repeats anything else. */
const calling = (id: string, name: string) =>
  Fake.make({
    respond: ({ messages }) => {
      const last = messages.at(-1)
      const said = last === undefined ? "" : Message.text(last)
      return last?.role === "user" && said === "Go"
        ? [{ toolCall: { id, name, arguments: name === "guide" ? { input: "Go" } : {} } }, { finish: "tool_calls" }]
        : [{ text: `read ${said}` }, { finish: "stop" }]
    }
  })

const address = "c0/~/k0"

/** A chat whose agent in the background waits for the approval of a call. */
const waiting = async () => {
  const { ask, troupe } = await served(
    {
      adapter: calling("c0", "guide"),
      tools: [Agents.subagent("guide", { background: true })],
      agents: {
        guide: {
          adapter: calling("k0", "write"),
          tools: [tool({ name: "write", execute: () => "written" })],
          permissions: { ask: ({ toolCall }) => (toolCall.name === "write" ? "suspend" : "allow") }
        }
      }
    },
    { authorize: () => ({ owner: "anna", may: { approve: true } }) }
  )
  const waits = async () => {
    const list = (await (await ask("GET", "/waiting")).json()) as { readonly waits: ReadonlyArray<unknown> }
    return list.waits
  }
  const isWaiting = async () => {
    const chat = await troupe.chat("anna/c")
    await until(() => chat.getSnapshot()?.context.pendingApprovals.length === 1)
  }
  /** Allows the call, and returns the last text of the chat when the task has ended. */
  const decided = async () => {
    expect(await waits()).toMatchObject([{ kind: "approval", toolCallId: address }])
    await ask("POST", `/chats/c/approvals/${encodeURIComponent(address)}?wait`, { type: "allow" })
    return ended()
  }
  /** The last text of the chat when the task has ended. */
  const ended = async () => {
    const chat = await troupe.chat("anna/c")
    const last = () => chat.thread.messages.map(Message.text).at(-1) ?? ""
    await until(() => last().startsWith("read The background task"))
    return last()
  }
  return { ask, isWaiting, decided, ended }
}

describe("a message while an agent in the background waits", () => {
  test("BG10 of the AI SDK gets its answer, and the wait stays", async () => {
    const { ask, isWaiting, decided } = await waiting()
    const message = (id: string, text: string) => ({ id, role: "user", parts: [{ type: "text", text }] })
    const first = message("u1", "Go")
    expect(await (await ask("POST", "/api/chat", { id: "c", messages: [first] })).text()).toContain("finish")
    await isWaiting()
    const messages = [first, message("u2", "And now?")]
    const second = await (await ask("POST", "/api/chat", { id: "c", messages })).text()
    expect(second).toContain("read And now?")
    expect(await decided()).toContain("has ended: done.\nread written")
  })

  test("BG10 of AG-UI gets its answer, and the wait stays", async () => {
    const { ask, isWaiting, decided } = await waiting()
    const run = { threadId: "c", runId: "r1", messages: [{ id: "m1", role: "user", content: "Go" }] }
    const first = framesIn(await (await ask("POST", "/ag-ui", run)).text())
    expect(first.at(-1)?.json).toMatchObject({ type: "RUN_FINISHED" })
    await isWaiting()
    const messages = [...run.messages, { id: "m2", role: "user", content: "And now?" }]
    const second = await (await ask("POST", "/ag-ui", { ...run, runId: "r2", messages })).text()
    expect(second).toContain("read And now?")
    expect(framesIn(second).at(-1)?.json).toMatchObject({ type: "RUN_FINISHED" })
    expect(await decided()).toContain("has ended: done.\nread written")
  })

  test("BG10 AG-UI has the wait beside the messages that a client loads, and a run that resumes it decides", async () => {
    const { ask, isWaiting, ended } = await waiting()
    const run = { threadId: "c", runId: "r1", messages: [{ id: "m1", role: "user", content: "Go" }] }
    await (await ask("POST", "/ag-ui", run)).text()
    await isWaiting()
    const loaded = await (await ask("GET", "/ag-ui/c/messages")).json()
    expect(loaded).toMatchObject({ interrupts: [{ id: `approval:${address}` }] })
    const resume = [{ interruptId: `approval:${address}`, status: "resolved", payload: { approved: true } }]
    const resumed = framesIn(await (await ask("POST", "/ag-ui", { ...run, runId: "r2", resume })).text())
    expect(resumed.at(-1)?.json).toMatchObject({ type: "RUN_FINISHED" })
    expect(await ended()).toContain("has ended: done.\nread written")
    expect(await (await ask("GET", "/ag-ui/c/messages")).json()).not.toHaveProperty("interrupts")
  })
})
