import { expect, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as Chat from "../../src/loop/Chat.ts"
import * as Engine from "../../src/options/Engine.ts"
import type { Event } from "../../src/events/Event.ts"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { answersOf, optionsOf, Scenario, scriptsOf, tools } from "../double/scenario.ts"
import { hi, only, readAll, tagsOf } from "../double/scripts.ts"
import { runsOf } from "../../../../tooling/verify/volume.ts"

const check = leakCheck()

/** The same, but that its first request is refused at most once, and so begins. */
const beginning = ({ replies: [first, ...more], ...scenario }: Scenario): Scenario => {
  if (first === undefined) throw new Error("a scenario has replies")
  return {
    ...scenario,
    replies: [{ ...first, refusal: "timeout", refusals: Math.min(first.refusals, 1) as 0 | 1 }, ...more]
  }
}

const started = (scenario: Scenario, signal?: AbortSignal) => {
  const adapter = check.fake({ scripts: scriptsOf(beginning(scenario)) })
  const options = { ...optionsOf(scenario), ...(signal === undefined ? {} : { signal }) }
  return { adapter, stream: Chat.stream(Engine.make({ adapter, tools }), hi, options) }
}

/** Every call of the thread is answered once, or pending, and not both. */
const pairsUp = (events: ReadonlyArray<Event>): void => {
  const { result } = only(events, "chat_completed")
  const pending = new Set(result.pendingToolCalls.map(({ id }) => id))
  for (const [id, answers] of answersOf(result.thread.messages))
    expect(`${id} ${answers}`).toBe(`${id} ${pending.has(id) ? 0 : 1}`)
}

const isLast = (tag: Event["type"]): boolean =>
  tag === "tool_result_encoded" || tag === "ask_user_requested" || tag === "tool_halt"

const idOf = (event: Event): unknown =>
  "toolCallId" in event ? event.toolCallId : "id" in event ? event.id : undefined

/** The events of each step, without the end of the chat. */
const stepsOf = (events: ReadonlyArray<Event>): ReadonlyArray<ReadonlyArray<Event>> => {
  const steps: Array<ReadonlyArray<Event>> = []
  let step: Array<Event> = []
  for (const event of events) {
    step.push(event)
    if (event.type === "step_completed") {
      steps.push(step)
      step = []
    }
  }
  return steps
}

const inOrder = (events: ReadonlyArray<Event>): void => {
  const tags = tagsOf(events)
  expect(tags.filter((tag) => tag === "chat_completed")).toHaveLength(1)
  expect(tags.at(-1)).toBe("chat_completed")
  for (const step of stepsOf(events)) {
    const first = step.findIndex(({ type }) => type === "tool_execution_started")
    const adapterPart = first === -1 ? step.slice(0, -1) : step.slice(0, first)
    const toolPart = first === -1 ? [] : step.slice(first, -1)
    expect(tagsOf(adapterPart).some((tag) => tag.startsWith("tool_execution") || isLast(tag))).toBe(false)
    expect(toolPart.length % 3).toBe(0)
    for (let index = 0; index < toolPart.length; index += 3) {
      const trio = toolPart.slice(index, index + 3)
      expect(tagsOf(trio).slice(0, 2)).toEqual(["tool_execution_started", "tool_execution_completed"])
      expect(isLast(tagsOf(trio)[2] ?? "error")).toBe(true)
      expect(new Set(trio.map(idOf)).size).toBe(1)
    }
  }
}

const runs = runsOf(200)

it.effect.prop(
  "D4 every call of an assistant message has one tool message, or waits for the caller",
  { scenario: Scenario },
  ({ scenario }) => Effect.promise(async () => pairsUp(await readAll(await started(scenario).stream))),
  runs
)

it.effect.prop(
  "E1-E15 events come in their order: adapter, whole trios, one step_completed; one end",
  { scenario: Scenario },
  ({ scenario }) => Effect.promise(async () => inOrder(await readAll(await started(scenario).stream))),
  runs
)

it.effect.prop(
  "TERM1 a chat has at most maxTurns steps, and one more in two passes; each asks the model as often as it is refused",
  { scenario: Scenario },
  ({ scenario }) =>
    Effect.promise(async () => {
      const { adapter, stream } = started(scenario)
      const { result } = only(await readAll(await stream), "chat_completed")
      const most = scenario.maxTurns + (scenario.twoPasses ? 1 : 0)
      expect(result.steps.length).toBeLessThanOrEqual(most)
      expect(adapter.requests.length).toBeLessThanOrEqual(2 * most)
      expect(result.steps.length).toBeLessThanOrEqual(adapter.requests.length)
      expect(result.finalResponse).toBe(result.steps.at(-1)?.response)
    }),
  runs
)

const Place = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 40 }))

it.effect.prop(
  "STEP4 cancelled at whatever event, a chat ends once, in order, with every call answered or pending",
  { scenario: Scenario, place: Place },
  ({ scenario, place }) =>
    Effect.promise(async () => {
      const controller = new AbortController()
      const { adapter, stream } = started(scenario, controller.signal)
      const events: Array<Event> = []
      for await (const event of await stream) if (events.push(event) === place) controller.abort()
      inOrder(events)
      pairsUp(events)
      await until(() => adapter.open === 0)
    }),
  runs
)

it.effect.prop(
  "STREAM-R1 left at whatever event, a chat releases every request once",
  { scenario: Scenario, place: Place },
  ({ scenario, place }) =>
    Effect.promise(async () => {
      const { adapter, stream } = started(scenario)
      let read = 0
      for await (const _ of await stream) if (++read === place) break
      expect(adapter.open).toBe(0)
      expect(adapter.released).toBeLessThanOrEqual(adapter.requests.length)
    }),
  runs
)
