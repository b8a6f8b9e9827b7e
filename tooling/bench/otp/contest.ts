/** The lines of the bench, on the means of a contestant. */

type Maybe<A> = Promise<A> | A
type Run = () => Maybe<void>

/** A key of a lookup. */
export type Key = string | readonly [string, number]

/** A message to a server: it counts, or calls the function. */
export type Mail = "add" | (() => void)

/**
 * How a contestant makes servers. `World` has all servers of one line; `Work` is an operation that `repeat` waits for.
 *
 * - `spawn`: prepares an operation that runs a body in a process of its own
 * - `servers`: so many servers, without a wait for each
 * - `start`: starts a server and waits until it is up
 * - `supervise`: prepares an operation that starts a supervised server and waits until it is up
 * - `revive`: keeps one server up, reports each, and returns the function that crashes it
 * - `table`: prepares a lookup by one of these keys, texts or arrays
 * - `tick`: prepares so many timers of 0 to 9 milliseconds for one server; each calls the function when the server takes its message
 * - `cancel`: sets so many timers of a minute, then cancels each
 * - `watch`: prepares so many monitors of one process by another, and the end of the one; each calls the function
 * - `wait`: starts a process that waits for its first message
 */
interface Means<World, Server, Work> {
  readonly open: () => World
  readonly close: (world: World) => Promise<void> | void
  readonly repeat: <A>(items: ReadonlyArray<A>, work: (item: A) => Work) => Promise<void>
  readonly spawn: (world: World, body: () => void) => () => Work
  readonly servers: (world: World, count: number) => Maybe<ReadonlyArray<Server>>
  readonly start: (world: World) => Work
  readonly call: (server: Server) => Work
  readonly cast: (server: Server, mail: Mail) => void
  readonly stop: (server: Server) => Work
  readonly supervise: (world: World) => Maybe<() => Work>
  readonly revive: (world: World, up: (server: Server) => void) => Maybe<(server: Server) => void>
  readonly table: (world: World, keys: ReadonlyArray<Key>) => Promise<(key: Key) => boolean>
  readonly tick: (world: World, count: number, done: () => void) => Maybe<Run>
  readonly cancel: (world: World, count: number) => Maybe<Run>
  readonly watch: (world: World, count: number, done: () => void) => Maybe<Run>
  readonly wait: (world: World) => void
}

/** The number of processes that share the messages of the last line. */
const many = 10_000

/** The number of idle servers on the line that measures growth. */
const crowd = 100_000

/** The number of casts before the sender waits for their receipt. */
const burst = 1_000

/** So many items, made one after another. */
export const times = <A>(count: number, make: (index: number) => A): Array<A> =>
  Array.from({ length: count }, (_, index) => make(index))

/** The keys of lookups. */
const keys = times(1_000, (index) => `key-${index}`)
const arrays = times(1_000, (index): Key => ["room", index])

/** A promise that resolves after so many calls of `done`. */
const countdown = (count: number): { readonly done: () => void; readonly over: Promise<void> } => {
  let left = count
  const { promise: over, resolve } = Promise.withResolvers<void>()
  const done = (): void => {
    left--
    if (left === 0) resolve()
  }
  return { done, over }
}

/** Every line of a contestant; only the `run` of a prepared line is measured. `waiting` and `idle` measure the memory that their `run` keeps. */
export const contestantOf = <World, Server, Work>(means: Means<World, Server, Work>) => {
  const { open, close, repeat, call, cast } = means
  const line =
    (prepare: (world: World, count: number) => Maybe<Run>) =>
    async (count: number): Promise<{ readonly run: Run; readonly end: Run }> => {
      const world = open()
      return { run: await prepare(world, count), end: () => close(world) }
    }
  const start = (others: number) =>
    line(async (world, count) => {
      await means.servers(world, others)
      const all = times(count, () => world)
      return () => repeat(all, means.start)
    })
  const through = (processes: number) =>
    line(async (world, count) => {
      const servers = await means.servers(world, processes)
      const { done, over } = countdown(processes)
      return () => {
        for (let sent = 0; sent < count; sent += processes) for (const server of servers) cast(server, "add")
        for (const server of servers) cast(server, done)
        return over
      }
    })
  const lookup = (all: ReadonlyArray<Key>) =>
    line(async (world, count) => {
      const has = await means.table(world, all)
      return () => {
        let found = 0
        for (let asked = 0; asked < count; asked++) if (has(all[asked % all.length] ?? "")) found++
        if (found !== count) throw new Error("a process was not found")
      }
    })
  const counting = (prepare: Means<World, Server, Work>["tick"]) =>
    line(async (world, count) => {
      const { done, over } = countdown(count)
      const run = await prepare(world, count, done)
      return async () => {
        await run()
        await over
      }
    })
  return {
    spawn: line((world, count) => {
      const { done, over } = countdown(count)
      const all = times(count, (index) => index)
      const spawn = means.spawn(world, done)
      return async () => {
        await repeat(all, spawn)
        await over
      }
    }),
    start: start(0),
    startAmong: start(crowd),
    call: line(async (world, count) => {
      const [server] = await means.servers(world, 1)
      const all = times(count, () => server as Server)
      return () => repeat(all, call)
    }),
    cast: line(async (world, count) => {
      const [server] = await means.servers(world, 1)
      const all = times(count / burst, () => server as Server)
      const send = (to: Server): Work => {
        for (let sent = 0; sent < burst; sent++) cast(to, "add")
        return call(to)
      }
      return () => repeat(all, send)
    }),
    stop: line(async (world, count) => {
      const servers = await means.servers(world, count)
      return () => repeat(servers, means.stop)
    }),
    supervisedStart: line(async (world, count) => {
      const startChild = await means.supervise(world)
      const all = times(count, (index) => index)
      return () => repeat(all, startChild)
    }),
    restart: line(async (world, count) => {
      let up = (_server: Server): void => {}
      const next = (): Promise<Server> => new Promise((resolve) => (up = resolve))
      let newest = next()
      const crash = await means.revive(world, (server) => up(server))
      return async () => {
        for (let crashed = 0; crashed < count; crashed++) {
          const server = await newest
          newest = next()
          crash(server)
        }
        await newest
      }
    }),
    lookup: lookup(keys),
    arrayLookup: lookup(arrays),
    tick: counting(means.tick),
    cancel: line(means.cancel),
    watch: counting(means.watch),
    throughOne: through(1),
    throughMany: through(many),
    waiting: line((world, count) => () => {
      for (let made = 0; made < count; made++) means.wait(world)
    }),
    idle: line((world, count) => {
      let kept: ReadonlyArray<Server> = []
      return async () => {
        kept = await means.servers(world, count)
        if (kept.length !== count) throw new Error("a server is missing")
      }
    })
  }
}

/** A contestant's implementation of every line. */
export type Contestant = ReturnType<typeof contestantOf>

/** Does the operations one after another. An operation without a promise has ended when it returns. */
export const repeat = async <A>(items: ReadonlyArray<A>, work: (item: A) => unknown): Promise<void> => {
  for (const item of items) {
    const pending = work(item)
    if (pending instanceof Promise) await pending
  }
}
