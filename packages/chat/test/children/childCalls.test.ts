/** SUB17, SUB18, SUB19: a child that is called again by the id at the end of its result. */
import { expect, test } from "vitest"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, said, says } from "../double/scripts.ts"
import { childrenIn, delegates, idsIn, withoutId } from "../double/subagents.ts"
import { childOf } from "../../src/children/childCalls.ts"
import { blank } from "../../src/store/index.ts"
import { digest } from "../../src/tool/index.ts"
import { subagent } from "../../src/agents/subagentTool.ts"
import { tool } from "../../src/tool/functionTool.ts"
import type { Script } from "../../src/adapter/Fake.ts"
import type { Request } from "../../src/model/Request.ts"
import { memory } from "../../src/store/Store.ts"
import type { ChatRef } from "../../src/troupe/ChatRef.ts"

const check = leakCheck()

/** The number of inputs that the child has read, and the last one. */
const counting = ({ messages }: Request): Script => {
  const inputs = messages.filter(({ role }) => role === "user")
  return says(`${inputs.length}: ${said(inputs.at(-1))}`)
}

/**
 * Answers `again <input>` by a call for the agent of the first result, `to <agent> <input>` by one for that agent, and `new <input>` by a
 * call without an agent. Several calls stand behind each other with `;`.
 */
const boss = ({ messages }: Request): Script => {
  const last = messages.at(-1)
  if (last?.role !== "user") {
    const at = messages.findLastIndex(({ role }) => role === "user")
    return says(
      messages
        .slice(at)
        .flatMap((one) => (one.role === "tool" ? [withoutId(one)] : []))
        .join(" and ")
    )
  }
  const [first] = idsIn({ messages })
  const tasks = said(last)
    .split(";")
    .map((task) => task.trim().split(" "))
  return calls(
    ...tasks.map(([verb, ...words]) => {
      if (verb === "again") return ["research", { input: words.join(" "), agent: first }] as const
      if (verb === "later") return ["later", { input: words.join(" "), agent: first }] as const
      if (verb === "to") return ["research", { input: words.slice(1).join(" "), agent: words[0] }] as const
      return ["research", { input: words.join(" ") }] as const
    })
  )
}

const start = (changed: Parameters<typeof delegates>[2] = {}, research = counting) =>
  delegates(check, research, { ...changed, adapter: check.fake({ respond: boss }) })

const answerTo = async (chat: ChatRef, input: string) => (await chat.send(input).result()).finalResponse?.outputText

test("SUB17 a call with the id of an earlier result continues that child, and without one another begins", async () => {
  const { troupe, store } = await start()
  const chat = await troupe.chat("c")
  expect(await answerTo(chat, "new dig")).toBe("1: dig")
  const [child = ""] = await childrenIn(store)
  expect(idsIn(chat.thread)).toEqual([child.replace("c/~/", "").slice(0, "research-".length + 8)])
  expect(await answerTo(chat, "again deeper")).toBe("2: deeper")
  expect(await childrenIn(store)).toEqual([child])
  expect((await store.load(child))?.thread.messages.map(said)).toEqual(["dig", "1: dig", "deeper", "2: deeper"])
  expect(await answerTo(chat, "new dive")).toBe("1: dive")
  expect(await childrenIn(store)).toHaveLength(2)
})

test("SUB17 a child is called again after a restart, and after a rewind that keeps its first call", async () => {
  const store = memory()
  const first = await start({ kept: store })
  const begun = await first.troupe.chat("c")
  await answerTo(begun, "new dig")
  const { version = 0 } = (await store.load("c")) ?? {}
  await answerTo(begun, "again deeper")
  await first.troupe.stop()

  const next = await start({ kept: store })
  const chat = await next.troupe.chat("c")
  expect(await answerTo(chat, "again down")).toBe("3: down")
  await next.troupe.rewind("c", version)
  expect(await answerTo(chat, "again up")).toBe("4: up")
  const [id = ""] = idsIn(chat.thread)
  await next.troupe.rewind("c", 0)
  expect(await answerTo(chat, `to ${id} dig`)).toContain(`there is no agent ${id} to continue`)
  await next.troupe.delete("c")
  expect(await childrenIn(store)).toEqual([])
})

test("SUB18 calls of one message for one child run one after another, and each has its own answer", async () => {
  const { troupe } = await start()
  const chat = await troupe.chat("c")
  await answerTo(chat, "new dig")
  expect(await answerTo(chat, "again a; again b; again c")).toBe("2: a and 3: b and 4: c")
})

