import { System, Clock } from "@troupe/otp"
import { describe, expect, test } from "vitest"
import type { ToolCallView } from "../../src/call/toolCallView.ts"
import { outlives } from "../../src/call/zombieTable.ts"
import { ok } from "../../src/values/HandlerResult.ts"
import { CallFeed, callsEveryMs, type CallReport } from "../../src/view/callFeed.ts"

type Status = ToolCallView["status"]

const calling = () => {
  const clock = Clock.test()
  const system = System.make({ clock })
  const calls: Array<ToolCallView> = []
  const feed = new CallFeed(system, "c", () => calls)
  const put = (at: number, status: Status, progress?: unknown): void => {
    const base = { id: `c${at}`, name: "t", queuedAt: 0, endedAt: undefined, outcome: undefined, pid: undefined }
    calls[at] = { ...base, status, startedAt: status === "queued" ? undefined : 1, progress }
    feed.changed(progress === undefined ? undefined : `c${at}`)
  }
  /** A reader that always waits. */
  const reader = (of: CallFeed = feed) => {
    const seen: Array<CallReport> = []
    let [version, woken] = [0, 0]
    const take = (): void => {
      for (let next = of.after(version); next !== undefined; next = of.after(version)) {
        version = next.version
        seen.push(next.report)
      }
    }
    const wake = (): void => {
      woken += 1
      take()
      of.wait(wake)
    }
    of.wait(wake)
    return {
      seen,
      take,
      words: () => seen.map(({ id, status, progress }) => [id, status, progress]),
      leave: () => of.leave(wake),
      woken: () => woken
    }
  }
  const zombie = (outcome: "timed_out" | "restarted" = "timed_out", sessionId = "c") =>
    outlives(system, {
      toolCall: { id: "c0", name: "t", arguments: {} },
      sessionId,
      outcome,
      since: 0,
      onLateResult: undefined
    })
  return { clock, system, calls, feed, put, reader, zombie }
}

describe("CALLS1 a call has one entry, and a reader gets its newest state once", () => {
  test("and the states of calls that repeat an id apart", async () => {
    const { clock, calls, feed, put, reader } = calling()
    const { words } = reader()
    put(0, "queued")
    put(1, "queued")
    calls[1] = { ...calls[1], id: "c0" } as ToolCallView
    await clock.advance(callsEveryMs)
    put(0, "running", 1)
    put(0, "running", 2)
    await clock.advance(callsEveryMs)
    expect(feed.held).toBe(2)
    expect(words()).toEqual([
      ["c0", "queued", undefined],
      ["c0", "queued", undefined],
      ["c0", "running", 2],
      ["c0", "queued", undefined]
    ])
  })

  test("also when a handler reports the same object again", async () => {
    const { clock, put, reader } = calling()
    const { seen } = reader()
    const progress = { done: 1 }
    put(0, "running", progress)
    await clock.advance(callsEveryMs)
    progress.done = 2
    put(0, "running", progress)
    await clock.advance(callsEveryMs)
    expect(seen.length).toBe(2)
  })

  test("and a reader that comes later gets the present states", async () => {
    const { clock, put, reader } = calling()
    const first = reader()
    put(0, "running", 1)
    put(1, "done")
    put(2, "suspended")
    await clock.advance(callsEveryMs)
    put(0, "cancelling")
    await clock.advance(callsEveryMs)
    const { take, words } = reader()
    take()
    expect(words()).toEqual([
      ["c2", "waiting", undefined],
      ["c0", "draining", undefined]
    ])
    expect(first.words()).toEqual([
      ["c0", "running", 1],
      ["c2", "waiting", undefined],
      ["c0", "draining", undefined]
    ])
  })
})

describe("CALLS2 the first change is published at once, and later ones at most once in 200 ms", () => {
  test("that calls begin is published after 200 ms, and not at all when they are over before", async () => {
    const { clock, feed, put, reader } = calling()
    const { words } = reader()
    put(0, "running", 1)
    expect([words(), clock.pending]).toEqual([[], 1])
    put(0, "done")
    feed.stepOver()
    expect(clock.pending).toBe(0)
    await clock.advance(callsEveryMs)
    put(0, "queued")
    await clock.advance(callsEveryMs)
    await clock.advance(callsEveryMs)
    put(0, "running", 2)
    expect(words()).toEqual([
      ["c0", "queued", undefined],
      ["c0", "running", 2]
    ])
  })

  test("a thousand reports in a second wake a reader six times, and there is no timer after the last one", async () => {
    const { clock, put, reader } = calling()
    put(0, "running")
    const { seen, woken } = reader()
    await clock.advance(callsEveryMs)
    const before = woken()
    for (let at = 0; at < 1_000; at++) {
      put(0, "running", at)
      await clock.advance(1)
    }
    await clock.advance(callsEveryMs)
    await clock.advance(callsEveryMs)
    expect(seen.at(-1)?.progress).toBe(999)
    expect(woken() - before).toBeLessThanOrEqual(6)
    expect(clock.pending).toBe(0)
  })

  test("there is a timer only while a reader waits", async () => {
    const { clock, put, reader } = calling()
    put(0, "running", 1)
    expect(clock.pending).toBe(0)
    const one = reader()
    const other = reader()
    put(0, "running", 2)
    expect(clock.pending).toBe(1)
    one.leave()
    expect(clock.pending).toBe(1)
    other.leave()
    expect(clock.pending).toBe(0)
  })
})

describe("CALLS3 the calls of a step are forgotten with it, and a zombie when its end was published", () => {
  test("a zombie is reported beside the calls of later steps, then its end, and then nothing", async () => {
    const { clock, feed, put, reader, zombie } = calling()
    const { words } = reader()
    put(0, "running")
    await clock.advance(callsEveryMs)
    put(0, "done")
    const end = zombie()
    await clock.advance(callsEveryMs)
    feed.stepOver()
    expect(feed.held).toBe(1)
    end(ok("late"))
    await clock.advance(callsEveryMs)
    expect(words()).toEqual([
      ["c0", "running", undefined],
      ["c0", "zombie", undefined],
      ["c0", "ended", undefined]
    ])
    const late = reader()
    late.take()
    expect(late.words()).toEqual([])
    feed.stepOver()
    expect(feed.held).toBe(0)
  })

  test("not the former run of a restarted call, nor the zombie of another chat, nor one that ends before it is published", async () => {
    const { clock, feed, put, reader, zombie } = calling()
    const { words } = reader()
    put(0, "running")
    zombie("restarted")
    zombie("timed_out", "d")
    zombie()(ok("late"))
    await clock.advance(callsEveryMs)
    feed.close()
    zombie()
    await clock.advance(callsEveryMs)
    expect(words()).toEqual([["c0", "running", undefined]])
  })

  test("a feed that begins later has the zombies of its chat", async () => {
    const { system, zombie, reader } = calling()
    zombie()
    zombie("timed_out", "d")
    const { words } = reader(new CallFeed(system, "c", () => []))
    expect(words()).toEqual([["c0", "zombie", undefined]])
  })
})
