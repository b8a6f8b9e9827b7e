import { describe, expect, test } from "vitest"
import { ValidationError } from "../../src/errors/ChatError.ts"
import { user } from "../../src/model/Message.ts"
import { memory } from "../../src/store/Store.ts"
import { tool } from "../../src/tool/functionTool.ts"
import * as z from "zod"
import { leakCheck } from "../double/leakCheck.ts"
import { says } from "../double/scripts.ts"

const check = leakCheck()

/** What was refused, and each finding as `field: reason`. */
const refusalOf = async (work: () => unknown): Promise<unknown> => {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof ValidationError)) return error
    return [error.reason, ...error.errors.map(({ field, reason }) => `${field.join(".")}: ${reason}`)]
  }
  return "nothing"
}

const started = () => check.troupe({ adapter: check.fake({ respond: () => says("done") }), store: memory() })

describe("a message", () => {
  test.each([[""], [" \n"], [[]], [[{ type: "text" as const, text: "\t" }]]])(
    "without content (%j) is refused, and the chat has nothing of it",
    async (input) => {
      const { troupe } = await started()
      const chat = await troupe.chat("c")
      const refusal = ["invalid_message", "content: must_not_be_empty; retry() answers the thread as it is"]
      expect(await refusalOf(() => chat.send(input))).toEqual(refusal)
      expect(await refusalOf(() => chat.send(typeof input === "string" ? user(input) : user([...input])))).toEqual(
        refusal
      )
      await chat.send("Hi").result()
      expect(chat.thread.messages.length).toBe(2)
    }
  )

  test.each([{ metadata: 5 }, { metadata: [] }, { name: 5 }])(
    "that a store could not load again (%j) is refused before it is stored",
    async (fields) => {
      const { troupe } = await started()
      const chat = await troupe.chat("c")
      const refusal = await refusalOf(() => chat.send({ ...user("Hi"), ...fields } as never))
      expect(refusal).toEqual(["invalid_message", expect.stringContaining(`${Object.keys(fields)[0]}: Invalid input`)])
      expect(await troupe.has("c")).toBe(true)
      expect(chat.thread.messages).toEqual([])
    }
  )
})

describe("an id that a store refuses", () => {
  test("is an invalid option of the Troupe, and a failing store says itself what to do", async () => {
    let failure: unknown = new ValidationError("invalid_options", [{ field: ["id"], reason: "must_be_short" }])
    const store = {
      ...memory(),
      load: () => {
        throw failure
      }
    }
    const { troupe } = await check.troupe({ adapter: check.fake({ script: [] }), store })
    const load = () => troupe.chat("x".repeat(9_000))
    expect(await refusalOf(load)).toEqual(["invalid_options", "id: must_be_short"])
    failure = Object.assign(new Error("The database is damaged; restore a backup"), { reason: "damaged" })
    await expect(troupe.chat("c")).rejects.toMatchObject({
      reason: "store_failed",
      message: expect.stringMatching(/restore a backup$/)
    })
    failure = new TypeError("store.get is not a function")
    await expect(troupe.chat("c")).rejects.toMatchObject({ message: expect.not.stringContaining("try again") })
    failure = new Error("connection lost")
    await expect(troupe.chat("c")).rejects.toMatchObject({ message: expect.stringMatching(/; try again$/) })
  })
})

test("unknown and invalid options of send, rewind, fork, list, history and at are refused by name", async () => {
  const { troupe } = await started()
  const chat = await troupe.chat("c")
  await chat.send("Hi").result()
  const number = "must_be_the number of an entry"
  const given: ReadonlyArray<readonly [() => unknown, string]> = [
    [() => troupe.rewind("c", 1, { cancell: true } as never), "cancell: unknown_option; did you mean cancel?"],
    [() => troupe.rewind("c", 1, { cancel: 1 } as never), "cancel: must_be_a_boolean"],
    [() => troupe.list({ limitt: 5 } as never), "limitt: unknown_option; did you mean limit?"],
    [() => troupe.list(5 as never), ": must_be_an_object of options"],
    [() => troupe.history("c", { upTo: 5 } as never), "upTo: unknown_option; use after, limit"],
    [() => troupe.at("c", "1" as never), `seq: ${number}, as history has it`],
    [() => troupe.at("c", -1), `seq: ${number}, as history has it`],
    [() => troupe.at("", 1), "id: must_be_a_non_empty_string"],
    [() => chat.send("Hi", { id: "\ud800" }), "id: must_be_a_text without half surrogate pairs"],
    [() => troupe.fork("c", { at: 0 }), `at: ${number}, 1 or more; an empty conversation is troupe.chat(id)`],
    [() => troupe.fork("c", { att: 1 } as never), "att: unknown_option; did you mean at?"],
    [() => troupe.begin([user("Hi")], { at: 1 } as never), "at: unknown_option; use id, agent"]
  ]
  for (const [work, finding] of given) expect(await refusalOf(work)).toEqual(["invalid_options", finding])
  expect((await troupe.at("c", 1))?.id).toBe("c")
  expect(await troupe.at("c", 99)).toBeUndefined()
})

test("a choice of a tool that a turn does not have is refused before a request", async () => {
  const adapter = check.fake({ respond: () => says("done") })
  const { troupe } = await check.troupe({ adapter, tools: [tool({ name: "clock", execute: () => "noon" })] })
  const chat = await troupe.chat("c")
  const send = (name: string) => chat.send("Hi", { options: { toolChoice: { name } } }).result()
  expect(await refusalOf(() => send("clok"))).toEqual([
    "invalid_options",
    "toolChoice.name: unknown; did you mean clock?"
  ])
  expect(adapter.requests).toEqual([])
  await send("clock")
  expect(adapter.requests[0]?.toolChoice).toEqual({ name: "clock" })
})

test("a schema without a JSON Schema is refused, and the error names a type that has one", async () => {
  const dated = z.object({ at: z.date() })
  const advice =
    "Date cannot be represented in JSON Schema; write z.iso.datetime() or z.iso.date(), with .transform((text) => new " +
    "Date(text)) for a Date, or pass the schema as `jsonSchema`"
  const make = () => tool({ name: "remind", parameters: dated, execute: () => "done" })
  expect(await refusalOf(make)).toEqual(["invalid_tool", `remind.parameters: ${advice}`])
  const { troupe } = await started()
  const chat = await troupe.chat("c")
  expect(await refusalOf(() => chat.send("When?", { schema: dated }))).toEqual(["invalid_options", `schema: ${advice}`])
})

test("a tool whose calls the caller answers has no function", async () => {
  const both = { name: "pay", manual: true, execute: () => "paid" } as never
  expect(await refusalOf(() => tool(both))).toEqual([
    "invalid_tool",
    "execute: is_never_called with manual: true, whose calls the caller answers; leave one of both out"
  ])
})
