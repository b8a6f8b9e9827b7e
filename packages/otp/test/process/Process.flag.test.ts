import { expect, test } from "vitest"
import { DeadLetters, GenServer, Process, Sys, System, Telemetry } from "../../src/index.ts"
import type { CrashReport, Pid } from "../../src/index.ts"
import { hop } from "../double/hop.ts"
import { sleeper } from "../double/inProcess.ts"

const vault = GenServer.make({
  label: "vault",
  init: (sensitive: boolean, self: Pid) => {
    Process.flag(self, "sensitive", sensitive)
    return GenServer.ok({ key: "hunter2" })
  },
  handleCall: (secret: string, _from: GenServer.From<string>, state) => GenServer.replying(`${secret}!`, state),
  handleCast: (_secret: string) => {
    throw new Error("no room")
  }
})

/** Processes as text, for JSON. */
const plain = (_key: string, value: unknown): unknown =>
  typeof value === "object" && value !== null && "kernel" in value ? "a process" : value

/** Everything that is shown of a vault that gets secrets, crashes, and gets one more. */
const shown = async (sensitive: boolean): Promise<unknown> => {
  const reports: Array<CrashReport.CrashReport> = []
  const seen: Array<unknown> = []
  const system = System.make({ onCrash: (report) => void reports.push(report) })
  const pid = await GenServer.start(system, vault, sensitive)
  Telemetry.attach(system, "process", ({ metadata }) => seen.push("message" in metadata ? metadata.message : undefined))
  Sys.trace(pid, (event) => seen.push(event))
  const caller = sleeper(system)
  expect(await GenServer.call(pid, "secret", { from: caller })).toBe("secret!")
  expect(await Sys.getState(pid)).toEqual({ key: "hunter2" })
  GenServer.cast(pid, "secret")
  await hop()
  GenServer.cast(pid, "secret")
  expect([reports.length, DeadLetters.counts(system).dead]).toEqual([1, 1])
  const texts = [reports, seen, DeadLetters.recent(system)].map((part) => JSON.stringify(part, plain))
  await System.stop(system)
  return texts.map((text) => /secret|hunter2/.test(text))
}

test("SENS1 the mail and the state of a sensitive process are in no report, event, trace or stray mail", async () => {
  expect(await shown(true)).toEqual([false, false, false])
  expect(await shown(false)).toEqual([true, true, true])
})

test("SENS1 a report says that it withholds them", async () => {
  const reports: Array<CrashReport.CrashReport> = []
  const system = System.make({ onCrash: (report) => void reports.push(report) })
  const pid = await GenServer.start(system, vault, true)
  GenServer.cast(pid, "secret")
  await hop()
  expect(reports[0]).toMatchObject({ label: "vault", handling: "(sensitive)", state: "(sensitive)" })
  expect(reports[0]?.reason).toEqual(new Error("no room"))
  await System.stop(system)
})

test("a flag answers how it was, and a new process has none", async () => {
  const system = System.make()
  const pid = sleeper(system)
  const flags = ["trapExit", "sensitive"] as const
  expect(flags.map((name) => Process.flag(pid, name, true))).toEqual([false, false])
  expect(flags.map((name) => Process.flag(pid, name, false))).toEqual([true, true])
  expect(flags.map((name) => Process.flag(pid, name, false))).toEqual([false, false])
  expect(Process.info(pid)?.trapExit).toBe(false)
  await System.stop(system)
})

test("an unknown flag is refused with the names there are, and sets none", async () => {
  const system = System.make()
  const pid = sleeper(system)
  expect(() => Process.flag(pid, "trap_exit" as never, true)).toThrow(
    'the flag is "trap_exit": make it "trapExit" or "sensitive"'
  )
  expect([Process.flag(pid, "sensitive", false), Process.flag(pid, "trapExit", false)]).toEqual([false, false])
  await System.stop(system)
})
