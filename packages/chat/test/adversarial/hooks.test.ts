import { Process } from "@troupe/otp"
import * as Effect from "effect/Effect"
import { describe, expect, test } from "vitest"
import type { LocalChatRef } from "../../src/troupe/LocalChatRef.ts"
import type { HookAnswer, HookContext, Hooks, LifecycleEvent } from "../../src/gate/Hooks.ts"
import { text } from "../../src/model/Message.ts"
import type { RunningTroupe } from "../../src/troupe/Troupe.ts"
import { hop, until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { says } from "../double/scripts.ts"

const check = leakCheck()

const drainMs = 20

/** Hooks that give no answer until the test is over, each in its own way; `late` answers then. */
const hanging = (late: Promise<HookAnswer>) => {
  const signals: Array<AbortSignal> = []
  const noted =
    (answer: () => Promise<HookAnswer> | Effect.Effect<HookAnswer>) =>
    (_: unknown, { signal }: HookContext) => {
      signals.push(signal)
      return answer()
    }
  const kinds = {
    deaf: noted(() => late),
    uninterruptible: noted(() => Effect.uninterruptible(Effect.promise(() => late))),
    effect: noted(() => Effect.never)
  }
  return { signals, kinds }
}

const events: ReadonlyArray<LifecycleEvent> = [
  "SessionStart",
  "UserPromptSubmit",
  "PreIteration",
  "ChatParams",
  "Stop",
  "StopFailure"
]

interface Living {
  readonly troupe: RunningTroupe
  readonly chat: LocalChatRef
}

/** Everything that can happen while a hook is asked. */
const happenings: Readonly<Record<string, (living: Living) => Promise<unknown>>> = {
  cancel: ({ chat }) => chat.cancel(),
  interrupt: async ({ chat }) => void chat.send("now", { whenBusy: "interrupt" }),
  kill: async ({ chat }) => void (chat.pid === undefined ? undefined : Process.kill(chat.pid)),
  "stop of the chat": ({ chat }) => chat.stop(),
  "stop of the Troupe": ({ troupe }) => troupe.stop()
}

const cases = events.flatMap((event) =>
  Object.keys(happenings).flatMap((happening) =>
    (["deaf", "uninterruptible", "effect"] as const).map((kind) => [happening, event, kind] as const)
  )
)

describe("while a hook gives no answer", () => {
  test.each(cases)("a %s at %s ends the turn in time, and is reported (%s)", async (happening, event, kind) => {
    const late = Promise.withResolvers<HookAnswer>()
    const { signals, kinds } = hanging(late.promise)
    let asks = 0
    // Only the first turn's hooks hang.
    const hooks: Hooks = {
      [event]: [(payload: never, context: HookContext) => (asks++ === 0 ? kinds[kind](payload, context) : "ok")]
    }
    const failing = event === "StopFailure"
    const adapter = check.fake({
      respond: (_, call) => (failing && call === 0 ? [{ text: "a" }, { error: "server_error" }] : says("done"))
    })
    const { troupe, clock } = await check.troupe({ adapter, hooks, drainMs, retry: false })
    const chat = await troupe.chat("a")
    const turn = chat.send("hi")
    await until(() => signals.length > 0)
    const happened = happenings[happening]?.({ troupe, chat })
    await clock.advance(drainMs)
    await happened
    const ended = await turn.result().then(
      (result) => result.haltedReason,
      (error: { readonly reason?: unknown }) => error.reason
    )
    expect(["cancelled", "completed", "error", "chat_died", "chat_stopped"]).toContain(ended)
    await hop()
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    const before = chat.thread.messages.map(text)
    late.resolve({ type: "halt", reason: "late" })
    await clock.advance(1)
    if (happening === "cancel") {
      expect(chat.thread.messages.map(text)).toEqual(before)
      expect((await chat.send("again").result()).haltedReason).toBe("completed")
    }
  })
})
