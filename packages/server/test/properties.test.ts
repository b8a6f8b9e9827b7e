import { expect, it } from "@effect/vitest"
import type { AdapterEvent } from "@troupe/chat/events"
import { Message } from "@troupe/chat/messages"
import type { Adapter } from "@troupe/chat/models"
import { ChatView } from "@troupe/chat/view"
import { Effect, Schema } from "effect"
import { runsOf } from "../../../tooling/verify/volume.ts"
import { linked, until, watched } from "./double/linked.ts"

/** A model that says the words it is given, in the request that is open. */
const speaking = () => {
  let say = (_value: AdapterEvent | undefined): void => {}
  const adapter: Adapter.Adapter = {
    name: "speaking",
    stream: () => {
      const said: Array<AdapterEvent | undefined> = []
      let wake = (): void => {}
      say = (value) => {
        said.push(value)
        wake()
      }
      return (async function* events() {
        for (;;) {
          while (said.length === 0) await new Promise<void>((resolve) => (wake = resolve))
          const next = said.shift()
          if (next === undefined) return
          yield next
        }
      })()
    }
  }
  return {
    adapter,
    word: (delta: string) => say({ type: "text_delta", id: null, delta }),
    finish: () => {
      say({ type: "message_completed", message: { role: "assistant", content: "" }, finishReason: "stop" })
      say(undefined)
    }
  }
}

/** What happens, one after another, and after how many turns of the event loop. */
const Happening = Schema.Struct({
  what: Schema.Literals(["word", "word", "word", "finish", "cut", "cut", "wait", "leave", "come"]),
  pause: Schema.Literals([0, 1, 5, 40])
})

const Story = Schema.Array(Happening).check(Schema.isMinLength(1), Schema.isMaxLength(40))

it.effect.prop(
  "FOLLOW1 however often a stream is cut or left, a client misses nothing and repeats nothing",
  { story: Story },
  ({ story }) =>
    Effect.promise(async () => {
      const model = speaking()
      const { link, troupe, streams, clock } = await linked(model.adapter)
      const chat = link.chat("c1")
      let watching = watched(chat)
      const texts: Array<string> = []
      const look = () => {
        const { view } = chat.getState()
        texts.push([...view.messages.slice(1).map((message) => Message.text(message)), view.partial.text].join("|"))
      }
      chat.subscribe(look)
      await chat.send("Go")
      const ref = await troupe.chat("anna/c1")
      await until(
        () => ref.getSnapshot()?.context.phase === "requesting" || ref.getSnapshot()?.context.phase === "streaming"
      )
      let isOver = false
      let words = 0
      let said = ""
      for (const { what, pause } of story) {
        if (what === "word" && !isOver) {
          said += `${words} `
          model.word(`${words++} `)
        } else if (what === "finish" && !isOver) {
          isOver = true
          model.finish()
        } else if (what === "cut") streams.at(-1)?.cut()
        else if (what === "wait") await clock.advance(1_000)
        else if (what === "leave") watching.leave()
        else if (what === "come") watching = watched(chat)
        for (let hop = 0; hop < pause; hop++) await until(() => true)
      }
      if (!isOver) model.finish()
      await until(() => ref.getSnapshot()?.context.phase === "idle")
      const meant = ChatView.of("c1", ref.getSnapshot())
      while (chat.getState().view.messages.length < 2 || chat.getState().view.phase !== "idle") {
        await clock.advance(1_000)
        await until(() => true)
      }
      expect(chat.getState().view).toEqual(meant)
      expect(meant.messages.slice(1).map((message) => Message.text(message))).toEqual([said])
      for (const text of texts) expect(said.startsWith(text.replace("|", ""))).toBe(true)
    }),
  runsOf(60)
)
