import { expectTypeOf } from "vitest"
import { GenServer, Process, Registry } from "../../src/index.ts"
import type { Pid, System } from "../../src/index.ts"

const room = GenServer.make({
  init: (topic: string) => GenServer.ok(topic),
  handleCall: (_request: "topic", _from, topic) => GenServer.replying(topic, topic)
})
type Room = GenServer.Server<"topic", string>
const hall = GenServer.make({
  init: () => GenServer.ok(0),
  handleCall: (_request: "size", _from, size) => GenServer.replying(size, size)
})
interface Seats {
  readonly seats: number
}

declare const system: System.System

const rooms = await Registry.start<number, Seats, Room>(system)
const pid = await GenServer.start(system, room, "boats", { via: Registry.via(rooms, 1, { seats: 2 }) })

declare const address: Registry.RegistryTarget<number, Seats, Room>
expectTypeOf(Registry.whereis(address, 1)).toEqualTypeOf<Room | undefined>()
expectTypeOf(Registry.lookup(Process.named(system, "rooms"), "any")).toEqualTypeOf<ReadonlyArray<Registry.Entry>>()
// @ts-expect-error keys are numbers
Registry.whereis(address, "1")
expectTypeOf(Registry.whereis(rooms, 1)).toEqualTypeOf<Room | undefined>()
expectTypeOf(Registry.register(rooms, 2, pid, { seats: 3 })).toEqualTypeOf<Registry.Registered<Room>>()
expectTypeOf(Registry.lookup(rooms, 1)).toEqualTypeOf<ReadonlyArray<Registry.Entry<Seats, Room>>>()
expectTypeOf(Registry.values(rooms, 1, pid)).toEqualTypeOf<ReadonlyArray<Seats>>()
expectTypeOf(Registry.keys(rooms, pid)).toEqualTypeOf<ReadonlyArray<number>>()
expectTypeOf(Registry.entries(rooms)).toEqualTypeOf<ReadonlyArray<readonly [key: number, pid: Room, value: Seats]>>()
expectTypeOf(Registry.update(rooms, 1, pid, ({ seats }) => ({ seats: seats + 1 }))?.before).toEqualTypeOf<
  Seats | undefined
>()
expectTypeOf(GenServer.call(Registry.via(rooms, 1), "topic")).toEqualTypeOf<Promise<string>>()
Registry.dispatch(rooms, 1, (entries) => expectTypeOf(entries[0]?.value).toEqualTypeOf<Seats | undefined>())
expectTypeOf(Registry.match(rooms, 1, ({ seats }) => seats > 1)).toEqualTypeOf<
  ReadonlyArray<Registry.Entry<Seats, Room>>
>()
expectTypeOf(
  Registry.select(rooms, (entry) => {
    expectTypeOf(entry).toEqualTypeOf<Registry.KeyedEntry<number, Seats, Room>>()
    return entry.value.seats > 1 ? entry.key : undefined
  })
).toEqualTypeOf<ReadonlyArray<number>>()
Registry.countSelect(rooms, ({ key, value }) => key > value.seats)
Registry.countMatch(rooms, 1, ({ seats }) => seats > 1)
Registry.unregisterMatch(rooms, 1, pid, ({ seats }) => seats > 1)

// @ts-expect-error keys are numbers
Registry.whereis(rooms, "1")
// @ts-expect-error keys are numbers
Registry.via(rooms, "1")
// @ts-expect-error values are seats
Registry.register(rooms, 1, pid, "two")
// @ts-expect-error a value is needed
Registry.register(rooms, 1, pid)
// @ts-expect-error only rooms are entered
Registry.register(rooms, 1, await GenServer.start(system, hall, undefined), { seats: 1 })
// @ts-expect-error a room takes no such call
void GenServer.call(Registry.via(rooms, 1), "seats")
// @ts-expect-error values are seats
Registry.unregisterMatch(rooms, 1, pid, (value: string) => value === "two")
// @ts-expect-error keys are numbers
Registry.match(rooms, "1", () => true)
// @ts-expect-error a change keeps the type of the value
Registry.update(rooms, 1, pid, () => "none")

declare const plain: Pid
Registry.register(plain, "any", pid)
Registry.register(
  plain,
  1,
  Process.spawn<string>(system, () => {}),
  "any"
)
expectTypeOf(Registry.whereis(plain, "any")).toEqualTypeOf<Pid<unknown> | undefined>()
expectTypeOf(Registry.select(plain, ({ key }) => String(key))).toEqualTypeOf<ReadonlyArray<string>>()
