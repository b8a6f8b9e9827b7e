import { Fake, Troupe } from "@troupe/chat"
import { afterEach, expect, test } from "vitest"
import * as Node from "../../src/Node.ts"
import * as Server from "../../src/Server.ts"

const cleanups: Array<() => Promise<void>> = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

test("a conversation over a socket: a message with its events, then the snapshot", async () => {
  const troupe = await Troupe.start({ adapter: Fake.make({ script: [{ text: "Hi" }, { finish: "stop" }] }) })
  const server = Server.make({ troupe, authorize: () => ({ owner: "anna" }) })
  const listening = await Node.listen(server)
  cleanups.push(async () => {
    await listening.close()
    await troupe.stop()
  })
  const response = await fetch(`${listening.url}/chats/c1/messages`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream" },
    body: JSON.stringify({ input: "Hello" })
  })
  expect(await response.text()).toContain('"type":"chat_completed"')
  const view = (await (await fetch(`${listening.url}/chats/c1`)).json()) as { readonly phase: string }
  expect(view.phase).toBe("idle")
})
