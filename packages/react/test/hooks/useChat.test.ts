// @vitest-environment jsdom
import { render } from "@testing-library/react"
import { askUser, Fake, tool, Troupe } from "@troupe/chat"
import { Agents } from "@troupe/chat/agents"
import { Compaction } from "@troupe/chat/compaction"
import { type Permissions, Tool } from "@troupe/chat/tools"
import { act, createElement, type FunctionComponent, memo, StrictMode, useLayoutEffect } from "react"
import { hydrateRoot } from "react-dom/client"
import { renderToString } from "react-dom/server"
import { describe, expect, test, vi } from "vitest"
import { type Conversation, TroupeProvider, useChat } from "../../src/index.ts"
import { framesByHand, turn, until } from "../double/frames.ts"
import { handModel } from "../double/handModel.ts"
import { counted, far, near } from "../double/systems.ts"

const frames = framesByHand()

/** A component that shows a chat, and what it showed last. */
const showing = (id = "c1") => {
  const shown: { now: Conversation | undefined; renders: number } = { now: undefined, renders: 0 }
  const Page: FunctionComponent<{ readonly id?: string }> = ({ id: other }) => {
    const chat = useChat(other ?? id)
    shown.now = chat
    shown.renders += 1
    return createElement("p", undefined, `${chat.messages.length} ${chat.partial.text}`)
  }
  return { shown, Page }
}

const textOf = (chat: Conversation | undefined): ReadonlyArray<unknown> =>
  chat?.messages.map(({ role, content }) => `${role}: ${typeof content === "string" ? content : ""}`) ?? []

