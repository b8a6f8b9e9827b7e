/**
 * Supervisors of each kind: started, queried, changed.
 *
 * @module
 */
import { DynamicSupervisor, GenServer, OtpError, PartitionSupervisor, Supervisor } from "@troupe/otp"
import type { Pid } from "@troupe/otp"
import * as Effect from "effect/Effect"
import { number, text } from "../../runner/json.ts"
import type { Json } from "../../runner/json.ts"
import { wait } from "../actor.ts"
import type { Actor, Verb, Verbs } from "../actor.ts"
import { childSpecOf, dynamicOptionsOf, startSupervisor } from "../childSpecs.ts"
import { definitionOf, startOptionsOf } from "../serverDefinition.ts"
import { refusal } from "../terms.ts"
import { observed } from "./processes.ts"
import { callAndObserve, startResult } from "./servers.ts"

const supervisor = (actor: Actor, name: Json | undefined): Pid => actor.world.pid(text(name))

/** The result of a request to a supervisor in OTP's form: the result of `ask`, or `["error", reason]`. */
const answer = (
  { world }: Actor,
  ask: () => Promise<unknown>,
  failedStart: (reason: unknown) => unknown
): Effect.Effect<unknown, unknown> =>
  wait(ask).pipe(
    Effect.catch((error): Effect.Effect<unknown, unknown> => {
      if (error instanceof OtpError.StartIgnored) return Effect.succeed("ignore")
      if (error instanceof OtpError.StartFailed) return Effect.succeed(["error", failedStart(error.reason)])
      return error instanceof OtpError.ChildRefused
        ? Effect.succeed(["error", refusal(world, error)])
        : Effect.fail(error)
    })
  )

const plain = (reason: unknown): unknown => reason

/** OTP returns the spec with the reason, unless the child already runs. */
const withSpec = (reason: unknown): unknown =>
  reason instanceof OtpError.AlreadyStarted ? reason : [reason, "_child_spec"]

const startChild: Verb = (actor, [name, child]) =>
  answer(
    actor,
    async () => {
      const pid = await Supervisor.startChild(supervisor(actor, name), childSpecOf(actor.world, child))
      return ["ok", pid ?? "undefined"]
    },
    withSpec
  ).pipe(Effect.map((result) => observed(actor, "start_child", result)))

const dynamicStartChild: Verb = (actor, [name, child]) =>
  answer(
    actor,
    async () => {
      const { id: _id, ...spec } = childSpecOf(actor.world, child)
      return ["ok", await DynamicSupervisor.startChild(supervisor(actor, name), spec)]
    },
    plain
  ).pipe(Effect.map((result) => observed(actor, "start_child", result)))

const change =
  (verb: string, ask: (supervisor: Pid, actor: Actor, child: string) => Promise<unknown>): Verb =>
  (actor, [name, child]) =>
    answer(actor, () => ask(supervisor(actor, name), actor, text(child)), plain).pipe(
      Effect.map((result) => observed(actor, verb, child, result))
    )

const terminateDynamic = change("terminate_child", async (pid, actor, child) => {
  await DynamicSupervisor.terminateChild(pid, actor.world.pid(child))
  return "ok"
})

const shown = ({ pid, type }: Pick<Supervisor.ChildInfo, "pid" | "type">, id: unknown): ReadonlyArray<unknown> => [
  id,
  pid ?? "undefined",
  type
]

const which: Verb = (actor, [name]) =>
  wait(() => Supervisor.whichChildren(supervisor(actor, name))).pipe(
    Effect.map((infos) =>
      observed(
        actor,
        "which_children",
        infos.map((info) => shown(info, info.id))
      )
    )
  )

const count: Verb = (actor, [name]) =>
  wait(() => Supervisor.countChildren(supervisor(actor, name))).pipe(
    Effect.map((counts) => observed(actor, "count_children", { ...counts }))
  )

const startPartitions: Verb = (actor, [name, partitions, server]) => {
  const { world, self } = actor
  const start = (parent: Pid): Promise<Pid> =>
    world.born(text(server), () =>
      GenServer.startLink(parent, definitionOf(world, text(server)), undefined, startOptionsOf(world, text(server)))
    )
  const options = { label: text(name), partitions: number(partitions), child: { start } }
  return startResult(() => world.born(text(name), () => PartitionSupervisor.startLink(self, options))).pipe(
    Effect.map((result) => observed(actor, "start_psup", result))
  )
}

const whichPartitions: Verb = (actor, [name]) =>
  wait(() => PartitionSupervisor.whichChildren(supervisor(actor, name))).pipe(
    Effect.map((infos) =>
      observed(
        actor,
        "which_children",
        infos.map((info) => shown(info, info.partition))
      )
    )
  )

export const supervisors: Verbs = {
  start_sup: (actor, [name]) =>
    startResult(() => startSupervisor(actor.world, actor.self, text(name))).pipe(
      Effect.map((result) => observed(actor, "start", name, result))
    ),
  start_dynsup: (actor, [name]) => {
    const { world, self } = actor
    const options = dynamicOptionsOf(world, "sups", text(name))
    return startResult(() => world.born(text(name), () => DynamicSupervisor.startLink(self, options))).pipe(
      Effect.map((result) => observed(actor, "start", name, result))
    )
  },
  start_child: startChild,
  terminate_child: change("terminate_child", async (pid, _actor, id) => {
    await Supervisor.terminateChild(pid, id)
    return "ok"
  }),
  restart_child: change("restart_child", async (pid, _actor, id) => [
    "ok",
    (await Supervisor.restartChild(pid, id)) ?? "undefined"
  ]),
  delete_child: change("delete_child", async (pid, _actor, id) => {
    await Supervisor.deleteChild(pid, id)
    return "ok"
  }),
  which_children: which,
  count_children: count,
  dyn_start_child: dynamicStartChild,
  dyn_terminate: terminateDynamic,
  dyn_terminate_child: terminateDynamic,
  dyn_which: which,
  dyn_which_children: which,
  dyn_count: count,
  dyn_count_children: count,
  start_psup: startPartitions,
  psup_call: (actor, [name, key, request, timeout]) =>
    Effect.suspend(() => {
      const target = PartitionSupervisor.via(supervisor(actor, name), actor.world.decode(key))
      return callAndObserve(actor, target, request, timeout)
    }),
  psup_partitions: (actor, [name]) =>
    Effect.sync(() => observed(actor, "partitions", PartitionSupervisor.partitions(supervisor(actor, name)))),
  psup_which: whichPartitions
}
