/**
 * Streams of tasks, and the observations around them.
 *
 * @module
 */
import { type Pid, Process, Task, TaskSupervisor } from "@troupe/otp"
import * as Effect from "effect/Effect"
import { isList, type Json, type JsonObject, list, number, object, optional, present, text } from "../../runner/json.ts"
import { type Actor, arg, act, verb, type Verbs, type World } from "../actor.ts"
import { shutdownOf } from "../childSpecs.ts"
import { decodeReason, RuntimeError } from "../terms.ts"

type Result = Task.StreamResult<JsonObject, unknown, boolean>

function* pulled(world: World, inputs: ReadonlyArray<Json>): Generator<JsonObject> {
  for (const input of inputs) {
    world.stream.push(["pulled", object(input)["id"] ?? null])
    yield object(input)
  }
}

const workOf =
  (world: World) =>
  (
    { id = null, trap_exit: traps, sleep, exit, raise }: JsonObject,
    self: Pid<unknown>
  ): Effect.Effect<unknown, unknown> =>
    Effect.gen(function* () {
      world.adopt(`task_${JSON.stringify(id)}`, self)
      if (traps === true) Process.trapExit(self, true)
      world.stream.push(["started", id])
      Process.onExit(self, () => world.stream.push(["ended", id]))
      if (sleep !== undefined) yield* Effect.sleep(number(sleep))
      if (exit !== undefined) return yield* Effect.die(Process.exitWith(decodeReason(world, exit)))
      if (raise !== undefined) return yield* Effect.die(new RuntimeError(text(raise)))
      world.stream.push(["completed", id])
      return id
    })

const streamOf = ({ world, self }: Actor, given: JsonObject): AsyncIterable<Result> => {
  const inputs = pulled(world, list(given["inputs"]))
  const [linked, unlinked] = [optional(text, given["link_sup"]), optional(text, given["nolink_sup"])]
  const options: TaskSupervisor.StreamOptions = {
    ordered: given["ordered"] !== false,
    onTimeout: given["on_timeout"] === "kill_task" ? "killTask" : "exit",
    zipInputOnExit: given["zip_input_on_exit"] === true,
    ...present({
      maxConcurrency: optional(number, given["max_concurrency"]),
      timeout: arg.time(given["timeout"]),
      shutdown: optional(shutdownOf, given["shutdown"])
    })
  }
  if (linked !== undefined) {
    return TaskSupervisor.asyncStream(world.pid(linked), self, inputs, workOf(world), options)
  }
  return unlinked === undefined
    ? Task.asyncStream(self, inputs, workOf(world), options)
    : TaskSupervisor.asyncStreamNolink(world.pid(unlinked), self, inputs, workOf(world), options)
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
    actor.world.stream.push(["consumed", actor.world.encode(consumed)])
    if (how === "take" && seen.length >= number(amount)) break
    if (how === "raise_after" && seen.length >= number(amount)) throw new RuntimeError("consumer")
    if (how === "each_sleep") await Process.receive(actor.self, { match: () => false, timeout: number(amount) })
  }
  return seen
}

/** The values of a mark. */
const marked = ({ stream }: World, mark: string): ReadonlyArray<Json> =>
  stream.flatMap(([found, value]) => (found === mark ? [value] : []))

const startedOf = (world: World): ReadonlyArray<Json> =>
  marked(world, "started").toSorted((one, other) => Number(one) - Number(other))

/** The largest number of tasks that ran at a time. */
const peakOf = ({ stream }: World): number => {
  const changes: Readonly<Record<string, number>> = { started: 1, ended: -1 }
  let running = 0
  return Math.max(0, ...stream.map(([mark]) => (running += changes[mark] ?? 0)))
}

export const streams: Verbs = {
  async_stream: verb("stream", [arg.raw], (actor, given) => consume(actor, object(given))),
  stream_stats: act([], (actor) => {
    actor.observe("pulled", marked(actor.world, "pulled"))
    actor.observe("started", startedOf(actor.world))
    actor.observe("completed", marked(actor.world, "completed"))
    actor.observe("peak", peakOf(actor.world))
  }),
  stream_started_sorted: verb("started", [], ({ world }) => startedOf(world)),
  stream_interleave: verb("interleave", [], ({ world: { stream } }) =>
    stream.filter(([mark]) => mark === "pulled" || mark === "consumed")
  )
}