describe.each([
  ["a system of the page", near],
  ["a system behind a server", far]
])("over %s", (_, system) => {
  test("a conversation is shown: what was said, what is being said, and the state it is in", async () => {
    const model = handModel()
    const { link } = await system({ adapter: model })
    const { shown, Page } = showing()
    render(createElement(TroupeProvider, { link }, createElement(Page)))
    expect(shown.now).toMatchObject({ connection: "connecting", status: "idle", messages: [] })
    await until(() => shown.now?.connection === "open", frames)
    await shown.now?.send("Hello")
    await until(() => shown.now?.status === "running", frames)
    model.text("Hi ")
    await until(() => shown.now?.partial.text === "Hi ", frames)
    expect(shown.now?.phase).toBe("streaming")
    model.text("there")
    model.finish()
    await until(() => shown.now?.status === "completed", frames)
    expect(textOf(shown.now)).toEqual(["user: Hello", "assistant: Hi there"])
    expect(shown.now).toMatchObject({ partial: { text: "" }, haltedReason: "completed", error: undefined })
  })

  test("AGENTMSG1 what an agent told the chat is shown with its sender, and what the chat told has its receipt", async () => {
    const call = (id: string, name: string, args: Record<string, string>): Fake.Script => [
      { toolCall: { id, name, arguments: args } },
      { finish: "tool_calls" }
    ]
    const says = (text: string): Fake.Script => [{ text }, { finish: "stop" }]
    const look = { to: "parent", message: "Look left" }
    const { link } = await system({
      adapter: Fake.make({
        scripts: [
          call("c0", "research", { input: "Dig" }),
          call("c1", "tell", { to: "research", message: "Thanks" }),
          says("Done."),
          says("Noted."),
          says("Noted.")
        ]
      }),
      tools: [Agents.subagent("research"), Agents.message()],
      agents: {
        research: {
          adapter: Fake.make({ scripts: [call("k0", "tell", look), says("Found it."), says("Gladly.")] }),
          tools: [Agents.message()]
        }
      }
    })
    const { shown, Page } = showing()
    render(createElement(TroupeProvider, { link }, createElement(Page)))
    await until(() => shown.now?.connection === "open", frames)
    await shown.now?.send("Go")
    await until(() => shown.now?.messages.some(({ content }) => content === "Done.") === true, frames)
    const told = shown.now?.messages.find(({ metadata }) => metadata?.["from"] !== undefined)
    expect(told?.metadata).toMatchObject({ from: { chat: expect.stringMatching(/^c1\/~\/research-/), kind: "tell" } })
    expect(told?.content).toMatch(/^The agent research-\w+ says:\nLook left$/)
    expect(textOf(shown.now)).toContain('tool: {"receipt":"pending","to":"research"}')
  })

  test("BLOBREF2 a page never holds the bytes of a tool's image", async () => {
    const base64 = Buffer.alloc(60_000, 1).toString("base64")
    const look = tool({ name: "look", execute: () => [{ type: "image", image: { base64, mediaType: "image/png" } }] })
    const adapter = Fake.make({
      scripts: [
        [{ toolCall: { id: "c1", name: "look", arguments: {} } }, { finish: "tool_calls" }],
        [{ text: "Seen." }, { finish: "stop" }]
      ]
    })
    const { link } = await system({ adapter, tools: [look] })
    let most = 0
    const shown: { now: Conversation | undefined } = { now: undefined }
    const Page = () => {
      shown.now = useChat("c1")
      most = Math.max(most, JSON.stringify(shown.now).length)
      return null
    }
    render(createElement(TroupeProvider, { link }, createElement(Page)))
    await until(() => shown.now?.connection === "open", frames)
    await shown.now?.send("Look")
    await until(() => shown.now?.status === "completed", frames)
    expect(JSON.stringify(shown.now?.messages)).toContain('"blob":')
    expect(most).toBeLessThan(20_000)
  })

  test("the agent of a conversation is shown, and the conversation is handed over", async () => {
    const answering = (text: string) => Fake.make({ script: [{ text }, { finish: "stop" }] })
    const agents = { support: { adapter: answering("support") }, billing: { adapter: answering("billing") } }
    const { link } = await system({ agents, agent: "support" })
    const { shown, Page } = showing()
    render(createElement(TroupeProvider, { link }, createElement(Page)))
    await until(() => shown.now?.connection === "open", frames)
    await shown.now?.send("Hello", { model: "small" })
    await until(() => shown.now?.status === "completed", frames)
    expect([shown.now?.agent, agents.support.adapter.requests[0]?.model]).toEqual(["support", "small"])
    await shown.now?.handoff("billing")
    await until(() => shown.now?.agent === "billing", frames)
    await link.chat("c2").send("Hello", { agent: "billing" })
    expect(agents.billing.adapter.requests).toHaveLength(1)
  })

  test("the reasoning of a reply is shown while it streams", async () => {
    const adapter = Fake.make({ script: [{ reasoning: "so " }, { reasoning: "then" }, { text: "Hi" }, { hang: true }] })
    const { link } = await system({ adapter })
    const { shown, Page } = showing()
    render(createElement(TroupeProvider, { link }, createElement(Page)))
    await until(() => shown.now?.connection === "open", frames)
    await shown.now?.send("Hello")
    await until(() => shown.now?.partial.text === "Hi", frames)
    expect(shown.now?.partial).toEqual({ text: "Hi", reasoning: "so then" })
    await shown.now?.cancel()
    await until(() => shown.now?.status === "cancelled", frames)
    expect(shown.now?.partial).toEqual({ text: "" })
  })

  test("COMPACT3: a compaction is a phase and an entry of the history, and the conversation stays whole", async () => {
    const model = handModel()
    const compaction = Compaction.make({ maxTokens: 10_000, strategies: [Compaction.summarise({ keepTokens: 50 })] })
    const { link } = await system({ adapter: model, compaction })
    const { shown, Page } = showing()
    render(createElement(TroupeProvider, { link }, createElement(Page)))
    const long = "words ".repeat(100)
    for (const at of [1, 2]) {
      await shown.now?.send(`${at} ${long}`)
      await until(() => model.requests === at, frames)
      model.text("Well")
      model.finish()
      await until(() => shown.now?.messages.length === 2 * at && shown.now.status === "completed", frames)
    }
    await shown.now?.compact()
    await until(() => shown.now?.phase === "compacting", frames)
    model.text("They talked.")
    model.finish()
    await until(() => shown.now?.phase === "idle", frames)
    expect(textOf(shown.now)).toHaveLength(4)
    const commits = (await shown.now?.history()) ?? []
    const ran = commits.flatMap(({ entries = [] }) => entries).filter(({ type }) => type === "Compacted")
    expect(ran).toMatchObject([{ compaction: { upTo: expect.any(Number) } }])
  })

  test("tool calls are shown live, a question is answered, a turn is cancelled", async () => {
    const model = handModel()
    const { promise, resolve } = Promise.withResolvers<void>()
    const slow = tool({
      name: "slow",
      execute: async (_args, { progress }) => {
        progress("half")
        await promise
        return "slept"
      }
    })
    const ask = Tool.make({ name: "ask", handler: () => askUser("Which one?") })
    const { link } = await system({ adapter: model, tools: [slow, ask] })
    const { shown, Page } = showing()
    render(createElement(TroupeProvider, { link }, createElement(Page)))
    await shown.now?.send("Go")
    model.call("t1", "slow", {})
    model.finish("tool_calls")
    await until(() => shown.now?.toolCalls[0]?.progress === "half", frames)
    expect(shown.now?.toolCalls[0]).toMatchObject({ id: "t1", name: "slow", status: "running" })
    resolve()
    await until(() => model.requests === 2, frames)
    model.call("t2", "ask", {})
    model.finish("tool_calls")
    await until(() => shown.now?.status === "awaiting_user", frames)
    expect(shown.now).toMatchObject({ status: "awaiting_user", question: { question: "Which one?", toolCallId: "t2" } })
    await shown.now?.answer("That one")
    await until(() => shown.now?.phase === "requesting" || shown.now?.phase === "streaming", frames)
    model.text("Well")
    await until(() => shown.now?.partial.text === "Well", frames)
    await shown.now?.cancel()
    await until(() => shown.now?.status !== "running", frames)
    expect(shown.now?.haltedReason).toBe("cancelled")
  })

  test("a call that waits for a decision is approved, and what was refused is said", async () => {
    const model = handModel()
    const write = tool({ name: "write", execute: () => "written" })
    const permissions: Permissions.Permissions = { ask: () => "suspend" }
    const { link } = await system({ adapter: model, tools: [write], permissions })
    const { shown, Page } = showing()
    render(createElement(TroupeProvider, { link }, createElement(Page)))
    await shown.now?.send("Go")
    model.call("t1", "write", {})
    model.finish("tool_calls")
    await until(() => (shown.now?.approvals.length ?? 0) > 0, frames)
    expect(shown.now?.approvals[0]?.toolCall.id).toBe("t1")
    await expect(shown.now?.approve("nobody", { type: "allow" })).rejects.toMatchObject({ message: expect.any(String) })
    await expect(shown.now?.answer("So?")).rejects.toMatchObject({ message: expect.any(String) })
    await shown.now?.answer({ decisions: { t1: { type: "allow" } }, input: "So?" })
    await until(() => model.requests === 2, frames)
    model.text("Done")
    model.finish()
    await until(() => shown.now?.status === "completed", frames)
    expect(textOf(shown.now)).toContain("tool: written")
  })

  test("a conversation is forked and rewound at an entry of its log, listed and deleted", async () => {
    const model = handModel()
    const { link } = await system({ adapter: model })
    const { shown, Page } = showing()
    const page = (id: string) => createElement(TroupeProvider, { link }, createElement(Page, { id }))
    const { rerender } = render(page("c1"))
    const say = async (question: string, answer: string) => {
      await shown.now?.send(question)
      await until(() => shown.now?.status === "running", frames)
      model.text(answer)
      model.finish()
      await until(() => shown.now?.status === "completed", frames)
    }
    await say("One?", "First.")
    await say("Two?", "Second.")
    const commits = (await shown.now?.history()) ?? []
    const first = commits.findLast(({ isStep, state }, at) => isStep && !state.running && at < commits.length - 1)
    const forked = await shown.now?.fork({ at: first?.seq ?? 0, id: "c2" })
    expect(forked).toBe("c2")
    await shown.now?.rewind(first?.seq ?? 0)
    await until(() => shown.now?.messages.length === 2, frames)
    expect(textOf(shown.now)).toEqual(["user: One?", "assistant: First."])
    rerender(page("c2"))
    await until(() => shown.now?.messages.length === 2, frames)
    expect(textOf(shown.now)).toEqual(["user: One?", "assistant: First."])
    const ids = async () => (await link.list()).chats.map(({ id }) => id).toSorted()
    expect(await ids()).toEqual(["c1", "c2"])
    await link.remove("c1")
    expect(await ids()).toEqual(["c2"])
  })

  test("two readers of one chat see the same", async () => {
    const model = handModel()
    const { link } = await system({ adapter: model })
    const one = showing()
    const two = showing()
    render(createElement(TroupeProvider, { link }, createElement(one.Page), createElement(two.Page)))
    await one.shown.now?.send("Hello")
    model.text("Hi")
    model.finish()
    await until(() => two.shown.now?.messages.length === 2, frames)
    expect(one.shown.now?.messages).toBe(two.shown.now?.messages)
  })
})

