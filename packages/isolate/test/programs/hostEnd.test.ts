/**
 * What is left of children when they end, and when their host ends.
 *
 * `TROUPE_ROUNDS=17 pnpm programs packages/isolate/test/programs/hostEnd.test.ts` ends 68 hosts with 204 busy children; the default is 1 round.
 */
import { System } from "@troupe/otp"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { seen } from "../double/seen.ts"
import { inGroups } from "../double/processes.ts"
import { isolate, toolOf, until } from "../double/running.ts"

const own = isolate()
const program = fileURLToPath(new URL("../double/host.ts", import.meta.url))

const rounds = Number(process.env["TROUPE_ROUNDS"] ?? 1)

/** Runs a host until its children are busy; answers their ids. */
const hostWith = async (how: string, children: number) => {
  const host = spawn(process.execPath, [program, how, String(children)], { stdio: ["ignore", "pipe", "ignore"] })
  const [line] = (await once(createInterface({ input: host.stdout }), "line")) as [string]
  return { host, pids: JSON.parse(line) as ReadonlyArray<number> }
}

test.each(["leavesProgram", "busyWithPrograms"])("CHILD1 a child's programs end with it: %s", async (name) => {
  const abort = new AbortController()
  const { tool, pid, values } = seen(toolOf("process", name, { graceMs: 0 }))
  const running = own.run(tool, {}, { signal: abort.signal, drainMs: 60_000 })
  await until(() => values.length > 0)
  if (name === "busyWithPrograms") abort.abort()
  const { messages } = await running
  expect(messages.map(({ outcome }) => outcome)).toEqual([name === "leavesProgram" ? "completed" : "cancelled"])
  await until(() => inGroups([pid()]).length === 0)
})

test.each(["wait", "stop", "exit", "throw"])(
  "CHILD2 busy children and their programs end with their host: %s",
  async (how) => {
    for (let round = 0; round < rounds; round++) {
      const { host, pids } = await hostWith(how, 3)
      if (how === "wait") host.kill("SIGKILL")
      if (host.exitCode === null && host.signalCode === null) await once(host, "exit")
      expect(pids).toHaveLength(3)
      await until(() => inGroups(pids).length === 0)
    }
  },
  60_000 * rounds
)

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
