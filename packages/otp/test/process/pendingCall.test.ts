import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { Clock, GenServer, System } from "../../src/index.ts"
import { hop } from "../double/hop.ts"

let clock: Clock.TestClock
let timers: Array<() => void>
let system: System.System

/** A clock whose timers pass when the test says so, as after a turn of the event loop that took long. */
const late = (): Clock.Clock => ({
  now: () => clock.now(),
  setTimeout: (run) => {
    timers.push(run)
    return run
  },
  clearTimeout: (id) => void (timers = timers.filter((run) => run !== id))
})

/** Lets each timer pass that waits now. */
const passAll = (): void => {
  for (const run of timers.splice(0)) run()
}

beforeEach(() => {
  clock = Clock.test()
  timers = []
  system = System.make({ clock: late() })
})

afterEach(async () => {
  await System.stop(system)
  expect(timers).toEqual([])
})

/** Answers a number at once, `never` not at all, and `slow` while the server takes no other message. */
const answering = GenServer.make({
  init: () => GenServer.ok(undefined),
  handleCall: (request: number | "never" | "slow", _from, state: undefined) => {
    if (request === "slow") return new Promise<never>(() => {})
    return request === "never" ? GenServer.noreply(state) : GenServer.replying(request, state)
  }
})

const outcomeOf = (call: Promise<unknown>): Promise<unknown> =>
  call.catch(({ reason }: { readonly reason: unknown }) => reason)

describe("PCALL3. When a timeout passes before the server has taken the call,", () => {
  test("a server that only waits for the thread answers it", async () => {
    const server = await GenServer.start(system, answering, undefined)
    const calls = Array.from({ length: 1_000 }, (_, at) => outcomeOf(GenServer.call(server, at)))
    for (let times = 0; times < 3; times++) passAll()
    expect(await Promise.all(calls)).toEqual(calls.map((_, at) => at))
  })

  test("a server that then gives no answer has the whole timeout once more", async () => {
    const server = await GenServer.start(system, answering, undefined)
    const call = outcomeOf(GenServer.call(server, "never"))
    passAll()
    await hop()
    expect(timers).toHaveLength(1)
    passAll()
    expect(await call).toBe("timeout")
  })

  test("a server that is busy with an earlier message when the timeout passes again does not answer", async () => {
    const server = await GenServer.start(system, answering, undefined)
    const calls = ["slow", 1].map((request) => outcomeOf(GenServer.call(server, request as "slow" | 1)))
    passAll()
    await hop()
    passAll()
    expect(await Promise.all(calls)).toEqual(["timeout", "timeout"])
  })
})

test("PCALL3 when a timeout passes while the server is busy, the call ends at once", async () => {
  const server = await GenServer.start(system, answering, undefined)
  const calls = [outcomeOf(GenServer.call(server, "slow"))]
  await hop()
  calls.push(outcomeOf(GenServer.call(server, 1)))
  passAll()
  expect(await Promise.all(calls)).toEqual(["timeout", "timeout"])
  expect(timers).toEqual([])
})
