import { type RunningTroupe, tool } from "@troupe/chat"
import { expect, test } from "vitest"
import type { InspectionEvent } from "xstate"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, says } from "../double/scripts.ts"

const check = leakCheck()

const echo = tool({ name: "echo", effect: "read", execute: (args) => args })

const talk = async (troupe: RunningTroupe) => {
  const chat = await troupe.chat("c")
  const { thread } = await chat.send("hi").result()
  return thread.messages.map(({ content }) => content)
}

test("INSPECT1 XState's inspection shows the chat, its steps, requests and every tool call in one system", async () => {
  const scripts = [calls("echo", "echo"), says("done")]
  const seen: Array<InspectionEvent> = []
  const { troupe } = await check.troupe({
    adapter: check.fake({ scripts }),
    tools: [echo],
    inspect: (event) => seen.push(event)
  })
  const { troupe: plain } = await check.troupe({ adapter: check.fake({ scripts }), tools: [echo] })
  expect(await talk(troupe)).toEqual(await talk(plain))
  const actors = seen.filter(({ type }) => type === "@xstate.actor")
  expect(new Set(actors.map(({ rootId }) => rootId)).size).toBe(1)
  const ids = actors.map(({ actorRef }) => ("id" in actorRef ? actorRef.id : ""))
  expect(ids).toEqual(expect.arrayContaining(["step", "adapterStream", "calls", "call.0", "call.1"]))
  expect(ids.filter((id) => id === "adapterStream")).toHaveLength(2)
})

test("INSPECT1 an observer as inspect gets the events, and another object is refused", async () => {
  const types = new Set<string>()
  const { troupe } = await check.troupe({
    adapter: check.fake({ script: says("done") }),
    inspect: { next: ({ type }) => void types.add(type) }
  })
  await talk(troupe)
  expect(types).toContain("@xstate.actor")
  const refused = check.troupe({ adapter: check.fake({ script: says("done") }), inspect: { complete: () => {} } })
  await expect(refused).rejects.toMatchObject({ _tag: "ValidationError", errors: [{ field: ["inspect"] }] })
})

test("INSPECT1 an inspected chat is cancelled like any other", async () => {
  const { troupe } = await check.troupe({
    adapter: check.fake({ scripts: [[{ text: "a" }, { hang: true }]] }),
    inspect: () => {}
  })
  const chat = await troupe.chat("c")
  const turn = chat.send("hi")
  for await (const event of turn) if (event.type === "text_delta") break
  await chat.cancel()
  expect((await turn.result()).haltedReason).toBe("cancelled")
})
