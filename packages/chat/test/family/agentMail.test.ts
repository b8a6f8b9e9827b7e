/** TELL1 to TELL5, ASK1, ASK2: the messages that agents send each other. */
import { Process } from "@troupe/otp"
import { expect, test } from "vitest"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, said, says } from "../double/scripts.ts"
import { childrenIn, idsIn, withoutId } from "../double/subagents.ts"
import { ask, message as tell } from "../../src/agents/messageTools.ts"
import { subagent } from "../../src/agents/subagentTool.ts"
import type { Script } from "../../src/adapter/Fake.ts"
import type { Request } from "../../src/model/Request.ts"
import { memory } from "../../src/store/Store.ts"
import { askUser } from "../../src/values/HandlerResult.ts"
import { tool } from "../../src/tool/functionTool.ts"
import { livingChatsOf } from "../../src/troupe/chatDirectory.ts"
import type { ChatRef } from "../../src/troupe/ChatRef.ts"
import type { TroupeOptions } from "../../src/troupe/troupeOptions.ts"

const check = leakCheck()

/** What an agent does: a line such as `tell parent: found`, or a text that it answers. `%` is the id of the first result. */
const doing = (messages: Request["messages"], line: string): Script => {
  const [, verb = "", to = "", words = ""] = /^(tell|ask|call|later|slow|which) ?([^:]*):? ?(.*)$/u.exec(line) ?? []
  const named = to.replace("%", idsIn({ messages })[0] ?? "none")
  if (verb === "") return says(line)
  if (verb === "slow" || verb === "which") return calls(verb)
  if (verb === "tell" || verb === "ask") return calls([verb, { to: named, message: words }])
  return calls([verb === "call" ? "research" : "later", { input: words, ...(named !== "" && { agent: named }) }])
}

/** Whether a message woke an agent that rested. */
const isWoken = ({ metadata }: Request["messages"][number]): boolean => metadata?.["call"] !== undefined

/** Does the lines of its last input, one after another, and answers with the results. */
const doingLines =
  (between: string) =>
  ({ messages }: Request): Script => {
    const isInput = (message: Request["messages"][number]) =>
      message.role === "user" && (message.writer === undefined || isWoken(message))
    const at = messages.findLastIndex(isInput)
    const lines = said(messages[at])
      .replace(/^.* (asks|says):\n/u, "")
      .split(between)
    const done = messages.slice(at + 1)
    const results = done.filter(({ role }) => role === "tool").map(withoutId)
    const told = done.filter(({ role }) => role === "user").map((message) => said(message))
    const next = lines[results.length]
    return next === undefined || (results.length > 0 && !/^(tell|ask|call|later|slow|which)/u.test(next))
      ? says([...results, ...told, ...(next === undefined ? [] : [next])].join(" | "))
      : doing(messages, next)
  }

const working = doingLines("; ")

/** Agents that work on lines; `slow` ends when the test says so. */
const start = async (changed: Partial<TroupeOptions> = {}) => {
  const release = Promise.withResolvers<string>()
  const slow = tool({
    name: "slow",
    effect: "read",
    execute: (_, { signal }) => {
      signal.addEventListener("abort", () => release.reject(signal.reason))
      return release.promise
    }
  })
  const messages = [tell({ to: ["parent", "children", "siblings"] }), ask({ to: ["parent", "children", "siblings"] })]
  const tools = [...messages, subagent("research"), subagent("research", { name: "later", background: true })]
  const research = check.fake({ respond: doingLines(" && ") })
  const store = memory()
  const { troupe } = await check.troupe({
    adapter: check.fake({ respond: working }),
    tools,
    agents: { research: { adapter: research, tools: [slow, ...tools] } },
    store,
    ...changed
  })
  return { troupe, store, research, release }
}

const answerTo = async (chat: ChatRef, input: string) => (await chat.send(input).result()).finalResponse?.outputText

