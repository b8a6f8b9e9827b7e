import { expect, test } from "vitest"
import { shop } from "../double/agents.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { SessionError, ValidationError } from "../../src/errors/ChatError.ts"
import { tool } from "../../src/tool/functionTool.ts"
import type { TroupeOptions } from "../../src/troupe/troupeOptions.ts"

const check = leakCheck()

test("AGENT2 a chat without an agent has the engine and the options of the Troupe, and its record names no agent", async () => {
  const { adapters, options } = shop(check)
  const { troupe } = await check.troupe(options)
  const chat = await troupe.chat("c")
  await chat.send("hi").result()
  expect(adapters.troupe.requests).toMatchObject([{ model: "general", tools: [{ name: "search" }] }])
  expect(adapters.troupe.requests[0]?.messages[0]?.content).toBe("You are the shop.")
  const [entry] = await troupe.history("c")
  expect(entry?.state).not.toHaveProperty("agent")
})

test("an agent has its own adapter, model, tools and instructions, and the others are those of the Troupe", async () => {
  const { adapters, options } = shop(check)
  const { troupe } = await check.troupe(options)
  await (await troupe.chat("s", { agent: "support" })).send("hi").result()
  await (await troupe.chat("b", { agent: "billing" })).send("hi").result()
  const [support] = adapters.support.requests
  const [billing] = adapters.billing.requests
  expect(support).toMatchObject({ tools: [{ name: "search" }, { name: "handoff_to_billing" }] })
  expect(support?.model).toBeUndefined()
  expect(support?.tools?.[1]?.description).toContain("Knows invoices.")
  expect(support?.messages[0]?.content).toBe("You support.")
  expect(billing).toMatchObject({ model: "big", tools: [{ name: "refund" }, { name: "handoff_to_support" }] })
  expect(billing?.messages[0]?.content).toBe("You are the shop.")
})

test("a new chat has the agent of the Troupe, if it has one, and another when the caller gives it", async () => {
  const { adapters, options } = shop(check)
  const { adapter: _, ...rest } = options
  const { troupe } = await check.troupe({ ...rest, agent: "support" })
  await (await troupe.chat("a")).send("hi").result()
  await (await troupe.chat("b", { agent: "billing" })).send("hi").result()
  expect(adapters.support.requests).toHaveLength(1)
  expect(adapters.billing.requests).toHaveLength(1)
})

const refused = async (options: TroupeOptions): Promise<unknown> => {
  const failed: unknown = await check.troupe(options).then(
    () => undefined,
    (error: unknown) => error
  )
  return failed instanceof ValidationError
    ? failed.errors.map(({ field, reason }) => `${field.join(".")}: ${reason}`)
    : failed
}

test("a definition that cannot be used is refused at the start, with a finding that says what to write", async () => {
  const { options } = shop(check)
  const named = tool({ name: "handoff_to_b", execute: () => 1 })
  const agents = {
    a: { handoffs: ["bb", "b", "b", "a"], tools: [named] },
    b: { instruction: "typo", maxTurns: 0, permissions: { mode: "lax" }, version: "" },
    "not a name": {},
    "": {},
    text: "hello"
  } as unknown as TroupeOptions["agents"]
  expect(await refused({ ...options, agents, agent: "sales" })).toEqual([
    "agents.a.handoffs.0: unknown; did you mean b?",
    "agents.a.handoffs.1: a tool is named handoff_to_b",
    "agents.a.handoffs.2: is named twice",
    "agents.a.handoffs.3: is the agent itself",
    "agents.b.instruction: unknown_option; did you mean instructions?",
    "agents.b.permissions.mode: must_be_one_of plan, default, acceptEdits, trusted, bypass",
    "agents.b.maxTurns: must be a whole number, 1 or more, or Infinity",
    "agents.b.version: must_be_a_non_empty_string",
    "agents.not a name: invalid_name; use 1 to 53 letters, digits, _ or -",
    "agents.: invalid_name; use 1 to 53 letters, digits, _ or -",
    "agents.text: must_be_an_object, the definition of an agent",
    "agent: unknown; use a, b, not a name, , text"
  ])
  expect(await refused({ agents: { support: {} }, agent: "suport" })).toEqual([
    "agents.support.adapter: required; the Troupe has no adapter either",
    "agent: unknown; did you mean support?"
  ])
})

test("agents in a Map, a list or an object of a class are refused, and those of an object without a prototype are not", async () => {
  const { options } = shop(check)
  class Registry {
    readonly support = {}
  }
  for (const agents of [new Map([["support", {}]]), [{}], new Registry()]) {
    expect(await refused({ ...options, agents: agents as unknown as TroupeOptions["agents"] })).toEqual([
      "agents: must_be_an_object of agents by name"
    ])
  }
  const agents = Object.assign(Object.create(null) as object, options.agents)
  const { troupe } = await check.troupe({ ...options, agents })
  expect((await (await troupe.chat("c", { agent: "billing" })).view()).agent).toBe("billing")
})

test("the error about an unknown agent has a truncated name", async () => {
  const { troupe } = await check.troupe(shop(check).options)
  const failed = await troupe.chat("c", { agent: "x".repeat(100_000) }).catch((error: unknown) => error)
  expect(failed).toMatchObject({ reason: "unknown_agent", metadata: { closest: undefined } })
  expect(JSON.stringify(failed).length + String(failed).length).toBeLessThan(3_000)
})

test("an agent that the Troupe lacks is refused before anything is stored, with the closest name", async () => {
  const { options } = shop(check)
  const { troupe } = await check.troupe(options)
  const asked = [
    troupe.chat("c", { agent: "suport" }),
    troupe.begin([], { id: "c", agent: "suport" }),
    troupe.fork("d", { id: "c", agent: "suport" })
  ]
  for (const attempt of asked) {
    await expect(attempt).rejects.toSatisfy(
      (error) =>
        error instanceof SessionError &&
        error.reason === "unknown_agent" &&
        /did you mean support\?/.test(error.message)
    )
  }
  expect((await troupe.list()).chats).toEqual([])
  await expect(troupe.chat("c", { agnt: "support" } as object)).rejects.toThrow(/did you mean agent\?/)
  await expect(troupe.chat("c", { agent: 1 as unknown as string })).rejects.toThrow(/agent: must_be_a_string/)
})
