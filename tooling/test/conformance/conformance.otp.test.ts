import { describe, expect, test } from "vitest"
import type { Json, JsonObject } from "../../conformance/runner/json.ts"
import { runProgram } from "../../conformance/otp/otpSuite.ts"
import { processes } from "./cases/otp/processes.ts"
import type { Program } from "./cases/otp/program.ts"
import { registries } from "./cases/otp/registries.ts"
import { servers } from "./cases/otp/servers.ts"
import { streams } from "./cases/otp/streams.ts"
import { supervisors } from "./cases/otp/supervisors.ts"
import { tasks } from "./cases/otp/tasks.ts"

const programs: ReadonlyArray<Program> = [...processes, ...servers, ...supervisors, ...tasks, ...streams, ...registries]

/** The case of a program; the key it has for what is observed must not stand in an object literal. */
const contentOf = ({ given = {}, when, observed }: Omit<Program, "law">): JsonObject => {
  const entries = Object.entries<Json>({ given, when, observed })
  return Object.fromEntries(entries.map(([key, value]) => [key === "observed" ? "then" : key, value]))
}

const run = (program: Omit<Program, "law">, more: JsonObject = {}) =>
  runProgram({ ...contentOf(program), ...more }, "virtual")

const described = async (program: Omit<Program, "law">, more: JsonObject = {}) => {
  const found = await run(program, more)
  return "notRun" in found ? [found.because] : found.map(({ path, message }) => `${path} ${message}`)
}

describe("a program of the OTP vocabulary observes what it does in Elixir", () => {
  test.each(programs)("$law", async (program) => {
    expect(await run(program)).toEqual([])
  })
})

describe("a case that fails", () => {
  const a = { servers: { a: {} } }

  test("is described by where it differs", async () => {
    const observed = { obs: { main: [["start", "a", ["error", "no"]]] }, alive: ["a"], trace: [["a", "init"]] }
    expect(await described({ given: a, when: [["start", "a"]], observed })).toEqual([
      'obs.main.0 is ["start","a",["ok",{"pid":"a"}]], not ["start","a",["error","no"]]'
    ])
  })

  test("names what is missing and what is too much", async () => {
    expect(await described({ when: [["flush"]], observed: { obs: {} } })).toContain(
      'obs.main is [["flushed",[]]], not missing'
    )
    expect(await described({ when: [], observed: { alive: ["a"] } })).toContain('alive.0 is missing, not "a"')
    expect(await described({ when: [["exit", "early"], ["flush"]], observed: {} })).toContain(
      'exits.main is "early", not missing'
    )
  })

  test("says so when its verb is not supported", async () => {
    expect(await described({ when: [["fly"]], observed: {} })).toEqual(["the step fly"])
  })

  test("is no endless one: a script that waits too long is given up", async () => {
    expect(await described({ when: [["receive", "_", "infinity"]], observed: {} })).toEqual([
      "script the script does not end"
    ])
  })
})

test("a trace that is unordered is compared as a set", async () => {
  const program = {
    given: { servers: { a: {}, b: {} } },
    when: [
      ["start", "a"],
      ["start", "b"]
    ]
  }
  const obs = { main: ["a", "b"].map((label) => ["start", label, ["ok", { pid: label }]]) }
  const observed = {
    obs,
    alive: ["b", "a"],
    trace: [
      ["b", "init"],
      ["a", "init"]
    ]
  }
  expect(await run({ ...program, observed }, { unordered_trace: true })).toEqual([])
  expect(await described({ ...program, observed })).toEqual([
    'trace.0 is missing, not ["b","init"]',
    'trace.1 is ["b","init"], not missing'
  ])
})
