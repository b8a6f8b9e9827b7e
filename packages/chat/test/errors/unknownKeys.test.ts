import { expect, test } from "vitest"
import * as z from "zod"
import { Chat, Engine, Fake, tool, Troupe, user } from "../../src/index.ts"
import { leakCheck } from "../double/leakCheck.ts"

const check = leakCheck()
const adapter = Fake.make({ script: [{ text: "hi" }, { finish: "stop" }] })
const agent = { adapter, system: "Be brief" }

/** A value of any type, as a program in JavaScript gives it. */
const given = (value: unknown): never => value as never

test.each<readonly [what: string, act: () => unknown, message: string]>([
  ["maxSteps of a Troupe", () => Troupe.start(given({ adapter, maxSteps: 3 })), "did you mean maxTurns?"],
  ["system of a Troupe", () => Troupe.start(given({ adapter, system: "Be brief" })), "is the option instructions"],
  ["system of an agent", () => Troupe.start({ adapter, agents: given({ a: agent }) }), "did you mean instructions?"],
  ["messages of a Troupe", () => Troupe.start(given({ adapter, messages: [] })), "messages are the thread"],
  [
    "inputSchema of a tool",
    () => tool(given({ name: "a", inputSchema: z.object({}), execute: () => 1 })),
    "parameters?"
  ],
  ["handler of a tool", () => tool(given({ name: "a", handler: () => 1 })), "did you mean execute?"],
  ["system of an engine", () => Engine.make(given({ adapter, system: "x" })), "instructions are an option of Chat.run"],
  ["maxSteps of a run", () => Chat.run(Engine.make({ adapter }), [user("hi")], given({ maxSteps: 2 })), "maxTurns?"],
  ["a text as a thread", () => Chat.run(Engine.make({ adapter }), given("hello")), 'write [user("hello")]'],
  [
    "the scheme of a URL",
    () => user([{ type: "image", image: { url: "ftp://x/y.png" } }]),
    "must_be_an_http_https_or_data_url"
  ]
])("OPT1 when another library's word is given as %s, the error says what to write", async (_, act, message) => {
  await expect((async () => act())()).rejects.toThrow(message)
})

test("OPT1 when a decision has no known type, the error lists the four", async () => {
  const { troupe } = await check.troupe({ adapter: check.fake({ script: [{ finish: "stop" }] }) })
  const chat = await troupe.chat("a")
  const four = "must_be_one_of allow, deny, halt, result"
  expect(() => chat.approve("c0", given({ type: "allw" }))).toThrow(four)
  expect(() => chat.approve("c0", given({ approved: true }))).toThrow(
    `${four}; instead of { approved } write { type: "allow" }`
  )
  expect(() => chat.approve("c0", given({ approved: false }))).toThrow('write { type: "deny" }')
  expect(() => chat.approve("c0", given("deny"))).toThrow('allow, deny, halt, result; write { type: "deny" }')
})

test("after the stop of a Troupe, its errors say that it and its chats were stopped", async () => {
  const { troupe } = await check.troupe({ adapter: check.fake({ script: [{ finish: "stop" }] }) })
  const chat = await troupe.chat("a")
  await troupe.stop()
  await expect(troupe.chat("b")).rejects.toThrow("This Troupe was stopped, and its chats with it")
  await expect(chat.send("hi").result()).rejects.toThrow('The chat a was stopped; troupe.chat("a") of a running Troupe')
})
