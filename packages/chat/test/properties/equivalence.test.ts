import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Chat from "../../src/loop/Chat.ts"
import { isPreflightError, type PreflightError } from "../../src/errors/ChatError.ts"
import * as Engine from "../../src/options/Engine.ts"
import type { Event } from "../../src/events/Event.ts"
import type { ToolMessage } from "../../src/model/messageShapes.ts"
import { StreamCollector } from "../../src/events/StreamCollector.ts"
import { comparable } from "../double/comparable.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { optionsOf, Scenario, scriptsOf, stepOptionsOf, tools } from "../double/scenario.ts"
import { hi, only, readAll, tagsOf } from "../double/scripts.ts"
import { runsOf } from "../../../../tooling/verify/volume.ts"

const check = leakCheck()

const engineOf = (scenario: Scenario) => Engine.make({ adapter: check.fake({ scripts: scriptsOf(scenario) }), tools })

const folded = (events: ReadonlyArray<Event>): StreamCollector => {
  const collector = new StreamCollector({ messages: hi })
  for (const event of events) collector.apply(event)
  return collector
}

const byCall = (messages: ReadonlyArray<ToolMessage> = []) =>
  messages.toSorted((left, right) => left.toolCallId.localeCompare(right.toolCallId))

/** What a call comes to: its result, or the typed error it rejects with. */
const settled = async <A>(call: () => Promise<A>): Promise<A | PreflightError> => {
  try {
    return await call()
  } catch (error) {
    if (isPreflightError(error)) return error
    throw error
  }
}

const runs = runsOf(250)

it.effect.prop(
  "121 `run` gives what the last event of `stream` gives, and what all its events fold to, in whatever order tools finish",
  { scenario: Scenario },
  ({ scenario }) =>
    Effect.promise(async () => {
      const run = await settled(() => Chat.run(engineOf(scenario), hi, optionsOf(scenario)))
      const events = await settled(async () => readAll(await Chat.stream(engineOf(scenario), hi, optionsOf(scenario))))
      if (isPreflightError(events)) return expect(comparable(run)).toEqual(comparable(events))
      const { result } = only(events, "chat_completed")
      expect(comparable(folded(events).toChatResult())).toEqual(comparable(result))
      expect(tagsOf(events).filter((tag) => tag === "step_completed")).toHaveLength(result.steps.length)
      if (isPreflightError(run)) expect(comparable(result.metadata["error"])).toEqual(comparable(run))
      else expect(comparable(run)).toEqual(comparable(result))
    }),
  runs
)

it.effect.prop(
  "89 `step` gives what the events of `streamStep` fold to, tool messages by their ids",
  { scenario: Scenario },
  ({ scenario }) =>
    Effect.promise(async () => {
      const options = stepOptionsOf(scenario)
      const step = await settled(() => Chat.step(engineOf(scenario), hi, options))
      const events = await settled(async () => readAll(await Chat.streamStep(engineOf(scenario), hi, options)))
      if (isPreflightError(events)) return expect(comparable(step)).toEqual(comparable(events))
      const completed = only(events, "step_completed")
      if (isPreflightError(step)) return expect(comparable(only(events, "error").error)).toEqual(comparable(step))
      const { response, thread, manualToolCalls } = completed
      expect(comparable(step)).toMatchObject(comparable({ response, thread, manualToolCalls }) as object)
      const fold = folded(events).steps[0]
      const { halt, toolResults, ...rest } = step
      expect(comparable({ ...fold, halt: undefined, toolResults: undefined })).toEqual(comparable(rest))
      expect(comparable(byCall(fold?.toolResults))).toEqual(comparable(byCall(toolResults)))
      expect(fold?.halt === undefined).toBe(halt === undefined)
    }),
  runs
)

it.effect.prop(
  "5 `generate` gives what the events of `streamGenerate` fold to, and the response of a step",
  { scenario: Scenario },
  ({ scenario }) =>
    Effect.promise(async () => {
      const options = stepOptionsOf(scenario)
      const response = await settled(() => Chat.generate(engineOf(scenario), hi, options))
      const events = await settled(async () => readAll(await Chat.streamGenerate(engineOf(scenario), hi, options)))
      const step = await settled(() => Chat.step(engineOf(scenario), hi, { ...options, mode: "manual" }))
      if (isPreflightError(events)) return expect(comparable([response, step])).toEqual(comparable([events, events]))
      expect(comparable(response)).toEqual(comparable(folded(events).toResponse("r")))
      if (!isPreflightError(step)) expect(comparable(step.response)).toEqual(comparable(response))
    }),
  runsOf(100)
)

it.effect.prop(
  "a living chat ends a turn as `run` does",
  { scenario: Scenario },
  ({ scenario }) =>
    Effect.promise(async () => {
      const { requestId: _, ...options } = optionsOf(scenario)
      const adapter = check.fake({ scripts: scriptsOf(scenario) })
      const { troupe, clock } = await check.troupe({ adapter, tools, ...options })
      const turn = (await troupe.chat("c")).send("hi")
      while (!turn.over) await clock.advance(0)
      const live = await turn.result()
      const run = await settled(() => Chat.run(engineOf(scenario), hi, optionsOf(scenario)))
      if (isPreflightError(run)) expect(live.haltedReason).toBe("error")
      else {
        expect(live.haltedReason).toBe(run.haltedReason)
        expect(comparable(live.thread)).toEqual(comparable(run.thread))
        expect(comparable(live.pendingToolCalls)).toEqual(comparable(run.pendingToolCalls))
      }
      await troupe.stop()
    }),
  runsOf(80)
)
