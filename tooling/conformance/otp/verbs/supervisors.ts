/**
 * Supervisors of each kind: started, queried, changed.
 *
 * @module
 */
import { DynamicSupervisor, OtpError, PartitionSupervisor, type Pid, Supervisor } from "@troupe/otp"
import { number, object, optional, present, text } from "../../runner/json.ts"
import { type Actor, arg, confirm, verb, type Verbs } from "../actor.ts"
import { childSpecOf, dynamicOptionsOf, startServer, startSupervisor } from "../childSpecs.ts"
import { refusal } from "../terms.ts"
import { call, done, started } from "./servers.ts"

/** The result of a request to a supervisor in OTP's form: that of the request, or `["error", reason]`. */
export const answer = async ({ world }: Actor, request: () => Promise<unknown>): Promise<unknown> => {
  try {
    return await request()
  } catch (error) {
    if (error instanceof OtpError.ChildRefused) return ["error", refusal(world, error)]
    throw error
  }
}

/** OTP returns the spec with the reason, unless the child already runs. */
const withSpec = (reason: unknown): unknown =>
  reason instanceof OtpError.AlreadyStarted ? reason : [reason, "_child_spec"]

const change = (as: string, request: (supervisor: Pid, id: string) => Promise<unknown>) =>
  verb(`${as} 1`, [arg.pid, arg.text], (actor, supervisor, id) => answer(actor, () => request(supervisor, id)))

type Info = Pick<Supervisor.ChildInfo, "pid" | "type">

const which = <A extends Info>(read: (supervisor: Pid) => Promise<ReadonlyArray<A>>, idOf: (info: A) => unknown) =>
  verb("which_children", [arg.pid], async (_, supervisor) => {
    const infos = await read(supervisor)
    return infos.map((info) => [idOf(info), info.pid ?? "undefined", info.type])
  })

const count = (as: string) =>
  verb(as, [arg.pid], async (_, supervisor) => ({ ...(await Supervisor.countChildren(supervisor)) }))

const startPartitions = verb("start_psup", [arg.text, arg.raw], ({ world, self }, label, options) => {
  const { partitions, server, restart, max_restarts: maxRestarts } = object(options)
  const child = {
    start: (parent: Pid) => startServer(world, parent, text(server)),
    ...present({ restart: restart as "permanent" | undefined })
  }
  const limits = present({ maxRestarts: optional(number, maxRestarts) })
  return started(async () =>
    world.born(label, () =>
      PartitionSupervisor.startLink(self, { label, partitions: number(partitions), child, ...limits })
    )
  )
})

export const supervisors: Verbs = {
  start_sup: verb("start 0", [arg.text], ({ world, self }, name) =>
    started(async () => startSupervisor(world, self, name))
  ),
  start_dynsup: verb("start 0", [arg.text], ({ world, self }, name) =>
    started(async () =>
      world.born(name, () => DynamicSupervisor.startLink(self, dynamicOptionsOf(world, "sups", name)))
    )
  ),
  start_child: verb("start_child", [arg.pid, arg.raw], (actor, supervisor, child) =>
    answer(actor, () =>
      started(async () => Supervisor.startChild(supervisor, childSpecOf(actor.world, child)), withSpec)
    )
  ),
  terminate_child: change("terminate_child", (supervisor, id) => done(Supervisor.terminateChild(supervisor, id))),
  restart_child: change("restart_child", (supervisor, id) => started(() => Supervisor.restartChild(supervisor, id))),
  delete_child: change("delete_child", (supervisor, id) => done(Supervisor.deleteChild(supervisor, id))),
  which_children: which(Supervisor.whichChildren, ({ id }) => id),
  count_children: count("count_children"),
  dyn_start_child: verb("start_child", [arg.pid, arg.raw], (actor, supervisor, child) => {
    const { id: _, ...spec } = childSpecOf(actor.world, child)
    return answer(actor, () => started(() => DynamicSupervisor.startChild(supervisor, spec)))
  }),
  dyn_terminate: verb("terminate_child 1", [arg.pid, arg.pid], (actor, supervisor, child) =>
    answer(actor, () => done(DynamicSupervisor.terminateChild(supervisor, child)))
  ),
  start_psup: (actor, [label = null, partitions = null, server = null]) =>
    startPartitions(actor, [label, { partitions, server }]),
  start_psup2: startPartitions,
  psup_count: count("psup_count"),
  psup_stop: confirm("psup_stop", [arg.pid, arg.reason], (_, ...how) => PartitionSupervisor.stop(...how)),
  psup_call: verb("reply", [arg.pid, arg.term, arg.term, arg.time], (actor, supervisor, key, request, timeout) =>
    call(actor, PartitionSupervisor.via(supervisor, key), request, timeout)
  ),
  psup_partitions: verb("partitions", [arg.pid], (_, supervisor) => PartitionSupervisor.partitions(supervisor)),
  psup_which: which(PartitionSupervisor.whichChildren, ({ partition }) => partition)
}
