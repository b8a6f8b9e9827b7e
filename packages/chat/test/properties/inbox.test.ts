import { expect, it } from "@effect/vitest"
import { Process } from "@troupe/otp"
import { Effect, Schema } from "effect"
import type { LocalChatRef } from "../../src/troupe/LocalChatRef.ts"
import type { LiveTurn } from "../../src/live/liveTurn.ts"
import type { Message } from "../../src/model/messageShapes.ts"
import { until } from "../double/hop.ts"
import { handAdapter, type HandAdapter } from "../double/handAdapter.ts"
import { moodyStore, userLines } from "../double/heldModel.ts"
import { leakCheck } from "../double/leakCheck.ts"
import type { RecordStore } from "../../src/store/sessionStore.ts"
import { runsOf } from "../../../../tooling/verify/volume.ts"

const check = leakCheck()

/** What happens to a chat, one after another, with so many turns of the event loop behind it. */
const Happening = Schema.Struct({
  what: Schema.Literals([
    "queue",
    "queue",
    "steer",
    "steer",
    "interrupt",
    "reject",
    "same id",
    "answer",
    "answer",
    "cancel",
    "kill",
    "store fails",
    "store works",
    "stop"
  ]),
  pause: Schema.Literals([0, 0, 1, 3, 20])
})
type Happening = typeof Happening.Type

const Story = Schema.Array(Happening).check(Schema.isMinLength(1), Schema.isMaxLength(25))

/** How many turns of the event loop the store takes for a save. */
const Slowness = Schema.Literals([0, 1, 4])

const turnsOfLoop = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise<void>((resolve) => void setImmediate(resolve))
}

/** Answers each open request, once. */
const answering = (adapter: HandAdapter) => {
  const answered = new Set<number>()
  return (): void => {
    const index = adapter.streams.findIndex((_, at) => !answered.has(at))
    if (index === -1) return
    answered.add(index)
    adapter.streams[index]?.text("fine")
    adapter.streams[index]?.finish("stop")
  }
}

interface Sent {
  readonly text: string
  readonly how: Happening["what"]
  readonly turn: LiveTurn
}

const notified = async (story: ReadonlyArray<Happening>, slow: number) => {
  const adapter = handAdapter()
  const store = moodyStore()
  const slowly: RecordStore = {
    ...store,
    save: async (record) => {
      await turnsOfLoop(slow)
      await store.save(record)
    }
  }
  const { troupe } = await check.troupe({ adapter, store: slowly, drainMs: 0, maxRestarts: 1_000 })
  const answer = answering(adapter)
  const sent: Array<Sent> = []
  let chat: LocalChatRef = await troupe.chat("c")
  const say = (how: "queue" | "steer" | "interrupt" | "reject") => {
    const text = `m${sent.length}`
    sent.push({ text, how, turn: chat.send(text, { whenBusy: how, id: text }) })
  }
  const stop = async () => {
    await chat.stop()
    chat = await troupe.chat("c")
  }
  for (const { what, pause } of story) {
    if (what === "answer") answer()
    else if (what === "cancel") void chat.cancel().catch(() => undefined)
    else if (what === "kill") void (chat.pid !== undefined && Process.kill(chat.pid))
    else if (what === "store fails" || what === "store works") store.failing = what === "store fails"
    else if (what === "stop") await stop()
    else if (what !== "same id") say(what)
    else if (sent.length > 0) {
      const { text } = sent[sent.length - 1] ?? { text: "" }
      if (sent[sent.length - 1]?.turn.status !== "rejected") chat.send(text, { id: text })
    }
    await turnsOfLoop(pause)
  }
  store.failing = false
  await turnsOfLoop(20)
  const atRest = () => {
    answer()
    if (chat.pid === undefined) return false
    chat.resume()
    const { value, context } = chat.getSnapshot() ?? {}
    return (value === "idle" || value === "interrupted") && context?.inbox.length === 0 && context.turn === undefined
  }
  await until(atRest, "the chat to be at rest")
  await turnsOfLoop(20)
  return {
    sent,
    thread: chat.thread.messages,
    stored: (await store.load("c"))?.thread.messages ?? [],
    inbox: chat.getSnapshot()?.context.inbox
  }
}

/** Whether the texts that are in both come in the same order. */
const inOrder = (messages: ReadonlyArray<Message>, texts: ReadonlyArray<string>): boolean => {
  const places = texts.map((text) => userLines(messages).indexOf(text)).filter((place) => place >= 0)
  return places.every((place, index) => index === 0 || (places[index - 1] ?? -1) < place)
}

it.effect.prop(
  "REF4 every input ends delivered or rejected; what was delivered is in the thread once, what was rejected is not",
  { story: Story, slow: Slowness },
  ({ story, slow }) =>
    Effect.promise(async () => {
      const { sent, thread, stored, inbox } = await notified(story, slow)
      const lines = userLines(thread)
      expect(inbox).toEqual([])
      for (const { text, turn } of sent) {
        const stopped = turn.status === "pending"
        const receipt = await turn.delivery
        const times = lines.filter((line) => line === text).length
        expect(`${text} ${receipt.status} ${times}`).toBe(
          `${text} ${receipt.status} ${receipt.status === "delivered" || stopped ? 1 : 0}`
        )
      }
      for (const line of lines) expect(sent.some(({ text }) => text === line)).toBe(true)
      expect(userLines(stored)).toEqual(lines)
    }),
  { ...runsOf(400), timeout: 60_000 }
)

it.effect.prop(
  "REF2 with a store that works, what was queued, and what interrupted, is in the thread in the order it was sent; MAIL3 but an interrupt that a stop left waiting interrupts no more",
  { story: Story, slow: Slowness },
  ({ story, slow }) =>
    Effect.promise(async () => {
      const { sent, thread } = await notified(
        story.filter(({ what }) => what !== "store fails"),
        slow
      )
      const interrupts = sent.filter(({ turn }) => turn.status !== "pending")
      for (const [kind, inputs] of [
        ["queue", sent],
        ["interrupt", interrupts]
      ] as const) {
        const texts = inputs.filter(({ how }) => how === kind).map(({ text }) => text)
        expect([kind, texts, userLines(thread), inOrder(thread, texts)]).toEqual([kind, texts, userLines(thread), true])
      }
    }),
  { ...runsOf(200), timeout: 60_000 }
)