describe("REACT1 a chat is rendered at most once in a frame", () => {
  test("however much is said between two frames", async () => {
    const model = handModel()
    const { link } = await near({ adapter: model })
    const { shown, Page } = showing()
    render(createElement(TroupeProvider, { link }, createElement(Page)))
    await until(() => shown.now?.connection === "open", frames)
    await shown.now?.send("Hello")
    await until(() => model.requests === 1)
    const before = shown.renders
    let words = ""
    for (let word = 0; word < 500; word++) {
      model.text(`${word} `)
      words += `${word} `
      if (word % 50 === 0) await turn()
    }
    await until(() => link.chat("c1").getState().view.partial.text === words)
    expect(shown.renders).toBe(before)
    expect(frames.waiting()).toBe(1)
    frames.draw()
    expect(shown.renders).toBe(before + 1)
    expect(shown.now?.partial.text).toBe(words)
    frames.draw()
    expect(shown.renders).toBe(before + 1)
  })

  test("over a whole answer, no more often than frames were drawn", async () => {
    const model = handModel()
    const { link } = await near({ adapter: model })
    const { shown, Page } = showing()
    render(createElement(TroupeProvider, { link }, createElement(Page)))
    await until(() => shown.now?.connection === "open", frames)
    await shown.now?.send("Hello")
    const before = shown.renders
    let drawn = 0
    for (let word = 0; word < 300; word++) {
      model.text(`${word} `)
      if (word % 10 !== 0) continue
      await turn()
      frames.draw()
      drawn += 1
    }
    model.finish()
    await until(
      () => link.chat("c1").getState().view.phase === "idle" && link.chat("c1").getState().view.messages.length === 2
    )
    frames.draw()
    expect(shown.renders - before).toBeLessThanOrEqual(drawn + 1)
    expect(shown.now?.messages.length).toBe(2)
  })

  test("at once where nothing is drawn", async () => {
    vi.stubGlobal("requestAnimationFrame", undefined)
    vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", false)
    const model = handModel()
    const { link } = await near({ adapter: model })
    const { shown, Page } = showing()
    render(createElement(TroupeProvider, { link }, createElement(Page)))
    await shown.now?.send("Hello")
    model.text("Hi")
    await until(() => shown.now?.partial.text === "Hi")
    expect(shown.now?.partial.text).toBe("Hi")
  })

  test("and not kept from a page that is hidden while a frame is waited for", async () => {
    const model = handModel()
    const { link } = await near({ adapter: model })
    const { shown, Page } = showing()
    render(createElement(TroupeProvider, { link }, createElement(Page)))
    await until(() => shown.now?.connection === "open", frames)
    await shown.now?.send("Hello")
    await until(() => frames.waiting() === 1)
    vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", false)
    vi.spyOn(document, "hidden", "get").mockReturnValue(true)
    model.text("Hi")
    await until(() => shown.now?.partial.text === "Hi")
    expect(frames.waiting()).toBe(0)
  })
})

