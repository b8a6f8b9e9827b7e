import { expect, test } from "vitest"
import * as Chat from "../../src/loop/Chat.ts"
import { lastText } from "../../src/record/ChatResult.ts"
import * as Engine from "../../src/options/Engine.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, echo, hi, says } from "../double/scripts.ts"

const check = leakCheck()

test("the last text is what the model said last that is not blank", async () => {
  const scripts = [[{ text: "found it" }, ...calls("echo")], [{ text: " " }, ...calls("echo")], says("")]
  const run = (maxTurns: number) =>
    Chat.run(Engine.make({ adapter: check.fake({ scripts }), tools: [echo] }), hi, { maxTurns })
  expect([lastText(await run(1)), lastText(await run(3))]).toEqual(["found it", "found it"])
  const silent = Engine.make({ adapter: check.fake({ scripts: [says("")] }) })
  expect(lastText(await Chat.run(silent, hi))).toBe("")
})
