/** The arguments that a person gives in place of the model's, over a wait and over the end of the program. */
import { expect, test } from "vitest"
import { diskStore } from "../double/crashing.ts"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, said, says } from "../double/scripts.ts"
import { childrenIn } from "../double/subagents.ts"
import { subagent } from "../../src/agents/subagentTool.ts"
import type { Request } from "../../src/model/Request.ts"
import { memory } from "../../src/store/Store.ts"
import type { Script } from "../../src/adapter/Fake.ts"
import { tool } from "../../src/tool/functionTool.ts"
import { make } from "../../src/tool/Tool.ts"
import { askUser, ok } from "../../src/values/HandlerResult.ts"

const check = leakCheck()

const edits = { type: "allow", arguments: { euros: 10 } } as const

test.each([
  ["retry", "suspend"],
  ["retry", "at once"],
  ["ask", "suspend"],
  ["ask", "at once"]
] as const)(
  "REVIVE2 a call that ran with the arguments of a person runs again with them, under the same key: %s, %s",
  async (onUnknown, asked) => {
    const ran: Array<unknown> = []
    const keys: Array<string> = []
    const pay = make({
      name: "pay",
      onUnknown,
      handler: (args, { idempotencyKey }) => {
        keys.push(idempotencyKey)
        return ran.push(args) === 1 ? new Promise(() => {}) : ok("paid")
      }
    })
    const store = diskStore()
    const options = { tools: [pay], permissions: { ask: () => (asked === "suspend" ? asked : edits) } }
    const adapter = check.fake({ scripts: [calls(["pay", { euros: 1_000 }])] })
    const first = await check.troupe({ ...options, adapter, store })
    const chat = await first.troupe.chat("c")
    const sent = chat.send("go")
    if (asked === "suspend") await sent.result()
    const turn = asked === "suspend" ? chat.approve("c0", edits) : sent
    await until(() => ran.length === 1)
    const next = store.leave()
    await first.troupe.stop()
    await turn.result().catch(() => {})
    const second = await check.troupe({ ...options, adapter: check.fake({ scripts: [says("done")] }), store: next })
    const again = await second.troupe.chat("c")
    if (onUnknown === "ask") {
      expect(again.getSnapshot()?.context.pendingApprovals).toMatchObject([{ toolCall: { arguments: { euros: 10 } } }])
    }
    const result = await (onUnknown === "ask" ? again.approve("c0", { type: "allow" }) : again.retry()).result()
    expect(result.haltedReason).toBe("completed")
    expect(ran).toEqual([{ euros: 10 }, { euros: 10 }])
    expect(keys[1]).toBe(keys[0])
  }
)

test("SUB1 a call of a sub-agent that runs with the arguments of a person finds its child again after a wait", async () => {
  const store = memory()
  const which = tool({ name: "which", execute: () => askUser("Which one?") })
  const answering = ({ messages }: Request): Script =>
    messages.length === 1 ? calls("which") : says(said(messages.at(-1)))
  const research = check.fake({ respond: answering })
  const boss = ({ messages }: Request): Script =>
    messages.length === 1 ? calls(["research", { input: "all of it" }]) : says(said(messages.at(-1)))
  const { troupe } = await check.troupe({
    adapter: check.fake({ respond: boss }),
    tools: [subagent("research")],
    permissions: { ask: ({ toolCall }) => (toolCall.name === "research" ? "suspend" : "allow") },
    agents: { research: { adapter: research, tools: [which] } },
    store
  })
  const chat = await troupe.chat("c")
  await chat.send("go").result()
  await chat.approve("c0", { type: "allow", arguments: { input: "a part" } }).result()
  const result = await chat.approve("c0/~/c0", { type: "result", value: "the blue one" }).result()
  expect(result.finalResponse?.outputText).toMatch(/^the blue one\s/u)
  expect(await childrenIn(store)).toHaveLength(1)
  expect(research.requests.map(({ messages }) => said(messages[0]))).toEqual(["a part", "a part"])
})
