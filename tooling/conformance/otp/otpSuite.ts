/**
 * The cases of Elixir/OTP's behaviour: each is a small program, run on its own system, and compared with the observations
 * of a real run.
 *
 * @module
 */
import { Process, System } from "@troupe/otp"
import type { Clock } from "@troupe/otp"
import * as Effect from "effect/Effect"
import { isList, list, number, object, optional, same, text } from "../runner/json.ts"
import type { Json, JsonObject } from "../runner/json.ts"
import { fieldsOf } from "../runner/fields.ts"
import { type Difference, unexamined } from "../runner/matching.ts"
import { type Case, type ClockKind, type Finding, type Suite, unexaminedCase } from "../runner/suite.ts"
import { align } from "./align.ts"
import { Actor } from "./actor.ts"
import type { Verbs, World } from "./actor.ts"
import { CaseWorld, NotSupported } from "./caseWorld.ts"
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

/** The maximum time of a script, and the default wait after it. */
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

/** The differences of two values; elements of lists are paired as well as their order allows. */
const differences = (path: string, required: Json | undefined, got: Json | undefined): ReadonlyArray<Difference> => {
  if (same(required, got)) return []
  if (isList(required) && isList(got)) {
    return align(required, got, same).map((found) => differs(`${path}.${found.at}`, found.required, found.got))
  }
  if (!isPlain(required) || !isPlain(got)) return [differs(path, required, got)]
  return Object.keys({ ...required, ...got }).flatMap((key) =>
    differences(path === "" ? key : `${path}.${key}`, required[key], got[key])
  )
}

const differs = (path: string, required: Json | undefined, got: Json | undefined): Difference => ({
  path,
  message: `is ${written(got)}, not ${written(required)}`,
  ours: got,
  theirs: required
})

const written = (value: Json | undefined): string => (value === undefined ? "missing" : JSON.stringify(value))

const isPlain = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !isList(value)

const facets: ReadonlySet<string> = new Set(["obs", "exits", "alive", "trace"])

/** Runs a case, and returns its differences, or the reason why it cannot run. */
export const runProgram = async (content: JsonObject, clock: ClockKind): Promise<Finding> => {
  const world = new CaseWorld(optional(object, content["given"]) ?? {}, clock, vocabulary)
  const unorderedTrace = content["unordered_trace"] === true
  const required = object(content["then"])
  try {
    await runScript(world, content["when"])
    if (world.problem === undefined) await pass(world, optional(number, content["settle_ms"]) ?? defaultSettle)
    const got = observed(world, unorderedTrace)
    if (world.problem instanceof NotSupported) return unexaminedCase(`the step ${world.problem.message}`)
    if (world.problem !== undefined) return [{ path: "script", message: world.problem.message }]
    const unknown = Object.keys(required).filter((facet) => !facets.has(facet))
    return [...differences("", expectedOf(required, unorderedTrace), got), ...unknown.map(unexamined)]
  } finally {
    await System.stop(world.system, { timeout: 1 })
  }
}

/** The suite of OTP cases: one case a file, or a list of them. */
export const otpSuite: Suite = {
  concurrency: 32,
  casesOf: (content) => (isList(content as Json) ? (content as ReadonlyArray<Json>) : [content as Json]).map(caseOf)
}

const caseOf = (value: Json): Case => {
  const content = object(value)
  return {
    id: text(content["id"]),
    facts: { suite: "otp", operation: "script", given: content, expected: fieldsOf(content["then"]) },
    run: (clock) => runProgram(content, clock)
  }
}
