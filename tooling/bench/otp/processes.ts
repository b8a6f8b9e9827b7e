/** The lines of the bench on `@troupe/otp`. */
import { DynamicSupervisor, GenServer, Process, Registry, System } from "@troupe/otp"
import type { Pid } from "@troupe/otp"
import { burst, countdown, crowd, keys, many, times } from "./contest.ts"
import type { Contestant, Line, Round } from "./contest.ts"

const counter = GenServer.make<void, number, "next", number, "add" | (() => void)>({
  init: () => GenServer.ok(0),
  handleCall: (_request, _from, state) => GenServer.replying(state + 1, state + 1),
  handleCast: (message, state) => {
    if (message === "add") return GenServer.noreply(state + 1)
    message()
    return GenServer.noreply(state)
  }
})

type Counter = ReturnType<typeof GenServer.spawnLink<void, number, "next", number, "add" | (() => void), never>>

const sleeper = (system: System.System): Pid => Process.spawn(system, () => new Promise(() => {}))

const inSystem =
  (prepare: (system: System.System, count: number) => Promise<Round["run"]> | Round["run"]): Line =>
  async (count) => {
    const system = System.make()
    return { run: await prepare(system, count), end: () => System.stop(system) }
  }

const spawn = inSystem((system, count) => () => {
  const { done, over } = countdown(count)
  for (let made = 0; made < count; made++) Process.spawn(system, done)
  return over
})

/** So many idle servers, linked to one process. */
const idlers = (system: System.System, count: number): ReadonlyArray<Counter> => {
  const owner = sleeper(system)
  return times(count, () => GenServer.spawnLink(owner, counter, undefined))
}

const start = (others: number): Line =>
  inSystem((system, count) => {
    idlers(system, others)
    return async () => {
      for (let made = 0; made < count; made++) await GenServer.start(system, counter, undefined)
    }
  })

const call = inSystem(async (system, count) => {
  const server = await GenServer.start(system, counter, undefined)
  return async () => {
    for (let asked = 0; asked < count; asked++) await GenServer.call(server, "next")
  }
})

const cast = inSystem(async (system, count) => {
  const server = await GenServer.start(system, counter, undefined)
  return async () => {
    for (let sent = 0; sent < count; sent += burst) {
      for (let index = 0; index < burst; index++) GenServer.cast(server, "add")
      await GenServer.call(server, "next")
    }
  }
})

const stop = inSystem((system, count) => {
  const servers = idlers(system, count)
  return async () => {
    for (const server of servers) await GenServer.stop(server)
  }
})

const supervisedStart = inSystem(async (system, count) => {
  const supervisor = await DynamicSupervisor.start(system)
  const child = { start: (parent: Pid) => GenServer.startLink(parent, counter, undefined) }
  return async () => {
    for (let made = 0; made < count; made++) await DynamicSupervisor.startChild(supervisor, child)
  }
})

const restart = inSystem(async (system, count) => {
  let up = (_pid: Pid): void => {}
  const next = (): Promise<Pid> => new Promise((resolve) => (up = resolve))
  const supervisor = await DynamicSupervisor.start(system, { maxRestarts: 3, maxSeconds: 0 })
  let newest = next()
  await DynamicSupervisor.startChild(supervisor, {
    start: async (parent) => {
      const pid = await GenServer.startLink(parent, counter, undefined)
      up(pid)
      return pid
    }
  })
  return async () => {
    for (let crashed = 0; crashed < count; crashed++) {
      const pid = await newest
      newest = next()
      Process.exit(pid, "boom")
    }
    await newest
  }
})

const lookup = inSystem(async (system, count) => {
  const registry = await Registry.start(system)
  const owner = sleeper(system)
  for (const key of keys) Registry.register(registry, key, GenServer.spawnLink(owner, counter, undefined))
  return () => {
    let found = 0
    for (let asked = 0; asked < count; asked++) {
      if (Registry.whereis(registry, keys[asked % keys.length]) !== undefined) found++
    }
    if (found !== count) throw new Error("a process was not found")
  }
})

const through = (processes: number): Line =>
  inSystem((system, count) => {
    const servers = idlers(system, processes)
    const { done, over } = countdown(processes)
    return () => {
      for (let sent = 0; sent < count; sent += processes) for (const server of servers) GenServer.cast(server, "add")
      for (const server of servers) GenServer.cast(server, done)
      return over
    }
  })

const waiting = inSystem((system, count) => () => {
  for (let made = 0; made < count; made++) Process.spawn(system, (self) => Process.receive(self))
})

const idle = inSystem((system, count) => {
  const owner = sleeper(system)
  return () => {
    for (let made = 0; made < count; made++) GenServer.spawnLink(owner, counter, undefined)
  }
})

/** Processes of `@troupe/otp`. */
export const processes: Contestant = {
  spawn,
  start: start(0),
  startAmong: start(crowd),
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
