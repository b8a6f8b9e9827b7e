/** Handlers as Effect fibers in the scope of their batch: interruption in parallel, finalizers, and bounded waits. */
import { System } from "@troupe/otp"
import * as Effect from "effect/Effect"
import { describe, expect, test } from "vitest"
import * as Chat from "../../src/loop/Chat.ts"
import * as Engine from "../../src/options/Engine.ts"
import { ok } from "../../src/values/HandlerResult.ts"
import type { Handler } from "../../src/tool/toolContract.ts"
import { hop } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, handling, hi, only, readAll, says } from "../double/scripts.ts"

const check = leakCheck()

/** A chat whose first reply calls each handler once; its later reply ends the turn. */
const started = async (
  handlers: Readonly<Record<string, Handler>>,
  options: { readonly toolTimeoutMs?: number } = {}
) => {
  const { system, clock } = check.system()
  const { signal, abort } = check.signal()
  const names = Object.keys(handlers)
  const adapter = check.fake({ clock, scripts: [calls(...names), says("done")] })
  const tools = names.map((name) => handling(name, handlers[name] ?? (() => ok(null))))
  const engine = Engine.make({ adapter, tools })
  const stream = await Chat.stream(engine, hi, { system, signal, drainMs: 50, ...options })
  const events = readAll(stream)
  await clock.advance(0)
  const outcomes = async () =>
    only(await events, "chat_completed").result.thread.messages.flatMap((one) =>
      one.role === "tool" ? [one.outcome] : []
    )
  return { system, clock, abort, outcomes }
}

/** An effect that waits, and counts its finalizer, which may take a while. */
const counted = (log: Array<string>, name: string, finalizer: Effect.Effect<void> = Effect.void): Handler => {
  const finalized = Effect.andThen(
    Effect.sync(() => log.push(name)),
    finalizer
  )
  return () => Effect.onInterrupt(Effect.never, () => finalized)
}

describe("EXEC2, BATCH4 a cancel", () => {
  test("interrupts every handler at once, also beside one whose finalizer does not end", async () => {
    const log: Array<string> = []
    const { clock, abort, outcomes } = await started({
      stuck: counted(log, "stuck", Effect.sleep(10_000)),
      first: counted(log, "first"),
      second: counted(log, "second"),
      aware: (_, { signal }) =>
        new Promise((resolve) =>
          signal.addEventListener("abort", () => {
            log.push("aware")
            resolve(ok("late but in time"))
          })
        )
    })
    abort()
    await hop()
    expect(log.toSorted()).toEqual(["aware", "first", "second", "stuck"])
    await clock.advance(50)
    expect(await outcomes()).toEqual(["abandoned", "cancelled", "cancelled", "completed"])
    await clock.advance(10_000)
    expect(log).toHaveLength(4)
  })

  test("ends at the drain deadline, whatever the finalizers do", async () => {
    const log: Array<string> = []
    const { clock, abort, outcomes } = await started({
      stuck: counted(log, "stuck", Effect.sleep(10_000)),
      deaf: () => new Promise(() => {})
    })
    abort()
    let isOver = false
    const ended = outcomes().then((all) => {
      isOver = true
      return all
    })
    await clock.advance(49)
    expect(isOver).toBe(false)
    await clock.advance(1)
    expect(await ended).toEqual(["abandoned", "abandoned"])
    await clock.advance(10_000)
  })
})

describe("EXEC2 the finalizer of a handler runs exactly once", () => {
  test("after a cancel that is followed by the drain deadline", async () => {
    const log: Array<string> = []
    const { clock, abort, outcomes } = await started({ stuck: counted(log, "stuck", Effect.sleep(200)) })
    abort()
    abort()
    await clock.advance(1_000)
    expect([await outcomes(), log]).toEqual([["abandoned"], ["stuck"]])
  })

  test("after a deadline of the call", async () => {
    const log: Array<string> = []
    const { clock, outcomes } = await started({ slow: counted(log, "slow", Effect.sleep(5)) }, { toolTimeoutMs: 10 })
    await clock.advance(1_000)
    expect([await outcomes(), log]).toEqual([["timed_out"], ["slow"]])
  })
})

test("EXEC2 the effect of a handler has the system as a service, beside a promise that is pending", async () => {
  const ended = Promise.withResolvers<ReturnType<typeof ok>>()
  let found: unknown
  const { system, clock, outcomes } = await started({
    plain: () => ended.promise,
    looking: () =>
      Effect.gen(function* () {
        found = yield* Effect.serviceOption(System.System)
        return ok("looked")
      })
  })
  expect(found).toMatchObject({ _tag: "Some", value: system })
  ended.resolve(ok("said"))
  await clock.advance(0)
  expect(await outcomes()).toEqual(["completed", "completed"])
})
