// @vitest-environment jsdom
import { act, render } from "@testing-library/react"
import { Fake } from "@troupe/chat"
import { createElement, type FunctionComponent, StrictMode } from "react"
import { renderToString } from "react-dom/server"
import { expect, test } from "vitest"
import { assign, createActor, setup } from "xstate"
import { useSnapshot } from "../../src/index.ts"
import { framesByHand, turn, until } from "../double/frames.ts"
import { near } from "../double/systems.ts"

const frames = framesByHand()

const counter = setup({
  types: { context: {} as { readonly count: number; readonly other: number }, events: {} as { type: "add" | "touch" } }
}).createMachine({
  context: { count: 0, other: 0 },
  on: {
    add: { actions: assign({ count: ({ context }) => context.count + 1 }) },
    touch: { actions: assign({ other: ({ context }) => context.other + 1 }) }
  }
})

test("SNAP1 an actor's part is shown at once, and only when it is another", () => {
  const actor = createActor(counter).start()
  let renders = 0
  let shown: number | undefined
  const Page = () => {
    renders += 1
    shown = useSnapshot(actor, ({ context }) => context.count)
    return null
  }
  const { unmount } = render(createElement(StrictMode, undefined, createElement(Page)))
  const before = renders
  act(() => actor.send({ type: "touch" }))
  expect(renders).toBe(before)
  act(() => actor.send({ type: "add" }))
  expect(shown).toBe(1)
  expect(frames.waiting()).toBe(0)
  unmount()
  actor.send({ type: "add" })
  expect(shown).toBe(1)
  actor.stop()
})

test("SNAP1 what counts as another is said by the comparison", () => {
  const actor = createActor(counter).start()
  let renders = 0
  const shown = new Set<object>()
  const Page = () => {
    renders += 1
    const parity = useSnapshot(
      actor,
      ({ context }) => ({ isOdd: context.count % 2 === 1 }),
      (left, right) => left.isOdd === right.isOdd
    )
    shown.add(parity)
    return null
  }
  render(createElement(Page))
  act(() => actor.send({ type: "touch" }))
  expect([renders, shown.size]).toEqual([1, 1])
  act(() => actor.send({ type: "add" }))
  expect([renders, shown.size]).toEqual([2, 2])
  act(() => {
    actor.send({ type: "add" })
    actor.send({ type: "add" })
  })
  expect(shown.size).toBe(2)
  actor.stop()
})

test("SNAP1 a selector that is another selects anew, from the same snapshot", () => {
  const actor = createActor(counter).start()
  act(() => actor.send({ type: "add" }))
  let shown: number | undefined
  const Page: FunctionComponent<{ readonly factor: number }> = ({ factor }) => {
    shown = useSnapshot(actor, ({ context }) => context.count * factor)
    return null
  }
  const { rerender } = render(createElement(Page, { factor: 2 }))
  rerender(createElement(Page, { factor: 3 }))
  expect(shown).toBe(3)
  actor.stop()
})

test("SNAP2 a chat's part is shown at most once in a frame", async () => {
  const { troupe } = await near({
    adapter: Fake.make({
      script: [...Array.from({ length: 100 }, (_, word) => ({ text: `${word} ` })), { finish: "stop" }]
    })
  })
  const chat = await troupe.chat("c1")
  let renders = 0
  let shown: number | undefined
  const Page = () => {
    renders += 1
    shown = useSnapshot(chat, (snapshot) => snapshot?.context.thread.messages.length)
    return null
  }
  render(createElement(Page))
  const before = renders
  await chat.send("Hello").result()
  await turn()
  expect(renders).toBe(before)
  frames.draw()
  expect([renders, shown]).toEqual([before + 1, 2])
})

test("SNAP2 so is a link's", async () => {
  const { link } = await near({ adapter: Fake.make({ script: [{ text: "Hi" }, { finish: "stop" }] }) })
  let shown: unknown
  const Page = () => {
    shown = useSnapshot(link.chat("c1"), ({ view }) => view.messages.at(-1)?.content)
    return null
  }
  render(createElement(Page))
  await link.chat("c1").send("Hello")
  await until(() => shown === "Hi", frames)
  expect(shown).toBe("Hi")
})

test("SNAP3 a part is rendered on the server", () => {
  const actor = createActor(counter).start()
  const Page = () => createElement("p", undefined, String(useSnapshot(actor, ({ context }) => context.count)))
  expect(renderToString(createElement(Page))).toBe("<p>0</p>")
  actor.stop()
})
