import { expectTypeOf } from "vitest"
import { GenServer, PartitionSupervisor } from "../../src/index.ts"
import type { Pid, System } from "../../src/index.ts"

const counter = GenServer.make({
  init: (from: number) => GenServer.ok(from),
  handleCall: (_request: "next", _from, state) => GenServer.replying(state + 1, state + 1)
})
type Counter = GenServer.Server<"next", number>

declare const system: System.System

const counters = await PartitionSupervisor.start(system, {
  partitions: 4,
  child: { start: (parent, partition) => GenServer.startLink(parent, counter, partition) }
})

expectTypeOf(counters).toEqualTypeOf<PartitionSupervisor.PartitionSupervisor<Counter>>()
expectTypeOf(PartitionSupervisor.whereis(counters, "key")).toEqualTypeOf<Counter | undefined>()
expectTypeOf(GenServer.call(PartitionSupervisor.via(counters, "key"), "next")).toEqualTypeOf<Promise<number>>()
expectTypeOf(PartitionSupervisor.whichChildren(counters)).toEqualTypeOf<
  Promise<ReadonlyArray<PartitionSupervisor.PartitionInfo<Counter>>>
>()

// @ts-expect-error a partition takes no such call
void GenServer.call(PartitionSupervisor.via(counters, "key"), "previous")
declare const plain: Pid
expectTypeOf(PartitionSupervisor.whereis(plain, "key")).toEqualTypeOf<Pid<unknown> | undefined>()
