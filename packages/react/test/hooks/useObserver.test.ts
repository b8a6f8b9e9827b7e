// @vitest-environment jsdom
import { render } from "@testing-library/react"
import { Fake } from "@troupe/chat"
import type { Observation } from "@troupe/chat/observe"
import { createElement } from "react"
import { describe, expect, test } from "vitest"
import { type Observed, TroupeProvider, useObserver, useProcess, useTimeline } from "../../src/index.ts"
import { framesByHand, until } from "../double/frames.ts"
import { near } from "../double/systems.ts"

const frames = framesByHand()

const all = (nodes: ReadonlyArray<Observation.ProcessNode> = []): ReadonlyArray<Observation.ProcessNode> =>
  nodes.flatMap((node) => [node, ...all(node.children)])

describe("the observer", () => {
  test("shows the tree, a process and a chat's turns, and kills: the chat returns as another process", async () => {
    const { link, troupe } = await near({ adapter: Fake.make({ script: [{ text: "Hi" }, { finish: "stop" }] }) })
    const chat = await troupe.chat("c1")
    await chat.send("Hello").result()
    let observed: Observed | undefined
    let detail: Observation.ProcessDetail | undefined
    let timeline: Observation.Timeline | undefined
    const Page = () => {
      observed = useObserver()
      const found = all(observed.tree?.tree).find(({ label }) => label === "Chat c1")
      detail = useProcess(found?.id)
      timeline = useTimeline("c1")
      return null
    }
    render(createElement(TroupeProvider, { link }, createElement(Page)))
    await until(() => detail !== undefined, frames)
    expect(detail).toMatchObject({ alive: true, chart: { machine: "chat" } })
    const { id } = detail ?? { id: "" }
    await observed?.kill(id)
    await until(() => detail !== undefined && detail.id !== id && detail.alive, frames)
    await chat.send("Again").result()
    await until(() => (timeline?.spans.length ?? 0) > 0, frames)
    expect(timeline?.chat).toBe("c1")
  })
})
