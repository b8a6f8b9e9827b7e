import { expect, test } from "vitest"
import { hop } from "../double/hop.ts"
import { says } from "../double/scripts.ts"
import { leakCheck } from "../double/leakCheck.ts"
import type { Adapter } from "../../src/adapter/Adapter.ts"
import * as Fake from "../../src/adapter/Fake.ts"
import { tool } from "../../src/tool/functionTool.ts"
import type { TroupeOptions } from "../../src/troupe/troupeOptions.ts"

const check = leakCheck()

const chats = 400

const bytes = async (): Promise<number> => {
  const { gc } = globalThis
  if (gc === undefined) throw new Error("run this with --expose-gc")
  for (let turn = 0; turn < 5; turn++) {
    await hop()
    gc()
  }
  return process.memoryUsage().heapUsed
}

/** A model that remembers no request. */
const forgetful: Adapter = {
  name: "forgetful",
  stream: (request, options) => Fake.make({ script: says("done") }).stream(request, options)
}

/** The bytes of a chat at rest after its first turn. */
const bytesOfChat = async (options: Partial<TroupeOptions>): Promise<number> => {
  const { troupe } = await check.troupe({ adapter: forgetful, ...options })
  const open = async (name: string, count: number) => {
    for (let at = 0; at < count; at++) await (await troupe.chat(`${name}${at}`)).send("hi").result()
  }
  await open("warm", chats)
  const before = await bytes()
  await open("c", chats)
  const each = ((await bytes()) - before) / chats
  await troupe.stop()
  return each
}

/** So many agents, each with tools, who hand over to the next. */
const agents = (count: number): NonNullable<TroupeOptions["agents"]> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      `agent${at}`,
      {
        instructions: `You are ${at}.`,
        tools: [tool({ name: "look", execute: () => at })],
        handoffs: [`agent${(at + 1) % count}`]
      }
    ])
  )

test("AGENT1 a chat has as many bytes among 1,000 definitions that it does not use as among none", async () => {
  // What the first chats with and without definitions load and compile stays, and counts for neither.
  for (const options of [{}, { agents: agents(1_000) }]) await bytesOfChat(options)
  const none = await bytesOfChat({})
  const idle = await bytesOfChat({ agents: agents(1_000) })
  const one = await bytesOfChat({ agents: agents(1_000), agent: "agent7" })
  expect(idle / none).toBeLessThan(1.05)
  expect(one / none).toBeLessThan(1.2)
}, 240_000)
