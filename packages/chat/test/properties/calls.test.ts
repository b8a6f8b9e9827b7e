import { expect, it } from "@effect/vitest"
import { Process } from "@troupe/otp"
import { Effect, Schema } from "effect"
import * as z from "zod"
import type { Event } from "../../src/events/Event.ts"
import { askUser, halt, type HandlerResult, ok } from "../../src/values/HandlerResult.ts"
import { mayHaveRun, type Outcome } from "../../src/model/Outcome.ts"
import { make } from "../../src/tool/Tool.ts"
import * as Zombies from "../../src/call/Zombies.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { processesOf } from "../double/processes.ts"
import { says } from "../double/scripts.ts"
import type { Handler } from "../../src/tool/toolContract.ts"
import { runsOf } from "../../../../tooling/verify/volume.ts"

const check = leakCheck()

/** What a handler can do, and how its call can end when nobody meddles with it. */
const kinds: Readonly<Record<string, { readonly handler: Handler; readonly alone: Outcome }>> = {
  fine: { handler: () => ok(1), alone: "completed" },
  slow: { handler: () => Effect.as(Effect.sleep(30), ok(2)), alone: "completed" },
  throwing: {
    handler: () => {
      throw new Error("thrown")
    },
    alone: "failed"
  },
  rejecting: { handler: () => Promise.reject(new Error("rejected")), alone: "failed" },
  deaf: { handler: () => new Promise(() => {}), alone: "timed_out" },
  aware: {
    handler: (_args, { signal }) =>
      new Promise((resolve) => signal.addEventListener("abort", () => resolve(ok("told")))),
    alone: "timed_out"
  },
  leaving: { handler: () => Process.exitSelf("gone"), alone: "failed" },
  halting: { handler: () => halt("enough", 3), alone: "completed" },
  asking: { handler: () => askUser("which?"), alone: "completed" },
  wrong: { handler: () => "no outcome" as unknown as HandlerResult, alone: "failed" },
  strict: { handler: () => ok(4), alone: "invalid" },
  missing: { handler: () => ok(5), alone: "not_found" }
}

const tools = Object.entries(kinds)
  .filter(([name]) => name !== "missing")
  .map(([name, { handler }]) =>
    make({ name, handler, onUnknown: "fail", parameters: z.object({ n: name === "strict" ? z.string() : z.number() }) })
  )

const Kind = Schema.Literals(Object.keys(kinds) as [string, ...Array<string>])
const Index = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4 }))
const Move = Schema.Struct({
  at: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 120 })),
  what: Schema.Literals(["cancel", "cancel all", "restart", "kill", "cancel turn"]),
  index: Index
})
const Batch = Schema.Struct({
  kinds: Schema.Array(Kind).check(Schema.isMinLength(1), Schema.isMaxLength(5)),
  moves: Schema.Array(Move).check(Schema.isMaxLength(4)),
  schedule: Schema.Literals(["concurrent", "effects", "reference"]),
  maxConcurrency: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 4 }))
})

const calledIn = ({ kinds: names }: typeof Batch.Type) =>
  names.map((name, index) => ({ toolCall: { id: `c${index}`, name, arguments: { n: index } } }))

const run = async (batch: typeof Batch.Type) => {
  const adapter = check.fake({ scripts: [[...calledIn(batch), { finish: "tool_calls" }], says("done"), says("done")] })
  const { schedule, maxConcurrency } = batch
  const { troupe, system, clock } = await check.troupe({
    adapter,
    tools,
    schedule,
    maxConcurrency,
    drainMs: 20,
    toolTimeoutMs: 50
  })
  const chat = await troupe.chat("c")
  const shown = new Map<string, Outcome>()
  chat.subscribe(({ context }) => {
    for (const { id, outcome } of context.toolCalls) if (outcome !== undefined) shown.set(id, outcome)
  })
  const turn = chat.send("go")
  const events: Array<Event> = []
  const reading = (async () => {
    for await (const event of turn) events.push(event)
  })()
  const begun = clock.now()
  const asked: Array<Promise<unknown>> = []
  for (const { at, what, index } of batch.moves.toSorted((one, other) => one.at - other.at)) {
    await clock.advance(Math.max(0, at - (clock.now() - begun)))
    const id = `c${index}`
    if (what === "cancel") asked.push(chat.cancelToolCall(id).catch(() => "not running"))
    if (what === "cancel all") asked.push(chat.cancelToolCalls())
    if (what === "restart") asked.push(chat.restartToolCall(id).catch(() => "not running"))
    if (what === "cancel turn") asked.push(chat.cancel())
    if (what === "kill")
      processesOf(system, "ToolCall")
        .slice(index, index + 1)
        .forEach((pid) => Process.kill(pid))
  }
  await clock.advance(1_000)
  await Promise.all([reading, ...asked])
  const { thread } = await turn.result()
  return { events, thread, shown, system, stop: () => troupe.stop() }
}

const laws = async (batch: typeof Batch.Type) => {
  const { events, thread, shown, system, stop } = await run(batch)
  const ids = batch.kinds.map((_, index) => `c${index}`)
  const messages = thread.messages.flatMap((message) => (message.role === "tool" ? [message] : []))
  expect(messages.map(({ toolCallId }) => toolCallId)).toEqual(ids)

  const completed = events.flatMap((event) => (event.type === "tool_execution_completed" ? [event] : []))
  expect(completed.map(({ id }) => id).toSorted()).toEqual(ids)
  const outcomes = new Map(completed.map(({ id, outcome }) => [id, outcome]))
  expect(messages.map(({ outcome }) => outcome)).toEqual(ids.map((id) => outcomes.get(id)))
  expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(outcomes))

  const first = events.findIndex(({ type }) => type === "tool_execution_started")
  const trios = events.slice(first, first + 3 * ids.length)
  trios.forEach((event, place) => {
    const of = "toolCallId" in event ? event.toolCallId : "id" in event ? event.id : undefined
    const { type } = event
    if (place % 3 === 0) expect(type).toBe("tool_execution_started")
    else if (place % 3 === 1) expect(type).toBe("tool_execution_completed")
    else expect(["tool_result_encoded", "tool_halt", "ask_user_requested"]).toContain(type)
    expect(of).toBe(completed[Math.floor(place / 3)]?.id)
  })

  if (batch.moves.length === 0) {
    batch.kinds.forEach((kind, index) => {
      const outcome = outcomes.get(`c${index}`) as Outcome
      if (outcome !== "not_started") expect(`${kind} ${outcome}`).toBe(`${kind} ${kinds[kind]?.alone}`)
      else expect(batch.schedule).not.toBe("concurrent")
    })
  }
  for (const { toolCallId, outcome } of messages) {
    const kind = batch.kinds[Number(toolCallId.slice(1))]
    if (kind === "strict" || kind === "missing") expect(outcome).not.toBe("completed")
    if (outcome === "invalid" || outcome === "not_found") expect(mayHaveRun(outcome)).toBe(false)
  }
  await stop()
  const { listed, late } = Zombies.counts(system)
  expect(late).toBe(0)
  expect(processesOf(system, "").length).toBeLessThanOrEqual(listed)
}

it.effect.prop(
  "CALL1 whatever becomes of a batch, each call has one outcome, the same in its events, the thread and the snapshot",
  { batch: Batch },
  ({ batch }) => Effect.promise(() => laws(batch)),
  { ...runsOf(300), timeout: 60_000 }
)
