import { expect, test } from "vitest"
import * as z from "zod"
import { Fake, Troupe, tool } from "../../src/index.ts"

const paid: Array<number> = []
const pay = tool({
  name: "pay",
  parameters: z.object({ amount: z.number() }),
  needsApproval: ({ amount }) => amount > 100,
  execute: ({ amount }) => {
    paid.push(amount)
    return "paid"
  }
})

const paying = (amount: number) =>
  Fake.make({
    scripts: [
      [{ toolCall: { id: "c1", name: "pay", arguments: { amount } } }, { finish: "tool_calls" }],
      [{ text: "Done." }, { finish: "stop" }]
    ]
  })

test("a call whose tool needs approval waits without any permission rule, and runs once when it is allowed", async () => {
  paid.length = 0
  const troupe = await Troupe.start({ adapter: paying(500), tools: [pay] })
  const chat = await troupe.chat("large")
  expect((await chat.send("Pay").result()).haltedReason).toBe("awaiting_approval")
  expect(paid).toEqual([])
  expect((await chat.approve("c1", { type: "allow" }).result()).finalResponse?.outputText).toBe("Done.")
  expect(paid).toEqual([500])
  await troupe.stop()
})

test("a call whose arguments need no approval runs at once, and so does each call in the mode trusted", async () => {
  paid.length = 0
  for (const [amount, permissions] of [
    [5, undefined],
    [500, { mode: "trusted" as const }]
  ] as const) {
    const troupe = await Troupe.start({ adapter: paying(amount), tools: [pay], permissions })
    expect((await (await troupe.chat("small")).send("Pay").result()).finalResponse?.outputText).toBe("Done.")
    await troupe.stop()
  }
  expect(paid).toEqual([5, 500])
})

test("a call waits whose function of the arguments throws, and `permissions.ask` decides in place of the tool", async () => {
  const broken = tool({
    name: "pay",
    needsApproval: () => {
      throw new Error("broken")
    },
    execute: () => "paid"
  })
  const waiting = await Troupe.start({ adapter: paying(1), tools: [broken] })
  expect((await (await waiting.chat("a")).send("Pay").result()).haltedReason).toBe("awaiting_approval")
  await waiting.stop()
  const asking = await Troupe.start({ adapter: paying(1), tools: [broken], permissions: { ask: () => "allow" } })
  expect((await (await asking.chat("a")).send("Pay").result()).finalResponse?.outputText).toBe("Done.")
  await asking.stop()
})
