import { inspect } from "node:util"
import { expect, test } from "vitest"
import { ExitReason, OtpError, Process, System } from "../../src/index.ts"

const reasons = [
  "running",
  "restarting",
  "notFound",
  "alreadyPresent",
  "alreadyStarted",
  "maxChildren",
  "duplicateId",
  "significantUnheeded",
  "significantPermanent"
] as const

test.each(reasons)("a refusal for a child says what is the matter and what to do: %s", (reason) => {
  const { message } = new OtpError.ChildRefused({ reason, id: "a", pid: undefined })
  expect(message).toMatch(/^the supervisor refuses this for child "a": .+: .+/)
})

test("a start that failed says what to do next", () => {
  expect(new OtpError.StartFailed({ reason: "timeout" }).message).toContain("allow more, or do less in init")
  expect(new OtpError.StartFailed({ reason: "boom" }).message).toBe(
    "the process did not start: boom; start it again once that is mended"
  )
  expect(new OtpError.FailedToStartChild({ id: "a", reason: "boom" }).message).toContain("mend that")
})

test.each([
  new OtpError.NameTaken({ name: "till", pid: undefined }),
  new OtpError.UnknownName({ name: "till" }),
  new OtpError.SystemStopped({ name: "till" }),
  new OtpError.ApplicationAlreadyStarted({ name: "till" }),
  new OtpError.ApplicationNotStarted({ name: "till" })
])("ERRTEXT1 the text of $_tag begins with its tag, and its data keeps the name", (error) => {
  const title = `${error._tag}: ${error.message}`
  expect([String(error), ExitReason.format(error), error.name]).toEqual([title, title, "till"])
})

test("ERRTEXT2 an error is printed with its message, its stack and its fields in short", async () => {
  const system = System.make()
  const pid = Process.spawn(system, () => new Promise(() => {}), { label: "till" })
  const shown = inspect(new OtpError.ProcessExit({ pid, reason: new Error("boom") }))
  expect(shown.split("\n")[0]).toBe(`ProcessExit: till ${pid} ended: Error: boom`)
  expect(shown).toMatch(/\n +at .*OtpError\.test\.ts/)
  expect(shown).toContain(`\n  pid: till ${pid}\n  reason: Error: boom`)
  expect(inspect({ failed: new OtpError.StartIgnored() })).toContain("StartIgnored: the process chose not to run")
  await System.stop(system)
})

test("ERRTEXT3 Node prints an uncaught error without the insides of its pids, which its fields still hold", async () => {
  const system = System.make()
  const pid = Process.spawn(system, () => new Promise(() => {}))
  const error = new OtpError.StartFailed({ reason: new OtpError.AlreadyStarted({ pid }) })
  // So does Node for an error that nothing catches.
  expect(inspect(error, { customInspect: false })).not.toContain("kernel")
  const { reason } = error
  expect(reason).toMatchObject({ _tag: "AlreadyStarted", pid })
  expect(JSON.parse(JSON.stringify(reason))).toEqual({ _tag: "AlreadyStarted", pid: String(pid) })
  await System.stop(system)
})

test("a request of a process to itself says what to do instead", () => {
  const itself = (request: string) => new OtpError.CallExit({ reason: "calling_self", in: request }).message
  expect(itself("GenServer.call")).toContain("call the function that handles the request")
  expect(itself("GenServer.stop")).toContain("return GenServer.stopping")
  expect(new OtpError.CallExit({ reason: "timeout", in: "Supervisor.stop" }).message).toContain("or kill it")
})
