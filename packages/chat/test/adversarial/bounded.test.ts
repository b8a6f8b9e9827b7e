import type { Clock, System } from "@troupe/otp"
import { Effect } from "effect"
import { describe, expect, test } from "vitest"
import * as Chat from "../../src/loop/Chat.ts"
import type { LocalChatRef } from "../../src/troupe/LocalChatRef.ts"
import * as Engine from "../../src/options/Engine.ts"
import { type HandlerResult, ok } from "../../src/values/HandlerResult.ts"
import type { RunningTroupe } from "../../src/troupe/Troupe.ts"
import * as Zombies from "../../src/call/Zombies.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { heldBy } from "../double/processes.ts"
import { calls, handling, hi, says } from "../double/scripts.ts"
import type { Handler } from "../../src/tool/toolContract.ts"
import type { TroupeOptions } from "../../src/troupe/troupeOptions.ts"

/**
 * Whatever a handler does about being told to end, whoever asks for the end hears of it within the drain deadline, and nothing
 * is left but what is listed.
 */
const check = leakCheck()

const drainMs = 50

/** How a handler takes it, and whether it is left behind. */
const handlers: Readonly<Record<string, { readonly handler: Handler; readonly outlives: boolean }>> = {
  "a promise that hears": {
    handler: (_args, { signal }) =>
      new Promise((resolve) => signal.addEventListener("abort", () => resolve(ok("told")))),
    outlives: false
  },
  "a promise that hears, and takes a while": {
    handler: (_args, { signal }) => {
      const { promise, resolve } = Promise.withResolvers<HandlerResult>()
      signal.addEventListener("abort", () => void Promise.resolve().then(() => resolve(ok("told"))))
      return promise
    },
    outlives: false
  },
  "a deaf promise": { handler: () => new Promise(() => {}), outlives: true },
  "an effect": { handler: () => Effect.never, outlives: false },
  "an effect that cannot be interrupted": { handler: () => Effect.uninterruptible(Effect.never), outlives: true },
  "an effect whose finalizer never ends": {
    handler: () => Effect.ensuring(Effect.never, Effect.never),
    outlives: true
  }
}

interface Stage {
  readonly troupe: RunningTroupe
  readonly system: System.System
  readonly clock: Clock.TestClock
  readonly chat: LocalChatRef
  readonly turn: ReturnType<LocalChatRef["send"]>
}

const staged = async (handler: Handler, options: Partial<TroupeOptions> = {}): Promise<Stage> => {
  const tools = [handling("t", handler)]
  const adapter = check.fake({ scripts: [calls("t", "t"), says("done")] })
  const made = await check.troupe({ adapter, tools, drainMs, schedule: "concurrent", ...options })
  const chat = await made.troupe.chat("c")
  const turn = chat.send("go")
  await made.clock.advance(0)
  return { ...made, chat, turn }
}

/** Who asks for the end of two running calls, and what must come to pass in time. */
const asks: Readonly<Record<string, (stage: Stage) => Promise<unknown>>> = {
  "a turn is cancelled": ({ chat, turn }) => Promise.all([chat.cancel(), turn.result()]),
  "each call is cancelled": ({ chat, turn }) =>
    Promise.all([chat.cancelToolCall("c0"), chat.cancelToolCall("c1"), turn.result()]),
  "the batch is cancelled": ({ chat, turn }) => Promise.all([chat.cancelToolCalls(), turn.result()]),
  "the next input interrupts": ({ chat, turn }) =>
    Promise.all([chat.send("no", { whenBusy: "interrupt" }).result(), turn.result()]),
  "the chat is stopped": ({ chat, turn }) => Promise.all([chat.stop(), turn.ended]),
  "the Troupe is stopped": ({ troupe, turn }) => Promise.all([troupe.stop(), turn.ended])
}

/** Whether something has come to pass within so many milliseconds of the clock. */
const within = async (clock: Clock.TestClock, ms: number, asked: Promise<unknown>): Promise<boolean> => {
  const state = { settled: false }
  void asked.then(
    () => (state.settled = true),
    () => (state.settled = true)
  )
  await clock.advance(ms)
  return state.settled
}

const empty = { processes: 0, fibers: 0, timers: 0, closing: 0 }

describe.each(Object.entries(handlers))("%s", (name, { handler, outlives }) => {
  /** Fibers that cannot be interrupted are the handlers themselves. */
  const fibers = outlives && name.startsWith("an effect") ? 2 : 0
  const left = { ...empty, fibers: expect.toSatisfy((count: number) => count === 0 || count === fibers) }

  test.each(Object.entries(asks))("%s: it has ended within the drain deadline", async (_ask, ask) => {
    const stage = await staged(handler)
    const { system, clock, troupe } = stage
    expect(await within(clock, drainMs, ask(stage))).toBe(true)
    expect(Zombies.counts(system).listed).toBe(outlives ? 2 : 0)
    await troupe.stop()
    expect(heldBy(system)).toEqual(left)
    expect(clock.pending).toBe(0)
  })

  test("the turn's time is over: it has ended within the drain deadline", async () => {
    const { system, clock, troupe, turn } = await staged(handler, { budget: { timeMs: 10 } })
    expect(await within(clock, 10 + drainMs, turn.result())).toBe(true)
    expect(Zombies.counts(system).listed).toBe(outlives ? 2 : 0)
    await troupe.stop()
    expect(heldBy(system)).toEqual(left)
  })

  test("the reader leaves: it has left within the drain deadline", async () => {
    const { system, clock } = check.system()
    const adapter = check.fake({ scripts: [calls("t", "t"), says("done")] })
    const stream = await Chat.stream(Engine.make({ adapter, tools: [handling("t", handler)] }), hi, { system, drainMs })
    const reading = (async () => {
      for await (const _ of stream);
    })()
    await clock.advance(0)
    expect(await within(clock, drainMs, Promise.all([stream.return?.(), reading]))).toBe(true)
    expect(Zombies.counts(system).listed).toBe(outlives ? 2 : 0)
    expect(heldBy(system)).toEqual(left)
    expect(clock.pending).toBe(0)
  })

  test("a restart that waits for it begins within the drain deadline", async () => {
    const { system, clock, troupe, chat } = await staged(handler)
    expect(await within(clock, drainMs, chat.restartToolCall("c0"))).toBe(true)
    expect(Zombies.counts(system).listed).toBe(outlives ? 1 : 0)
    await troupe.stop()
  })
})
