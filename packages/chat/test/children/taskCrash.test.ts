/** BG1 and BG4 over the end of the program at every write of the store. */
import { expect, test } from "vitest"
import { hop } from "../double/hop.ts"
import { Clock, Process, System } from "@troupe/otp"
import { calls, said, says } from "../double/scripts.ts"
import { Troupe } from "../../src/troupe/Troupe.ts"
import * as Fake from "../../src/adapter/Fake.ts"
import { memory } from "../../src/store/Store.ts"
import type { SessionStore } from "../../src/store/sessionStore.ts"
import { tool } from "../../src/tool/functionTool.ts"
import type { Request } from "../../src/model/Request.ts"
import type { Script } from "../../src/adapter/Fake.ts"

const respond = ({ messages }: Request): Script => {
  const last = messages.at(-1)
  return last?.role === "user" && said(last) === "go" ? calls("write", "again", "slow") : says("ok")
}

/** A store whose program ends at this write, before or after the store has it. */
const ending = (store: SessionStore, at: number, isStored: boolean) => {
  let writes = 0
  let isOver = false
  const never = () => new Promise<never>(() => {})
  const writing =
    <Args extends ReadonlyArray<unknown>, A>(write: (...args: Args) => A) =>
    async (...args: Args): Promise<Awaited<A>> => {
      if (isOver) return never()
      writes += 1
      isOver = writes === at
      if (isOver && !isStored) return never()
      const done = await write(...args)
      return isOver ? never() : done
    }
  return {
    isOver: () => isOver,
    store: { ...store, append: writing(store.append), accept: writing(store.accept), keepDraft: () => undefined }
  }
}

/** Runs a chat with three tasks through the ends of its program at these writes. */
const lives = async (ends: ReadonlyArray<number>, isStored: boolean) => {
  const kept = memory()
  const runs = new Map<string, number>()
  for (const at of [...ends, Infinity]) {
    const { isOver, store } = ending(kept, at, isStored)
    const run = async (key: string) => {
      if (isOver()) return new Promise<never>(() => {})
      runs.set(key, (runs.get(key) ?? 0) + 1)
      await new Promise<void>((resolve) => void setImmediate(resolve))
      return isOver() ? new Promise<never>(() => {}) : "done"
    }
    const tools = [
      tool({ name: "write", background: true, execute: (_, { idempotencyKey }) => run(`write ${idempotencyKey}`) }),
      tool({
        name: "again",
        background: true,
        onUnknown: "retry",
        execute: (_, { idempotencyKey }) => run(`again ${idempotencyKey}`)
      }),
      tool({
        name: "slow",
        background: { afterMs: 0 },
        onUnknown: "retry",
        execute: (_, { idempotencyKey }) => run(`slow ${idempotencyKey}`)
      })
    ]
    const system = System.make({ name: "program", clock: Clock.test() })
    const troupe = await Troupe.start({ adapter: Fake.make({ respond }), tools, store, system, drainMs: 0 })
    const opened = troupe.chat("c")
    opened.catch(() => {})
    for (let turn = 0; turn < 6 && !isOver(); turn++) {
      await hop()
      const chat = troupe.isAlive("c") ? await opened : undefined
      const context = chat?.getSnapshot()?.context
      if (context?.phase === "interrupted")
        void chat
          ?.retry()
          .result()
          .catch(() => {})
      else if (context?.phase === "idle" && context.thread.messages.length === 0) {
        void chat
          ?.send("go", { id: "go" })
          .result()
          .catch(() => {})
      }
    }
    if (!isOver()) await troupe.stop()
    for (const pid of Array.from(System.processes(system))) Process.kill(pid)
  }
  const record = await kept.load("c")
  const messages = record?.thread.messages ?? []
  const begun = messages.flatMap(({ role, metadata }) =>
    role === "tool" && metadata?.["task"] ? [metadata["task"]] : []
  )
  const ended = messages.flatMap(({ role, metadata }) =>
    role === "user" && metadata?.["task"] ? [metadata["task"]] : []
  )
  return { record, runs, begun, ended }
}

const ids = (tasks: ReadonlyArray<unknown>) => tasks.map((task) => (task as { readonly id: string }).id).toSorted()

test.each([false, true])(
  "BG1 each task of the record ends in the thread once, wherever its program ends (%s)",
  async (isStored) => {
    let tasks = 0
    for (let at = 1; at <= 12; at++) {
      for (const next of [[], [1], [2]]) {
        const { record, runs, begun, ended } = await lives([at, ...next], isStored)
        expect({ at, next, running: record?.running, tasks: record?.tasks, inbox: record?.inbox }).toEqual({
          at,
          next,
          running: false,
          tasks: undefined,
          inbox: undefined
        })
        expect({ at, next, tasks: ids(ended) }).toEqual({ at, next, tasks: ids(begun) })
        const written = Array.from(runs).flatMap(([key, count]) => (key.startsWith("write") && count > 1 ? [key] : []))
        expect({ at, next, written }).toEqual({ at, next, written: [] })
        tasks += begun.length
      }
    }
    expect(tasks).toBeGreaterThan(50)
  }
)
