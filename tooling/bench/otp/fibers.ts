/** The lines of the bench on the bare primitives of Effect: a server is a fiber that takes from a queue. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberMap from "effect/FiberMap"
import * as FiberSet from "effect/FiberSet"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Scope from "effect/Scope"
import { among, burst, countdown, crowd, keys, many, times } from "./contest.ts"
import type { Contestant, Line } from "./contest.ts"

type Mail = "add" | "stop" | (() => void) | Deferred.Deferred<number>

interface Server {
  readonly queue: Queue.Queue<Mail>
  readonly fiber: Fiber.Fiber<void>
}

const serve = (queue: Queue.Queue<Mail>): Effect.Effect<void> =>
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

const start: Effect.Effect<Server> = Effect.gen(function* () {
  const queue = yield* Queue.unbounded<Mail>()
  return { queue, fiber: yield* Effect.forkDetach(serve(queue), { startImmediately: true }) }
})

const ask = (server: Server): Effect.Effect<number> =>
  Effect.suspend(() => {
    const reply = Deferred.makeUnsafe<number>()
    Queue.offerUnsafe(server.queue, reply)
    return Deferred.await(reply)
  })

const repeat = <A>(count: number, effect: Effect.Effect<A>): Effect.Effect<void> =>
  Effect.gen(function* () {
    for (let done = 0; done < count; done++) yield* effect
  })

const startAll = (count: number): Promise<ReadonlyArray<Server>> =>
  Effect.runPromise(
    Effect.forEach(
      times(count, () => start),
      (one) => one
    )
  )

const endAll = (servers: ReadonlyArray<Server>): Promise<void> =>
  Effect.runPromise(Fiber.interruptAll(servers.map((server) => server.fiber)))

const spawn: Line = (count) => {
  const { done, over } = countdown(count)
  const body = Effect.sync(done)
  return { run: () => Effect.runPromise(repeat(count, Effect.forkDetach(body))).then(() => over), end: () => {} }
}

const starting: Line = (count) => {
  const made: Array<Server> = []
  const one = start.pipe(Effect.map((server) => made.push(server)))
  return { run: () => Effect.runPromise(repeat(count, one)), end: () => endAll(made) }
}

const call: Line = async (count) => {
  const servers = await startAll(1)
  const calls = Effect.forEach(servers, (server) => repeat(count, ask(server)), { discard: true })
  return { run: () => Effect.runPromise(calls), end: () => endAll(servers) }
}

const cast: Line = async (count) => {
  const servers = await startAll(1)
  const bursts = Effect.forEach(
    servers,
    (server) =>
      repeat(
        count / burst,
        Effect.suspend(() => {
          for (let sent = 0; sent < burst; sent++) Queue.offerUnsafe(server.queue, "add")
          return ask(server)
        })
      ),
    { discard: true }
  )
  return { run: () => Effect.runPromise(bursts), end: () => endAll(servers) }
}

const stop: Line = async (count) => {
  const servers = await startAll(count)
  const end = (server: Server): Effect.Effect<void> =>
    Effect.suspend(() => {
      Queue.offerUnsafe(server.queue, "stop")
      return Fiber.join(server.fiber)
    })
  return { run: () => Effect.runPromise(Effect.forEach(servers, end, { discard: true })), end: () => {} }
}

const scoped = async <A>(make: Effect.Effect<A, never, Scope.Scope>) => {
  const scope = Scope.makeUnsafe()
  const value = await Effect.runPromise(Scope.provide(make, scope))
  return { value, end: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}

const supervisedStart: Line = async (count) => {
  const { value: children, end } = await scoped(FiberSet.make<void>())
  const one = Effect.gen(function* () {
    const queue = yield* Queue.unbounded<Mail>()
    yield* FiberSet.run(children, serve(queue), { startImmediately: true })
  })
  return { run: () => Effect.runPromise(repeat(count, one)), end }
}

/** A server that dies of its first message, and is restarted by its loop. */
const restart: Line = (count) => {
  let up = (_queue: Queue.Queue<Mail>): void => {}
  const next = (): Promise<Queue.Queue<Mail>> => new Promise((resolve) => (up = resolve))
  let newest = next()
  const mortal = Effect.gen(function* () {
    const queue = yield* Queue.unbounded<Mail>()
    up(queue)
    yield* Queue.take(queue)
    return yield* Effect.die("boom")
  })
  const fiber = Effect.runFork(Effect.forever(Effect.catchCause(mortal, () => Effect.void)))
  const run = async (): Promise<void> => {
    for (let crashed = 0; crashed < count; crashed++) {
      const queue = await newest
      newest = next()
      Queue.offerUnsafe(queue, "stop")
    }
    await newest
  }
  return { run, end: () => Effect.runPromise(Fiber.interrupt(fiber)) }
}

const lookup: Line = async (count) => {
  const { value: children, end } = await scoped(FiberMap.make<string, void>())
  await Effect.runPromise(Effect.forEach(keys, (key) => FiberMap.run(children, key, Effect.never), { discard: true }))
  const run = (): void => {
    let found = 0
    for (let asked = 0; asked < count; asked++) {
      const key = keys[asked % keys.length]
      if (key !== undefined && Option.isSome(FiberMap.getUnsafe(children, key))) found++
    }
    if (found !== count) throw new Error("a fiber was not found")
  }
  return { run, end }
}

const through =
  (processes: number): Line =>
  async (count) => {
    const servers = await startAll(processes)
    const { done, over } = countdown(processes)
    const run = (): Promise<void> => {
      for (let sent = 0; sent < count; sent += processes) {
        for (const { queue } of servers) Queue.offerUnsafe(queue, "add")
      }
      for (const { queue } of servers) Queue.offerUnsafe(queue, done)
      return over
    }
    return { run, end: () => endAll(servers) }
  }

const idle: Line = (count) => {
  let made: ReadonlyArray<Server> = []
  const run = async (): Promise<void> => {
    made = await startAll(count)
  }
  return { run, end: () => endAll(made) }
}

const waiting: Line = (count) => {
  const made: Array<Fiber.Fiber<never>> = []
  const run = (): void => {
    for (let forked = 0; forked < count; forked++) made.push(Effect.runFork(Effect.never))
  }
  return { run, end: () => Effect.runPromise(Fiber.interruptAll(made)) }
}

/** Fibers, queues and deferreds of Effect. */
export const fibers: Contestant = {
  spawn,
  start: starting,
  startAmong: among(crowd, idle, starting),
  call,
  cast,
  stop,
  supervisedStart,
  restart,
  lookup,
  throughOne: through(1),
  throughMany: through(many),
  waiting,
  idle
}
