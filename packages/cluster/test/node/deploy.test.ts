import { Fake, tool } from "@troupe/chat"
import { describe, expect, it } from "vitest"
import { askAgUi, askAiSdk } from "../../../server/test/double/realClients.ts"
import { nodes, post, until } from "../double/clusterNodes.ts"

const events = { accept: "text/event-stream" }

/** A reply that hangs in its second step at each home but the last, and a gateway with two homes more. */
const deployed = async (moves = 1) => {
  const hanging = [{ text: "Once " }, { hang: true as const }]
  const looking = [
    { text: "Let me look." },
    { toolCall: { id: "t1", name: "look", arguments: {} } },
    { finish: "tool_calls" as const }
  ]
  const look = tool({ name: "look", execute: () => "rain" })
  const adapter = Fake.make({
    scripts: [
      looking,
      ...Array.from({ length: moves }, () => hanging),
      [{ text: "Once upon a time" }, { finish: "stop" as const }]
    ]
  })
  const { node, placements, store } = nodes(adapter)
  const more = { troupe: { tools: [look] } }
  const homes = [await node(more), await node(more), await node(more)]
  const gateway = await node({ ...more, cluster: { role: "gateway" } })
  let at = 0
  /** Waits until the reply hangs at the present home, and moves the chat to the next one. */
  const move = async (): Promise<void> => {
    const [from, to] = [homes[at], homes[++at]]
    await until(async () => {
      const snapshot =
        from?.troupe.local.isAlive("anna/c") === true ? await from.troupe.local.chat("anna/c") : undefined
      return snapshot?.getSnapshot()?.context.partial.text === "Once "
    })
    await placements.move("anna/c", to?.troupe.address ?? "")
  }
  return { url: gateway.url, homes, gateway, move, store }
}

const typesIn = (text: string): ReadonlyArray<string> =>
  text
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => (JSON.parse(line.slice(6)) as { readonly type: string }).type)

const uiPost = (url: string) =>
  post(`${url}/api/chat`, { id: "c", message: { id: "u1", role: "user", parts: [{ type: "text", text: "Hello" }] } })

describe("FORWARD8: when the home of a turn leaves", () => {
  it("a client that waits for the result gets it from the next home", async () => {
    const { url, move } = await deployed()
    const asked = post(`${url}/chats/c/messages?wait`, { input: "Hello", id: "m1" })
    await move()
    const answer = await asked
    expect([answer.status, await answer.json()]).toMatchObject([
      200,
      { id: "m1", result: { finalResponse: { outputText: "Once upon a time" } } }
    ])
  })

  it.each([1, 2])("a client that reads the events of its message gets the end after %i moves", async (moves) => {
    const { url, move } = await deployed(moves)
    const asked = post(`${url}/chats/c/messages`, { input: "Hello", id: "m1" }, events)
    for (let moved = 0; moved < moves; moved++) await move()
    const text = await (await asked).text()
    expect(typesIn(text)).not.toContain("failed")
    expect(typesIn(text).at(-1)).toBe("chat_completed")
    expect(text).toContain("Once upon a time")
  })

  it.each([1, 2])("a page of the AI SDK begins the step again after %i moves", async (moves) => {
    const { url, move } = await deployed(moves)
    const asked = uiPost(url)
    for (let moved = 0; moved < moves; moved++) await move()
    const types = typesIn(await (await asked).text())
    expect(types).not.toContain("error")
    expect(types.filter((type) => type === "start")).toHaveLength(1)
    expect(types).toContain("reset-step")
    expect(types.at(-1)).toBe("finish")
  })

  it.each([
    ["the AI SDK", askAiSdk, 1],
    ["the AI SDK", askAiSdk, 2],
    ["AG-UI", askAgUi, 1],
    ["AG-UI", askAgUi, 2]
  ])("the client of %s has the whole reply once, and no error", async (_, ask, moves) => {
    const { url, move } = await deployed(moves)
    const asked = ask(url, "Hello")
    for (let moved = 0; moved < moves; moved++) await move()
    const { texts, errors } = await asked
    const replies = texts?.filter((text) => text !== "Hello" && text !== "" && text !== "rain")
    expect([replies, errors]).toEqual([["Let me look.", "Once upon a time"], []])
  })

  it("a reader of the events of a conversation goes on after its last one", async () => {
    const { url, move } = await deployed()
    await post(`${url}/chats/c/messages`, { input: "Hello", id: "m1" })
    const left = new AbortController()
    const page = await fetch(`${url}/chats/c/events`, { signal: left.signal })
    const reader = page.body?.pipeThrough(new TextDecoderStream()).getReader()
    await move()
    let text = ""
    while (!text.includes('"chat_completed"') && !text.includes('"idle"')) text += (await reader?.read())?.value ?? ""
    expect(text).not.toContain('"failed"')
    expect(text).toContain("Once upon a time")
    left.abort()
  })
})
