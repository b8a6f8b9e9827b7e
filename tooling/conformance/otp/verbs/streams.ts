/**
 * Streams of tasks, and the observations around them.
 *
 * @module
 */
import { Process, Task, TaskSupervisor } from "@troupe/otp"
import type { Pid } from "@troupe/otp"
import * as Effect from "effect/Effect"
import { isList, list, number, object, optional, text } from "../../runner/json.ts"
import type { Json, JsonObject } from "../../runner/json.ts"
import { now, wait } from "../actor.ts"
import type { Actor, Verbs } from "../actor.ts"
import { RuntimeError, decodeReason } from "../terms.ts"
import type { World } from "../actor.ts"
import { observed } from "./processes.ts"

type Result = Task.StreamResult<JsonObject, unknown, boolean>

function* pulled(world: World, inputs: ReadonlyArray<Json>): Generator<JsonObject> {
  for (const input of inputs) {
    world.stream.pull(object(input)["id"] ?? null)
    yield object(input)
  }
}

const workOf =
  (world: World) =>
  (input: JsonObject, self: Pid<unknown>): Effect.Effect<unknown, unknown> =>
    Effect.gen(function* () {
      const id = input["id"] ?? null
      world.adopt(`task_${JSON.stringify(id)}`, self)
      if (input["trap_exit"] === true) Process.trapExit(self, true)
      world.stream.start(id)
      Process.onExit(self, () => world.stream.end())
      if (input["sleep"] !== undefined) yield* Effect.sleep(number(input["sleep"]))
      if (input["exit"] !== undefined) return yield* Effect.die(Process.exitWith(decodeReason(world, input["exit"])))
      if (input["raise"] !== undefined) return yield* Effect.die(new RuntimeError(text(input["raise"])))
      world.stream.complete(id)
      return id
    })

const optionsOf = (given: JsonObject): Task.StreamOptions => {
  const maxConcurrency = optional(number, given["max_concurrency"])
  const timeout = given["timeout"] === "infinity" ? "infinity" : optional(number, given["timeout"])
  return {
    ordered: given["ordered"] !== false,
    onTimeout: given["on_timeout"] === "kill_task" ? "killTask" : "exit",
    zipInputOnExit: given["zip_input_on_exit"] === true,
    ...(maxConcurrency === undefined ? {} : { maxConcurrency }),
    ...(timeout === undefined ? {} : { timeout })
  }
}

const streamOf = (actor: Actor, given: JsonObject): AsyncIterable<Result> => {
  const { world, self } = actor
  const inputs = pulled(world, list(given["inputs"]))
  const supervisor = optional(text, given["nolink_sup"])
  return supervisor === undefined
    ? Task.asyncStream(self, inputs, workOf(world), optionsOf(given))
    : TaskSupervisor.asyncStreamNolink(world.pid(supervisor), self, inputs, workOf(world), optionsOf(given))
}

const shown = (result: Result): unknown => {
  if ("ok" in result) return ["ok", result.ok]
  return ["exit", "input" in result ? [result.input["id"], result.exit] : result.exit]
}

/** Consumes results as the case describes: all, none, some, slowly, or until the consumer fails. */
const consume = async (actor: Actor, given: JsonObject): Promise<ReadonlyArray<unknown>> => {
  const asked = given["consume"] ?? "all"
  const [how, amount] = isList(asked) ? asked : [asked]
  const stream = streamOf(actor, given)
  const seen: Array<unknown> = []
  if (how === "none" || (how === "take" && number(amount) === 0)) return seen
  for await (const result of stream) {
    const consumed = shown(result)
    seen.push(consumed)
    actor.world.stream.interleaved.push(["consumed", actor.world.encode(consumed)])
    if (how === "take" && seen.length >= number(amount)) break
    if (how === "raise_after" && seen.length >= number(amount)) throw new RuntimeError("consumer")
    if (how === "each_sleep") await Process.receive(actor.self, { match: () => false, timeout: number(amount) })
  }
  return seen
}

const sorted = (ids: ReadonlyArray<Json>): ReadonlyArray<Json> =>
  ids.toSorted((one, other) => Number(one) - Number(other))

export const streams: Verbs = {
  async_stream: (actor, [given]) =>
    wait(() => consume(actor, object(given))).pipe(Effect.map((seen) => observed(actor, "stream", seen))),
  stream_stats: now((actor) => {
    const { pulled: ids, started, completed, peak } = actor.world.stream
    actor.observe("pulled", ids)
    actor.observe("started", sorted(started))
    actor.observe("completed", completed)
    actor.observe("peak", peak)
  }),
  stream_started_sorted: now((actor) => actor.observe("started", sorted(actor.world.stream.started))),
  stream_interleave: now((actor) => actor.observe("interleave", actor.world.stream.interleaved))
}