const threadOf = async (store: Awaited<ReturnType<typeof start>>["store"], id: string) =>
  (await store.load(id))?.thread.messages.map(said) ?? []

test("TELL1 a message to an agent that works joins its turn, and its receipt is the result of the call", async () => {
  const { troupe, store, research, release } = await start()
  const chat = await troupe.chat("c")
  await answerTo(chat, "call: dig")
  await answerTo(chat, "later %: slow")
  await until(() => research.requests.length === 2)
  expect(await answerTo(chat, "tell %: look left")).toContain('{"receipt":"pending"')
  release.resolve("seen")
  const [child = ""] = await childrenIn(store)
  await until(() => research.requests.length === 3)
  await until(() => chat.thread.messages.some((message) => said(message).includes("has ended: done")))
  const thread = await threadOf(store, child)
  expect(thread.filter((line) => line.includes("look left") && !line.includes("|"))).toEqual([
    "The agent that called you (parent) says:\nlook left"
  ])
  expect(thread.at(-1)).toContain("look left")
})

test("TELL6 a message wakes an agent that rests, which works as a task of the chat that called it", async () => {
  const { troupe, store } = await start()
  const chat = await troupe.chat("c")
  await answerTo(chat, "call: dig")
  expect(await answerTo(chat, "tell %: look left")).toMatch(/^\{"receipt":"pending","to":"research-/u)
  const [child = ""] = await childrenIn(store)
  await until(() => chat.thread.messages.some((message) => said(message).includes("has ended: done")))
  const end = chat.thread.messages.map(said).find((line) => line.includes("has ended: done")) ?? ""
  expect(end).toMatch(/^The background task \w+ \(research\) has ended: done\.\nlook left/u)
  expect(await threadOf(store, child)).toEqual([
    "dig",
    "dig",
    "The agent that called you (parent) says:\nlook left",
    "look left"
  ])
  expect(await chat.tasks()).toEqual([])
})

test("TELL6 a message of a sister wakes an agent, and the next program ends the work", async () => {
  const store = memory()
  const { troupe, research } = await start({ store })
  const chat = await troupe.chat("c")
  await answerTo(chat, "call: dig")
  const [first = ""] = idsIn(chat.thread)
  await answerTo(chat, `call: tell ${first}: slow`)
  const child = (await childrenIn(store)).find((id) => id.includes(first)) ?? ""
  await until(() => research.requests.some(({ messages }) => said(messages.at(-1)).endsWith("says:\nslow")))
  expect((await chat.tasks())[0]).toMatchObject({ tool: "research", status: "running" })
  await troupe.stop()
  const second = await start({ store })
  second.release.resolve("seen")
  const next = await second.troupe.chat("c")
  await until(() => next.thread.messages.some((message) => said(message).includes("has ended: done")))
  const thread = await threadOf(store, child)
  expect(thread.filter((line) => line.endsWith("says:\nslow"))).toHaveLength(1)
})

test("TELL2 without a place for a task a message to an agent that rests waits in the store, and the agent reads it before its next input", async () => {
  const { troupe, store, release } = await start({ maxTasks: 1 })
  const chat = await troupe.chat("c")
  await answerTo(chat, "call: dig")
  await answerTo(chat, "later: slow")
  expect(await answerTo(chat, "tell %: look left")).toMatch(/^\{"receipt":"pending","to":"research-/u)
  const [id = ""] = idsIn(chat.thread)
  const child = (await childrenIn(store)).find((one) => one.includes(id)) ?? ""
  expect((await store.load(child))?.inbox?.map(({ message }) => said(message))).toEqual([
    "The agent that called you (parent) says:\nlook left"
  ])
  expect(await answerTo(chat, "call %: down")).toBe("down")
  const thread = await threadOf(store, child)
  expect(thread.filter((line) => line.endsWith("says:\nlook left"))).toHaveLength(1)
  expect((await store.load(child))?.inbox ?? []).toEqual([])
  release.resolve("seen")
})

test("TELL2 a message that no agent can get is refused with the reason, and so is one that the tool does not permit", async () => {
  const { troupe, store } = await start({ tools: [tell(), subagent("research")] })
  const chat = await troupe.chat("c")
  expect(await answerTo(chat, "tell parent: hello")).toContain(
    '"receipt":"refused","to":"parent","reason":"unknown_agent"'
  )
  expect(await answerTo(chat, "tell nobody: hello")).toContain("there is no agent nobody; this chat knows none")
  await answerTo(chat, "call: dig")
  const [child = ""] = await childrenIn(store)
  await store.delete(child)
  expect(await answerTo(chat, "tell %: hello")).toContain('"reason":"deleted"')
  const strict = await start({ tools: [tell({ to: ["parent"] }), subagent("research")] })
  const other = await strict.troupe.chat("c")
  await answerTo(other, "call: dig")
  expect(await answerTo(other, "tell research: hello")).toContain('"reason":"not_allowed"')
})

test("TELL2 no more tells wait for an agent than inputs may wait for a chat", async () => {
  const { troupe, release } = await start({ maxWaitingInputs: 2, maxTasks: 1 })
  const chat = await troupe.chat("c")
  await answerTo(chat, "call: dig")
  await answerTo(chat, "later: slow")
  await answerTo(chat, "tell %: a; tell %: b")
  expect(await answerTo(chat, "tell %: c")).toContain('"reason":"inbox_full"')
  release.resolve("seen")
})

test("TELL3 a message of an agent in the background starts a turn of its parent", async () => {
  const { troupe } = await start()
  const chat = await troupe.chat("c")
  await answerTo(chat, "later: tell parent: half done")
  const told = () => chat.thread.messages.filter((one) => one.role === "user" && said(one).endsWith("says:\nhalf done"))
  await until(() => chat.thread.messages.some((message) => said(message).includes("has ended: done")))
  expect(told().map(said)).toEqual([expect.stringMatching(/^The agent research-\w{8} says:\nhalf done$/u)])
})

test("TELL3 a message answers no question that a person was asked", async () => {
  const which = tool({ name: "which", effect: "read", execute: () => askUser("Which one?") })
  const messages = [tell(), subagent("research", { name: "later", background: true })]
  const { troupe, release } = await start({ tools: [...messages, which] })
  const chat = await troupe.chat("c")
  await answerTo(chat, "later: slow && tell parent: half done")
  await chat.send("which").result()
  release.resolve("seen")
  await until(() => (chat.getSnapshot()?.context.inbox.length ?? 0) === 2)
  expect(chat.getSnapshot()?.context.pendingQuestion?.question).toBe("Which one?")
  await chat.send("the blue one").result()
  await until(() => chat.thread.messages.some((message) => said(message).includes("has ended: done")))
  const users = chat.thread.messages.flatMap((one) => (one.role === "user" ? [said(one)] : [])).slice(1)
  expect(users).toEqual([
    "which",
    "the blue one",
    expect.stringContaining("says:\nhalf done"),
    expect.stringContaining("done")
  ])
})

test("TELL3 an agent in the background asks a person while a message waits for it, and its task ends after the turn of that message", async () => {
  const asked = Promise.withResolvers<string>()
  const which = tool({ name: "which", effect: "read", execute: async () => askUser(await asked.promise) })
  const messages = [tell({ to: ["parent", "children", "siblings"] }), subagent("research")]
  const research = check.fake({ respond: doingLines(" && ") })
  const { troupe, store } = await start({
    tools: [...messages, subagent("research", { name: "later", background: true })],
    agents: { research: { adapter: research, tools: [which] } }
  })
  const chat = await troupe.chat("c")
  await answerTo(chat, "call: dig")
  await answerTo(chat, "later %: which")
  await until(() => research.requests.length === 2)
  expect(await answerTo(chat, "tell %: look left")).toContain('{"receipt":"pending"')
  asked.resolve("Which one?")
  const waits = () => chat.getSnapshot()?.context.pendingApprovals ?? []
  await until(() => waits().length === 1)
  const [child = ""] = await childrenIn(store)
  expect(await answerTo(chat, "tell %: look right")).toContain('{"receipt":"pending"')
  expect((await store.load(child))?.inbox).toHaveLength(2)
  await chat.approve(waits()[0]?.toolCall.id ?? "", { type: "result", value: "the blue one" }).result()
  await until(() => chat.thread.messages.some((message) => said(message).includes("has ended: done")))
  const { running, inbox = [] } = (await store.load(child)) ?? {}
  expect({ running, inbox }).toEqual({ running: false, inbox: [] })
  expect((await threadOf(store, child)).slice(-5)).toEqual([
    "the blue one",
    expect.stringContaining("says:\nlook left"),
    "the blue one",
    expect.stringContaining("says:\nlook right"),
    "look right"
  ])
})

test("SUB18 a call of an agent that asks a person about an earlier message waits for that answer, and has its own answer then", async () => {
  const which = tool({ name: "which", effect: "read", execute: () => askUser("Which one?") })
  const research = check.fake({
    respond: ({ messages }) => {
      const last = messages.at(-1)
      return last?.role === "user" && said(last).endsWith("says:\nwhich") ? calls("which") : says(said(last))
    }
  })
  const held = Promise.withResolvers<string>()
  const hold = tool({ name: "slow", background: true, effect: "read", execute: () => held.promise })
  const { troupe, store } = await start({
    tools: [tell(), subagent("research"), hold],
    agents: { research: { adapter: research, tools: [which] } },
    maxTasks: 1
  })
  const chat = await troupe.chat("c")
  await answerTo(chat, "slow")
  await answerTo(chat, "call: dig")
  await answerTo(chat, "tell %: which")
  const { haltedReason, pendingApprovals = [] } = await chat.send("call %: down").result()
  expect([haltedReason, pendingApprovals.map(({ reason }) => reason)]).toEqual(["awaiting_approval", ["Which one?"]])
  const decision = { type: "result", value: "the blue one" } as const
  const { finalResponse } = await chat.approve(pendingApprovals[0]?.toolCall.id ?? "", decision).result()
  expect(finalResponse?.outputText).toBe("down")
  const [child = ""] = await childrenIn(store)
  expect((await threadOf(store, child)).slice(-4)).toEqual(["the blue one", "the blue one", "down", "down"])
  held.resolve("done")
})

test("TELL1 a message whose program ended before its receipt is one message when the call runs again", async () => {
  const kept = memory()
  const first = await start({ store: kept })
  await answerTo(await first.troupe.chat("c"), "call: dig")
  const [child = ""] = await childrenIn(kept)
  await first.troupe.stop()
  const written = Promise.withResolvers<void>()
  const cut = {
    ...kept,
    accept: async (...args: Parameters<typeof kept.accept>) => {
      const accepted = await kept.accept(...args)
      if (args[0] !== child) return accepted
      written.resolve()
      return new Promise<typeof accepted>(() => {})
    }
  }
  const second = await start({ store: cut })
  const turn = (await second.troupe.chat("c")).send("tell %: look left").result()
  turn.catch(() => {})
  await written.promise
  await second.troupe.stop()
  const third = await start({ store: kept })
  const chat = await third.troupe.chat("c")
  expect((await chat.retry().result()).finalResponse?.outputText).toContain('"receipt":"pending"')
  await until(() => chat.thread.messages.some((message) => said(message).includes("has ended: done")))
  expect((await threadOf(kept, child)).filter((line) => line.endsWith("says:\nlook left"))).toHaveLength(1)
})

test("ASK1 an agent asks another one beside it, and the answer is the result of the call", async () => {
  const { troupe } = await start()
  const chat = await troupe.chat("c")
  await answerTo(chat, "call: dig")
  const [first = ""] = idsIn(chat.thread)
  expect(await answerTo(chat, `call: ask ${first}: how deep`)).toBe("how deep")
  expect(await answerTo(chat, "ask %: how wide")).toBe("how wide")
})

test("ASK1 an agent in the background asks its parent, whose reply is the answer", async () => {
  const { troupe } = await start()
  const chat = await troupe.chat("c")
  await answerTo(chat, "later: ask parent: which one")
  await until(() => chat.thread.messages.some((message) => said(message).includes("has ended: done")))
  const end = chat.thread.messages.map(said).find((line) => line.includes("has ended: done")) ?? ""
  expect(end).toMatch(/has ended: done\.\n.*asks:\nwhich one/su)
})

test("ASK1 a question whose turn was interrupted is answered when its call runs again, and is in the thread once", async () => {
  let requests = 0
  const respond = (request: Request): Script => {
    const asks = said(request.messages.at(-1)).includes(" asks:\n")
    return asks && ++requests === 1 ? [{ text: "I think" }, { hang: true }] : working(request)
  }
  const { troupe } = await start({ adapter: check.fake({ respond }) })
  const chat = await troupe.chat("c")
  await answerTo(chat, "later: ask parent: which one")
  await until(() => chat.getSnapshot()?.context.partial?.text === "I think")
  const chats = Array.from(livingChatsOf(troupe).values(), (living) => living.chat.pid)
  for (const pid of chats) if (pid !== undefined) Process.kill(pid)
  await until(() => chat.thread.messages.some((message) => said(message).includes("has ended: ")))
  const end = chat.thread.messages.map(said).find((line) => line.includes("has ended: ")) ?? ""
  expect(end).toMatch(/has ended: done\.\n.*asks:\nwhich one/su)
  const asked = chat.thread.messages.filter(({ metadata }) => metadata?.["from"] !== undefined)
  expect(asked).toHaveLength(1)
})

test("ASK1 a question whose turn waits for a person is answered when the person has decided", async () => {
  const pay = tool({ name: "pay", execute: () => "paid" })
  const respond = (request: Request): Script => {
    const last = said(request.messages.at(-1))
    return last.includes(" asks:\n") ? calls("pay") : last === "paid" ? says("the first") : working(request)
  }
  const { troupe } = await start({
    adapter: check.fake({ respond }),
    tools: [pay, subagent("research", { name: "later", background: true })],
    permissions: { ask: ({ toolCall }) => (toolCall.name === "pay" ? "suspend" : "allow") }
  })
  const chat = await troupe.chat("c")
  await answerTo(chat, "later: ask parent: which one")
  await until(() => chat.getSnapshot()?.context.pendingApprovals.length === 1)
  const [wait] = chat.getSnapshot()?.context.pendingApprovals ?? []
  await chat.approve(wait?.toolCall.id ?? "", { type: "allow" }).result()
  await until(() => chat.thread.messages.some((message) => said(message).includes("has ended: ")))
  const end = chat.thread.messages.map(said).find((line) => line.includes("has ended: ")) ?? ""
  expect(end).toMatch(/has ended: done\.\nthe first/u)
})

test("ASK2 a question to an agent that waits for the one that asks is refused at once, and the error names the cycle", async () => {
  const { troupe } = await start()
  const chat = await troupe.chat("c")
  const answer = await answerTo(chat, "call: ask parent: which one")
  expect(answer).toMatch(/child_refused: these agents would wait for each other: (research-\w+) → the first chat → \1/u)
})

test("TELL5 without a chat of a Troupe with agents a message fails with not_found", async () => {
  const { troupe } = await check.troupe({ adapter: check.fake({ respond: working }), tools: [tell()] })
  const chat = await troupe.chat("c")
  expect(await answerTo(chat, "tell parent: hello")).toContain("not_found")
  expect(() => tell({ whenBusy: "now" as never })).toThrow("whenBusy")
})
