import { describe, expect, it, test } from "@effect/vitest"
import { Arbitrary } from "effect"
import { ToolError } from "../../src/errors/ChatError.ts"
import type { ChatSnapshot } from "../../src/view/liveView.ts"
import * as ChatView from "../../src/view/ChatView.ts"
import * as Fake from "../../src/adapter/Fake.ts"
import { ok } from "../../src/values/HandlerResult.ts"
import { assistant, user } from "../../src/model/Message.ts"
import { withObject } from "../../src/json/partialReply.ts"
import { Troupe } from "../../src/troupe/Troupe.ts"
import { anything, choice, count, dateOf, fields, type Gen, list, oneOf, text } from "../double/arbitrary.ts"
import { calls, handling, says } from "../double/scripts.ts"
import { values } from "../double/values.ts"
import { runsOf } from "../../../../tooling/verify/volume.ts"

const maybe = <A>(some: Gen<A>): Gen<A | undefined> => choice<A | undefined>(some, oneOf(undefined))

const question = Arbitrary.map(Arbitrary.all([text, anything]), ([said, hint]) => ({
  question: said,
  toolCallId: "c1",
  options: { hint }
}))

const approval = fields({ toolCall: values.ToolCall, kind: oneOf("permission"), reason: text, askedAt: count })

/** The child of a call, and the child of one of its calls. */
const child = Arbitrary.map(Arbitrary.all([text, text, maybe(text)]), ([said, thought, below]) => ({
  chat: "c/~/1",
  agent: "research",
  text: said,
  ...(thought === "" ? {} : { reasoning: thought }),
  toolCalls:
    below === undefined
      ? []
      : [
          {
            id: "c1",
            name: "dig",
            status: "running",
            child: { chat: "c/~/2", agent: "dig", text: below, toolCalls: [] }
          }
        ]
}))

const bare = Arbitrary.map(Arbitrary.all([text, anything, maybe(count)]), ([id, progress, startedAt]) => ({
  id,
  name: "t",
  status: "running",
  queuedAt: 1,
  startedAt,
  endedAt: undefined,
  outcome: undefined,
  progress,
  pid: startedAt === undefined ? undefined : { id: 7, label: "t", toString: () => "<0.7.0>" }
}))

const toolCall = Arbitrary.map(Arbitrary.all([bare, maybe(child)]), ([call, found]) =>
  found === undefined ? call : { ...call, child: found }
)

const task = Arbitrary.map(Arbitrary.all([text, anything]), ([id, progress]) => ({
  id,
  toolCallId: "c0",
  tool: "t",
  startedAt: 1,
  status: "running",
  progress
}))

const partialOf = (written: string, isJson: boolean, thought: string) => {
  const reply = { text: written, ...(thought === "" ? {} : { reasoning: thought }) }
  return isJson ? withObject(undefined, reply) : reply
}

/** What a view is made of. */
const context = Arbitrary.map(
  Arbitrary.all({
    messages: list(values.Message, 5),
    written: text,
    thought: text,
    isJson: oneOf(true, false),
    toolCalls: list(toolCall),
    tasks: list(task),
    pendingQuestion: maybe(question),
    pendingApprovals: list(approval),
    pendingToolCalls: list(values.ToolCall),
    inbox: list(Arbitrary.map(text, (said) => ({ id: said, whenBusy: "queue", message: user(said) }))),
    usage: values.Usage,
    status: oneOf("idle", "running", "awaiting_user"),
    phase: oneOf("idle", "streaming", "awaitingUser"),
    permissionMode: oneOf("default", "plan"),
    lastHaltedReason: oneOf("completed", "error", undefined),
    result: choice<unknown>(
      oneOf(undefined),
      Arbitrary.map(anything, (error) => ({ metadata: { error } }))
    )
  }),
  ({ messages, written, thought, isJson, ...rest }) => ({
    ...rest,
    thread: { messages },
    partial: partialOf(
      isJson ? JSON.stringify({ written }).slice(0, -1 - (written.length % 3)) : written,
      isJson,
      thought
    )
  })
)

const snapshots = Arbitrary.map(context, (made) => ({ context: made }) as unknown as ChatSnapshot)
const views = Arbitrary.map(snapshots, (made) => ChatView.of("c1", made))

/** A view, and one that comes after it: another, or one where some of it changed. */
const pairs = Arbitrary.map(
  Arbitrary.all([views, views, oneOf("other", "grown", "same")]),
  ([before, other, how]): readonly [ChatView.ChatView, ChatView.ChatView] => {
    if (how === "other") return [before, other]
    if (how === "same") return [before, structuredClone(before)]
    const messages = [...before.messages, ...other.messages]
    const { reasoning = "", text: said, object } = before.partial
    const partial = partialOf(
      said + other.partial.text,
      object !== undefined,
      reasoning + (other.partial.reasoning ?? "")
    )
    const toolCalls = before.toolCalls.map((call) =>
      call.child === undefined ? call : { ...call, child: { ...call.child, text: `${call.child.text}more` } }
    )
    return [before, { ...before, messages, partial, toolCalls }]
  }
)

