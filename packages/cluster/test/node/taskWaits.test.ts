/** The wait of an agent in the background, over a move of its conversation. */
import { Fake, tool } from "@troupe/chat"
import { Agents } from "@troupe/chat/agents"
import { Message } from "@troupe/chat/messages"
import { expect, it } from "vitest"
import { nodes, post, until } from "../double/clusterNodes.ts"

/** Calls a tool for the first message of a user, and repeats anything else. */
const calling = (id: string, name: string, args: Readonly<Record<string, unknown>>) =>
  Fake.make({
    respond: ({ messages }) => {
      const last = messages.at(-1)
      return messages.length === 1
        ? [{ toolCall: { id, name, arguments: args } }, { finish: "tool_calls" }]
        : [{ text: `read ${last === undefined ? "" : Message.text(last)}` }, { finish: "stop" }]
    }
  })

it("BG10: the wait of an agent in the background is answered at the node that its conversation has moved to", async () => {
  const written: Array<string> = []
  const { node, placements, store } = nodes(calling("c1", "research", { input: "Write it down" }))
  const joined = (name: string) =>
    node({
      troupe: {
        tools: [Agents.subagent("research", { background: true })],
        agents: {
          research: {
            adapter: calling("w1", "write", {}),
            tools: [tool({ name: "write", execute: () => `written at ${written.push(name) === 1 ? name : "twice"}` })],
            permissions: { ask: () => "suspend" }
          }
        },
        permissions: { ask: ({ toolCall }) => (toolCall.name === "write" ? "suspend" : "allow") }
      }
    })
  const [a, b] = [await joined("a"), await joined("b")]
  const waiting = async (at: { readonly url: string }) => {
    const { waits } = (await (await fetch(`${at.url}/waiting`)).json()) as {
      readonly waits: ReadonlyArray<{ readonly toolCallId: string }>
    }
    return waits
  }
  // The turn is over while the task waits.
  const turn = await post(`${a.url}/chats/c/messages?wait`, { input: "Go" })
  expect(await turn.text()).toContain("read")
  await until(async () => (await waiting(a)).length === 1)
  const [wait] = await waiting(a)
  expect(wait).toMatchObject({ kind: "approval", toolCallId: "c1/~/w1", tool: "write" })
  await placements.move("anna/c", b.troupe.address)
  await until(() => !a.troupe.isAlive("anna/c"))
  expect(await waiting(b)).toMatchObject([wait])
  // The node that has the conversation no longer passes the answer on.
  const answered = await post(`${a.url}/chats/c/approvals/${encodeURIComponent("c1/~/w1")}?wait`, { type: "allow" })
  expect(answered.status).toBe(200)
  const last = async () => (await store.load("anna/c"))?.thread.messages.map(Message.text).at(-1) ?? ""
  await until(async () => (await last()).startsWith("read The background task"))
  expect(await last()).toContain("has ended: done.\nread written at b")
  expect(written).toEqual(["b"])
  expect(await waiting(b)).toEqual([])
})