test("SUB18 a call for a child that works in the background waits until that work is over", async () => {
  const release = Promise.withResolvers<string>()
  const slow = tool({ name: "slow", effect: "read", execute: () => release.promise })
  const research = (request: Request): Script =>
    said(request.messages.at(-1)) === "slow" ? calls("slow") : counting(request)
  const adapter = check.fake({ respond: research })
  const { troupe, store } = await start({
    tools: [subagent("research"), subagent("research", { name: "later", background: true })],
    agents: { research: { adapter, tools: [slow] } }
  })
  const chat = await troupe.chat("c")
  await answerTo(chat, "new dig")
  await answerTo(chat, "later slow")
  await until(() => adapter.requests.length === 2)
  const turn = answerTo(chat, "again down")
  await until(() => chat.thread.messages.at(-1)?.role === "assistant")
  expect(adapter.requests).toHaveLength(2)
  release.resolve("done")
  await turn
  const child = (await childrenIn(store)).find((id) => id.includes(idsIn(chat.thread)[0] ?? "none")) ?? ""
  expect((await store.load(child))?.thread.messages.map(said)).toEqual([
    "dig",
    "1: dig",
    "slow",
    "",
    "done",
    "2: slow",
    "down",
    "3: down"
  ])
})

test("SUB18 calls for one child that begin in the background at the same time run one after another, and each has its own answer", async () => {
  const { troupe } = await start({
    tools: [subagent("research"), subagent("research", { name: "later", background: true })]
  })
  const chat = await troupe.chat("c")
  await answerTo(chat, "new one")
  await answerTo(chat, "later two; later three; later four")
  const ends = () => chat.thread.messages.map(said).filter((line) => line.startsWith("The background task"))
  await until(() => ends().length === 3)
  expect(ends().map((line) => line.split("\n")[1])).toEqual(["2: two", "3: three", "4: four"])
})

test("SUB18 the answer of a call that runs again is that of its own input", async () => {
  const { troupe, store } = await start()
  const chat = await troupe.chat("c")
  await answerTo(chat, "new dig")
  await answerTo(chat, "again a; again b")
  const [child = ""] = await childrenIn(store)
  const record = await store.load(child)
  if (record === undefined) throw new Error("no child")
  const answered = record.thread.messages.flatMap(({ metadata }) =>
    metadata?.["call"] === undefined ? [] : [metadata["call"]]
  )
  expect(answered).toMatchObject([{ counted: {} }, { counted: {} }])
  const { adapters, troupe: next } = await start({ kept: store })
  expect(await answerTo(await next.chat("c"), "again c")).toBe("4: c")
  expect(adapters.research.requests).toHaveLength(1)
})

test("SUB19 a chat keeps few children, and a call for one that it forgot fails with the ids that it has", async () => {
  const { troupe, store } = await start({ maxKnownAgents: 2 })
  const chat = await troupe.chat("c")
  for (const task of ["new a", "new b", "new c"]) await answerTo(chat, task)
  const [oldest = "", ...kept] = idsIn(chat.thread)
  expect(
    (await store.load("c"))?.children?.map((id) => id.slice("c/~/".length, "c/~/".length + oldest.length))
  ).toEqual(kept)
  const answer = await answerTo(chat, `to ${oldest} more`)
  expect(answer).toContain(`child_refused: there is no agent ${oldest} to continue: this chat has ${kept.join(", ")}`)
  expect(await answerTo(chat, `to ${kept[0]} more`)).toBe("2: more")
  expect(await childrenIn(store)).toHaveLength(3)
})

test("SUB19 the children of calls that run are not forgotten", async () => {
  const { troupe, store } = await start({ maxKnownAgents: 1 })
  const chat = await troupe.chat("c")
  expect(await answerTo(chat, "new a; new b; new c")).toBe("1: a and 1: b and 1: c")
  await answerTo(chat, "new d")
  expect((await store.load("c"))?.children).toHaveLength(1)
})

test("SUB7 the usage of a child that is called again counts once for its parent", async () => {
  const using = (request: Request): Script => [{ usage: { totalTokens: 10 } }, ...counting(request)]
  const store = memory()
  const { troupe } = await start({ kept: store }, using)
  const chat = await troupe.chat("c")
  await answerTo(chat, "new dig")
  await answerTo(chat, "again deeper; again down")
  expect((await store.load("c"))?.usage.totalTokens).toBe(30)
  await troupe.stop()
  const next = await start({ kept: store }, using)
  await answerTo(await next.troupe.chat("c"), "again up")
  expect((await store.load("c"))?.usage.totalTokens).toBe(40)
})

test("SUB17 a call that an earlier version began finds its child, whose id names no agent", () => {
  const call = { key: "c/c0/step.0", agent: "research", child: undefined } as Parameters<typeof childOf>[1]
  const children = [`c/~/step.0-${digest(call.key)}`]
  const parent = { id: "c", context: { record: { ...blank("c"), children } } }
  expect(childOf(parent, call)).toBe(children[0])
  expect(childOf({ ...parent, context: undefined }, call)).toBe(`c/~/research-${digest(call.key)}`)
})
