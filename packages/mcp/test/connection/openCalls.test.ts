/** The open calls of a connection whose server asks. */
import { expect, test } from "vitest"
import type { CallEnd, McpCall } from "../../src/connection/mcpCall.ts"
import { OpenCalls } from "../../src/connection/openCalls.ts"

const { signal } = new AbortController()

const call: McpCall = {
  name: "order",
  args: {},
  key: "k",
  mayWait: true,
  asTask: false,
  sample: () => Promise.reject(new Error("no model")),
  signal,
  progress: () => {},
  toolCall: { id: "c", name: "order", arguments: {} }
}

const asking = (message: string) => ({
  mode: "form" as const,
  message,
  requestedSchema: { type: "object" as const, properties: {} }
})

test("OPENCALL1. a call whose server withdraws a question at once, and asks again, waits with the second question", async () => {
  const calls = new OpenCalls()
  const end = calls.begin(call, () => new Promise<CallEnd>(() => {}))
  const withdrawn = new AbortController()
  const first = calls.ask(asking("One?"), false, withdrawn.signal)
  withdrawn.abort()
  expect(await first).toEqual({ action: "cancel" })
  for (let turn = 0; turn < 5; turn++) await Promise.resolve()
  const second = calls.ask(asking("Two?"), false, signal)
  expect(await end).toMatchObject({ type: "asks", state: { open: true } })
  calls.clear()
  expect(await second).toEqual({ action: "cancel" })
})
