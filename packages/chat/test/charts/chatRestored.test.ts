/** A chat's chart from a stored snapshot at every point of its turns, in a process and under a bare actor. */
import { Process, StateMachine, type System } from "@troupe/otp"
import { expect, test, vi } from "vitest"
import { Actor, type ActorRefFrom, createActor, type Snapshot } from "xstate"
import { askUser } from "../../src/values/HandlerResult.ts"
import { ChatEnv } from "../../src/loop/chatEnv.ts"
import type { ChatContext, ChatEvent } from "../../src/loop/chatContext.ts"
import { chatMachine } from "../../src/loop/ChatMachine.ts"
import type { ChatOptions } from "../../src/options/ChatOptions.ts"
import { Outlet } from "../../src/events/outlet.ts"
import { pendingApprovalsOf } from "../../src/step/openCalls.ts"
import type { Script } from "../../src/adapter/Fake.ts"
import { user } from "../../src/model/Message.ts"
import { hop } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, echo, handling, says } from "../double/scripts.ts"
import { engineParts } from "../double/stepping.ts"

const check = leakCheck()

/** A conversation, which depends on nothing but the thread: whichever program goes on has the same to say. */
interface Talk {
  readonly name: string
  readonly replies: (messages: number) => Script
  readonly options?: ChatOptions
  /** Whether the turn is cancelled in its step with this many messages. */
  readonly cancelsAt?: number
}

const ask = handling("ask", () => askUser("which?"))

const talks: ReadonlyArray<Talk> = [
  { name: "tools", replies: (messages) => (messages < 3 ? calls(["echo", { x: 1 }], "echo") : says("done")) },
  { name: "a question", replies: (messages) => (messages < 3 ? calls("ask") : says("done")) },
  {
    name: "an approval",
    replies: (messages) => (messages < 3 ? calls("echo") : says("done")),
    options: { permissions: { ask: () => ({ type: "suspend" }) } }
  },
  {
    name: "hooks and two passes",
    replies: () => says("done"),
    options: { structuredFinalize: true, hooks: { Stop: [() => undefined], PreIteration: [() => undefined] } }
  },
  { name: "a cancel", replies: (messages) => (messages < 3 ? calls("echo") : [{ hang: true }]), cancelsAt: 3 }
]

/** The live things of a program, and the records it kept. */
const living = ({ replies, options = {} }: Talk, clock?: System.System["clock"]) => {
  const parts = {
    adapter: check.fake({ respond: ({ messages }) => replies(messages.length) }),
    tools: [echo, ask],
    options
  }
  const { engine, options: resolved } = engineParts(parts)
  const turn = () => {
    const outlet = new Outlet()
    outlet.drive(() => {})
    return { messages: [], options: resolved, outlet }
  }
  return new ChatEnv({ engine, clock, turn, commit: async () => Promise.resolve() })
}

interface Chat {
  readonly state: () => { readonly value: unknown; readonly context: ChatContext }
  readonly send: (event: ChatEvent) => void
  readonly wait: () => Promise<void>
}

const start = (messages: ReadonlyArray<string>, more: object = {}): ChatEvent => ({
  type: "turn.start",
  turn: { messages: messages.map((text) => user(text)), ...more }
})

/** Says what there is to say until the chat is idle with two turns of its own behind it. */
const talkThrough = async ({ cancelsAt }: Talk, { state, send, wait }: Chat): Promise<unknown> => {
  for (let rounds = 0; rounds < 400; rounds++) {
    const { value, context } = state()
    const said = context.record.thread.messages.filter(({ role }) => role === "user").length
    const isStepping = JSON.stringify(value) === '{"running":"phaseA"}'
    if (isStepping && context.record.thread.messages.length === cancelsAt) send({ type: "turn.cancel" })
    else if (value === "awaitingUser") send(start(["blue"]))
    else if (value === "awaitingApproval") {
      const decisions = pendingApprovalsOf(context.record.thread, context.record.open).map(({ toolCall }) => ({
        toolCallId: toolCall.id,
        decision: { type: "allow" as const }
      }))
      send(start([], { decisions }))
    } else if (value === "idle") {
      if (said > 0 && context.record.lastHaltedReason !== undefined) {
        return { thread: context.record.thread, halted: context.record.lastHaltedReason, usage: context.record.usage }
      }
      send(start(["hi"]))
    }
    await wait()
  }
  throw new Error(`the chat did not come to rest: ${JSON.stringify(state().value)}`)
}

