import { describe, expect, it } from "vitest"
import { subagent } from "../../src/agents/subagentTool.ts"
import { make } from "../../src/compaction/makeCompactor.ts"
import { isNote, trailingNote } from "../../src/compaction/index.ts"
import { Fake, tool, Troupe } from "../../src/index.ts"
import { text } from "../../src/model/Message.ts"
import { childId } from "../../src/record/index.ts"
import { memory } from "../../src/store/Store.ts"
import { calls, says } from "../double/scripts.ts"
import { assistant, nextRequest, user } from "./drive.ts"
import { window } from "../../src/compaction/strategies.ts"

const noteOf = (
  { messages }: { readonly messages: ReadonlyArray<Parameters<typeof isNote>[0]> } = { messages: [] }
) => {
  const found = messages.filter(isNote)
  expect(found.length).toBeLessThanOrEqual(1)
  if (found.length === 1) expect(messages.at(-1)).toBe(found[0])
  return found.map(text).join("")
}

const without = ({ messages }: { readonly messages: ReadonlyArray<Parameters<typeof isNote>[0]> }) =>
  messages.filter((message) => !isNote(message))

describe("NOTE1: the note at the end of a request", () => {
  it("lists the agents that can be called again, also after a restart, and each request extends the one before without it", async () => {
    const store = memory()
    const boss = Fake.make({
      respond: ({ messages }) =>
        messages.at(-1)?.role === "tool" ? says("Done.") : calls(["research", { input: `${messages.length}` }])
    })
    const options = {
      adapter: boss,
      tools: [subagent("research")],
      agents: { research: { adapter: Fake.make({ respond: () => says("Found.") }), tools: [] } },
      store
    }
    const first = await Troupe.start(options)
    await (await first.chat("c")).send("Look").result()
    await first.stop()
    const second = await Troupe.start(options)
    const chat = await second.chat("c")
    await chat.send("Look again").result()
    const notes = boss.requests.map(noteOf)
    const ids = chat.thread.messages.flatMap((message) => /\[agent: (.+)\]/u.exec(text(message))?.[1] ?? [])
    expect(ids).toHaveLength(2)
    expect(notes[0]).toBe("")
    expect(notes[1]).toContain(ids[0])
    expect(notes[2]).toContain(ids[0])
    expect(notes[3]).toContain(ids.join(", "))
    for (const [at, request] of boss.requests.entries()) {
      const before = boss.requests[at - 1]
      if (before !== undefined) expect(without(request).slice(0, without(before).length)).toEqual(without(before))
    }
    expect(chat.thread.messages.some(isNote)).toBe(false)
    expect((await store.load("c"))?.thread.messages.some(isNote)).toBe(false)
    await second.stop()
  })

  it("lists a background task while it runs, and is not there after its end", async () => {
    const end = Promise.withResolvers<string>()
    const crawl = tool({ name: "crawl", background: true, execute: () => end.promise })
    const adapter = Fake.make({
      respond: ({ messages }) => (messages.length === 1 ? calls("crawl") : says("Well."))
    })
    const troupe = await Troupe.start({ adapter, tools: [crawl] })
    const chat = await troupe.chat("c")
    await chat.send("Go").result()
    const [task] = chat.getSnapshot()?.context.tasks ?? []
    expect(adapter.requests.map(noteOf)).toEqual(["", expect.stringContaining(`${task?.id} (crawl)`)])
    end.resolve("read")
    await expect.poll(() => adapter.requests.length).toBe(3)
    expect(noteOf(adapter.requests[2])).toBe("")
    await troupe.stop()
  })

  it("has a bounded length, and says how many it leaves out", () => {
    const children = Array.from({ length: 64 }, (_, at) =>
      childId("c", `research-${at.toString(16).padStart(64, "0")}`)
    )
    const tasks = Array.from({ length: 100 }, (_, at) => ({
      id: `t${at}`,
      toolCallId: "c",
      tool: "crawl",
      arguments: { text: "long".repeat(1_000) },
      key: "k",
      startedAt: 1
    }))
    const compaction = { upTo: 1, kept: [], plan: "step ".repeat(10_000), tokens: { before: 2, after: 1 } }
    const notes = trailingNote({ messages: [user("a"), user("b")], compaction }, { tasks, children })
    const said = notes.map(text).join("")
    expect(said.length).toBeLessThan(10_000)
    expect(said).toContain("t99 (crawl), and 84 more")
    expect(said).toContain("and 48 more")
    expect(said).toContain("The call of plan has the rest.")
  })

  it("is not behind a reply that the request continues, nor when there is nothing to say", () => {
    const paused = { ...assistant("So"), metadata: { paused: true } }
    expect(trailingNote({ messages: [user("a"), paused] }, { children: [childId("c", "research-1")] })).toEqual([])
    expect(trailingNote({ messages: [user("a")] }, { tasks: [], children: [] })).toEqual([])
  })

  it("CONTEXT1: counts for the bound, with a plan that this compaction leaves out", () => {
    const plan = assistant("", [{ id: "p", name: "plan", arguments: { plan: "step ".repeat(1_500) } }])
    const later = Array.from({ length: 300 }, (_, at) =>
      at % 2 === 0 ? user(`say ${"more ".repeat(30)}`) : assistant("well")
    )
    const messages = [
      user("go"),
      plan,
      { role: "tool" as const, toolCallId: "p", content: "kept" },
      ...later,
      user("last")
    ]
    const tools = [{ name: "look", description: "Looks something up", schema: { type: "object" } }]
    const sent = nextRequest(
      make({ maxTokens: 2_400, strategies: [window({ keepTokens: 1_500 })] }),
      { thread: { messages }, tools },
      () => ""
    )
    if (sent instanceof Error) throw sent
    expect(sent.note).toHaveLength(1)
    const judge = make({ maxTokens: 2_401, at: 1 })
    expect(judge.isDue({ thread: { messages: [...sent.messages, ...sent.note] } }, { tools })).toBe(false)
  })

  it("CONTEXT1: a note that is larger than the bound is named by context_too_large", () => {
    const plan = assistant("", [{ id: "p", name: "plan", arguments: { plan: "step ".repeat(1_500) } }])
    const messages = [
      user("go"),
      plan,
      { role: "tool" as const, toolCallId: "p", content: "kept" },
      assistant("well"),
      user("last")
    ]
    const sent = nextRequest(make({ maxTokens: 500 }), { thread: { messages }, tools: [] }, () => "short")
    expect(sent).toMatchObject({ reason: "context_too_large", metadata: { part: "note" } })
  })
})
