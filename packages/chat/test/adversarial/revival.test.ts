/** A chat whose process dies whenever it is started. */
import { System } from "@troupe/otp"
import { expect, test } from "vitest"
import { AgentTable } from "../../src/agents/agentTable.ts"
import { LiveChat } from "../../src/live/liveChat.ts"
import { resolveOptions } from "../../src/options/resolveOptions.ts"
import { user } from "../../src/model/Message.ts"
import { LiveState } from "../../src/view/liveState.ts"
import { LiveView } from "../../src/view/liveView.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { engineParts } from "../double/stepping.ts"
import { says } from "../double/scripts.ts"

const check = leakCheck()

test("TURN3 a turn fails when each process that is started for it dies at its start", async () => {
  const { system } = check.system()
  const { engine } = engineParts({ adapter: check.fake({ script: says("never") }) })
  let starts = 0
  const home: ConstructorParameters<typeof LiveChat>[1] = {
    limits: () => ({ maxWaitingInputs: Infinity, maxWaitingBytes: Infinity, maxWaitingFileBytes: Infinity }),
    accept: (_, input) => Promise.resolve({ input, isNew: true }),
    options: () => resolveOptions(engine, { system }),
    serving: () => new AgentTable({ engineOptions: {}, engine, chatOptions: {} }).none,
    agentRef: (name) => ({ name, version: "1" }),
    hooks: () => undefined,
    modeSet: () => Promise.resolve(),
    revive: () => {
      starts++
      return Promise.resolve(System.processes(system) as never)
    },
    left: () => {},
    stop: () => Promise.resolve(),
    newId: () => "id",
    kept: () => Promise.resolve(undefined),
    hasOther: () => Promise.resolve(false)
  }
  const state = new LiveState()
  const chat = new LiveChat("a", home, { state, view: new LiveView(system, state) })
  const turn = chat.start([user("go")])
  await expect(turn.result()).rejects.toMatchObject({ reason: "chat_died" })
  expect(starts).toBe(5)
})