const overWire = <A>(value: A): A => JSON.parse(JSON.stringify(value)) as A

const runs = runsOf(300)

it.prop(
  "SHOW1 the patch between two views leads from the first to the second, through JSON and without",
  { pair: pairs },
  ({ pair: [before, after] }) => {
    const change = ChatView.patch(before, after)
    expect(change === undefined ? before : ChatView.apply(before, change)).toEqual(after)
    expect(change === undefined ? before : ChatView.apply(before, overWire(change))).toEqual(after)
    const whole = ChatView.patch(undefined, after)
    expect(whole).toBeDefined()
    expect(ChatView.apply(undefined, overWire(whole ?? {}))).toEqual(after)
  },
  runs
)

it.prop(
  "SHOW2 there is no patch between equal views",
  { view: views },
  ({ view }) => {
    expect(ChatView.patch(view, view)).toBeUndefined()
    expect(ChatView.patch(view, structuredClone(view))).toBeUndefined()
    expect(ChatView.patch(view, overWire(view))).toBeUndefined()
  },
  runs
)

it.prop(
  "SHOW3 a view reads back from its JSON text as it is, whatever metadata, progress and errors hold",
  { view: views },
  ({ view }) => {
    expect(overWire(view)).toEqual(view)
  },
  runs
)

it.prop(
  "SHOW4 parts and messages that did not change are the same objects in the next view",
  { snapshot: snapshots, other: snapshots },
  ({ snapshot, other }) => {
    const before = ChatView.of("c1", snapshot)
    const again = { ...snapshot, context: equalContext(snapshot.context) } as ChatSnapshot
    expect(ChatView.of("c1", snapshot, before)).toBe(before)
    expect(ChatView.of("c1", again, before)).toBe(before)
    const streamed = { ...snapshot, context: { ...again.context, partial: { text: "new" } } }
    const after = ChatView.of("c1", streamed, before)
    expect(after).toEqual({ ...before, partial: { text: "new" } })
    for (const part of ["messages", "toolCalls", "approvals", "inbox", "usage", "question", "error"] as const) {
      expect(after[part]).toBe(before[part])
    }
    const replaced = ChatView.of("c1", other, before)
    const more = { ...other.context, thread: { messages: [...other.context.thread.messages, user("more")] } }
    const longer = ChatView.of("c1", { ...other, context: more }, replaced)
    for (const [index, message] of replaced.messages.entries()) expect(longer.messages[index]).toBe(message)
  },
  runs
)

/** Another object with equal parts: new lists, and messages that are equal. */
const equalContext = (given: ChatSnapshot["context"]): ChatSnapshot["context"] => ({
  ...given,
  thread: { messages: given.thread.messages.map((message) => ({ ...message })) },
  toolCalls: given.toolCalls.map((call) => ({ ...call })),
  tasks: given.tasks.map((one) => ({ ...one })),
  inbox: given.inbox.map((entry) => ({ ...entry })),
  usage: { ...given.usage }
})

describe("SHOW5 a patch is as large as what was added", () => {
  const base = ChatView.of("c1", undefined)
  const thread = Array.from({ length: 1_000 }, (_, index) => assistant(`line ${index}`))
  const before = { ...base, messages: thread, partial: { text: "x".repeat(100_000) } }

  test("to text that streams", () => {
    const after = { ...before, partial: { text: `${before.partial.text}yes` } }
    expect(ChatView.patch(before, after)).toEqual({ text: { kept: 100_000, added: "yes" } })
  })

  test("to the text of a child, SHOW6 without the calls", () => {
    const call = { id: "c0", name: "research", status: "running" as const, queuedAt: 1, startedAt: 1 }
    const ended = { endedAt: undefined, outcome: undefined, progress: undefined, process: "<0.7.0>" }
    const saying = (said: string) => {
      const below = { chat: "c/~/1", agent: "research", text: said, toolCalls: [] }
      return { ...base, toolCalls: [{ ...call, ...ended, child: below }] }
    }
    const said = "x".repeat(1_000)
    expect(ChatView.patch(saying(said), saying(`${said}yes`))).toEqual({
      children: [{ at: [0], text: { kept: 1_000, added: "yes" } }]
    })
  })

  test("to a thread", () => {
    const after = { ...before, messages: [...thread, user("more")] }
    expect(ChatView.patch(before, after)).toEqual({ messages: { kept: 1_000, added: [user("more")] } })
  })

  test("and messages that both have are not looked into", () => {
    const closed = new Proxy(user("closed"), {
      ownKeys: () => {
        throw new Error("looked into")
      }
    })
    const messages = [...thread, closed]
    const after = { ...before, messages: [...messages, user("more")] }
    expect(ChatView.patch({ ...before, messages }, after)).toEqual({
      messages: { kept: 1_001, added: [user("more")] }
    })
  })
})

