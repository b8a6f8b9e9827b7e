/**
 * The cases of Elixir/OTP's behaviour: each is a small program, run on its own system, and compared with the observations
 * of a real run.
 *
 * @module
 */
import { type Clock, Process, System } from "@troupe/otp"
import * as Effect from "effect/Effect"
import { fieldsOf, type Json, type JsonObject, list, number, object, optional, sorted, text } from "../runner/json.ts"
import { facetDifferences } from "../runner/matching.ts"
import { type Case, type ClockKind, type Finding, NotRun, type Suite } from "../runner/suite.ts"
import { Actor, type Verbs, type World } from "./actor.ts"
import { CaseWorld } from "./caseWorld.ts"
import { control } from "./verbs/control.ts"
import { processes } from "./verbs/processes.ts"
import { registries } from "./verbs/registries.ts"
import { servers } from "./verbs/servers.ts"
import { streams } from "./verbs/streams.ts"
import { supervisors } from "./verbs/supervisors.ts"
import { tasks } from "./verbs/tasks.ts"

const vocabulary: Verbs = { ...control, ...processes, ...servers, ...supervisors, ...tasks, ...streams, ...registries }

/** The maximum time of a script, and the default wait after it. */
const limit = 30_000
const defaultSettle = 40

const pass = (world: World, ms: number): Promise<void> =>
  isTestClock(world.clock)
    ? world.clock.advance(ms)
    : new Promise((resolve) => void world.clock.setTimeout(resolve, ms))

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

const observed = (world: World, isUnordered: boolean) => ({
  obs: Object.fromEntries(world.observations),
  exits: Object.fromEntries(world.exits),
  alive: sorted(world.alive()),
  trace: isUnordered ? sorted(world.trace) : world.trace
})

const expectedOf = ({ obs = {}, exits = {}, alive = [], trace = [], ...others }: JsonObject, isUnordered: boolean) => {
  const own = { obs, exits, alive: sorted(list(alive)), trace: isUnordered ? sorted(list(trace)) : trace }
  return { ...Object.fromEntries(Object.entries(own).map(([facet, value]) => [facet, { $exact: value }])), ...others }
}

/** Runs a case, and returns its differences, or the reason why it cannot run. */
const runProgram = async (content: JsonObject, clock: ClockKind): Promise<Finding> => {
  const world = new CaseWorld(optional(object, content["given"]) ?? {}, clock, vocabulary)
  const isUnordered = content["unordered_trace"] === true
  const required = expectedOf(object(content["then"]), isUnordered)
  try {
    await runScript(world, content["when"])
    if (world.problem === undefined) await pass(world, optional(number, content["settle_ms"]) ?? defaultSettle)
    const got = observed(world, isUnordered)
    if (world.problem instanceof NotRun) throw world.problem
    if (world.problem !== undefined) return [{ path: "script", message: world.problem.message }]
    return facetDifferences(got, required)
  } finally {
    await System.stop(world.system, { timeout: 1 })
  }
}

/** The suite of OTP cases: one case a file, or a list of them. */
export const otpSuite: Suite = {
  concurrency: 32,
  casesOf: (content) => [content].flat().map(caseOf)
}

const caseOf = (value: unknown): Case => {
  const content = object(value)
  return {
    id: text(content["id"]),
    facts: { suite: "otp", operation: "script", given: content, expected: fieldsOf(content["then"]) },
    run: (clock) => runProgram(content, clock)
  }
}
