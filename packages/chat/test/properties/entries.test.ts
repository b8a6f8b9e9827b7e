import { it } from "@effect/vitest"
import { Process } from "@troupe/otp"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { expect } from "vitest"
import type { LocalChatRef } from "../../src/troupe/LocalChatRef.ts"
import * as Store from "../../src/store/Store.ts"
import { isSameRecord } from "../../src/record/entriesBetween.ts"
import type { SessionStore } from "../../src/store/sessionStore.ts"
import { make } from "../../src/tool/Tool.ts"
import { askUser, ok } from "../../src/values/HandlerResult.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, says } from "../double/scripts.ts"
import { runsOf } from "../../../../tooling/verify/volume.ts"
import { memory, type SavingStore } from "../double/savingStore.ts"

const check = leakCheck()

const Happening = Schema.Struct({
  what: Schema.Literals([
    "send",
    "send",
    "steer",
    "interrupt",
    "decide",
    "submit",
    "retry",
    "cancel",
    "cancel",
    "time",
    "fail",
    "slow",
    "kill"
  ]),
  pause: Schema.Literals([0, 1, 2, 5, 30])
})

const Story = Schema.Array(Happening).check(Schema.isMinLength(1), Schema.isMaxLength(20))

const turnsOfLoop = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise<void>((resolve) => void setImmediate(resolve))
}

/** A store of which some writes fail, or come late. */
const unreliable = (fails: () => boolean, slow: () => number): SavingStore => {
  const store = memory()
  return {
    ...store,
    save: async (record, saving) => {
      await turnsOfLoop(slow())
      if (fails()) throw new Error("the disk is full")
      return store.save(record, saving)
    }
  }
}

/** The numbers of the entries whose record is not the fold of all entries up to it. */
const unfolded = async (store: SessionStore, id: string): Promise<ReadonlyArray<number>> => {
  const wrong: Array<number> = []
  let record = Store.blank(id)
  for (const { seq, entries = [] } of await store.history(id, { limit: 1_000 })) {
    record = entries.reduce(Store.evolve, record)
    const stored = await store.at(id, seq)
    if (stored === undefined || !isSameRecord(record, stored)) wrong.push(seq)
  }
  return wrong
}

const scripts = [
  () => says("fine"),
  () => calls("write", "read", "write"),
  () => calls("read", "asks"),
  () => calls("manual", "write", "manual"),
  () => calls("pay", "read", "pay")
]

const act = (chat: LocalChatRef, what: string, place: number): void => {
  const { pendingApprovals = [], pendingToolCalls = [] } = chat.getSnapshot()?.context ?? {}
  const last = pendingApprovals.at(-1)
  const [call] = pendingToolCalls
  const message = `m${place}`
  const turn =
    what === "decide" && last !== undefined
      ? chat.approve(last.toolCall.id, { type: place % 2 === 0 ? "allow" : "deny" })
      : what === "submit" && call !== undefined
        ? chat.submitToolResults({ [call.id]: place })
        : what === "retry" && chat.thread.messages.length > 0
          ? chat.retry()
          : what === "cancel"
            ? void chat.cancel().catch(() => undefined)
            : what === "steer" || what === "interrupt"
              ? chat.send(message, { whenBusy: what, id: message })
              : chat.send(message)
  turn?.result().catch(() => {})
}

it.effect.prop(
  "EVOLVE2 whatever happens to a chat, the record of each entry of its log is the fold of the entries up to it",
  { story: Story, answer: Schema.Literals(["user_message", "tool_result"]) },
  ({ story, answer }) =>
    Effect.promise(async () => {
      let failing = 0
      let slow = 0
      let requests = 0
      const store = unreliable(
        () => failing-- > 0,
        () => (slow-- > 0 ? 20 : 1)
      )
      const { troupe, clock } = await check.troupe({
        adapter: check.fake({ respond: () => (scripts[++requests % scripts.length] ?? says)("fine") }),
        tools: [
          make({ name: "write", effect: "write", handler: () => turnsOfLoop(2).then(() => ok("written")) }),
          make({ name: "pay", effect: "write", handler: () => ok("paid") }),
          make({ name: "read", effect: "read", handler: () => ok("read") }),
          make({ name: "asks", effect: "read", handler: () => askUser("Which?") }),
          make({ name: "manual", manual: true })
        ],
        permissions: { ask: ({ toolCall }) => (toolCall.name === "pay" ? "suspend" : "allow") },
        store,
        answer,
        suspendedTtlMs: 500,
        drainMs: 100,
        passivateAfterMs: 2_000
      })
      const chat = await troupe.chat("c")
      for (const [place, { what, pause }] of story.entries()) {
        if (what === "fail") failing = 1
        else if (what === "slow") slow = 2
        else if (what === "kill" && chat.pid !== undefined) Process.kill(chat.pid)
        else if (what === "time") await clock.advance(600)
        else act(chat, what, place)
        await turnsOfLoop(pause)
      }
      await turnsOfLoop(100)
      expect(await unfolded(store, "c")).toEqual([])
      await chat.stop()
    }),
  { ...runsOf(500), timeout: 120_000 }
)
