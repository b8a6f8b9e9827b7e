import { InMemoryTransport } from "@modelcontextprotocol/client"
import { McpServer } from "@modelcontextprotocol/server"
import { Fake, Troupe } from "@troupe/chat"
import { System } from "@troupe/otp"
import { afterEach, beforeEach, expect, test } from "vitest"
import { Mcp } from "../../src/index.ts"

let system: System.System

beforeEach(() => {
  system = System.make({ silent: true })
})
afterEach(() => System.stop(system))

/** A server whose tools change, and a model that calls the tools of its turn in order and then ends. */
const changing = () => {
  const server = new McpServer({ name: "shop", version: "1.0.0" })
  const calls: Array<string> = []
  const add = (name: string, before: () => Promise<void> = async () => {}) =>
    server.registerTool(name, { description: name }, async () => {
      calls.push(name)
      await before()
      return { content: [{ type: "text", text: name }] }
    })
  const transport = (): InMemoryTransport => {
    const [ours, theirs] = InMemoryTransport.createLinkedPair()
    void server.connect(theirs)
    return ours
  }
  const declared: Array<ReadonlyArray<string>> = []
  const adapter = (...names: ReadonlyArray<string>) => {
    const left = [...names]
    return Fake.make({
      respond: ({ tools }) => {
        declared.push(tools.map(({ name }) => name))
        const name = left.shift()
        return name === undefined
          ? [{ text: "Done." }, { finish: "stop" }]
          : [{ toolCall: { id: `c${left.length}`, name } }, { finish: "tool_calls" }]
      }
    })
  }
  return { add, transport, calls, declared, adapter }
}

const results = ({ thread }: { readonly thread: { readonly messages: ReadonlyArray<object> } }) =>
  thread.messages.flatMap((message) =>
    "role" in message && message.role === "tool" && "content" in message ? [String(message.content)] : []
  )

test("CURRENT1. a changed list takes effect at the next request: what stayed keeps its place, what is new comes last", async () => {
  const { add, transport, declared, adapter } = changing()
  const known = (name: string) => expect.poll(() => mcp.tools.map((tool) => tool.name)).toContain(name)
  const first = add("first")
  add("swap", async () => {
    first.remove()
    add("alpha")
    await known("alpha")
  })
  add("last")
  const mcp = await Mcp.start(system, { transport }, { name: "shop" })
  const troupe = await Troupe.start({ system, adapter: adapter("swap", "alpha", "first"), tools: mcp.tools })
  const chat = await troupe.chat("anna")
  const texts = results(await chat.send("Go").result())
  expect(declared).toEqual([
    ["first", "swap", "last"],
    ["swap", "last", "alpha"],
    ["swap", "last", "alpha"],
    ["swap", "last", "alpha"]
  ])
  expect(texts.slice(0, 2)).toEqual(["swap", "alpha"])
  expect(texts[2]).toContain("not_found")
  expect(texts[2]).toContain("alpha")
  await troupe.stop()
})

test("MCPT5. the call of a tool that was taken away in the meantime fails with what there is instead", async () => {
  const { add, transport, calls, adapter } = changing()
  const gone = add("gone")
  add("stays")
  const mcp = await Mcp.start(system, { transport }, { name: "shop" })
  const [mine] = mcp.tools
  // The program's own copy of a tool stays in its list.
  const tools = mcp.tools.map((tool) => (tool === mine ? { ...tool, metadata: {} } : tool))
  const troupe = await Troupe.start({ system, adapter: adapter("gone"), tools })
  gone.remove()
  await expect.poll(() => mcp.tools.length).toBe(1)
  const [text] = results(await (await troupe.chat("anna")).send("Go").result())
  expect(text).toContain("shop no longer has the tool gone; it has stays")
  expect(calls).toEqual([])
  await troupe.stop()
})

test("CURRENT2. a list that the program filtered gets no new tools", async () => {
  const { add, transport, declared, adapter } = changing()
  add("reads")
  add("deletes")
  const mcp = await Mcp.start(system, { transport })
  const tools = mcp.tools.filter(({ name }) => name !== "deletes")
  const troupe = await Troupe.start({ system, adapter: adapter(), tools })
  add("destroys")
  await expect.poll(() => mcp.tools.length).toBe(3)
  await (await troupe.chat("anna")).send("Go").result()
  expect(declared).toEqual([["reads"]])
  await troupe.stop()
})

test("CURRENT1. the joined tools of two servers follow both, and find_tools finds what is new", async () => {
  const [one, two] = [changing(), changing()]
  one.add("work")
  two.add("rest")
  const servers = [
    await Mcp.start(system, { transport: one.transport }, { name: "one" }),
    await Mcp.start(system, { transport: two.transport }, { name: "two", deferred: true })
  ]
  const troupe = await Troupe.start({ system, adapter: one.adapter(), tools: Mcp.tools(servers) })
  two.add("work")
  await expect.poll(() => servers[1]?.tools.length).toBe(2)
  await (await troupe.chat("anna")).send("Go").result()
  expect(one.declared).toEqual([["one_work", "find_tools"]])
  await troupe.stop()
})