/** A snapshot of a chat that said nothing, with these parts. */
const snapshotOf = (parts: Partial<Record<keyof ChatSnapshot["context"], unknown>>): ChatSnapshot =>
  ({
    context: {
      thread: { messages: [] },
      status: "idle",
      phase: "idle",
      partial: { text: "" },
      toolCalls: [],
      tasks: [],
      pendingApprovals: [],
      pendingToolCalls: [],
      inbox: [],
      usage: {},
      permissionMode: "default",
      ...parts
    }
  }) as unknown as ChatSnapshot

test("SHOW3 of an error its name, reason and message are shown, and neither stack nor cause", () => {
  const error = new ToolError("timeout", { toolName: "t", cause: new Error("secret"), metadata: { password: "x" } })
  expect(ChatView.of("c1", snapshotOf({ result: { metadata: { error } } })).error).toEqual({
    name: "ToolError",
    reason: "timeout",
    message: error.message
  })
})

test("SHOW3 what JSON has no word for is described", () => {
  const cycle: Record<string, unknown> = {}
  cycle["self"] = cycle
  const odd = {
    bytes: new Uint8Array(3),
    big: 2n ** 70n,
    at: dateOf(0),
    what: () => 1,
    never: Number.NaN,
    map: new Map(),
    gap: [undefined],
    error: new TypeError("bad"),
    cycle
  }
  const shown = {
    bytes: "[3 bytes]",
    big: "1180591620717411303424",
    at: "1970-01-01T00:00:00.000Z",
    what: "[function]",
    never: "NaN",
    map: "[not plain]",
    gap: [null],
    error: { name: "TypeError", message: "bad" },
    cycle: { self: "[circular]" }
  }
  const thrown = {
    get metadata() {
      throw new Error("no")
    }
  }
  const messages = [{ ...user("hi"), metadata: odd }, thrown]
  expect(ChatView.of("c1", snapshotOf({ thread: { messages } })).messages).toEqual([
    { ...user("hi"), metadata: shown },
    "[unreadable]"
  ])
})

test("SHOW4 what a handler goes on changing is shown as it was when it was said", () => {
  const progress = { done: 0 }
  const toolCalls = [{ id: "c1", name: "t", status: "running", progress }]
  const before = ChatView.of("c1", snapshotOf({ toolCalls }))
  progress.done = 1
  const after = ChatView.of("c1", snapshotOf({ toolCalls }), before)
  expect(before.toolCalls[0]?.progress).toEqual({ done: 0 })
  expect(ChatView.patch(before, after)?.rest?.toolCalls?.[0]?.progress).toEqual({ done: 1 })
})

test("a view of a chat shows what it said, its calls, what it waits for and what it failed with", async () => {
  const adapter = Fake.make({ scripts: [calls(["echo", { x: 1 }]), says("done"), [{ error: new Error("down") }]] })
  let during: ChatView.ChatView | undefined
  const looking = handling("echo", async (args) => {
    await new Promise<void>((resolve) => void setImmediate(resolve))
    during = ChatView.of("c1", chat.getSnapshot())
    return ok(args)
  })
  const troupe = await Troupe.start({ adapter, tools: [looking] })
  const chat = await troupe.chat("c1")
  let view = ChatView.of("c1", chat.getSnapshot())
  const patches: Array<ChatView.ChatViewPatch> = []
  const { unsubscribe } = chat.subscribe((snapshot) => {
    const next = ChatView.of("c1", snapshot, view)
    const change = ChatView.patch(view, next)
    if (change !== undefined) patches.push(overWire(change))
    view = next
  })
  const start = view
  await chat.send("hi").result()
  expect(view).toMatchObject({
    status: "completed",
    phase: "idle",
    haltedReason: "completed",
    partial: { text: "" },
    error: undefined
  })
  expect(view.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"])
  await chat.send("again").result()
  unsubscribe()
  expect(view.error).toMatchObject({ name: "AdapterError", message: "A scripted error" })
  expect(during).toMatchObject({
    status: "running",
    phase: "runningTools",
    toolCalls: [{ name: "echo", status: "running" }]
  })
  expect(during?.toolCalls[0]?.process).toMatch(/^<\d+\.\d+\.\d+>$/)
  expect(patches.reduce((before, change) => ChatView.apply(before, change), start)).toEqual(view)
  await troupe.stop()
})
