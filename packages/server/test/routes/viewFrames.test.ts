import { Fake, Troupe } from "@troupe/chat"
import { ChatView } from "@troupe/chat/view"
import { expect, onTestFinished, test } from "vitest"
import { type ViewFrame, ViewFrames } from "../../src/routes/viewFrames.ts"
import { until } from "../double/linked.ts"

const words = 2_000

const started = async () => {
  const adapter = Fake.make({
    script: [...Array.from({ length: words }, (_, index) => ({ text: `${index} ` })), { finish: "stop" }]
  })
  const troupe = await Troupe.start({ adapter })
  onTestFinished(() => troupe.stop())
  const chat = await troupe.chat("inner")
  return { troupe, chat, frames: new ViewFrames("c1", chat) }
}

const patchOf = (frame: ViewFrame | undefined): ChatView.ChatViewPatch => {
  if (frame?.type !== "view") throw new Error("no view")
  return frame.patch
}

test("FRAMES1 a reader that takes nothing meanwhile gets one frame of what was between", async () => {
  const { chat, frames } = await started()
  const first = ChatView.apply(undefined, patchOf((await frames.next()).value))
  expect(first).toEqual(ChatView.of("c1", undefined))
  await chat.send("Hello").result()
  const next = patchOf((await frames.next()).value)
  expect(next.messages?.added.length).toBe(2)
  expect(ChatView.apply(first, next)).toEqual(ChatView.of("c1", chat.getSnapshot()))
  await frames.return()
})

test("FRAMES2 the frames a reader took lead to the chat's view, in far fewer frames than there were words", async () => {
  const { chat, frames } = await started()
  let view: ChatView.ChatView | undefined
  let taken = 0
  const reading = (async () => {
    for (;;) {
      const { done, value } = await frames.next()
      if (done === true || value.type !== "view") return
      view = ChatView.apply(view, JSON.parse(JSON.stringify(value.patch)) as ChatView.ChatViewPatch)
      taken += 1
    }
  })()
  await chat.send("Hello").result()
  await until(() => view?.phase === "idle" && view.messages.length === 2)
  expect(view).toEqual(ChatView.of("c1", chat.getSnapshot()))
  expect(taken).toBeLessThan(words / 10)
  await chat.stop()
  await reading
})

test("FRAMES3 the last frame of a reader says that its chat was stopped", async () => {
  const { chat, frames } = await started()
  await frames.next()
  const asked = frames.next()
  await chat.stop()
  expect(await asked).toEqual({ done: false, value: { type: "stopped" } })
  expect(await frames.next()).toEqual({ done: true, value: undefined })
})

test("FRAMES4 when the chat leaves, the last frame is `moved`, without a view", async () => {
  const { chat, frames } = await started()
  await frames.next()
  const asked = frames.next()
  await chat.leave()
  expect(await asked).toEqual({ done: false, value: { type: "moved" } })
  expect(await frames.next()).toEqual({ done: true, value: undefined })
})

test("FRAMES3 a reader that leaves while it waits is answered, and gets no more frames", async () => {
  const { chat, frames } = await started()
  await frames.next()
  const asked = frames.next()
  await frames.return()
  expect(await asked).toEqual({ done: true, value: undefined })
  await chat.send("Hello").result()
  expect(await frames.next()).toEqual({ done: true, value: undefined })
})
