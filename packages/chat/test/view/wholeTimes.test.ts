import { expect, test } from "vitest"
import * as z from "zod"
import { ok } from "../../src/values/HandlerResult.ts"
import { make } from "../../src/tool/Tool.ts"
import { ChatView } from "../../src/view.ts"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, says } from "../double/scripts.ts"

const check = leakCheck()

const pay = make({ name: "pay", parameters: z.object({}), handler: () => ok("paid") })

test("a wait that begins between two milliseconds has whole times", async () => {
  const { troupe, clock } = await check.troupe({
    adapter: check.fake({ scripts: [calls("pay"), says("done")] }),
    tools: [pay],
    permissions: { ask: () => "suspend", expiresMs: 60 }
  })
  await clock.advance(1.75)
  const chat = await troupe.chat("c")
  await chat.send("go").result()
  expect(ChatView.of("c", chat.getSnapshot()).approvals).toMatchObject([{ askedAt: 1, expiresAt: 61 }])
})

test("a limited wait for an answer that begins between two milliseconds ends at a whole time", async () => {
  const ask = make({ name: "ask", parameters: z.object({}), manual: true })
  const { troupe, clock } = await check.troupe({
    adapter: check.fake({ scripts: [calls("ask"), says("done")] }),
    tools: [ask],
    suspendedTtlMs: 10.5
  })
  await clock.advance(1.75)
  const chat = await troupe.chat("c")
  await chat.send("go").result()
  expect(chat.getSnapshot()?.context.expiresAt).toBe(11)
  await clock.advance(10)
  await until(() => chat.getSnapshot()?.context.lastHaltedReason === "expired")
})

test("the wait before a request is sent again has a whole length and a whole end, which is not before the real one", async () => {
  const adapter = check.fake({ scripts: [[{ preflightError: "rate_limited" }], says("yes")] })
  const { troupe, clock } = await check.troupe({ adapter, retry: { baseDelayMs: 2_000.5, jitterMs: 0 } })
  await clock.advance(1.75)
  const chat = await troupe.chat("c")
  const turn = chat.send("hi")
  await until(() => chat.getSnapshot()?.context.delayed !== undefined)
  expect(ChatView.of("c", chat.getSnapshot()).delayed).toMatchObject({ waitMs: 2_001, retryAt: 2_003 })
  await clock.advance(2_001)
  await turn.result()
})

test("a background task that begins between two milliseconds has a whole time", async () => {
  const { promise, resolve } = Promise.withResolvers<undefined>()
  const build = make({
    name: "build",
    parameters: z.object({}),
    background: true,
    handler: async () => ok(await promise)
  })
  const { troupe, clock } = await check.troupe({
    adapter: check.fake({ scripts: [calls("build"), says("begun"), says("done")] }),
    tools: [build]
  })
  await clock.advance(1.75)
  const chat = await troupe.chat("c")
  await chat.send("go").result()
  expect(ChatView.of("c", chat.getSnapshot()).tasks).toMatchObject([{ startedAt: 1 }])
  resolve(undefined)
})
