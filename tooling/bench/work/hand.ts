/**
 * Program A on turns that are written by hand: what a turn costs with the parts of this project, and without its options.
 *
 * One generator drives a turn. It owns the thread, the reply and the results, and only notifies the charts. The turn, each request
 * and each call have a chart and a process; each handler has a fiber and a deadline. A living chat also has a registered
 * process with a chart, a stored input, three entries of the log, and a channel to its reader.
 */
import { user } from "@troupe/chat"
import { type Message, Thread, type ToolCall } from "@troupe/chat/messages"
import { type Conversation, Store } from "@troupe/chat/store"
import { Channel, type Pid, Process, Registry, StateMachine, System } from "@troupe/otp"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import { setup } from "xstate"
import { answers, chats, type Pace, read, type TextEvent, together, wantsTools, work } from "./programA.ts"

const longestReply = 10_000_000
const deadlineMs = 30_000

/** A chart that follows events: the next state by state and event. It begins in its first state; a state without events is final. */
const chartOf = (id: string, states: Readonly<Record<string, Readonly<Record<string, string>>>>) =>
  StateMachine.hosted(
    setup({}).createMachine({
      id,
      initial: Object.keys(states)[0] ?? "",
      states: Object.fromEntries(
        Object.entries(states).map(([state, on]) => [state, Object.keys(on).length === 0 ? { type: "final" } : { on }])
      )
    })
  )

const charts = {
  chat: chartOf("chat", {
    idle: { "turn.began": "running" },
    running: { "commit.began": "committing", "turn.ended": "idle" },
    committing: { "commit.ended": "running" }
  }),
  turn: chartOf("turn", {
    phaseA: { "reply.read": "phaseC", "calls.wanted": "phaseB" },
    phaseB: { "calls.ended": "phaseC" },
    phaseC: { "step.ended": "phaseA", "turn.ended": "done" },
    done: {}
  }),
  request: chartOf("request", {
    opening: { "reply.began": "streaming", "reply.ended": "ended" },
    streaming: { "reply.ended": "ended" },
    ended: {}
  }),
  call: chartOf("call", { running: { "call.ended": "ended" }, ended: {} })
}

type Commit = (thread: Thread.Thread, isLast: boolean) => Promise<void>
type Notified = Pid<{ readonly type: string }>

const notify = (pid: Notified, type: string): void => Process.send(pid, { type })

/** Runs the handler of a call in a fiber, until its deadline. */
const runCall = (turn: Pid, { arguments: args }: ToolCall.ToolCall): Promise<Exit.Exit<unknown, unknown>> =>
  new Promise((resolve) => {
    const pid = StateMachine.startLink(turn, charts.call)
    const system = Process.systemOf(turn)
    const { id } = { ...args }
    const handling = Effect.promise(() => work(id))
    const fiber = System.runFork(system, handling)
    const timer = system.clock.setTimeout(() => fiber.interruptUnsafe(), deadlineMs)
    fiber.addObserver((exit) => {
      system.clock.clearTimeout(timer)
      notify(pid, "call.ended")
      resolve(exit)
    })
  })

/** Runs a turn; `commit` stores the thread after each step. */
async function* runTurn(turn: Notified, pace: Pace, begun: Thread.Thread, commit?: Commit) {
  let thread = begun
  const steps: Array<unknown> = []
  try {
    for (let isLast = false; !isLast;) {
      const request = StateMachine.startLink(turn, charts.request)
      const calls: Array<ToolCall.ToolCall> = []
      let text = ""
      for await (const event of thread.messages.at(-1)?.role === "tool" ? answers(pace) : wantsTools()) {
        if (event.type === "message_started") notify(request, "reply.began")
        else if (event.type === "text_delta") text += event.delta
        else if (event.type === "tool_call_completed") calls.push({ ...event })
        if (text.length > longestReply) throw new Error("the reply is too large")
        yield event
      }
      notify(request, "reply.ended")
      isLast = calls.length === 0
      notify(turn, isLast ? "reply.read" : "calls.wanted")
      const results: Array<Message.Message> = []
      const ends = calls.map((call) => runCall(turn, call))
      for (const [index, { id, name }] of calls.entries()) {
        const exit = await ends[index]
        const outcome = exit?._tag === "Success" ? "completed" : "failed"
        const result = exit?._tag === "Success" ? exit.value : exit?.cause
        const content = String(result)
        results.push({ role: "tool", toolCallId: id, content, outcome })
        yield { type: "tool_execution_started", id, name }
        yield { type: "tool_execution_completed", id, name, outcome, result }
        yield { type: "tool_result_encoded", id, content }
      }
      if (!isLast) notify(turn, "calls.ended")
      const message: Message.Message = { role: "assistant", content: text, ...(!isLast && { toolCalls: calls }) }
      thread = Thread.append(thread, message, ...results)
      const response = { message, outputText: text, toolCalls: calls, finishReason: isLast ? "stop" : "tool_calls" }
      steps.push({ response, thread, toolResults: results })
      await commit?.(thread, isLast)
      notify(turn, isLast ? "turn.ended" : "step.ended")
      yield { type: "step_completed", response, thread, mode: "auto", manualToolCalls: [] }
    }
    yield { type: "chat_completed", result: { thread, steps, haltedReason: "completed", pendingToolCalls: [] } }
  } finally {
    StateMachine.stop(turn)
  }
}

/** Program A in 1,000 turns by hand. */
export const handTurns = async (pace: Pace): Promise<void> => {
  const system = System.make()
  await together(chats, () => read(runTurn(StateMachine.start(system, charts.turn), pace, Thread.from([user("go")]))))
  await System.stop(system)
}

/** Begins a living chat, and returns the events of its turn. */
const send = async (registry: Registry.Registry, store: Store.SessionStore, pace: Pace, id: string) => {
  const chat = StateMachine.start(Process.systemOf(registry), charts.chat)
  Registry.register(registry, id, chat)
  const input = { id: `${id}:1`, whenBusy: "queue", message: user("go") } as const
  await store.accept(id, input)
  let record: Conversation | undefined
  const commit: Commit = async (thread, isLast) => {
    notify(chat, "commit.began")
    const messages = thread.messages.slice(record?.thread.messages.length)
    const entries: ReadonlyArray<Store.Entry> =
      record === undefined
        ? [{ type: "InputTaken", messages, inputs: [input.id] }]
        : [{ type: "Replied", messages }, ...(isLast ? [{ type: "TurnEnded", reason: "completed" } as const] : [])]
    const takes = record === undefined ? [input.id] : undefined
    record = await store.append(id, entries, { after: record?.version ?? 0, record, takes })
    notify(chat, "commit.ended")
  }
  const events = new Channel.Channel<TextEvent>()
  const drive = async (): Promise<void> => {
    notify(chat, "turn.began")
    const thread = Thread.from([input.message])
    await commit(thread, false)
    for await (const event of runTurn(StateMachine.startLink(chat, charts.turn), pace, thread, commit))
      events.push(event)
    notify(chat, "turn.ended")
    events.end()
  }
  drive().catch((error: unknown) => events.fail(error))
  return events
}

/** Program A in 1,000 living chats by hand. */
export const handLiving = async (pace: Pace): Promise<void> => {
  const system = System.make()
  const store = Store.memory()
  const registry = await Registry.start(system, { keys: "unique" })
  await together(chats, async (index) => read(await send(registry, store, pace, `chat-${index}`)))
  await System.stop(system)
}
