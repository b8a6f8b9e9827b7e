/**
 * What is left of places and their programs when they end, and when their host ends.
 *
 * `TROUPE_ROUNDS=17 pnpm programs packages/isolate/test/programs/hostEnd.test.ts` ends 136 hosts with 408 busy places; the default is 1 round.
 */
import { System } from "@troupe/otp"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import type { Isolation } from "../../src/index.ts"
import { guardProgram } from "../../src/threadPrograms.ts"
import { seen } from "../double/seen.ts"
import { inGroups, runs } from "../double/processes.ts"
import { isolate, toolOf, until } from "../double/running.ts"

const own = isolate()
const program = fileURLToPath(new URL("../double/host.ts", import.meta.url))

const rounds = Number(process.env["TROUPE_ROUNDS"] ?? 1)

/** The id of a place's process, and of its program. */
interface Ids {
  readonly pid: number
  readonly program: number
}

/** Runs a host until its places are busy; answers their ids. */
const hostWith = async (how: string, isolation: Isolation, places: number) => {
  const host = spawn(process.execPath, [program, how, isolation, String(places)], {
    stdio: ["ignore", "pipe", "ignore"]
  })
  const [line] = (await once(createInterface({ input: host.stdout }), "line")) as [string]
  return { host, ids: JSON.parse(line) as ReadonlyArray<Ids> }
}

const isolations = ["process", "worker"] as const

const functions = ["leavesProgram", "leavesBehindShell", "busyWithPrograms"] as const

test.each(isolations.flatMap((isolation) => functions.map((name) => [isolation, name] as const)))(
  "CHILD1 THREAD1 the programs of a %s end with it: %s",
  async (isolation, name) => {
    const abort = new AbortController()
    const { tool, program: started, values } = seen(toolOf(isolation, name, { graceMs: 0 }))
    const running = own.run(tool, {}, { signal: abort.signal, drainMs: 60_000 })
    await until(() => values.length > 0)
    if (name === "busyWithPrograms") abort.abort()
    const { messages } = await running
    expect(messages.map(({ outcome }) => outcome)).toEqual([name === "busyWithPrograms" ? "cancelled" : "completed"])
    expect(started()).toBeGreaterThan(0)
    await until(() => !runs(started()))
  }
)

test.each(isolations.flatMap((isolation) => ["wait", "stop", "exit", "throw"].map((how) => [isolation, how] as const)))(
  "CHILD2 THREAD2 each busy %s and its programs end with their host: %s",
  async (isolation, how) => {
    for (let round = 0; round < rounds; round++) {
      const { host, ids } = await hostWith(how, isolation, 3)
      if (how === "wait") host.kill("SIGKILL")
      if (host.exitCode === null && host.signalCode === null) await once(host, "exit")
      expect(ids).toHaveLength(3)
      await until(() => ids.every((one) => !runs(one.program) && !runs(one.pid)))
      await until(() => inGroups(ids.flatMap((one) => [one.pid, one.program])).length === 0)
    }
  },
  60_000 * rounds
)

test("THREAD3 the guard kills the groups that have not ended, and no others", async () => {
  const programs = Array.from(
    { length: 4 },
    () => spawn("sleep", ["1000"], { detached: true, stdio: "ignore" }).pid ?? 0
  )
  const [first, second, third, last] = programs
  const guard = spawn("/bin/sh", ["-c", guardProgram], { stdio: ["pipe", "ignore", "ignore"], env: {} })
  guard.stdin.write(programs.map((pid) => `start ${pid}\n`).join(""))
  guard.stdin.end(`end ${third}\nend ${first}\n`)
  await once(guard, "exit")
  await until(() => [second, last].every((pid) => pid !== undefined && !runs(pid)))
  expect(inGroups(programs)).toEqual([first, third])
  for (const pid of [first, third]) process.kill(-(pid ?? 0), "SIGKILL")
})

test("ISO5 when System.stop has resolved, every place of the system is gone", async () => {
  const { tool, pid, values } = seen(toolOf("process", "busyWithPrograms"))
  const ended = own.run(tool).catch((thrown: unknown) => thrown)
  await until(() => values.length > 0)
  await System.stop(own.system)
  expect(inGroups([pid()])).toEqual([])
  expect(await ended).toBeInstanceOf(Error)
})

test("CHILD4 a call ends when its child has exited, also while a program in a session of its own holds the pipes", async () => {
  const { tool, pid } = seen(toolOf("process", "leavesPipes"))
  const { messages } = await own.run(tool)
  process.kill(pid(), "SIGKILL")
  expect(messages.map(({ content }) => content)).toEqual([expect.stringMatching(/handler_exit: .*exited with code 7/)])
})
