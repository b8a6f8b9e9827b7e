import { Fake, Troupe } from "@troupe/chat"
import { System } from "@troupe/otp"
import { Server } from "@troupe/server"
import { listen } from "@troupe/server/Node"
import { expect, onTestFinished, test } from "vitest"
import { Mcp } from "../../src/index.ts"
import { call } from "../double/call.ts"

const served = async (limits: Server.Limits = {}) => {
  const troupe = await Troupe.start({
    silent: true,
    adapter: Fake.make({ respond: () => [{ text: "Hello." }, { finish: "stop" }] })
  })
  const mcp = Mcp.serve(troupe, { agents: { helper: { description: "Helps" } }, conversations: true })
  const server = Server.make({
    troupe,
    mcp,
    limits,
    basePath: "/api",
    authorize: (request) => {
      const owner = request.headers.get("x-owner")
      return owner === null ? { deny: 401 } : { owner }
    }
  })
  const { url, close } = await listen(server, { graceMs: 0 })
  const system = System.make({ silent: true })
  onTestFinished(async () => {
    await System.stop(system)
    await close()
    await troupe.stop()
  })
  const client = (owner: string, protocol: Mcp.McpOptions["protocol"] = "auto") =>
    Mcp.start(system, { url: `${url}/api/mcp`, headers: { "x-owner": owner } }, { protocol })
  return { url, client }
}

test.each(["auto", "older"] as const)(
  "MCPS1. a route of the server serves agents to the callers that it knows (%s)",
  async (protocol) => {
    const { url, client } = await served()
    const anna = await client("anna", protocol)
    const answer = await call(anna, "helper", { message: "Hi" })
    expect(answer).toMatchObject({ value: { text: "Hello." } })
    const { conversation } = (answer as { readonly value: { readonly conversation: string } }).value
    const listed = await fetch(`${url}/api/chats`, { headers: { "x-owner": "anna" } })
    expect(await listed.text()).toContain(conversation)
    expect((await fetch(`${url}/api/mcp`, { method: "POST" })).status).toBe(401)
    const foreign = { method: "POST", headers: { origin: "https://evil.example", "x-owner": "anna" } }
    expect((await fetch(`${url}/api/mcp`, foreign)).status).toBe(403)
  }
)

test("MCPV1. a caller lists and reads its own conversations as resources, and no others", async () => {
  const { client } = await served()
  const [anna, ben] = [await client("anna"), await client("ben")]
  await call(anna, "helper", { message: "Hi there" })
  const resources = await anna.resources()
  const [mine] = resources
  expect(resources).toMatchObject([
    { name: "Hi there", mimeType: "application/json" },
    { uriTemplate: "troupe://conversations/{id}" }
  ])
  expect(await anna.read(mine?.uri ?? "")).toMatchObject([
    {
      text: JSON.stringify([
        { role: "user", text: "Hi there" },
        { role: "assistant", text: "Hello." }
      ])
    }
  ])
  expect((await ben.resources()).map(({ uri }) => uri)).toEqual([undefined])
  await expect(ben.read(mine?.uri ?? "")).rejects.toThrow("troupe://conversations/")
})

test("OWNER1. the requests of MCP clients count for the limits of their owner", async () => {
  const { client } = await served({ requestsPerMinute: 4 })
  const anna = await client("anna")
  const calls = [1, 2, 3, 4].map(() => call(anna, "helper", { message: "Hi" }))
  expect((await Promise.all(calls)).some(({ type }) => type === "error")).toBe(true)
})

test("MCPV1. conversations whose ids do not begin with that of their owner cannot be listed, and the service does not start", async () => {
  const troupe = await Troupe.start({ silent: true, adapter: Fake.make({ script: [] }) })
  onTestFinished(() => troupe.stop())
  const serve = (chatId: (owner: string, id: string) => string) => () =>
    Mcp.serve(troupe, { conversations: true, chatId })
  expect(serve((owner, id) => `${id}@${owner}`)).toThrow("chatId")
  expect(serve((owner, id) => `team/${owner}/${id}`)).not.toThrow()
})