const stored = (snapshot: Snapshot<unknown>): Snapshot<unknown> =>
  JSON.parse(JSON.stringify(snapshot)) as Snapshot<unknown>

const hosted = (talk: Talk, from?: Snapshot<unknown>) => {
  const { system, clock } = check.system()
  const points: Array<Snapshot<unknown>> = []
  const env = living(talk, system.clock)
  const options = from === undefined ? { input: { id: "c" }, env } : { snapshot: from, env }
  const pid = StateMachine.start(system, chatMachine, options)
  StateMachine.watch(pid, ({ status }) => {
    if (status === "active") points.push(stored(StateMachine.persisted(pid)))
  })
  const chat: Chat = {
    state: () => StateMachine.snapshot(pid),
    send: (event) => Process.send(pid, event),
    wait: () => clock.advance(0)
  }
  return { chat, points, end: () => Process.kill(pid) }
}

/** Whether an actor has ended, and XState has not yet said so to its parent: a restored actor does not say it again. */
const hasEnded = (snapshot: Snapshot<unknown>): boolean => {
  const { children = {} } = snapshot as Snapshot<unknown> & {
    readonly children?: Readonly<Record<string, { readonly snapshot: Snapshot<unknown> }>>
  }
  return Object.values(children).some(({ snapshot: child }) => child.status !== "active" || hasEnded(child))
}

const bare = (talk: Talk, from?: Snapshot<unknown>) => {
  const points: Array<Snapshot<unknown>> = []
  const machine = StateMachine.bind(chatMachine, living(talk))
  const actor: ActorRefFrom<typeof chatMachine> & { readonly start: () => unknown; readonly stop: () => unknown } =
    from === undefined
      ? createActor(machine, { input: { id: "c" } })
      : createActor(machine, { snapshot: from, input: { id: "c" } })
  actor.subscribe(({ status }) => {
    const point = actor.getPersistedSnapshot()
    if (status === "active" && !hasEnded(point)) points.push(stored(point))
  })
  actor.start()
  const chat: Chat = { state: () => actor.getSnapshot(), send: (event) => actor.send(event), wait: hop }
  return { chat, points, end: () => actor.stop() }
}

const runs = [
  ["in a process", hosted],
  ["under a bare actor", bare]
] as const

test.each(runs.flatMap(([where, run]) => talks.map((talk) => [talk.name, where, talk, run] as const)))(
  "a chat with %s %s continues from every stored snapshot to the same end",
  { timeout: 60_000 },
  async (_name, _where, talk, run) => {
    const first = run(talk)
    const end = await talkThrough(talk, first.chat)
    first.end()
    const points = [...new Map(first.points.map((point) => [JSON.stringify(point), point])).values()]
    expect(points.length).toBeGreaterThan(5)
    for (const point of points) {
      const next = run(talk, point)
      expect(await talkThrough(talk, next.chat)).toEqual(end)
      next.end()
    }
  }
)

test("a chat that is inspected runs under XState in its process, to the same end", async () => {
  const [talk] = talks
  if (talk === undefined) throw new Error("there is no conversation")
  const plain = hosted(talk)
  const end = await talkThrough(talk, plain.chat)
  plain.end()
  const { system, clock } = check.system()
  const seen = new Set<string>()
  const inspect = ({ type }: { readonly type: string }) => void seen.add(type)
  const pid = StateMachine.start(system, chatMachine, { input: { id: "c" }, env: living(talk, system.clock), inspect })
  const chat: Chat = {
    state: () => StateMachine.snapshot(pid),
    send: (event) => Process.send(pid, event),
    wait: () => clock.advance(0)
  }
  expect(await talkThrough(talk, chat)).toEqual(end)
  expect(seen).toContain("@xstate.snapshot")
  Process.kill(pid)
})

test("a chat in a process creates no XState actor, and its context is plain data", async () => {
  const started = vi.spyOn(Actor.prototype, "start")
  const [talk] = talks
  if (talk === undefined) throw new Error("there is no conversation")
  const { chat, end } = hosted(talk)
  await talkThrough(talk, chat)
  const { context } = chat.state()
  end()
  const count = started.mock.calls.length
  started.mockRestore()
  expect(count).toBe(0)
  expect(structuredClone(context)).toEqual(JSON.parse(JSON.stringify(context)))
})
