/** The means of the bare primitives of Effect: a server is a fiber that takes from a queue. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberMap from "effect/FiberMap"
import * as FiberSet from "effect/FiberSet"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Scope from "effect/Scope"
import { contestantOf, type Key, type Mail, times } from "./contest.ts"

type Inbox = Queue.Queue<Mail | "stop" | Deferred.Deferred<number>>

interface Server {
  readonly queue: Inbox
  readonly fiber?: Fiber.Fiber<void>
}

/** What ends with a line: its fibers, and a scope. */
interface World {
  readonly fibers: Array<Fiber.Fiber<unknown>>
  readonly scope: Scope.Closeable
}

const inbox: Effect.Effect<Inbox> = Queue.unbounded()

const serve = (queue: Inbox): Effect.Effect<void> =>
  Effect.gen(function* () {
    let state = 0
    for (;;) {
      const mail = yield* Queue.take(queue)
      if (mail === "stop") return
      if (mail === "add") state++
      else if (typeof mail === "function") mail()
      else Deferred.doneUnsafe(mail, Effect.succeed(++state))
    }
  })

const startIn = ({ fibers }: World): Effect.Effect<Server> =>
  Effect.gen(function* () {
    const queue = yield* inbox
    const fiber = yield* Effect.forkDetach(serve(queue), { startImmediately: true })
    fibers.push(fiber)
    return { queue, fiber }
  })

const textOf = (key: Key): string => (typeof key === "string" ? key : key.join())

const scoped = <A>({ scope }: World, make: Effect.Effect<A, never, Scope.Scope>): Promise<A> =>
  Effect.runPromise(Scope.provide(make, scope))

/** Fibers, queues and deferreds of Effect. */
export const fibers = contestantOf<World, Server, Effect.Effect<unknown>>({
  open: () => ({ fibers: [], scope: Scope.makeUnsafe() }),
  close: ({ fibers: all, scope }) =>
    Effect.runPromise(Effect.andThen(Fiber.interruptAll(all), Scope.close(scope, Exit.void))),
  repeat: (items, work) =>
    Effect.runPromise(
      Effect.gen(function* () {
        for (const item of items) yield* work(item)
      })
    ),
  spawn: (_, body) => {
    const spawned = Effect.forkDetach(Effect.sync(body))
    return () => spawned
  },
  servers: (world, count) => {
    const start = startIn(world)
    return Effect.runPromise(
      Effect.forEach(
        times(count, () => start),
        (one) => one
      )
    )
  },
  start: startIn,
  call: ({ queue }) => {
    const reply = Deferred.makeUnsafe<number>()
    Queue.offerUnsafe(queue, reply)
    return Deferred.await(reply)
  },
  cast: ({ queue }, mail) => void Queue.offerUnsafe(queue, mail),
  stop: ({ queue, fiber }) => {
    Queue.offerUnsafe(queue, "stop")
    return fiber === undefined ? Effect.void : Fiber.join(fiber)
  },
  supervise: async (world) => {
    const children = await scoped(world, FiberSet.make<void>())
    const one = Effect.gen(function* () {
      const queue = yield* inbox
      yield* FiberSet.run(children, serve(queue), { startImmediately: true })
    })
    return () => one
  },
  // The server dies of its first message, and is restarted by its loop.
  revive: (world, up) => {
    const mortal = Effect.gen(function* () {
      const queue = yield* inbox
      up({ queue })
      yield* Queue.take(queue)
      return yield* Effect.die("boom")
    })
    world.fibers.push(Effect.runFork(Effect.forever(Effect.catchCause(mortal, () => Effect.void))))
    return ({ queue }) => void Queue.offerUnsafe(queue, "stop")
  },
  table: async (world, keys) => {
    const children = await scoped(world, FiberMap.make<string, void>())
    const run = (key: Key) => FiberMap.run(children, textOf(key), Effect.never)
    await Effect.runPromise(Effect.forEach(keys, run, { discard: true }))
    return (key) => Option.isSome(FiberMap.getUnsafe(children, textOf(key)))
  },
  tick:
    ({ fibers: all }, count, done) =>
    () => {
      for (let set = 0; set < count; set++) all.push(Effect.runFork(Effect.delay(Effect.sync(done), set % 10)))
    },
  cancel: (_, count) => () =>
    Effect.runPromise(Fiber.interruptAll(times(count, () => Effect.runFork(Effect.sleep(60_000))))),
  watch: (_, count, done) => () => {
    const watched = Effect.runFork(Effect.never)
    for (let set = 0; set < count; set++) watched.addObserver(done)
    return Effect.runPromise(Fiber.interrupt(watched))
  },
  wait: (world) => void world.fibers.push(Effect.runFork(Effect.never))
})
