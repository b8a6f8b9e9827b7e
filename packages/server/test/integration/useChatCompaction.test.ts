// @vitest-environment jsdom
import { useChat } from "@ai-sdk/react"
import { Fake } from "@troupe/chat"
import { Compaction } from "@troupe/chat/compaction"
import { act, cleanup, renderHook, waitFor } from "@testing-library/react"
import { DefaultChatTransport, type UIMessage } from "ai"
import { afterEach, expect, it } from "vitest"
import { HttpAgent } from "@ag-ui/client"
import { serving } from "../double/serving.ts"

afterEach(cleanup)

const many = "a few words that fill the request ".repeat(30)

interface Commit {
  readonly seq: number
  readonly entries?: ReadonlyArray<unknown>
  readonly messages: ReadonlyArray<{ readonly content: string }>
}

const textOf = (message: UIMessage | undefined): string =>
  message?.parts.map((part) => (part.type === "text" ? part.text : "")).join("") ?? ""

const summarising = {
  adapter: () =>
    Fake.make({
      respond: ({ messages }) => [
        { text: JSON.stringify(messages).includes("Write the summary.") ? "They talked." : many },
        { finish: "stop" }
      ]
    }),
  compaction: Compaction.make({ maxTokens: 1_500, strategies: [Compaction.summarise()] })
}

it("HttpAgent of @ag-ui/client sees that a compaction ran, and has the whole history of the chat", async () => {
  const { url, troupe } = await serving({ ...summarising, adapter: summarising.adapter() })
  const agent = new HttpAgent({ url: `${url}/ag-ui`, threadId: "c" })
  const ran: Array<unknown> = []
  const texts: Array<string> = []
  for (let turn = 0; turn < 6; turn++) {
    texts.push(`${turn}: ${many}`, many)
    agent.addMessage({ id: `u${turn}`, role: "user", content: `${turn}: ${many}` })
    await agent.runAgent(
      {},
      {
        onCustomEvent: ({ event }) => {
          if (event.name === "troupe.compacted") ran.push(event.value)
        }
      }
    )
  }
  expect(ran.length).toBeGreaterThan(0)
  const { compaction } = (await troupe.chat("anna/c")).thread
  expect(ran.at(-1)).toEqual({ upTo: compaction?.upTo, tokens: compaction?.tokens })
  expect(agent.messages.map(({ content }) => content)).toEqual(texts)
  const other = new HttpAgent({ url: `${url}/ag-ui`, threadId: "c" })
  await other.runAgent()
  expect(other.messages.map(({ content }) => content)).toEqual(texts)
  expect(JSON.stringify(other.messages)).not.toContain("They talked.")
})

it("useChat of @ai-sdk/react sees that a compaction ran, and has the whole history of the chat", async () => {
  const adapter = summarising.adapter()
  const { url, troupe } = await serving({ ...summarising, adapter })
  const notified: Array<{
    readonly upTo: number
    readonly tokens: { readonly before: number; readonly after: number }
  }> = []
  const transport = new DefaultChatTransport<UIMessage>({ api: `${url}/api/chat` })
  const { result } = renderHook(() =>
    useChat({
      id: "c",
      transport,
      onData: ({ type, data }) => {
        if (type === "data-troupe-compacted") notified.push(data as (typeof notified)[number])
      }
    })
  )
  const inputs = Array.from({ length: 6 }, (_, turn) => `${turn}: ${many}`)
  for (const text of inputs) {
    await act(() => result.current.sendMessage({ text }))
    await waitFor(() => expect(result.current.status).toBe("ready"))
  }
  const asked = adapter.requests.filter(({ messages }) => JSON.stringify(messages).includes("Write the summary."))
  expect(notified.length).toBe(asked.length)
  expect(notified.length).toBeGreaterThan(0)
  for (const { tokens } of notified) expect(tokens.after).toBeLessThan(tokens.before)
  expect(notified.at(-1)?.upTo).toBe((await troupe.chat("anna/c")).thread.compaction?.upTo)
  expect(adapter.requests.at(-1)?.messages.length).toBeLessThan(11)

  // The messages of the client, those that the server gives a new client, and the pages of the history are the whole thread.
  const said = inputs.flatMap((text) => [text, many])
  expect(result.current.messages.map(textOf)).toEqual(said)
  expect(JSON.stringify(result.current.messages)).not.toContain("troupe-compacted")
  const loaded = (await (await fetch(`${url}/api/chat/c/messages`)).json()) as { readonly messages: Array<UIMessage> }
  expect(loaded.messages.map(textOf)).toEqual(said)
  const pages: Array<ReadonlyArray<Commit>> = []
  do {
    const reply = await fetch(`${url}/chats/c/history?limit=5&after=${pages.at(-1)?.at(-1)?.seq ?? 0}`)
    pages.push(((await reply.json()) as { readonly commits: ReadonlyArray<Commit> }).commits)
  } while (pages.at(-1)?.length === 5)
  expect(pages.length).toBeGreaterThan(2)
  const commits = pages.flat()
  const ran = commits.flatMap(({ entries = [] }) => entries)
  expect(ran).toEqual(notified.map((data) => ({ type: "Compacted", compaction: { ...data, kept: [] } })))
  expect(JSON.stringify(commits)).not.toContain("They talked.")
  expect(commits.flatMap(({ messages }) => messages.map(({ content }) => content))).toEqual(said)
})
