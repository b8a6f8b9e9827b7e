// @vitest-environment jsdom
import { cleanup, render } from "@testing-library/react"
import { Fake, Troupe } from "@troupe/chat"
import { createElement } from "react"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { type Conversation, local, TroupeProvider, useChat } from "../src/index.ts"
import { handFrames, until } from "./double/frames.ts"

beforeEach(() => vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true))
afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

test("a chat of the page is shown live, rendered at most once in a frame", async () => {
  const frames = handFrames()
  const words = Array.from({ length: 200 }, (_, index) => ({ text: `w${index} ` }))
  const adapter = Fake.make({ script: [...words, { finish: "stop" }] })
  const troupe = await Troupe.start({ adapter })
  const link = local(troupe)
  let shown: Conversation | undefined
  let renders = 0
  const Page = () => {
    shown = useChat("c1")
    renders += 1
    return createElement("p", undefined, shown.partial.text)
  }
  render(createElement(TroupeProvider, { link }, createElement(Page)))
  expect(shown?.connection).toBe("connecting")
  await until(() => shown?.connection === "open", frames)
  const before = renders
  await shown?.send("hi")
  await until(() => shown?.messages.length === 2 && shown.status === "ready", frames)
  expect(renders - before).toBeLessThan(20)
  await troupe.stop()
})
