import { it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { expect } from "vitest"
import * as Codec from "../../src/session/Codec.ts"
import type { LocalChatRef } from "../../src/troupe/LocalChatRef.ts"
import { ok } from "../../src/values/HandlerResult.ts"
import type { LiveTurn } from "../../src/live/liveTurn.ts"
import { make } from "../../src/tool/Tool.ts"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, says } from "../double/scripts.ts"
import type { RecordStore } from "../../src/store/sessionStore.ts"
import { runsOf } from "../../../../tooling/verify/volume.ts"

const check = leakCheck()

const Happening = Schema.Struct({
  what: Schema.Literals(["send", "send", "decide", "retry", "ask", "pass", "pass", "watch", "mode"]),
  pause: Schema.Literals([0, 0, 1, 2, 3, 20])
})
type Happening = typeof Happening.Type

const Story = Schema.Array(Happening).check(Schema.isMinLength(1), Schema.isMaxLength(25))

const turnsOfLoop = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise<void>((resolve) => void setImmediate(resolve))
}

/** A store of texts, which answers as slowly as the story says. */
const textStore = (slow: number): RecordStore => {
  const texts = new Map<string, string>()
  return {
    load: async (id) => {
      await turnsOfLoop(slow)
      const text = texts.get(id)
      return text === undefined ? undefined : Codec.decode("ChatRecord", text)
    },
    save: async (record) => {
      await turnsOfLoop(slow)
      texts.set(record.id, Codec.encode("ChatRecord", record))
    },
    delete: (id) => void texts.delete(id)
  }
}

const afterMs = 100

/** The same things happen to a chat that is passivated whenever it rests, and to one that never is. */
const notified = async (story: ReadonlyArray<Happening>, slow: number, passivateAfterMs: number) => {
  let requests = 0
  const adapter = check.fake({ respond: () => (++requests % 3 === 0 ? calls("pay") : says("fine")) })
  const tools = [make({ name: "pay", effect: "write", handler: () => ok("paid") })]
  const { troupe, clock } = await check.troupe({
    adapter,
    tools,
    store: textStore(slow),
    permissions: { ask: () => "suspend" },
    passivateAfterMs
  })
  const chat = await troupe.chat("c")
  const sent: Array<{ readonly text: string; readonly turn: LiveTurn }> = []
  let passed = 0
  for (const [place, { what, pause }] of story.entries()) {
    if (what === "send") sent.push({ text: `m${place}`, turn: chat.send(`m${place}`) })
    else if (what === "decide") decide(chat)
    else if (what === "retry" && chat.thread.messages.length > 0) chat.retry()
    else if (what === "ask") troupe.chat("c").catch(() => {})
    else if (what === "mode") void chat.setPermissionMode(place % 2 === 0 ? "plan" : "default")
    else if (what === "watch") chat.subscribe(() => {}).unsubscribe()
    else if (what === "pass") {
      await clock.advance(afterMs * 1.25)
      if (chat.pid === undefined) passed += 1
    }
    await turnsOfLoop(pause)
  }
  const isOver = () => {
    decide(chat)
    return sent.every(({ turn }) => turn.over)
  }
  await until(isOver, "every turn to be over")
  await turnsOfLoop(20)
  const { phase, inbox = [] } = chat.getSnapshot()?.context ?? {}
  return { chat, sent, phase, passed, inbox, said: chat.thread.messages.map(({ content }) => content) }
}

const decide = (chat: LocalChatRef): void => {
  const [pending] = chat.getSnapshot()?.context.pendingApprovals ?? []
  if (pending === undefined) return
  chat
    .approve(pending.toolCall.id, { type: "allow" })
    .result()
    .catch(() => {})
}

it.effect.prop(
  "PASS2 whatever is said to a chat that is passivated at every chance is delivered once, or refused, and not lost",
  { story: Story, slow: Schema.Literals([0, 1, 3]) },
  ({ story, slow }) =>
    Effect.promise(async () => {
      const { chat, sent } = await notified(story, slow, afterMs)
      const statuses = sent.map(({ turn }) => turn.status)
      expect(statuses.every((status) => status === "delivered" || status === "rejected")).toBe(true)
      const expected = sent.filter(({ turn }) => turn.status === "delivered").map(({ text }) => text)
      const lines = chat.thread.messages.flatMap(({ role, content }) => (role === "user" ? [content] : []))
      expect(lines).toEqual(expected)
      await chat.stop()
    }),
  { ...runsOf(200), timeout: 60_000 }
)

it.effect.prop(
  "PASS2 with time between its inputs, a chat that is passivated at every chance says what one says that never is",
  { story: Story },
  ({ story }) =>
    Effect.promise(async () => {
      const calm = story.map(({ what }): Happening => ({ what, pause: 20 }))
      const one = await notified(calm, 0, afterMs)
      const other = await notified(calm, 0, Infinity)
      await until(() => one.chat.getSnapshot()?.context.phase === other.phase)
      expect([one.said, one.phase, one.inbox]).toEqual([other.said, other.phase, other.inbox])
      expect(other.passed).toBe(0)
      const passes = calm.some(
        ({ what }, place) => what === "pass" && calm.slice(0, place).every((e) => e.what === "pass")
      )
      if (passes) expect(one.passed).toBeGreaterThan(0)
    }),
  { ...runsOf(100), timeout: 60_000 }
)
