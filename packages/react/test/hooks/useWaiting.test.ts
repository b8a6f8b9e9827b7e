// @vitest-environment jsdom
import { act, cleanup, render } from "@testing-library/react"
import { askUser, Fake, tool } from "@troupe/chat"
import { Agents } from "@troupe/chat/agents"
import { Clock } from "@troupe/otp"
import { createElement, type FunctionComponent } from "react"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { useWaiting, type Waiting } from "../../src/index.ts"
import { turn } from "../double/frames.ts"
import { far, near } from "../double/systems.ts"

beforeEach(() => vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true))

afterEach(() => {
  cleanup()
  vi.unstubAllGlobals()
})

const options = (ran: Array<unknown>) => ({
  adapter: Fake.make({
    respond: ({ messages }: { readonly messages: ReadonlyArray<{ readonly role: string }> }) =>
      messages.at(-1)?.role === "tool"
        ? [{ text: "Done." }, { finish: "stop" as const }]
        : [{ toolCall: { id: "c1", name: "pay", arguments: { to: "Ann" } } }, { finish: "tool_calls" as const }]
  }),
  tools: [tool({ name: "pay", execute: (args) => ran.push(args) })],
  permissions: { ask: () => "suspend" as const }
})

describe.each([["near", near] as const, ["far", far] as const])("a system that is %s", (_, open) => {
  test("WAITING1, WAITING2 what waits is listed again after pollMs, and decided; a second decision has the first", async () => {
    const ran: Array<unknown> = []
    const { troupe, link, innerId } = await open(options(ran))
    const clock = Clock.test()
    const shown: { now: Waiting | undefined } = { now: undefined }
    const Page: FunctionComponent = () => {
      shown.now = useWaiting({ link, clock, pollMs: 1_000 })
      return null
    }
    const settled = async (isSo: () => boolean): Promise<void> => {
      while (!isSo()) await act(() => turn())
    }
    const { unmount } = render(createElement(Page))
    await settled(() => shown.now?.loading === false)
    expect(shown.now?.waits).toEqual([])
    await (await troupe.chat(innerId("a"))).send("Pay").result()
    await act(() => clock.advance(1_000))
    await settled(() => shown.now?.waits.length === 1)
    const [wait] = shown.now?.waits ?? []
    expect(wait).toMatchObject({ chat: "a", kind: "approval", tool: "pay", text: '{"to":"Ann"}' })
    if (wait === undefined) return
    await act(async () => shown.now?.approve(wait, { type: "allow" }))
    await settled(() => shown.now?.waits.length === 0)
    expect(ran).toHaveLength(1)
    const denied = act(async () => shown.now?.approve(wait, { type: "deny" }))
    await expect(denied).rejects.toThrow(/decided before: allow|decided, allow/)
    unmount()
    const before = shown.now
    await clock.advance(5_000)
    expect(shown.now).toBe(before)
  })

  test("SUB10 a question of a sub-agent is listed with its agent, and answered like a question of the chat", async () => {
    const guide = {
      adapter: Fake.make({
        scripts: [
          [{ toolCall: { id: "k0", name: "which", arguments: {} } }, { finish: "tool_calls" }],
          [{ text: "This one." }, { finish: "stop" }]
        ]
      }),
      tools: [tool({ name: "which", execute: () => askUser("Which one?") })]
    }
    const boss = Fake.make({
      scripts: [
        [{ toolCall: { id: "c0", name: "guide", arguments: { input: "Dig" } } }, { finish: "tool_calls" }],
        [{ text: "Done." }, { finish: "stop" }]
      ]
    })
    const { troupe, link, innerId } = await open({
      adapter: boss,
      tools: [Agents.subagent("guide")],
      agents: { guide }
    })
    const chat = await troupe.chat(innerId("a"))
    await chat.send("Go").result()
    const shown: { now: Waiting | undefined } = { now: undefined }
    const Page: FunctionComponent = () => {
      shown.now = useWaiting({ link, pollMs: Infinity })
      return null
    }
    render(createElement(Page))
    while (shown.now?.waits.length !== 1) await act(() => turn())
    const [wait] = shown.now.waits
    expect(wait).toMatchObject({ chat: "a", kind: "question", toolCallId: "c0/~/k0", agent: { name: "guide" } })
    if (wait === undefined) return
    await act(async () => shown.now?.answer(wait, "this"))
    while ((await chat.view()).phase !== "idle") await act(() => turn())
    expect(chat.thread.messages.at(-1)?.content).toBe("Done.")
  })
})