test("REACT2 all readers of a chat show the same at each drawing, with and without memo", async () => {
  const model = handModel()
  const { link } = await near({ adapter: model })
  const texts: Array<ReadonlyArray<string>> = []
  const seen = ["", "", ""]
  const reader =
    (at: number): FunctionComponent =>
    () => {
      seen[at] = useChat("c1").partial.text
      return null
    }
  const Parts = [reader(0), memo(reader(1)), reader(2)]
  const Page: FunctionComponent = () => {
    const { partial } = useChat("c1")
    useLayoutEffect(() => void texts.push([partial.text, ...seen]))
    return createElement("div", undefined, ...Parts.map((Part, key) => createElement(Part, { key })))
  }
  render(createElement(TroupeProvider, { link }, createElement(Page)))
  await act(() => link.chat("c1").send("Hello"))
  for (let word = 0; word < 50; word++) {
    model.text(`${word} `)
    await turn()
    if (word % 3 === 0) frames.draw()
  }
  await until(() => (texts.at(-1)?.[0]?.length ?? 0) > 100, frames)
  for (const [text, ...others] of texts) expect(others).toEqual([text, text, text])
})

test("REACT3 a component that is gone leaves no subscription and no frame", async () => {
  const model = handModel()
  const { link: inner } = await near({ adapter: model })
  const { link, open } = counted(inner)
  const { shown, Page } = showing()
  const page = createElement(StrictMode, undefined, createElement(TroupeProvider, { link }, createElement(Page)))
  const { unmount } = render(page)
  await until(() => shown.now?.connection === "open", frames)
  expect(open()).toBe(1)
  await shown.now?.send("Hello")
  await until(() => frames.waiting() === 1)
  unmount()
  expect([open(), frames.waiting()]).toEqual([0, 0])
  model.text("Hi")
  model.finish()
  await turn()
  expect(frames.waiting()).toBe(0)
})

