import { Process } from "@troupe/otp"
import { describe, expect, test } from "vitest"
import { memory } from "../double/savingStore.ts"
import type { SessionStore } from "../../src/store/sessionStore.ts"
import type { LocalChatRef } from "../../src/troupe/LocalChatRef.ts"
import { tool } from "../../src/tool/functionTool.ts"
import { hop, until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, says } from "../double/scripts.ts"

const check = leakCheck()

/** A store whose calls of one kind wait, once they are `held`, until `release`. */
const holding = (kind: "load" | "save") => {
  const store = memory()
  const { promise, resolve: release } = Promise.withResolvers<void>()
  const counts = { held: false, waiting: 0 }
  const held = async (...given: ReadonlyArray<never>): Promise<unknown> => {
    if (counts.held) {
      counts.waiting += 1
      await promise
    }
    return (store[kind] as (...given: ReadonlyArray<never>) => unknown)(...given)
  }
  return { store, slow: { ...store, [kind]: held } as SessionStore, counts, release }
}

describe("REF15 a request to a process ends with it, also while its save waits:", () => {
  const requests: ReadonlyArray<readonly [string, (chat: LocalChatRef) => Promise<void>]> = [
    ["a handoff", (chat) => chat.handoff("b")],
    ["a mode", (chat) => chat.setPermissionMode("plan")],
    ["the end of a chain", (chat) => chat.cancel({ tasks: true })]
  ]

  test.each(requests)("%s", async (_, request) => {
    const { slow, counts, release } = holding("save")
    const adapter = check.fake({ respond: () => says("ok") })
    const agents = { a: { adapter }, b: { adapter } }
    const { troupe } = await check.troupe({ adapter, agents, agent: "a", store: slow })
    const chat = await troupe.chat("c")
    await chat.send("Hi").result()
    await hop()
    counts.held = true
    const asked = request(chat).then(
      () => "done",
      (error: { readonly reason?: string }) => error.reason
    )
    await until(() => counts.waiting > 0)
    if (chat.pid !== undefined) Process.kill(chat.pid)
    expect(await asked).toBe("chat_died")
    release()
  })
})

test("REF4 an input whose chat is stopped while the record is read again is rejected, and is not stored", async () => {
  const { store, slow, counts, release } = holding("load")
  const pay = tool({ name: "pay", execute: () => "paid" })
  const adapter = check.fake({ respond: () => calls("pay") })
  const permissions = { ask: () => "suspend" as const }
  const { troupe } = await check.troupe({ adapter, tools: [pay], permissions, store: slow })
  const chat = await troupe.chat("c")
  await chat.send("Pay").result()
  counts.held = true
  const turn = chat.send("And?", { id: "m1" })
  await until(() => counts.waiting > 0)
  const stopped = chat.stop()
  await hop()
  release()
  await stopped
  expect(await turn.receipt).toMatchObject({ status: "rejected", reason: "chat_stopped" })
  expect((await store.load("c"))?.inbox ?? []).toEqual([])
})
