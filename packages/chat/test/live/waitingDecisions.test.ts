import { Process } from "@troupe/otp"
import { expect, test } from "vitest"
import { ok } from "../../src/values/HandlerResult.ts"
import { make } from "../../src/tool/Tool.ts"
import { memory } from "../double/savingStore.ts"
import { handAdapter } from "../double/handAdapter.ts"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { processOf } from "../double/processes.ts"
import { calls, says } from "../double/scripts.ts"

const check = leakCheck()

const reasonOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "no error",
    (error: { readonly reason?: unknown }) => error.reason ?? error
  )

test("DEC5 a decision about a call that the running turn does not have is refused at once", async () => {
  const adapter = handAdapter()
  const { troupe } = await check.troupe({ adapter, store: memory() })
  const chat = await troupe.chat("c")
  const running = chat.send("go")
  await until(() => adapter.streams.length === 1)
  for (let time = 0; time < 300; time++) {
    const denied = chat.approve(`none ${time}`, { type: "deny", reason: "x".repeat(9_000) })
    expect(denied.over).toBe(true)
    expect(await reasonOf(denied.result())).toBe("unknown_tool_call_id")
  }
  expect(chat.getSnapshot()?.context.inbox).toHaveLength(0)
  adapter.streams[0]?.finish("stop")
  await running.result()
})

test("OPEN5 a decision about a call that runs does not let it run again when its outcome is unknown", async () => {
  let runs = 0
  const hold = make({ name: "hold", handler: () => new Promise(() => void (runs += 1)) })
  const adapter = check.fake({ scripts: [calls("hold"), says("done")] })
  const { troupe, system } = await check.troupe({ adapter, tools: [hold], store: memory() })
  const chat = await troupe.chat("c")
  const running = reasonOf(chat.send("go").result())
  await until(() => runs === 1)
  const early = reasonOf(chat.approve("c0", { type: "allow" }).result())
  Process.kill(processOf(system, "Chat c"))
  await until(() => chat.getSnapshot()?.context.pendingApprovals.length === 1)
  expect(await early).toBe("unknown_tool_call_id")
  await running
  expect(runs).toBe(1)
  expect(chat.getSnapshot()?.context.pendingApprovals).toMatchObject([{ kind: "unknown_outcome" }])
  await chat.approve("c0", { type: "deny" }).result()
})

test("DEC5 the reason of a decision is bounded", async () => {
  const { troupe } = await check.troupe({ adapter: handAdapter(), store: memory() })
  const chat = await troupe.chat("c")
  for (const type of ["deny", "halt"] as const) {
    expect(() => chat.approve("c0", { type, reason: "x".repeat(10_001) })).toThrow("10000 characters")
  }
})

test("INBOX2 decisions and retries that wait for the running turn count against the number and bytes of the inbox", async () => {
  const gate = Promise.withResolvers<void>()
  const hold = make({ name: "hold", handler: () => gate.promise.then(() => ok("held")) })
  const adapter = check.fake({ scripts: [calls("hold"), says("done"), says("again"), says("again")] })
  const options = { adapter, tools: [hold], maxWaitingInputs: 3, maxWaitingBytes: 10_000 }
  const { troupe } = await check.troupe({ ...options, store: memory() })
  const chat = await troupe.chat("c")
  const running = chat.send("go")
  await until(() => chat.getSnapshot()?.context.phase === "runningTools")
  const reason = "x".repeat(6_000)
  const first = chat.approve("c0", { type: "deny", reason })
  expect(await reasonOf(chat.approve("c0", { type: "deny", reason }).result())).toBe("inbox_full")
  const again = [chat.retry(), chat.retry()]
  expect(await reasonOf(chat.retry().result())).toBe("inbox_full")
  expect(await reasonOf(chat.send("more").result())).toBe("inbox_full")
  gate.resolve()
  await running.result()
  expect(await reasonOf(first.result())).toBe("unknown_tool_call_id")
  for (const turn of again) await turn.result()
  expect((await chat.send("free").receipt).status).toBe("delivered")
  await chat.cancel()
})

test("INBOX2 of changes of the mode at most so many as inputs wait for the store, and a cancel is not refused", async () => {
  const inner = memory()
  const gate = Promise.withResolvers<void>()
  const save: typeof inner.save = async (...args) => {
    await gate.promise
    return inner.save(...args)
  }
  const options = { adapter: check.fake({ scripts: [] }), maxWaitingInputs: 3 }
  const { troupe } = await check.troupe({ ...options, store: { ...inner, save } })
  const chat = await troupe.chat("c")
  const waiting = Array.from({ length: 4 }, () => chat.setPermissionMode("plan"))
  expect(await reasonOf(chat.setPermissionMode("plan"))).toBe("inbox_full")
  expect(await reasonOf(chat.handoff("none"))).toBe("unknown_agent")
  const cancelled = chat.cancel()
  gate.resolve()
  await Promise.all([...waiting, cancelled])
  await chat.setPermissionMode("default")
  expect((await chat.view()).permissionMode).toBe("default")
})

test("REF11 a decision and a retry that wait can be withdrawn, and nothing is stored for it", async () => {
  const gate = Promise.withResolvers<void>()
  let begun = false
  const hold = make({
    name: "hold",
    handler: () => {
      begun = true
      return gate.promise.then(() => ok("held"))
    }
  })
  const adapter = check.fake({ scripts: [calls("hold"), says("done")] })
  const store = memory()
  const { troupe } = await check.troupe({ adapter, tools: [hold], maxWaitingInputs: 1, store })
  const chat = await troupe.chat("c")
  const running = chat.send("go")
  await until(() => begun)
  const stored = (await store.history("c")).length
  for (let time = 0; time < 3; time++) {
    for (const wait of [() => chat.approve("c0", { type: "deny", reason: "no" }), () => chat.retry()]) {
      const turn = wait()
      await chat.withdraw(turn)
      expect(await reasonOf(turn.result())).toBe("withdrawn")
      expect(await reasonOf(chat.withdraw(turn))).toBe("unknown_input")
    }
  }
  expect(await store.history("c")).toHaveLength(stored)
  gate.resolve()
  expect((await running.result()).haltedReason).toBe("completed")
})
