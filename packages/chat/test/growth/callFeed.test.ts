import { System, Clock } from "@troupe/otp"
import { expect, test } from "vitest"
import type { ToolCallView } from "../../src/call/toolCallView.ts"
import { CallFeed } from "../../src/view/callFeed.ts"

const heap = async (): Promise<number> => {
  await new Promise<void>((resolve) => void setImmediate(resolve))
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

test("CALLS1, CALLS2 100,000 reports of eight calls hold eight entries, and wake each of 1,000 readers at most once in 200 ms", async () => {
  const clock = Clock.test()
  const calls = Array.from({ length: 8 }, (_, at) => ({
    id: `c${at}`,
    name: "t",
    status: "running",
    progress: undefined as unknown
  }))
  const feed = new CallFeed(System.make({ clock }), "c", () => calls as unknown as ReadonlyArray<ToolCallView>)
  let woken = 0
  const readers = Array.from({ length: 1_000 }, () => {
    let version = 0
    const wake = (): void => {
      woken += 1
      for (let next = feed.after(version); next !== undefined; next = feed.after(version)) version = next.version
      feed.wait(wake)
    }
    feed.wait(wake)
    return wake
  })
  const before = await heap()
  woken = 0
  for (let round = 0; round < 100; round++) {
    for (let at = 0; at < 1_000; at++) {
      const call = calls[at % 8]
      if (call === undefined) throw new Error("no call")
      call.progress = { done: round * 1_000 + at, text: "x".repeat(50) + at }
      feed.changed(call.id)
    }
    await clock.advance(20)
  }
  expect(feed.held).toBe(8)
  expect(woken / readers.length).toBeLessThanOrEqual(11)
  expect((await heap()) - before).toBeLessThan(500_000)
})
