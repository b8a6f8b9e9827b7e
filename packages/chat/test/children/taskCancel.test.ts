/** The cancel of a task that a former program left, at the start of its chat. */
import { expect, test } from "vitest"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, said, says } from "../double/scripts.ts"
import { livingChatsOf } from "../../src/troupe/chatDirectory.ts"
import type { RunningTroupe } from "../../src/troupe/Troupe.ts"
import { memory } from "../../src/store/Store.ts"
import type { SessionStore } from "../../src/store/sessionStore.ts"
import { tool } from "../../src/tool/functionTool.ts"

const check = leakCheck()

/** A program with a task that reads; `runs` counts how often it began. */
const program = async (store: SessionStore, work: (signal: AbortSignal) => unknown, onRun: () => void) =>
  check.troupe({
    adapter: check.fake({
      respond: ({ messages }) =>
        said(messages.at(-1)) === "go" ? calls("crawl") : says(`read ${said(messages.at(-1))}`)
    }),
    tools: [
      tool({
        name: "crawl",
        background: true,
        effect: "read",
        execute: (_, { signal }) => (onRun(), work(signal))
      })
    ],
    store,
    drainMs: 10
  })

const aborted = (signal: AbortSignal) =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)))

test("BG6 a task that is cancelled when its chat starts, before it runs again, does not run again", async () => {
  const store = memory()
  let runs = 0
  const begun = () => void (runs += 1)
  const first = await program(store, aborted, begun)
  const before = await first.troupe.chat("c")
  await before.send("go").result()
  await until(() => runs === 1)
  const task = (await before.tasks())[0]?.id ?? ""
  await first.troupe.stop()
  const box: { troupe?: RunningTroupe } = {}
  const cancelled: Array<Promise<void>> = []
  // Cancels the task right after the start of the process of its chat.
  const load = (id: string) => {
    const living = box.troupe && livingChatsOf(box.troupe).get(id)
    living?.chat.view.subscribe({
      next: () => {
        if (cancelled.length === 0) cancelled.push(Promise.resolve().then(() => living.ref.cancelTask(task)))
      }
    })
    return store.load(id)
  }
  const second = await program({ ...store, load }, () => "again", begun)
  box.troupe = second.troupe
  const chat = await second.troupe.chat("c")
  await until(() => said(chat.thread.messages.at(-1)).startsWith("read The background task"))
  expect(said(chat.thread.messages.at(-1))).toContain("has ended: cancelled.")
  await Promise.all(cancelled)
  expect(cancelled).toHaveLength(1)
  expect(runs).toBe(1)
})
