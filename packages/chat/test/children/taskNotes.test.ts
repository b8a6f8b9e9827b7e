/** How a chat gets to know what a task waits for. */
import { Clock } from "@troupe/otp"
import { expect, test } from "vitest"
import { noteWait } from "../../src/children/taskReport.ts"
import { TaskRun } from "../../src/children/taskRun.ts"
import type { BackgroundTask } from "../../src/record/index.ts"

const task: BackgroundTask = { id: "t", toolCallId: "c0", tool: "research", arguments: {}, key: "k", startedAt: 0 }

const ask = {
  id: "c0",
  at: 0,
  kind: "permission" as const,
  toolCall: { id: "c0", name: "write", arguments: {} },
  reason: "",
  agent: "research",
  chat: "c/~/research-t",
  askedAt: 0
}

test("BG10 a wait with a limit is noted again when its chat could not be loaded, and then has its limit", async () => {
  const clock = Clock.test()
  const run = new TaskRun(task, true)
  run.waits({ chat: ask.chat, asks: [{ ...ask, expiresAt: 60_000 }], counted: {} }, 0)
  const noted: Array<BackgroundTask> = []
  const ends: Array<string> = []
  const living = {
    context: undefined,
    report: () => Promise.reject(new Error("no end is reported")),
    note: async (one: BackgroundTask) => void noted.push(one),
    changed: () => {}
  }
  let failures = 1
  noteWait(
    { chat: "c", run, hasTask: () => true, expired: () => void ends.push("expired") },
    {
      clock,
      suspendedTtlMs: 60_000,
      called: async () => {
        if (failures-- > 0) throw new Error("the store is down")
      },
      living: () => living,
      keep: () => Promise.reject(new Error("no end is stored"))
    }
  )
  await clock.advance(2_000)
  expect(noted).toEqual([run.task])
  await clock.advance(57_000)
  expect(ends).toEqual([])
  await clock.advance(1_000)
  expect(ends).toEqual(["expired"])
  expect(clock.pending).toBe(0)
})