test("REACT3 under StrictMode a chat is shown as without", async () => {
  const model = handModel()
  const { link } = await near({ adapter: model })
  const { shown, Page } = showing()
  const page = createElement(StrictMode, undefined, createElement(TroupeProvider, { link }, createElement(Page)))
  const { unmount } = render(page)
  await until(() => shown.now?.connection === "open", frames)
  await shown.now?.send("Hello")
  model.text("Hi")
  model.finish()
  await until(() => shown.now?.messages.length === 2, frames)
  unmount()
  render(page)
  expect(shown.now?.messages.length).toBe(2)
})

test("REACT4 another id shows another chat at once, and the one before is left", async () => {
  const model = handModel()
  const { link: inner } = await near({ adapter: model })
  const { link, open } = counted(inner)
  const { shown, Page } = showing()
  const page = (id: string) => createElement(TroupeProvider, { link }, createElement(Page, { id }))
  const { rerender } = render(page("c1"))
  await until(() => shown.now?.connection === "open", frames)
  await shown.now?.send("Hello")
  model.text("Hi")
  model.finish()
  await until(() => shown.now?.messages.length === 2, frames)
  rerender(page("c2"))
  expect(shown.now).toMatchObject({ id: "c2", messages: [] })
  expect(open()).toBe(1)
  await until(() => shown.now?.connection === "open", frames)
  expect(shown.now?.messages).toEqual([])
  rerender(page("c1"))
  expect(shown.now).toMatchObject({ id: "c1" })
  expect(shown.now?.messages.length).toBe(2)
})

test("REACT5 verbs stay the same functions, and parts that did not change the same objects", async () => {
  const model = handModel()
  const { link } = await near({ adapter: model })
  const { shown, Page } = showing()
  render(createElement(TroupeProvider, { link }, createElement(Page)))
  await until(() => shown.now?.connection === "open", frames)
  const first = shown.now
  await first?.send("Hello")
  model.text("Hi")
  await until(() => shown.now?.partial.text === "Hi", frames)
  const { messages } = shown.now ?? {}
  model.text(" there")
  await until(() => shown.now?.partial.text === "Hi there", frames)
  expect(shown.now?.messages).toBe(messages)
  for (const verb of ["send", "answer", "cancel", "retry", "approve", "fork", "rewind", "history"] as const) {
    expect(shown.now?.[verb]).toBe(first?.[verb])
  }
})

describe("REACT6 a chat is rendered on the server", () => {
  test("as one that nothing is known of, or as it is given, and the page takes that over without a difference", async () => {
    const model = handModel()
    const { link } = await near({ adapter: model })
    const complaints = vi.spyOn(console, "error").mockImplementation(() => {})
    await link.chat("c1").send("Hello")
    model.text("Hi")
    model.finish()
    const leave = link.chat("c1").subscribe(() => {})
    await until(() => link.chat("c1").getState().view.messages.length === 2)
    const { view: initial } = link.chat("c1").getState()
    leave()
    const Page: FunctionComponent<{ readonly known: boolean }> = ({ known }) => {
      const { messages, connection } = useChat("c1", known ? { link, initial } : { link })
      return createElement("p", undefined, `${connection} ${messages.length}`)
    }
    const blank = renderToString(createElement(Page, { known: false }))
    expect(blank).toBe("<p>connecting 0</p>")
    const html = renderToString(createElement(Page, { known: true }))
    expect(html).toBe("<p>connecting 2</p>")
    const place = document.createElement("div")
    place.innerHTML = html
    const root = await act(async () => hydrateRoot(place, createElement(Page, { known: true })))
    await until(() => place.textContent === "open 2", frames)
    expect(complaints.mock.calls).toEqual([])
    act(() => root.unmount())
  })
})

test("a Troupe in place of a link is refused with what to write", async () => {
  const troupe = await Troupe.start({ adapter: Fake.make({ script: [{ finish: "stop" }] }) })
  const Page = () => createElement("p", undefined, useChat("c1", { link: troupe as never }).status)
  expect(() => renderToString(createElement(Page))).toThrow("write link={local(troupe)}")
  await troupe.stop()
})

test("without a provider and without a link it says what is missing", () => {
  vi.spyOn(console, "error").mockImplementation(() => {})
  const { Page } = showing()
  expect(() => render(createElement(Page))).toThrow(/TroupeProvider/)
})
