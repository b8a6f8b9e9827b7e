/** TEAM3, TEAM4, TEAM5: the supervisor of a team, and what the others read of a crash. */
import { Process } from "@troupe/otp"
import { expect, test } from "vitest"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, said, says } from "../double/scripts.ts"
import type { Agents } from "../../src/agents.ts"
import type { Script } from "../../src/adapter/Fake.ts"
import type { Request } from "../../src/model/Request.ts"
import { livingChatsOf } from "../../src/troupe/chatDirectory.ts"
import { tool } from "../../src/tool/functionTool.ts"

const check = leakCheck()

const members = ["writer", "critic", "editor"] as const

type Member = (typeof members)[number]

/** A leader that gives each member a task, and members that work until the test releases them. */
const start = async (team: Partial<NonNullable<Agents[string]["team"]>> = {}) => {
  const released = Promise.withResolvers<string>()
  const runs: Array<string> = []
  const work = tool({
    name: "work",
    effect: "read",
    execute: (_, { sessionId = "" }) => {
      runs.push(/~\/(\w+)-/u.exec(sessionId)?.[1] ?? "")
      return released.promise
    }
  })
  const lead = check.fake({
    respond: ({ messages }: Request): Script =>
      said(messages.at(-1)) === "go" ? calls(...members.map((name) => [name, { input: "go" }] as const)) : says("on it")
  })
  const member = check.fake({
    respond: ({ messages }: Request): Script =>
      messages.some(({ role }) => role === "tool") ? says("ready") : calls("work")
  })
  const { troupe, system } = await check.troupe({
    adapter: lead,
    onCrash: () => undefined,
    agents: {
      lead: { team: { members, ...team }, tools: [] },
      ...Object.fromEntries(members.map((name) => [name, { adapter: member, tools: [work] }]))
    },
    agent: "lead"
  })
  const chat = await troupe.chat("c")
  await chat.send("go").result()
  await until(() => runs.length === 3)
  const pidOf = (name: Member) =>
    Array.from(livingChatsOf(troupe)).find(([id]) => id.startsWith(`c/~/${name}-`))?.[1].chat.pid
  const crash = (name: Member) => {
    const pid = pidOf(name)
    if (pid !== undefined) Process.exit(pid, new Error("a bug"))
  }
  const users = () => chat.thread.messages.filter(({ role }) => role === "user").map(said)
  return { chat, troupe, system, runs, released, pidOf, crash, users }
}

test.each([
  ["oneForOne", ["critic"]],
  ["restForOne", ["critic", "editor"]],
  ["oneForAll", ["critic", "editor", "writer"]]
] as const)("TEAM3 when a member crashes, %s starts %j again, and each continues its turn", async (strategy, again) => {
  const { runs, released, pidOf, crash, users } = await start({ strategy })
  const before = members.map((name) => [name, pidOf(name)] as const)
  crash("critic")
  await until(() => runs.length === 3 + again.length)
  expect(runs.slice(3).toSorted()).toEqual([...again])
  expect(
    before
      .filter(([name, pid]) => pidOf(name) !== pid)
      .map(([name]) => name)
      .toSorted()
  ).toEqual([...again])
  released.resolve("done")
  await until(() => users().filter((line) => line.includes("has ended: done.\nready")).length === 3)
})

test("TEAM5 the leader and the members that work read that a member crashed, and why", async () => {
  const { troupe, runs, released, crash, users } = await start()
  crash("critic")
  await until(() => runs.length === 4 && users().some((line) => line.includes("crashed")))
  const down = /^The agent critic-\w{8} of your team crashed: .*a bug.*\. It was started again, and goes on\.$/u
  expect(users().filter((line) => line.includes("crashed"))).toEqual([expect.stringMatching(down)])
  released.resolve("done")
  await until(() => users().filter((line) => line.includes("has ended: done.\nready")).length === 3)
  const threads = await Promise.all(
    members.map(async (name) => {
      const { chats } = await troupe.list({ prefix: `c/~/${name}-` })
      const record = await troupe.at(chats[0]?.id ?? "", chats[0]?.seq ?? 0)
      return record?.thread.messages.map(said).filter((line) => down.test(line)).length
    })
  )
  expect(threads).toEqual([1, 0, 1])
})

test("TEAM4 when a team has too many crashes, the work of all members fails, and the next task begins anew", async () => {
  const { chat, runs, released, crash, users } = await start({ maxRestarts: 1, maxSeconds: 60 })
  crash("critic")
  await until(() => runs.length === 4)
  crash("critic")
  await until(() => users().filter((line) => line.includes("has ended: failed")).length === 3)
  expect(
    users().filter((line) => line.includes("its team had more than 1 crashes in 60 seconds")).length
  ).toBeGreaterThanOrEqual(3)
  expect(users().some((line) => line.includes("It does not go on"))).toBe(true)
  expect(chat.pid === undefined).toBe(false)
  released.resolve("done")
  await chat.send("go").result()
  await until(() => users().filter((line) => line.includes("has ended: done.\nready")).length === 3)
})
