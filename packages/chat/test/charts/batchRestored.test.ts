/** A chat that is stored in the middle of its tool calls, and continues in another process. */
import { Process, StateMachine } from "@troupe/otp"
import { expect, test } from "vitest"
import type { Snapshot } from "xstate"
import type { ChatEvent } from "../../src/loop/chatContext.ts"
import { chatMachine } from "../../src/loop/ChatMachine.ts"
import { environment, type OwnChatOptions } from "../../src/loop/provide.ts"
import { user } from "../../src/model/Message.ts"
import type { Script } from "../../src/adapter/Fake.ts"
import type { Tool } from "../../src/tool/toolContract.ts"
import { askUser, ok } from "../../src/values/HandlerResult.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, handling, says } from "../double/scripts.ts"
import { engineParts } from "../double/stepping.ts"

const check = leakCheck()

const go: ChatEvent = { type: "turn.start", turn: { messages: [user("go")] } }

interface Parts {
  readonly script: Script
  readonly tools: ReadonlyArray<Tool>
  readonly options?: OwnChatOptions
}

/** A chat in a process of its own system, from the start or from a stored snapshot. */
const run = ({ script, tools, options = {} }: Parts, snapshot?: Snapshot<unknown>) => {
  const { system, clock } = check.system()
  const adapter = check.fake({ respond: ({ messages }) => (messages.length === 1 ? script : says("done")) })
  const env = environment(engineParts({ adapter, tools }).engine, { ...options, system })
  const pid = StateMachine.start(
    system,
    chatMachine,
    snapshot === undefined ? { input: { id: "c" }, env } : { snapshot, env }
  )
  return {
    clock,
    send: (event: ChatEvent) => Process.send(pid, event),
    state: () => StateMachine.snapshot(pid),
    outcomes: () =>
      StateMachine.snapshot(pid).context.record.thread.messages.flatMap((one) =>
        one.role === "tool" ? [one.outcome] : []
      ),
    /** Its stored snapshot; the process ends. */
    stored: async (): Promise<Snapshot<unknown>> => {
      const text = JSON.stringify(StateMachine.persisted(pid))
      Process.kill(pid)
      await clock.advance(0)
      return JSON.parse(text) as Snapshot<unknown>
    },
    end: () => Process.kill(pid)
  }
}

const never = () => new Promise<never>(() => {})

test("BATCH10 a question that was asked before the restore is asked when its sibling has ended", async () => {
  const slow = (handler: () => ReturnType<typeof ok> | Promise<never>): Parts => ({
    script: calls("ask", "slow"),
    tools: [handling("ask", () => askUser("which?")), handling("slow", handler)]
  })
  const first = run(slow(never))
  first.send(go)
  await first.clock.advance(0)
  const next = run(
    slow(() => ok("slept")),
    await first.stored()
  )
  await next.clock.advance(0)
  expect([next.state().value, next.state().context.record.pendingQuestion?.question]).toEqual([
    "awaitingUser",
    "which?"
  ])
  next.end()
})

test("BATCH10 after a cancel, no handler runs again and no call starts; the call is abandoned at its drain deadline", async () => {
  let ran = 0
  const parts: Parts = {
    script: calls("deaf", "later"),
    tools: ["deaf", "later"].map((name) =>
      handling(name, () => {
        ran += 1
        return never()
      })
    ),
    options: { drainMs: 10, maxConcurrency: 1 }
  }
  const first = run(parts)
  first.send(go)
  await first.clock.advance(0)
  first.send({ type: "turn.cancel" })
  await first.clock.advance(4)
  expect(ran).toBe(1)
  const next = run(parts, await first.stored())
  await next.clock.advance(10)
  expect(ran).toBe(1)
  expect([next.state().value, next.outcomes()]).toEqual(["idle", ["abandoned", "cancelled"]])
  expect(next.state().context.record.lastHaltedReason).toBe("cancelled")
  next.end()
})

test("BATCH10 a call that waits for a decision does not start after the restore, while its sibling runs again", async () => {
  let ran = 0
  const parts = (sibling: () => ReturnType<typeof ok> | Promise<never>): Parts => ({
    script: calls("sibling", "guarded"),
    tools: [handling("sibling", sibling), handling("guarded", () => ok(++ran))],
    options: {
      permissions: { ask: ({ toolCall }) => ({ type: toolCall.name === "guarded" ? "suspend" : "allow" }) }
    }
  })
  const first = run(parts(never))
  first.send(go)
  await first.clock.advance(0)
  const next = run(
    parts(() => ok("done")),
    await first.stored()
  )
  await next.clock.advance(0)
  expect([next.state().value, ran]).toEqual(["awaitingApproval", 0])
  next.end()
})

test("BATCH10 the hooks after a call run again, and its handler does not", async () => {
  let ran = 0
  const parts = (hook: () => undefined | Promise<never>): Parts => ({
    script: calls("t"),
    tools: [handling("t", () => ok(++ran))],
    options: { hooks: { PostToolUse: [hook] } }
  })
  const first = run(parts(never))
  first.send(go)
  await first.clock.advance(0)
  const next = run(
    parts(() => undefined),
    await first.stored()
  )
  await next.clock.advance(0)
  expect([next.state().value, next.outcomes(), ran]).toEqual(["idle", ["completed"], 1])
  next.end()
})
