/**
 * The chat of a program that a test kills: it writes what the chat waits for after each turn, as a line of JSON, and reads decisions from its
 * input.
 */
import { createInterface } from "node:readline"
import { type Fake, Troupe } from "@troupe/chat"
import type { System } from "@troupe/otp"
import type { Store } from "@troupe/chat/store"
import type { Mcp } from "../../src/index.ts"

/** Talks by lines until the input ends. */
export const talk = async (
  system: System.System,
  shop: Mcp.McpServer,
  {
    store,
    adapter
  }: {
    readonly store: Store.SessionStore
    readonly adapter: ReturnType<typeof Fake.make>
  }
): Promise<void> => {
  const troupe = await Troupe.start({ system, adapter, tools: shop.tools, store })
  const chat = await troupe.chat("anna")
  const report = async (): Promise<void> => {
    const { waits } = await troupe.waiting()
    const results = chat.thread.messages.filter(({ role }) => role === "tool").map(({ content }) => content)
    console.log(JSON.stringify({ waits, results }))
  }
  await report()
  for await (const line of createInterface({ input: process.stdin })) {
    const command = JSON.parse(line) as { readonly say?: string; readonly id?: string; readonly decision?: object }
    const turn =
      command.say === undefined ? chat.approve(command.id ?? "", command.decision as never) : chat.send(command.say)
    await turn.result()
    await report()
  }
}
