// @vitest-environment jsdom
import { useMachine } from "@xstate/react"
import { act, createElement, useEffect } from "react"
import { createRoot } from "react-dom/client"
import { afterEach, beforeEach, expect, test } from "vitest"
import { fromCallback, type SnapshotFrom } from "xstate"
import { toolCallMachine } from "../../src/call/ToolCallMachine.ts"
import type { chatMachine } from "../../src/loop/ChatMachine.ts"
import { provide } from "../../src/loop/provide.ts"
import type { Event } from "../../src/events/Event.ts"
import { ok } from "../../src/values/HandlerResult.ts"
import { held } from "../../src/values/held.ts"
import { text as textOf } from "../../src/model/Message.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { callThenAnswer, echo, hi } from "../double/scripts.ts"
import { engineParts } from "../double/stepping.ts"

const check = leakCheck()
let root: ReturnType<typeof createRoot>

beforeEach(() => {
  Object.assign(globalThis, { IS_REACT_ACT_ENVIRONMENT: true })
  root = createRoot(document.body.appendChild(document.createElement("div")))
})

afterEach(() => act(() => root.unmount()))

const shown = (): string | null => document.body.lastElementChild?.textContent ?? null

test("a page runs a chat with useMachine, tools and all, and renders its states", async () => {
  const parts = { adapter: check.fake({ scripts: callThenAnswer }), tools: [echo] }
  const seen: Array<Event> = []
  const machine = provide(engineParts(parts).engine, { published: (event) => seen.push(event) })
  const said = ({ context }: SnapshotFrom<typeof chatMachine>) =>
    context.record.thread.messages.map((one) => textOf(one))

  const Page = () => {
    const [snapshot, send] = useMachine(machine, { input: { id: "c1" } })
    useEffect(() => send({ type: "turn.start", turn: { messages: hi } }), [send])
    return createElement("p", undefined, `${JSON.stringify(snapshot.value)} ${said(snapshot).join(" | ")}`)
  }

  await act(async () => root.render(createElement(Page)))
  for (let hop = 0; hop < 200 && seen.at(-1)?.type !== "chat_completed"; hop++) {
    await act(() => new Promise<void>((resolve) => void setImmediate(resolve)))
  }
  await act(() => new Promise<void>((resolve) => void setImmediate(resolve)))
  expect(shown()).toBe('"idle" hi |  | {"x":1} | done')
  expect(seen.at(-1)?.type).toBe("chat_completed")
})

test("a page provides a machine's actors itself", async () => {
  const machine = toolCallMachine.provide({
    actors: {
      handler: fromCallback(({ sendBack }) =>
        sendBack({
          type: "handler.settled",
          result: held(ok("by the page")),
          failed: false,
          byHandler: true,
          began: true
        })
      )
    }
  })
  const Page = () => {
    const [snapshot, send] = useMachine(machine, { input: { drainMs: 0 } })
    useEffect(() => send({ type: "call.start" }), [send])
    const { output } = snapshot
    const answer = output?.type === "returned" ? JSON.stringify(output.result.json) : ""
    return createElement("p", undefined, `${snapshot.value} ${answer}`)
  }
  await act(async () => root.render(createElement(Page)))
  expect(shown()).toBe('completed {"$result":{"type":"ok","value":"by the page"}}')
})
