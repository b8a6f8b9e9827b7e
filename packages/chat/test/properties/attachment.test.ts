import { expect, it } from "@effect/vitest"
import { Process } from "@troupe/otp"
import { Effect, Schema } from "effect"
import type { Attachment } from "../../src/view/attachmentReader.ts"
import type { LiveTurn } from "../../src/live/liveTurn.ts"
import type { LocalChatRef } from "../../src/troupe/LocalChatRef.ts"
import type { Message } from "../../src/model/messageShapes.ts"
import { ok } from "../../src/values/HandlerResult.ts"
import { handAdapter, type HandAdapter } from "../double/handAdapter.ts"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { handling, said } from "../double/scripts.ts"
import type { Attached, AttachOptions, Cursor } from "../../src/view/attachOptions.ts"
import { runsOf } from "../../../../tooling/verify/volume.ts"

const check = leakCheck()

/** What happens to a chat, one after another, with so many turns of the event loop behind it. */
const Happening = Schema.Struct({
  what: Schema.Literals([
    "queue",
    "queue",
    "steer",
    "interrupt",
    "speak",
    "speak",
    "speak",
    "call",
    "answer",
    "cancel",
    "kill",
    "come back"
  ]),
  pause: Schema.Literals([0, 0, 1, 3, 20])
})
type Happening = typeof Happening.Type

const Story = Schema.Array(Happening).check(Schema.isMinLength(1), Schema.isMaxLength(30))

const turnsOfLoop = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise<void>((resolve) => void setImmediate(resolve))
}

/** Speaks for the model, in the newest request that is open. */
const speaking = (adapter: HandAdapter) => {
  let over = 0
  let words = 0
  let begun = 0
  const open = () => {
    const stream = over < adapter.streams.length ? adapter.streams.at(-1) : undefined
    if (stream !== undefined && begun < adapter.streams.length) {
      begun = adapter.streams.length
      stream.say({ type: "message_started", message: { role: "assistant", content: "" } })
    }
    return stream
  }
  const close = () => (over = adapter.streams.length)
  return {
    speak: () => open()?.text(`w${words++} `),
    call: () => {
      open()?.say({ type: "tool_call_completed", id: `c${words++}`, name: "t", arguments: {}, rawArguments: "{}" })
      open()?.finish("tool_calls")
      close()
    },
    answer: () => {
      open()?.text("fine")
      open()?.finish("stop")
      close()
    }
  }
}

/** What a reader has of a chat, from its events alone. */
class Follower {
  thread: ReadonlyArray<Message> = []
  text = ""
  cursor: Cursor | undefined
  #attached: Attachment
  readonly #chat: LocalChatRef
  readonly #options: AttachOptions

  constructor(chat: LocalChatRef, options: AttachOptions) {
    this.#chat = chat
    this.#options = options
    this.#attached = chat.attach(options)
  }

  /** Leaves, and goes on from where it was. */
  async comeBack(): Promise<void> {
    await this.#attached.return()
    this.#attached = this.#chat.attach({ ...this.#options, cursor: this.cursor })
  }

  /** Reads all there is. */
  async catchUp(): Promise<void> {
    for (;;) {
      const next = await Promise.race([this.#attached.next(), turnsOfLoop(3)])
      if (next?.done !== false) return this.comeBack()
      this.#fold(next.value)
    }
  }

  #fold(item: Attached): void {
    this.cursor = item.cursor
    if (item.type === "snapshot") {
      this.thread = item.snapshot.context.thread.messages
      this.text = item.snapshot.context.partial.text
    } else if (item.event.type === "message_started") this.text = ""
    else if (item.event.type === "text_delta") this.text += item.event.delta
    else if (item.event.type === "step_completed") {
      this.thread = item.event.thread.messages
      this.text = ""
    } else if (item.event.type === "chat_completed") this.thread = item.event.result.thread.messages
  }
}

const notified = async (story: ReadonlyArray<Happening>) => {
  const adapter = handAdapter()
  const tools = [handling("t", () => ok("done"))]
  const { troupe } = await check.troupe({ adapter, tools, drainMs: 0, maxRestarts: 1_000 })
  const chat = await troupe.chat("c")
  const { speak, call, answer } = speaking(adapter)
  const prompt = new Follower(chat, {})
  const followers = [prompt, new Follower(chat, {}), new Follower(chat, { whenSlow: "snapshot", maxUnread: 3 })]
  const turns: Array<LiveTurn> = []
  for (const [place, { what, pause }] of story.entries()) {
    if (what === "speak") speak()
    else if (what === "call") call()
    else if (what === "answer") answer()
    else if (what === "cancel") void chat.cancel()
    else if (what === "kill") void (chat.pid !== undefined && Process.kill(chat.pid))
    else if (what !== "come back") turns.push(chat.send(`m${place}`, { whenBusy: what }))
    else for (const follower of followers.slice(1)) await follower.catchUp()
    await turnsOfLoop(pause)
    if (pause < 20) continue
    // The chat and the reader are at rest when they agree: a number of turns of the event loop says nothing about it.
    // Until the model speaks again, a reader keeps the text of an interrupted reply.
    const isBehind = () => {
      const { phase, partial } = chat.getSnapshot()?.context ?? {}
      return phase === "streaming" && partial?.text !== "" && prompt.text !== partial?.text
    }
    await prompt.catchUp()
    for (let rounds = 0; rounds < 5_000 && isBehind(); rounds++) await prompt.catchUp()
    expect({ isBehind: isBehind(), text: prompt.text }).toEqual({ isBehind: false, text: prompt.text })
  }
  const atRest = () => {
    answer()
    const { value, context } = chat.getSnapshot() ?? {}
    const rests = (value === "idle" || value === "interrupted") && turns.every(({ over }) => over)
    return chat.pid !== undefined && rests && context?.inbox.length === 0 && context.turn === undefined
  }
  await until(atRest, "the chat to be at rest")
  await turnsOfLoop(20)
  for (const follower of followers) await follower.catchUp()
  return { threads: followers.map(({ thread }) => thread.map(said)), thread: chat.thread.messages.map(said) }
}

it("ATT1 a reader of an interrupted reply agrees with the chat once the model speaks again", async () => {
  const story: ReadonlyArray<Happening> = [
    { what: "steer", pause: 1 },
    { what: "speak", pause: 1 },
    { what: "kill", pause: 20 },
    { what: "steer", pause: 0 },
    { what: "come back", pause: 20 },
    { what: "speak", pause: 20 }
  ]
  const { threads, thread } = await notified(story)
  expect(threads).toEqual(threads.map(() => thread))
})

it.effect.prop(
  "ATT1 what was read, from snapshots and events, is where the chat stands: read at once, late, or after coming back",
  { story: Story },
  ({ story }) =>
    Effect.promise(async () => {
      const { threads, thread } = await notified(story)
      expect(threads).toEqual(threads.map(() => thread))
    }),
  { ...runsOf(300), timeout: 60_000 }
)
