/**
 * Supervisors of each kind: started, queried, changed.
 *
 * @module
 */
import { DynamicSupervisor, OtpError, PartitionSupervisor, type Pid, Supervisor } from "@troupe/otp"
import { number, object, optional, present, text } from "../../runner/json.ts"
import { arg, begin, confirm, verb, type Verbs } from "../actor.ts"
import { childSpecOf, dynamicOptionsOf, startServer, startSupervisor } from "../childSpecs.ts"
import { call } from "./servers.ts"

/** OTP returns the spec with the reason, unless the child already runs. */
const withSpec = (error: unknown): never => {
  if (!(error instanceof OtpError.StartFailed) || error.reason instanceof OtpError.AlreadyStarted) throw error
  throw new OtpError.StartFailed({ reason: [error.reason, "_child_spec"] })
}

/** A supervisor, and the id of a child. */
const child = [arg.pid, arg.text] as const

type Info = Pick<Supervisor.ChildInfo, "pid" | "type">

const which = <A extends Info>(read: (supervisor: Pid) => Promise<ReadonlyArray<A>>, idOf: (info: A) => unknown) =>
  verb("which_children", [arg.pid], async (_, supervisor) => {
    const infos = await read(supervisor)
    return infos.map((info) => [idOf(info), info.pid ?? "undefined", info.type])
  })

const count = (as: string) =>
  verb(as, [arg.pid], async (_, supervisor) => ({ ...(await Supervisor.countChildren(supervisor)) }))

const startPartitions = begin("start_psup", [arg.text, arg.raw], ({ world, self }, label, options) => {
  const { partitions, server, restart, max_restarts: maxRestarts } = object(options)
  const partition = {
    start: (parent: Pid) => startServer(world, parent, text(server)),
    ...present({ restart: restart as "permanent" | undefined })
  }
  const limits = present({ maxRestarts: optional(number, maxRestarts) })
  return world.born(label, () =>
    PartitionSupervisor.startLink(self, { label, partitions: number(partitions), child: partition, ...limits })
  )
})

export const supervisors: Verbs = {
  start_sup: begin("start 0", [arg.text], ({ world, self }, name) => startSupervisor(world, self, name)),
  start_dynsup: begin("start 0", [arg.text], ({ world, self }, name) =>
    world.born(name, () => DynamicSupervisor.startLink(self, dynamicOptionsOf(world, "sups", name)))
  ),
  start_child: begin("start_child", [arg.pid, arg.raw], ({ world }, supervisor, spec) =>
    Supervisor.startChild(supervisor, childSpecOf(world, spec)).catch(withSpec)
  ),
  terminate_child: confirm("terminate_child 1", child, (_, ...at) => Supervisor.terminateChild(...at)),
  restart_child: begin("restart_child 1", child, (_, ...at) => Supervisor.restartChild(...at)),
  delete_child: confirm("delete_child 1", child, (_, ...at) => Supervisor.deleteChild(...at)),
  which_children: which(Supervisor.whichChildren, ({ id }) => id),
  count_children: count("count_children"),
  dyn_start_child: begin("start_child", [arg.pid, arg.raw], ({ world }, supervisor, given) => {
    const { id: _, ...spec } = childSpecOf(world, given)
    return DynamicSupervisor.startChild(supervisor, spec)
  }),
  dyn_terminate: confirm("terminate_child 1", [arg.pid, arg.pid], (_, ...at) =>
    DynamicSupervisor.terminateChild(...at)
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
