import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Chat from "../../src/Chat.ts"
import { EngineError } from "../../src/ChatError.ts"
import * as Engine from "../../src/Engine.ts"
import type { ChatResult } from "../../src/ChatResult.ts"
import { comparable } from "../double/comparable.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { optionsOf, Scenario, scriptsOf, tools } from "../double/scenario.ts"
import { hi, only, readAll } from "../double/scripts.ts"

const check = leakCheck()

const engineOf = (scenario: Scenario) => Engine.make({ adapter: check.fake({ scripts: scriptsOf(scenario) }), tools })

const collected = async (scenario: Scenario): Promise<ChatResult | EngineError> => {
  try {
    return await Chat.run(engineOf(scenario), hi, optionsOf(scenario))
  } catch (error) {
    if (error instanceof EngineError) return error
    throw error
  }
}

const runs = { arbitrary: { runs: 150 } }

it.effect.prop(
  "121 `run` gives what the last event of `stream` gives, in whatever order tools finish",
  { scenario: Scenario },
  ({ scenario }) =>
    Effect.promise(async () => {
      const events = await readAll(await Chat.stream(engineOf(scenario), hi, optionsOf(scenario)))
      const { result } = only(events, "chat_completed")
      const run = await collected(scenario)
      if (run instanceof EngineError)
        expect(result.metadata["error"]).toMatchObject({ reason: run.reason, message: run.message })
      else expect(comparable(run)).toEqual(comparable(result))
    }),
  runs
)

it.effect.prop(
  "89 `step` gives what the last event of `streamStep` gives",
  { scenario: Scenario },
  ({ scenario }) =>
    Effect.promise(async () => {
      const { maxTurns: _, ...options } = optionsOf(scenario)
      const events = await readAll(await Chat.streamStep(engineOf(scenario), hi, options))
      const completed = only(events, "step_completed")
      const step = await Chat.step(engineOf(scenario), hi, options).catch((error: unknown) => error)
      if (step instanceof EngineError) return expect(only(events, "error").error).toMatchObject({ reason: step.reason })
      const { response, thread, manualToolCalls } = completed
      expect(comparable(step)).toMatchObject(comparable({ response, thread, manualToolCalls }) as object)
    }),
  runs
)

it.effect.prop(
  "a living chat ends a turn as `run` does",
  { scenario: Scenario },
  ({ scenario }) =>
    Effect.promise(async () => {
      const { requestId: _, ...options } = optionsOf(scenario)
      const adapter = check.fake({ scripts: scriptsOf(scenario) })
      const { troupe } = await check.troupe({ adapter, tools, ...options })
      const live = await (await troupe.chat("c")).send("hi").result()
      const run = await collected(scenario)
      if (run instanceof EngineError) expect(live.haltedReason).toBe("error")
      else {
        expect(live.haltedReason).toBe(run.haltedReason)
        expect(comparable(live.thread)).toEqual(comparable(run.thread))
        expect(comparable(live.pendingToolCalls)).toEqual(comparable(run.pendingToolCalls))
      }
      await troupe.stop()
    }),
  { arbitrary: { runs: 80 } }
)
