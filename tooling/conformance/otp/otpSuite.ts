/**
 * The cases that say what Elixir/OTP does: each is a small program, run on a system of its own, and compared with what a
 * real run of it observed.
 *
 * @module
 */
import { Process, System } from "@troupe/otp"
import type { Clock } from "@troupe/otp"
import * as Effect from "effect/Effect"
import { isList, list, number, object, optional, same } from "../json.ts"
import type { Json, JsonObject } from "../json.ts"
import type { Complaint, Suite } from "../suite.ts"
import { Actor } from "./actor.ts"
import type { Verbs } from "./actor.ts"
import { World } from "./world.ts"
import { agents } from "./verbs/agents.ts"
import { control } from "./verbs/control.ts"
import { mail } from "./verbs/mail.ts"
import { processes } from "./verbs/processes.ts"
import { registries } from "./verbs/registries.ts"
import { servers } from "./verbs/servers.ts"
import { streams } from "./verbs/streams.ts"
import { supervisors } from "./verbs/supervisors.ts"
import { tasks } from "./verbs/tasks.ts"

const vocabulary: Verbs = {
  ...control,
  ...processes,
  ...mail,
  ...servers,
  ...supervisors,
  ...tasks,
  ...streams,
  ...registries,
  ...agents
}

/** The longest a script may take, and how long to wait after it where the case does not say. */
const limit = 30_000
const defaultSettle = 40

const hostSleep = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms))

const pass = (world: World, ms: number): Promise<void> =>
  isTestClock(world.clock) ? world.clock.advance(ms) : hostSleep(ms)

const isTestClock = (clock: Clock.Clock): clock is Clock.TestClock => "advance" in clock

/** Runs the script in the process `main`, which stays until the end of the case. */
const runScript = async (world: World, steps: Json | undefined): Promise<void> => {
  const script = { over: false }
  const main = Process.spawn(
    world.system,
    (self) =>
      Effect.gen(function* () {
        if (optional(object, world.given["main"])?.["trap_exit"] === true) Process.trapExit(self, true)
        yield* new Actor(world, self).script(steps)
        script.over = true
        return yield* Effect.never
      }),
    { label: "main" }
  )
  world.adopt("main", main)
  const until = world.clock.now() + limit
  while (!script.over && Process.isAlive(main) && world.problem === undefined && world.clock.now() < until) {
    await pass(world, 1)
  }
  if (world.clock.now() >= until) world.problem ??= new Error("the script does not end")
}

const sortedByText = (values: ReadonlyArray<Json>): ReadonlyArray<Json> =>
  values.toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1))

const observed = (world: World, unorderedTrace: boolean): JsonObject => ({
  obs: Object.fromEntries(world.observations),
  exits: Object.fromEntries(world.exits),
  alive: sortedByText(world.alive()),
  trace: unorderedTrace ? sortedByText(world.trace) : [...world.trace]
})

const expectedOf = (then: JsonObject, unorderedTrace: boolean): JsonObject => ({
  obs: then["obs"] ?? {},
  exits: then["exits"] ?? {},
  alive: sortedByText(list(then["alive"] ?? [])),
  trace: unorderedTrace ? sortedByText(list(then["trace"] ?? [])) : (then["trace"] ?? [])
})

/** Where two values differ first, told in one line. */
const difference = (path: string, wanted: Json | undefined, got: Json | undefined): Complaint => {
  if (same(wanted, got)) return undefined
  if (isList(wanted) && isList(got)) {
    const index = wanted.findIndex((item, at) => !same(item, got[at]))
    const at = index === -1 ? wanted.length : index
    return `${path}[${at}] is ${told(got[at])}, not ${told(wanted[at])}`
  }
  if (!isPlain(wanted) || !isPlain(got)) return `${path} is ${told(got)}, not ${told(wanted)}`
  const key = [...Object.keys(wanted), ...Object.keys(got)].find((name) => !same(wanted[name], got[name])) ?? ""
  return difference(path === "" ? key : `${path}.${key}`, wanted[key], got[key])
}

const told = (value: Json | undefined): string => (value === undefined ? "missing" : JSON.stringify(value))

const isPlain = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !isList(value)

/** The suite of OTP cases. */
export const otpSuite: Suite = {
  run: async ({ content }, clock) => {
    const world = new World(optional(object, content["given"]) ?? {}, clock, vocabulary)
    const unorderedTrace = content["unordered_trace"] === true
    try {
      await runScript(world, content["when"])
      if (world.problem === undefined) await pass(world, optional(number, content["settle_ms"]) ?? defaultSettle)
      const got = observed(world, unorderedTrace)
      if (world.problem !== undefined) return complaint(world.problem)
      return difference("", expectedOf(object(content["then"]), unorderedTrace), got)
    } finally {
      await System.stop(world.system, { timeout: 1 })
    }
  }
}

const complaint = (problem: Error): string =>
  problem.name === "NotSupported" ? `not supported: ${problem.message}` : problem.message
