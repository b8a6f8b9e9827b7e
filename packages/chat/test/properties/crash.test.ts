import { expect, it } from "@effect/vitest"
import { type Clock, Process } from "@troupe/otp"
import { Effect, Schema } from "effect"
import type { Decision } from "../../src/record/Approval.ts"
import type { LocalChatRef } from "../../src/troupe/LocalChatRef.ts"
import { ok } from "../../src/values/HandlerResult.ts"
import { unpaired } from "../../src/model/callPairing.ts"
import { make } from "../../src/tool/Tool.ts"
import type { RunningTroupe } from "../../src/troupe/Troupe.ts"
import { diskStore } from "../double/crashing.ts"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { processesOf } from "../double/processes.ts"
import { calls, says } from "../double/scripts.ts"
import type { OnUnknown } from "../../src/tool/toolContract.ts"
import type { ScriptEntry } from "../../src/adapter/fakeScript.ts"
import { runsOf } from "../../../../tooling/verify/volume.ts"

const check = leakCheck()

const Kind = Schema.Literals(["ask", "fail", "retry", "read", "ask"])
const Batch = Schema.Array(Kind).check(Schema.isMinLength(1), Schema.isMaxLength(4))

/** Where it crashes: after so many saves, starts and ends of handlers. */
const Crash = Schema.Struct({
  point: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 24 })),
  how: Schema.Literals(["program", "program", "chat", "batch"])
})

const Story = Schema.Struct({
  batches: Schema.Array(Batch).check(Schema.isMinLength(1), Schema.isMaxLength(2)),
  crashes: Schema.Array(Crash).check(Schema.isMinLength(1), Schema.isMaxLength(4)),
  schedule: Schema.Literals(["concurrent", "effects"]),
  decision: Schema.Literals(["allow", "deny", "result"])
})

/** A call of the script, with an id that no call of another round has. */
const inRound = (round: number, said: ScriptEntry): ScriptEntry =>
  "toolCall" in said ? { toolCall: { ...said.toolCall, id: `r${round}${said.toolCall.id}` } } : said

/** Runs a chat to its end through all crashes; what ran, by key, and what was decided. */
const lived = async ({ batches, crashes, schedule, decision }: typeof Story.Type) => {
  const runs = new Map<string, { kind: string; id: string; count: number }>()
  const left = [...crashes]
  let generation = 0
  let points = 0
  let retries = 0
  let chat: LocalChatRef | undefined
  let troupe: RunningTroupe | undefined
  let clock: Clock.TestClock | undefined
  let begun = 0
  let died = Promise.withResolvers<"died">()

  /** Something happened in this program: perhaps it was the last. */
  const point = (of: number): boolean => {
    if (of !== generation) return false
    const [next] = left
    if (next === undefined || ++points < next.point) return true
    left.shift()
    points = 0
    retries += 1
    if (next.how === "program") {
      generation += 1
      died.resolve("died")
      return false
    }
    if (next.how === "chat" && chat?.pid !== undefined) Process.kill(chat.pid)
    const [batch] = troupe === undefined ? [] : processesOf(troupe.system, "ToolBatch")
    if (next.how === "batch" && batch !== undefined) Process.kill(batch)
    return true
  }

  const begin = async (store: ReturnType<typeof diskStore>) => {
    const own = generation
    begun = own
    const toolOf = (name: string) =>
      make({
        name,
        effect: name === "read" ? "read" : "write",
        ...(name === "read" ? {} : { onUnknown: name as OnUnknown }),
        handler: async (_args, { idempotencyKey, toolCall: { id } }) => {
          if (own !== generation) return new Promise<never>(() => {})
          const run = runs.get(idempotencyKey) ?? { kind: name, id, count: 0 }
          runs.set(idempotencyKey, { ...run, count: run.count + 1 })
          point(own)
          await new Promise<void>((resolve) => void setImmediate(resolve))
          point(own)
          return ok("done")
        }
      })
    const adapter = check.fake({
      respond: ({ messages }) => {
        const round = messages.filter(
          (message) => message.role === "assistant" && message.toolCalls !== undefined
        ).length
        const batch = batches[round]
        return batch === undefined ? says("done") : calls(...batch).map((said) => inRound(round, said))
      }
    })
    const watched = {
      ...store,
      save: async (record: Parameters<typeof store.save>[0]) => {
        if (!point(own)) return new Promise<never>(() => {})
        await store.save(record)
        if (!point(own)) return new Promise<never>(() => {})
      }
    }
    const tools = ["ask", "fail", "retry", "read"].map(toolOf)
    const started = await check.troupe({ adapter, tools, store: watched, schedule, maxRestarts: 1_000, drainMs: 0 })
    troupe = started.troupe
    clock = started.clock
    chat = await troupe.chat("c")
  }

  let store = diskStore()
  let allowed = 0
  await begin(store)
  for (let tries = 0; tries < 60; tries++) {
    const current = chat
    if (current === undefined) throw new Error("no chat")
    // The program can die in the save that brings the chat back: then there is no process to wait for.
    await until(() => current.pid !== undefined || generation !== begun)
    const isDead = generation !== begun
    const [pending] = isDead ? [] : (current.getSnapshot()?.context.pendingApprovals ?? [])
    if (pending !== undefined && decision === "allow") allowed += 1
    const decided: Decision = decision === "result" ? { type: "result", value: "known" } : { type: decision }
    const turn = () =>
      pending !== undefined
        ? current.approve(pending.toolCall.id, decided)
        : current.thread.messages.length === 0
          ? (current.resume()[0] ?? current.send("go"))
          : current.retry()
    const ending = (): Promise<string> =>
      turn()
        .result()
        .then(
          ({ haltedReason }) => haltedReason,
          () => "failed"
        )
    const end = isDead ? "died" : await Promise.race([ending(), died.promise])
    if (generation === begun) {
      if (end === "completed") break
      continue
    }
    const next = store.leave()
    const stopping = troupe?.stop()
    await clock?.advance(10_000)
    await stopping
    died = Promise.withResolvers()
    store = next
    await begin(store)
  }
  return {
    thread: chat?.thread,
    record: store.record(),
    runs: [...runs.values()],
    allowed,
    crashed: retries
  }
}

it.effect.prop(
  "CHAT12 wherever it crashes: a call that writes runs once, unless a person or its tool said again; each has one outcome",
  { story: Story },
  ({ story }) =>
    Effect.promise(async () => {
      const { thread, record, runs, allowed, crashed } = await lived(story)
      if (thread === undefined) throw new Error("no thread")
      expect(unpaired(thread)).toBeUndefined()
      expect(record?.thread).toEqual(thread)
      expect(record?.open).toBeUndefined()
      for (const { kind, count } of runs) {
        if (kind === "fail") expect(count).toBe(1)
        if (kind === "ask") expect(count).toBeLessThanOrEqual(1 + allowed)
        if (kind === "retry") expect(count).toBeLessThanOrEqual(1 + crashed)
      }
      // What the thread says of each call that writes is what happened.
      thread.messages.forEach((message, at) => {
        if (message.role !== "assistant") return
        message.toolCalls?.forEach(({ id, name }, position) => {
          const result = thread.messages[at + 1 + position]
          const outcome = result?.role === "tool" ? result.outcome : undefined
          const ran = runs.some((run) => run.id === id)
          expect(outcome).toBeDefined()
          if (outcome === "completed" && story.decision !== "result") expect(ran).toBe(true)
          if (outcome === "not_started" && name !== "read") expect(ran).toBe(false)
        })
      })
    }),
  { ...runsOf(150), timeout: 120_000 }
)
